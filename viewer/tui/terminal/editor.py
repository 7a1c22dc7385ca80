"""Open the file in an external editor at a line while the app is suspended."""

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

NO_EDITOR = "No editor is set. Set $VISUAL or $EDITOR."

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
"""Editors that accept `+12 file`."""
_GO_TO = frozenset(["code", "code-insiders", "codium", "vscodium", "cursor"])
"""Editors that accept `-g file:12`."""
_COLON = frozenset(["subl", "sublime_text", "hx", "helix", "zed", "atom", "mate"])
"""Editors that accept `file:12`."""


def edit(
    app: App[object], audience: Audience, path: str, line: int | None, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Open the file and wait until the editor closes. If that fails, return a sentence with the reason."""
    if audience.is_safe:
        return DEBUG_ONLY
    if not Path(path).is_file():
        return "There is no file to open: the input is a pipe."
    command = command_for(environment, path, line)
    if isinstance(command, str):
        return command
    try:
        with app.suspend():
            return _run(command)
    except SuspendNotSupported:
        return "This terminal cannot be suspended for an editor."


def command_for(environment: Mapping[str, str], path: str, line: int | None) -> list[str] | str:
    """Return the editor with its arguments, or a sentence that explains why there is none."""
    editor = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip()
    if not editor:
        return NO_EDITOR
    try:
        words = shlex.split(editor)
    except ValueError:
        return "The command in $VISUAL or $EDITOR has an unclosed quote."
    return [*words, *_file_at(Path(words[0]).stem if words else "", os.path.abspath(path), line)]  # noqa: PTH100


def _file_at(editor: str, path: str, line: int | None) -> list[str]:
    """Return the arguments for the file. The path is absolute, so it cannot look like an option."""
    if line is None:
        return [path]
    if editor in _PLUS:
        return [f"+{line}", path]
    if editor in _GO_TO:
        return ["-g", f"{path}:{line}"]
    return [f"{path}:{line}"] if editor in _COLON else [path]


def _run(command: list[str]) -> str | None:
    """Run the editor. Return an error message if that fails, otherwise None. This must not raise, or the app would
    stay suspended."""
    name = sanitize_line(Path(command[0]).name, 40)
    try:
        with _interrupts_for_the_editor():
            code = subprocess.run(command, check=False).returncode
    except (OSError, ValueError):
        return f"Cannot start the editor {name}."
    return f"The editor {name} exited with code {code}." if code else None


@contextmanager
def _interrupts_for_the_editor() -> Iterator[None]:
    """Ignore Ctrl-C while the editor is running. Child processes do not inherit this handler."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
