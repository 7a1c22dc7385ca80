"""Editor: its arguments, and the messages if it cannot be opened."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from textual.app import App

from tests.support.transcripts import END_USER, EVERYTHING
from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.terminal.editor import NO_EDITOR, command_for, edit


class Suspended:
    """An app that can be suspended, as on a real terminal."""

    def __init__(self) -> None:
        self.states: list[str] = []

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.states.append("aside")
        yield
        self.states.append("back")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "-a b.ocml"
    path.write_text("version: 2.2\n")
    return path


def fake_editor(folder: Path, code: int = 0) -> str:
    """Write an editor that records its arguments, and return its command."""
    program = folder / "edit or.py"
    program.write_text(
        f"import sys\nopen({str(folder / 'arguments')!r}, 'w').write('\\n'.join(sys.argv[1:]))\nsys.exit({code})\n"
    )
    return f'"{sys.executable}" "{program}"'


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vi", ["vi", "+12", "/x y"]),
        ("/usr/bin/vim.basic -R", ["/usr/bin/vim.basic", "-R", "+12", "/x y"]),
        ("emacs -nw", ["emacs", "-nw", "+12", "/x y"]),
        ("code --wait", ["code", "--wait", "-g", "/x y:12"]),
        ("hx", ["hx", "/x y:12"]),
        ("'my editor' $(id)", ["my editor", "$(id)", "/x y"]),
    ],
)
def test_each_editor_gets_the_line_in_its_own_syntax(editor: str, arguments: list[str]) -> None:
    assert command_for({"EDITOR": editor}, "/x y", 12) == arguments
    without_line = command_for({"EDITOR": editor}, "/x y", None)
    assert without_line[-1] == "/x y"


def test_visual_comes_first_and_paths_are_absolute() -> None:
    assert command_for({"VISUAL": "nano", "EDITOR": "vi"}, "-rf", None) == ["nano", str(Path.cwd() / "-rf")]


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({}, NO_EDITOR),
        ({"VISUAL": " ", "EDITOR": ""}, NO_EDITOR),
        ({"EDITOR": "'vi"}, "The command in $VISUAL or $EDITOR has an unclosed quote."),
    ],
)
def test_an_invalid_editor_setting_is_reported(environment: dict[str, str], sentence: str) -> None:
    assert command_for(environment, "/x", 1) == sentence


def opened(environment: dict[str, str], path: str) -> tuple[str | None, list[str]]:
    app = Suspended()
    said = edit(cast(App[object], app), EVERYTHING, path, 3, environment)
    return said, app.states


def test_the_app_steps_aside_and_comes_back(file: Path, tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert opened({"EDITOR": fake_editor(tmp_path)}, str(file)) == (None, ["aside", "back"])
    assert (tmp_path / "arguments").read_text() == str(file)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_app_comes_back_if_the_editor_fails(file: Path, tmp_path: Path) -> None:
    assert opened({"EDITOR": "no-such-editor"}, str(file)) == (
        "Cannot start the editor no-such-editor.",
        ["aside", "back"],
    )
    said, states = opened({"EDITOR": fake_editor(tmp_path, 3)}, str(file))
    assert states == ["aside", "back"]
    assert said is not None and said.endswith(" exited with code 3.")


def test_only_files_of_the_debug_view_are_opened(file: Path, tmp_path: Path) -> None:
    app = cast(App[object], Suspended())
    assert edit(app, END_USER, str(file), 1, {"EDITOR": "vi"}) == DEBUG_ONLY
    for path in ("-", "<stdin>", str(tmp_path), str(tmp_path / "gone")):
        said = edit(app, EVERYTHING, path, 1, {"EDITOR": "vi"})
        assert said is not None and said.startswith("There is no file to open")


async def test_an_app_that_cannot_be_suspended_says_so(file: Path) -> None:
    app: App[object] = App()
    async with app.run_test():
        said = edit(app, EVERYTHING, str(file), 1, {"EDITOR": "vi"})
        assert said == "This terminal cannot be suspended for an editor."
