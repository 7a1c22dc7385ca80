"""Completion of `FILE:ITEM`, which names one transcript of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.reading.format import ReadOptions
from viewer.sources.containers.items import split_item
from viewer.sources.containers.table import container_at, items_of
from viewer.sources.files import open_source

MOST_OFFERED = 200
READ_FIRST = 1024 * 1024
"""How many bytes of a plain file to search for transcripts."""
_PLAIN = re.compile(r"[A-Za-z0-9._@/+:-]{1,128}")
"""A pattern for names that need no quoting in any shell."""


def named_items(typed: str) -> list[str] | None:
    """Return the completions of `FILE:` followed by the start of an item name; None for any other text."""
    file, item = split_item(typed + ("x" if typed.endswith(":") else ""))
    if not item:
        return None
    start = typed[len(file) + 1 :]
    found = (name for name in _names(file) if name.startswith(start) and _PLAIN.fullmatch(name))
    return [f"{file}:{name}" for name in islice(found, MOST_OFFERED)]


def _names(file: str) -> Iterator[str]:
    container = container_at(file)
    if container is not None and not container.numbered:
        yield from items_of(container, file)
        return
    try:
        document = Document(open_source(file), None, ReadOptions())
    except ViewerError:
        return
    document.read_some(READ_FIRST)
    sessions = document.tally.sessions
    if len(sessions) > 1:
        yield from map(str, range(1, len(sessions) + 1))
        yield from dict.fromkeys(filter(None, sessions))
