"""The brief level prints nothing hidden except tool names, and depends on only four facts about each call."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from tests.laws.leaks.test_non_interference import ACTS, assert_the_same_is_seen, diagnostics
from tests.laws.leaks.test_printed_leaks import printed
from tests.support.leaks.planted import KINDS, Planted, everything
from tests.support.printing import BRIEF_SURFACES, SAFE_SURFACES, some
from tests.support.program import run
from viewer.document.values import BriefCall
from viewer.render import conversation, json_lines
from viewer.render.exports import html_page, markdown_page

AS_SAFE = [line for line in SAFE_SURFACES if line[0] in ("stats", "convert", "diff") and "--strict-safe" not in line]


def tools_of(planted: Planted, file: Path) -> list[str]:
    """Return the names of the tools that the level may print."""
    file.write_bytes(planted.data)
    result = printed(planted, file, ["show", "--json", "--reveal", "brief"])
    return [line["tool"] for line in map(json.loads, result.out.splitlines()) if line["kind"] == "call"]


def leaks(planted: Planted, tools: list[str], text: str) -> list[str]:
    """Return the canaries in the text, other than tool names."""
    for name in tools:
        text = text.replace(name.removeprefix("functions."), " ")
    return [leak.canary for leak in planted.finder.leaks(text)]


@pytest.mark.surfaces
@pytest.mark.share(test=4)
@pytest.mark.parametrize("format", KINDS)
def test_no_command_prints_more_of_a_call_than_its_name_state_and_time(format: str, tmp_path: Path) -> None:
    planted, file = everything(format), tmp_path / "chat"
    tools = tools_of(planted, file)
    for line in some(BRIEF_SURFACES, format):
        result = printed(planted, file, line)
        assert result.code == 0, line
        assert leaks(planted, tools, result.out) == [], line
        assert leaks(planted, tools, result.err) == [], line
    for kind in ([], ["--json"]):
        followed = run("show", *kind, "-f", "--level", "brief", "-", stdin=planted.data)
        assert followed.out
        assert leaks(planted, tools, followed.out + followed.err) == []


@pytest.mark.surfaces
@pytest.mark.share(test=4)
@pytest.mark.parametrize("format", KINDS)
def test_the_output_depends_on_four_facts_about_a_call(format: str, tmp_path: Path) -> None:
    """Other arguments, IDs, thoughts, and replies with the same problems change no byte of the output."""
    planted, file = everything(format), tmp_path / "chat"
    names = {name.removeprefix("functions.") for name in tools_of(planted, file)}
    other = planted.with_other_words(Random(5), kept=names)
    assert diagnostics(planted) == diagnostics(other)
    for line in some(BRIEF_SURFACES, format):
        results = []
        for each in (planted, other):
            file.write_bytes(each.data)
            results.append(printed(each, file, line))
        assert results[0] == results[1], line


@pytest.mark.surfaces
@pytest.mark.share(test=4)
@pytest.mark.parametrize("format", ["openchatml-2.2", "json", "openchatml-0.1", "events"])
def test_other_commands_treat_the_level_as_safe(format: str, tmp_path: Path) -> None:
    planted, file = everything(format), tmp_path / "chat"
    file.write_bytes(planted.data)
    for line in some(AS_SAFE, format):
        assert printed(planted, file, [*line, "--level", "brief"]) == printed(planted, file, line), line
    check = ["check", "--json"]
    assert printed(planted, file, [*check, "--level", "brief"]) == printed(planted, file, check)


PLANTED: dict[str, tuple[object, str]] = {
    "show": (conversation, "brief_parts"),
    "show --json": (json_lines, "brief_line"),
    "export --to html": (html_page, "brief_html"),
    "export --to md": (markdown_page, "_brief_call"),
}
"""The functions that write the line of a call, each with a command that uses it."""


@pytest.mark.share(quick=4)
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A surface at the brief level that reveals more, such as the ID of a call, is found."""
    planted, file = everything("openchatml-2.2"), tmp_path / "chat"
    tools = tools_of(planted, file)
    leak = next(word for word, place in planted.places if place == "analysis")
    owner, function = PLANTED[name]
    write = getattr(owner, function)

    def leaking(call: BriefCall, *given: object) -> object:
        line = write(call, *given)
        return (*line, line[-1].__class__(leak)) if isinstance(line, tuple) else f"{line} {leak}"

    monkeypatch.setattr(owner, function, leaking)
    command, *options = name.split()
    line = [command, *options, *(["-o", "-"] if command == "export" else []), "--reveal", "brief"]
    result = printed(planted, file, line)
    assert leaks(planted, tools, result.out) == [leak]


def test_the_name_of_a_tool_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this check, the text of a hidden header is printed."""
    from viewer.document import calls

    file = tmp_path / "chat"
    planted = everything("openchatml-2.2")
    header = f"<|start|>assistant to=functions.é{planted.canaries[0]}<|channel|>commentary<|message|>{{}}<|call|>\n"
    file.write_text(f"version: 2.2\n{header}", "utf-8")
    line = ["show", "--json", "--reveal", "brief", "--format", "openchatml-2.2", str(file)]
    assert planted.canaries[0] not in run(*line).out
    monkeypatch.setattr(calls, "plain_tool_name", lambda name: name)
    assert planted.canaries[0] in run(*line).out


@pytest.mark.share(quick=0, test=36)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("format", ["openchatml-2.2", "openchatml-0.1", "json", "events"])
def test_every_screen_depends_on_four_facts_about_a_call(format: str, part: int, tmp_path: Path) -> None:
    planted = everything(format, 2)
    names = {name.removeprefix("functions.") for name in tools_of(planted, tmp_path / "chat")}
    other = planted.with_other_words(Random(6), kept=names)
    assert diagnostics(planted) == diagnostics(other)
    assert_the_same_is_seen((planted, other), ACTS[part::4], brief=True)
