"""The person's own editor on the file, at a line; the app steps aside until it is closed."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread

from textual.app import App, SuspendNotSupported

from viewer.model.visibility import Audience
from viewer.render.sanitize import sanitize_line
from viewer.tui.keys import DEBUG_ONLY

NO_EDITOR = "no editor is set: put its name into $VISUAL or $EDITOR"

_PLUS = frozenset(
    [
        "vi",
        "vim",
        "nvim",
        "view",
        "vimr",
        "gvim",
        "nano",
        "pico",
        "emacs",
        "emacsclient",
        "less",
        "more",
        "micro",
        "kak",
        "joe",
        "jed",
        "mg",
        "ne",
        "mcedit",
    ]
)
"""They take `+12 file`."""
_GO_TO = frozenset(["code", "code-insiders", "codium", "vscodium", "cursor"])
"""They take `-g file:12`."""
_COLON = frozenset(["subl", "sublime_text", "hx", "helix", "zed", "atom", "mate"])
"""They take `file:12`."""


def edit(
    app: App[object], audience: Audience, path: str, line: int | None, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Open the file; returns a sentence where that cannot be done, and nothing when the editor has been closed."""
    if audience.is_safe:
        return DEBUG_ONLY
    if not Path(path).is_file():
        return "there is no file to open: the transcript came through a pipe"
    command = command_for(environment, path, line)
    if isinstance(command, str):
        return command
    try:
        with app.suspend():
            return _run(command)
    except SuspendNotSupported:
        return "this terminal cannot be handed to an editor"


def command_for(environment: Mapping[str, str], path: str, line: int | None) -> list[str] | str:
    """The editor and its arguments, or a sentence about why there is none."""
    editor = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip()
    if not editor:
        return NO_EDITOR
    try:
        words = shlex.split(editor)
    except ValueError:
        return "the command in $VISUAL or $EDITOR has a quote without its end"
    return [*words, *_file_at(Path(words[0]).stem if words else "", os.path.abspath(path), line)]  # noqa: PTH100


def _file_at(editor: str, path: str, line: int | None) -> list[str]:
    """The arguments for the file; its path is absolute, so that it is never taken for an option."""
    if line is None:
        return [path]
    if editor in _PLUS:
        return [f"+{line}", path]
    if editor in _GO_TO:
        return ["-g", f"{path}:{line}"]
    return [f"{path}:{line}"] if editor in _COLON else [path]


def _run(command: list[str]) -> str | None:
    """Nothing may be raised from here: the app would stay aside."""
    name = sanitize_line(Path(command[0]).name, 40)
    try:
        with _interrupts_for_the_editor():
            code = subprocess.run(command, check=False).returncode
    except (OSError, ValueError):
        return f"the editor cannot be started: {name}"
    return f"the editor ended with code {code}: {name}" if code else None


@contextmanager
def _interrupts_for_the_editor() -> Iterator[None]:
    """Ctrl+c in the editor is not meant for the app; a handler of our own is not passed on to the editor."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
