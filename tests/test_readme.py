"""The README is true: its files exist, its commands run, and its exit codes match the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.program import CHAT, run
from viewer.cli import COMMANDS, exits
from viewer.render.crash import CRASHED

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
EXAMPLES = [line.partition("#")[0].strip() for line in BLOCKS[2].splitlines()]


def test_it_opens_with_the_two_commands() -> None:
    assert README.startswith("# ocmlview\n\n```sh\nmake demo ")
    assert [line.split()[:2] for line in BLOCKS[0].splitlines()] == [["make", "demo"], ["make", "test"]]


def test_it_says_how_to_install_before_it_uses_the_command() -> None:
    lines = [line.partition("#")[0].strip() for line in BLOCKS[1].splitlines()]
    assert lines == ["uv tool install .", "pipx install .", ".venv/bin/ocmlview chat.ocml"]
    assert README.index("## Install") < README.index("\nocmlview ")


@each("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_no_line_needs_a_published_package(page: Path) -> None:
    assert not re.search(r"uvx|pip install|(tool|pipx) install (?!\.)|ocmlview\[", page.read_text("utf-8"))


@pytest.mark.parametrize("line", EXAMPLES)
def test_its_examples_run(line: str, tmp_path: Path) -> None:
    chat = tmp_path / "chat.ocml"
    chat.write_text(CHAT)
    piped = line.startswith("cat chat.ocml | ")
    words = shlex.split(line.removeprefix("cat chat.ocml | "))
    assert words[0] == "ocmlview"
    known = {"chat.ocml": str(chat), "logs/": str(tmp_path)}
    arguments = [known.get(word, word) for word in words[1:]]
    result = run(*arguments, stdin=CHAT if piped else "")
    assert result.code == 0, result.err
    assert result.out


def test_the_files_it_names_exist() -> None:
    table = README[README.index("| question | answer |") :]
    named = re.findall(r"`((?:viewer|tests|samples|themes)/[^`]*)`", table)
    assert len(named) >= 6
    for name in named:
        path = re.sub(r"<\w+>.*$", "", name)
        assert (ROOT / path).exists(), name


def test_the_names_it_gives_are_in_the_code() -> None:
    table = README[README.index("| question | answer |") :]
    for file, name in [
        ("model/visibility.py", "is_user_safe"),
        ("cli/__init__.py", "COMMANDS"),
        ("formats/__init__.py", "FORMATS"),
    ]:
        assert f"`{name}`" in table
        assert name in (ROOT / "viewer" / file).read_text("utf-8")


def test_it_names_every_command() -> None:
    assert set(re.findall(r"^\| `ocmlview \[?(\w+)", README, re.MULTILINE)) == set(COMMANDS)


def test_its_exit_codes_are_those_of_the_code() -> None:
    sentence = README[README.index("Exit codes: ") :].partition("\n\n")[0]
    codes = {int(code) for code in re.findall(r"`(\d+)`", sentence)}
    assert codes == {exits.FINE, exits.FINDINGS, exits.USAGE, exits.INTERRUPTED, exits.PIPE_CLOSED, CRASHED}


def test_it_is_a_front_page() -> None:
    assert README.count("\n") <= 135
    assert len(BLOCKS) == 5
    assert all(block.count("\n") == 4 for block in BLOCKS[2:])
    assert README.count("](docs/pictures/demo.svg)") == 1
    assert {"docs/keys.md", "docs/settings.md", "SECURITY.md"} <= set(re.findall(r"\]\(([^)]*)\)", README))
