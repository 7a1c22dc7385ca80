"""Format plug-ins: found by their entry points, hidden by default, and unable to break the program."""

from __future__ import annotations

import json
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path

import pytest

from tests.support.printing import SURFACES
from tests.support.program import run
from viewer.plugins import loading
from viewer.plugins.loading import PLUGINS, Plugins

MODULE = """
    from pathlib import Path
    from viewer.plugins import (
        Container, Hooks, Kind, PluginFormat, RecordFormat, RecordRule, Sample, Signature, flag, has, is_,
    )

    def split(text):
        if text == "raise":
            raise ValueError("SECRET_ERROR")
        if text == "far":
            return [(Kind.SAID, 0, 99)]
        if text == "long":
            while True:
                pass
        end = text.find("#")
        return [(Kind.SAID, 0, end), (Kind.INJECTED, end, len(text))] if end >= 0 else [(Kind.SAID, 0, len(text))]

    FORMAT = PluginFormat(
        RecordFormat(
            name="ignored",
            title="Acme sessions",
            container=Container.LINES,
            signatures=(Signature(99, ("acme", "who")),),
            records=(
                RecordRule((flag("muzzled"),), Kind.INJECTED, "user", "words"),
                RecordRule((is_("who", "human"),), Kind.SAID, "user", "words", split=True),
                RecordRule((is_("who", "robot"),), Kind.SAID, "assistant", "words"),
                RecordRule((is_("who", "boss"),), Kind.SAID, "system", "words"),
                RecordRule((is_("who", "mind"),), Kind.THOUGHT, "assistant", "words"),
            ),
            hooks=Hooks(split=split),
        ),
        samples=(Sample(str(Path(__file__).with_name("basic.jsonl")), str(Path(__file__).with_name("basic.json"))),),
    )
"""
RECORDS = (
    {"acme": 1, "who": "human", "words": "Hello.# SECRET_INJECTED"},
    {"acme": 1, "who": "mind", "words": "SECRET_THOUGHT"},
    {"acme": 1, "who": "robot", "words": "Hi.", "note": "SECRET_FIELD"},
    {"acme": 1, "who": "boss", "words": "SECRET_ORDER"},
    {"acme": 1, "who": "human", "muzzled": True, "words": "SECRET_PRIVATE"},
    {"acme": 1, "who": "ghost", "words": "SECRET_UNKNOWN"},
)
SECRETS = ["SECRET_INJECTED", "SECRET_THOUGHT", "SECRET_ORDER", "SECRET_PRIVATE", "SECRET_UNKNOWN"]

Install = Callable[..., Path]


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make sure that no plug-in is loaded before or after a test."""
    fresh = Plugins()
    for name, value in vars(fresh).items():
        monkeypatch.setattr(PLUGINS, name, value)
    yield
    for name in [name for name in sys.modules if name.startswith("ocmlview_acme")]:
        del sys.modules[name]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a distribution with this module and this entry point."""

    def make(module: str = MODULE, name: str = "acme", version: str = "1.2") -> Path:
        place = tmp_path / "site"
        info = place / f"ocmlview_{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ocmlview-{name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(
            f"[ocmlview.formats]\n{name} = ocmlview_acme_{name.replace('-', '_')}:FORMAT\n"
        )
        (place / f"ocmlview_acme_{name.replace('-', '_')}.py").write_text(textwrap.dedent(module))
        (place / "basic.jsonl").write_text(lines(*RECORDS))
        (place / "basic.json").write_text(json.dumps({"seen": ["Hello.", "Hi."], "hidden": SECRETS}))
        monkeypatch.syspath_prepend(str(place))
        return tmp_path

    return make


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_text(lines(*RECORDS))
    return path


def bodies(*arguments: str | Path) -> list[str]:
    output = [json.loads(line) for line in run("show", "--json", *arguments).out.splitlines()]
    return [line["body"] for line in output if line["kind"] == "message"]


def test_a_plugin_reads_what_no_built_in_format_does(install: Install, session: Path) -> None:
    install()
    assert bodies(session) == ["Hello.", "Hi."]
    assert bodies("--format", "acme", session) == ["Hello.", "Hi."]
    assert bodies("--reveal", "all", session)[1] == "# SECRET_INJECTED"


@pytest.mark.slow
def test_no_surface_shows_what_the_plugin_did_not_call_said(install: Install, session: Path) -> None:
    install()
    for command, *options in SURFACES:
        result = run(command, session, *options)
        assert "SECRET_" not in result.out + result.err, (command, *options)


def test_formats_lists_a_plugin_with_its_distribution(install: Install) -> None:
    install()
    row = next(line for line in run("formats").out.splitlines() if line.startswith("acme "))
    assert "Acme sessions" in row
    assert "plug-in ocmlview-acme 1.2" in row


def test_a_plugin_is_not_loaded_if_plugins_are_turned_off(install: Install, session: Path) -> None:
    install()
    assert run("show", "--no-plugins", session).code == 2
    assert "unknown format" in run("show", "--no-plugins", "--format", "acme", session).err


def test_the_distributions_are_searched_once(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    searches: list[str] = []

    def counted(*, group: str) -> EntryPoints:
        searches.append(group)
        return entry_points(group=group)

    monkeypatch.setattr(loading, "entry_points", counted)
    assert [[plugin.name for plugin in Plugins().all()] for _ in range(3)] == [["acme"]] * 3
    assert searches == [loading.GROUP]
    monkeypatch.syspath_prepend(".")
    assert len(Plugins().all()) == 1
    assert len(searches) == 2


def test_a_score_is_capped(install: Install) -> None:
    install()
    plugin = PLUGINS.get("acme")
    assert plugin is not None
    assert [signature.score for signature in plugin.table.signatures] == [94]


def test_a_built_in_format_cannot_be_replaced(install: Install, session: Path) -> None:
    install(name="claude-code")
    assert PLUGINS.all() == []
    assert run("show", session).code == 2


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("raise RuntimeError('SECRET_IMPORT')", "it raised RuntimeError"),
        ("", "it raised AttributeError"),
        ("FORMAT = 3", "its entry point is not a PluginFormat"),
    ],
)
def test_a_broken_plugin_is_reported_in_one_sentence(install: Install, session: Path, module: str, reason: str) -> None:
    install(module)
    result = run("show", session)
    assert result.code == 2
    assert [line for line in result.err.splitlines() if "plug-in" in line] == [
        f"The format plug-in acme is ignored: {reason}."
    ]
    assert "SECRET" not in result.err


@pytest.mark.parametrize("words", ["raise", "far"])
def test_a_hook_that_fails_hides_its_record(install: Install, tmp_path: Path, words: str) -> None:
    install()
    path = tmp_path / "two.jsonl"
    path.write_text(lines({"acme": 1, "who": "human", "words": words}, *RECORDS))
    assert bodies(path) == ["Hello.", "Hi."]
    result = run("check", path)
    assert "W-PLUGIN/failed" in result.out
    assert "SECRET_ERROR" not in result.out + result.err


def test_after_sixteen_failures_the_hook_is_not_called_again(install: Install, tmp_path: Path) -> None:
    install()
    path = tmp_path / "two.jsonl"
    bad: dict[str, object] = {"acme": 1, "who": "human", "words": "raise"}
    path.write_text(lines(*[bad] * 20, *RECORDS))
    assert bodies(path) == ["Hi."]
    assert run("check", path).out.count("W-PLUGIN/disabled") == 1


def test_a_hook_that_never_returns_is_abandoned(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    returns = threading.Event()
    monkeypatch.setattr("viewer.plugins.hooks.LONGEST_WAIT", 0.05)
    monkeypatch.setattr("viewer.plugins.hooks.returns", returns, raising=False)
    install(
        MODULE.replace("while True:\n                pass", "from viewer.plugins import hooks; hooks.returns.wait()")
    )
    path = tmp_path / "two.jsonl"
    path.write_text(lines({"acme": 1, "who": "human", "words": "long"}, *RECORDS))
    assert bodies(path) == ["Hi."]
    returns.set()


@pytest.mark.slow
def test_verify_accepts_a_sound_plugin(install: Install) -> None:
    install()
    result = run("formats", "--verify", "acme")
    assert (result.code, result.err) == (0, "acme passes: expected, splits, leaks, markers, speed.\n")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (('flag("muzzled")', 'flag("gagged")'), "shown are not the"),
        (('Kind.THOUGHT, "assistant"', 'Kind.SAID, "assistant"'), "shown are not the"),
    ],
)
def test_verify_refuses_a_plugin_that_shows_more(install: Install, change: tuple[str, str], sentence: str) -> None:
    assert change[0] in MODULE
    install(MODULE.replace(*change))
    result = run("formats", "--verify", "acme")
    assert result.code == 1
    assert sentence in result.err
    assert "SECRET" not in result.err


def test_verify_finds_text_that_shows_only_if_it_differs(install: Install) -> None:
    guarded = 'RecordRule((is_("who", "boss"),), Kind.SAID, "system", "words"),'
    loose = (
        'RecordRule((has("note"),), Kind.SAID, "assistant", "words"),\n'
        '                RecordRule((is_("words", "SECRET_ORDER"),), Kind.INJECTED, "user", "words"),\n'
        '                RecordRule((is_("who", "boss"),), Kind.SAID, "assistant", "words"),'
    )
    assert guarded in MODULE
    install(MODULE.replace(guarded, loose))
    result = run("formats", "--verify", "acme")
    assert result.code == 1
    assert "would be shown if it differed" in result.err
