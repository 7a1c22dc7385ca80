"""The page that is painted before anything else is imported: each cell is blank or the same as on the first page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.support.cases import each
from tests.support.chance_documents import chance_document
from tests.support.first_beginnings import beginning_at, chance_text, difference
from tests.support.first_looks import footers, looks, made
from tests.support.hostile import SHAPES
from tests.support.program import ROOT
from tests.support.samples import samples
from viewer import first_looks
from viewer.cli import COMMANDS
from viewer.entry import names_file
from viewer.first import beginning_of
from viewer.first_reading import shown_text
from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS
from viewer.reading.thoughts import SIGNS as THOUGHT_SIGNS
from viewer.remembered import may_remember
from viewer.tui.settings.places import config_file, state_file
from viewer.tui.settings.state_file import FileState, StateFile

SIZES = [(80, 24), (120, 40), (61, 90)]
DOCUMENTS = int(os.environ.get("OCML_LAB_FIRST", "300"))
HEAVY = {
    *("click", "typing", "dataclasses", "ast", "tokenize", "datetime", "platform", "urllib", "numpy", "jsonschema_rs"),
    *("msgspec", "rich", "textual", "yaml", "viewer.syntax.typescript", "viewer.tools"),
}
MOST_MODULES = 15


@pytest.mark.slow
@pytest.mark.share(quick=3)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_samples_have_the_same_cells(size: tuple[int, int]) -> None:
    paths = [sample.path for sample in samples() if not sample.asked]
    assert [(path.name, found) for path in paths if (found := difference(path, size))] == []


def test_hostile_inputs_have_the_same_cells(tmp_path: Path) -> None:
    path = tmp_path / "chat.ocml"
    for shape in SHAPES:
        path.write_bytes(shape.make(6000))
        assert difference(path, SIZES[0]) == "", shape


@pytest.mark.slow
def test_random_documents_have_the_same_cells(tmp_path: Path) -> None:
    chance, path, shown = Random(int(os.environ.get("OCML_LAB_SEED", "0"))), tmp_path / "chat.ocml", 0
    for number in range(DOCUMENTS):
        data = chance_text(chance) if number % 4 else chance_document(chance)[0]
        path.write_bytes(data)
        size = chance.choice(SIZES)
        assert difference(path, size) == "", data
        shown += beginning_at(path, size) is not None
    assert shown > DOCUMENTS / 12  # the comparison is not empty


def test_the_page_is_there_for_usual_files() -> None:
    tour = beginning_at(ROOT / "samples" / "tour.ocml", SIZES[0])
    assert tour is not None
    assert "What's the weather in Tokyo" in str(tour.lines)
    agent = (
        b"---\nversion: 2.2\nmodel: m\n---\n<|start|>user<|message|>Wherefore is that?<|end|>\n"
        b"<|start|>assistant<|channel|>final<|message|>It is.\n\n    code\n<|return|>\n"
    )
    page = beginning_of(agent, "agent.ocml", SIZES[0], is_whole=False)
    assert page is not None
    assert "Wherefore is that?" in str(page.lines)
    assert "It is." in str(page.lines)
    for sample in ("openchatml-2.2/fixture-7-preamble.ocml", "harmony/guide-history.harmony"):
        assert beginning_at(ROOT / "samples" / "valid" / sample, SIZES[0]) is not None, sample


def test_a_page_of_a_long_plain_file_is_complete() -> None:
    text = "version: 2.2\n" + "<|start|>user<|message|>Some plain words.<|end|>\n" * 3000
    page = beginning_of(text.encode()[: 64 * 1024], "chat.ocml", SIZES[0], is_whole=False)
    assert page is not None
    assert page.is_complete


@each("sign", sorted({*MARK_SIGNS, *TOKEN_SIGNS, *THOUGHT_SIGNS} - {b"<"}), batch=100)
def test_no_text_with_a_mark_is_shown(sign: bytes) -> None:
    assert shown_text(b"before " + sign + b" after") is None
    assert shown_text(b"before " + sign.upper() + b"x") is None


def test_a_text_without_its_tokens_is_not_shown() -> None:
    for word in (b"analysis", b"\n commentary", b"assistantfinal", b"Analysis"):
        assert shown_text(word + b"We need to think.") is None


@pytest.mark.slow
def test_colors_and_footers_are_those_of_the_app() -> None:
    if os.environ.get("OCML_UPDATE"):
        (ROOT / "viewer" / "first_looks.py").write_text(made(), "utf-8")
    assert looks() == first_looks.LOOKS
    assert tuple(footers()) == first_looks.FOOTERS


def test_only_the_name_of_a_file_has_a_page() -> None:
    assert not [
        word for word in (*COMMANDS, "-d", "--version", "-", "-f.ocml", "a.eval:3", "", "chat") if names_file(word)
    ]
    assert names_file("chat.ocml")
    assert names_file("./chat")


def test_only_a_file_that_is_not_remembered_has_a_page(tmp_path: Path) -> None:
    path, one, other = tmp_path / "state.json", str(tmp_path / "one.ocml"), str(tmp_path / "other.ocml")
    assert not may_remember(str(path), one)
    state = StateFile(path)
    state.closed(one, FileState(at=3))
    state.save()
    assert (may_remember(str(path), one), may_remember(str(path), other)) == (True, False)
    for content in ("", "{}", '{"key": "00"}', path.read_text().replace("files", "file\\u0073")):
        path.write_text(content)
        assert may_remember(str(path), other), content


def test_the_page_looks_for_the_files_of_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variables in ({"XDG_CONFIG_HOME": str(tmp_path / "c"), "XDG_STATE_HOME": str(tmp_path / "s")}, {}):
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"HOME": str(tmp_path), **variables}.items():
            monkeypatch.setenv(name, value)
        asked = json.loads(_run("own", str(tmp_path / "chat.ocml")))
        assert asked == [str(config_file()), str(config_file().parent / "themes"), str(state_file())]


def test_the_page_imports_next_to_nothing(tmp_path: Path) -> None:
    modules = json.loads(_run("modules", str(ROOT / "samples" / "tour.ocml")))
    assert len([name for name in modules if name.split(".")[0] == "viewer"]) <= MOST_MODULES
    assert not HEAVY & {*modules, *(name.split(".")[0] for name in modules)}


def _run(what: str, path: str) -> str:
    """Paint the page in a separate process. Return the names of the loaded modules or, for "own", of the files that it
    looks for, as JSON."""
    code = """
import sys
from viewer import entry, first
what, path = sys.argv[1:]
if what == "own":
    import json, os, viewer.remembered
    asked = []
    os.path.lexists = lambda name: bool(asked.append(name))
    viewer.remembered.may_remember = lambda name, path: asked.append(name)
    first._has_own_files(path)
    print(json.dumps(asked))
else:
    first._size_of_terminal, first._look = lambda: (80, 24), lambda: ("dark", True)
    first._has_own_files(path)
    shown = []
    first.SCREEN.show = lambda page, is_complete: shown.append(page)
    first._has_own_files = lambda path: False
    first.show_first(path)
    assert shown
    names = list(sys.modules)
    import json
    print(json.dumps(names))
"""
    ran = subprocess.run([sys.executable, "-c", code, what, path], capture_output=True, text=True, check=True, cwd=ROOT)
    return ran.stdout
