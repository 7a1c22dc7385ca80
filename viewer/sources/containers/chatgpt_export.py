"""Data exports of ChatGPT and Claude.ai in ZIP archives: the conversations, as in the unpacked file."""

from __future__ import annotations

import re
from itertools import islice

from viewer.errors import ViewerError
from viewer.sources.containers.archive import Archive, Member, check_zstd, needs_zstd
from viewer.sources.containers.parts import PartFault, Parts, without_mark

_CONVERSATIONS = re.compile(r"(?:[^/]+/)?conversations(?:-([0-9]{1,9}))?\.json")
"""The name of a conversation file. There may be several numbered files. In an archive of a folder, the name of the
folder comes first."""


def is_export(path: str, first: bytes) -> bool:
    """True if a ZIP archive contains conversations."""
    try:
        return bool(_conversations(path))
    except (ViewerError, OSError):
        return False


def format_of(path: str) -> str:
    """Return the format of the conversations, for lists of files."""
    try:
        head = b"".join(islice((part for part in _text(path, _conversations(path)[:1]) if isinstance(part, bytes)), 1))
    except (ViewerError, OSError):
        head = b""
    return "claude-ai" if b'"chat_messages"' in head else "chatgpt"


def read_export(path: str, item: str) -> Parts:
    """Return the conversations of all files, one file after another. The reader selects the item."""
    members = _conversations(path)
    if all(member.is_encrypted for member in members):
        raise ViewerError(f"{path}: this ZIP file is encrypted")
    if needs_zstd(members):
        check_zstd()
    return _text(path, members)


def _conversations(path: str) -> list[Member]:
    named = [(name, member) for member in Archive(path).members if (name := _CONVERSATIONS.fullmatch(member.name))]
    return [member for _, member in sorted(named, key=lambda each: int(each[0][1] or 0))]


def _text(path: str, members: list[Member]) -> Parts:
    archive = Archive(path)
    for member in members:
        is_start = True
        for part in archive.read(member):
            yield part if isinstance(part, PartFault) or not is_start else without_mark(part)
            is_start = is_start and isinstance(part, PartFault)
        yield b"\n"
