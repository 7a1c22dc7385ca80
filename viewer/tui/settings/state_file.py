"""State file: marks, positions, and pane sizes that survive a restart. It contains numbers only, never text of a
transcript and never a path.

The file is `state.json` in the state folder, readable only by its owner. Each transcript is identified by a keyed hash
of its path. A state file that cannot be read or has an unexpected value is ignored, and the next save replaces it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from viewer.atomic_file import AtomicFile
from viewer.errors import ViewerError
from viewer.remembered import DIGEST, key_of

MOST_FILES = 500
"""How many files to remember. The file that was closed longest ago is forgotten first."""
MOST_MARKS = 200
"""How many marks to remember per file."""
MOST_BYTES = 2 * 1024 * 1024
"""The maximum size of a state file in bytes. A larger one is ignored."""

Number = Annotated[int, Meta(ge=1, le=2**53)]
Key = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
Size = Annotated[int, Meta(ge=3, le=200)]
PaneName = Literal["outline", "inspector", "problems"]


class FileState(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The remembered state of one file."""

    at: Annotated[int, Meta(ge=0, le=2**53)] = 0
    """The message under the cursor when the file was closed; 0 for the beginning."""
    marks: Annotated[tuple[Number, ...], Meta(max_length=MOST_MARKS)] = ()


class _Saved(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of the state file."""

    key: Key
    """The random key of the hashes."""
    welcome: bool = False
    """True if the welcome card has been shown."""
    panes: dict[PaneName, Size] = field(default_factory=dict)
    files: dict[Key, FileState] = field(default_factory=dict)
    """The files by the hash of their paths, in the order in which they were last closed."""


class StateFile:
    """The saved state, and the changes since the program started. `save` merges the changes into the current content of
    the file."""

    def __init__(self, path: Path | None = None) -> None:
        """Without a path, nothing is remembered."""
        self._path = path
        self._saved = _Saved("")
        self._is_usable = path is not None
        self._closed: dict[str, FileState] = {}
        self._panes: dict[PaneName, int] = {}
        self._has_welcomed = False
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        """Read the file. A missing or broken file is treated as empty; if the file cannot be accessed, nothing is
        remembered."""
        try:
            self._saved = _decode(_content(path)) or self._saved
        except FileNotFoundError:
            return
        except OSError:
            self._is_usable = False

    @property
    def wants_welcome(self) -> bool:
        """True if the welcome card has not been shown yet, and showing it can be recorded."""
        return self._is_usable and not self._saved.welcome and not self._has_welcomed

    @property
    def panes(self) -> Mapping[PaneName, int]:
        """The pane sizes that the operator chose."""
        return {**self._saved.panes, **self._panes}

    def of(self, name: str) -> FileState:
        """Return the remembered state of a file, or an empty state if there is none."""
        own = self._closed.get(name)
        if own is not None:
            return own
        return self._saved.files.get(key_of(name, self._saved.key), FileState()) if self._saved.files else FileState()

    def welcomed(self) -> None:
        """Record that the welcome card has been shown."""
        self._has_welcomed = True

    def resized(self, pane: PaneName, size: int) -> None:
        """Record the size that the operator chose for the pane."""
        self._panes[pane] = size

    def closed(self, name: str, left: FileState) -> None:
        """Record the state in which a file was closed."""
        self._closed.pop(name, None)
        self._closed[name] = replace(left, marks=left.marks[:MOST_MARKS])

    def save(self) -> None:
        """Write the changes. If that fails, nothing is remembered and nothing is reported."""
        if self._path is None or not self._is_usable:
            return
        try:
            saved = self._merged(self._path)
            if saved is None:
                return
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with AtomicFile(self._path, overwrite=True, private=True) as file:
                file.write(msgspec.json.encode(saved).decode() + "\n")
        except (OSError, ViewerError):
            return
        self._saved, self._closed = saved, {}

    def _merged(self, path: Path) -> _Saved | None:
        """Merge the changes into the file, which another program may have changed. Return None if nothing changes."""
        try:
            before = _decode(_content(path))
        except FileNotFoundError:
            before = None
        now = before or _Saved(os.urandom(DIGEST).hex())
        files = dict(now.files)
        for name, left in self._closed.items():
            known = files.pop(key_of(name, now.key), None)
            if left != FileState() or known is not None:
                files[key_of(name, now.key)] = left
        files = {key: left for key, left in files.items() if left != FileState()}
        for key in list(files)[: max(0, len(files) - MOST_FILES)]:
            del files[key]
        panes: dict[PaneName, int] = {**now.panes, **self._panes}
        changed = replace(now, welcome=now.welcome or self._has_welcomed, panes=panes, files=files)
        return None if changed == now else changed


def _content(path: Path) -> bytes:
    """Read the file. If it is too large, treat it as empty. Anything but a regular file is an error, because reading a
    pipe would block.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        content = file.read(MOST_BYTES + 1)
    return content if len(content) <= MOST_BYTES else b""


def _decode(content: bytes) -> _Saved | None:
    try:
        return msgspec.json.decode(content, type=_Saved)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
