"""All text reachable from the widgets of an app, except through the document."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.app import App

from viewer.checks.analysis import Analysis
from viewer.document.diagnostics import DiagnosticView
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.vault import Vault
from viewer.sources.file_source import FileSource
from viewer.sources.files import SpooledSource

SOURCES = (Document, Analysis, Projection, Rows, DiagnosticView, Vault, FileSource, SpooledSource)
"""Sources of text, which are skipped. The walk only looks for text that was derived from them."""
DEEPEST = 9
_LEAVES = (type, types.ModuleType, int, float, complex, type(None), types.CodeType)


def reachable_text(app: App[int]) -> str:
    """Return all strings, one per line."""
    roots: list[object] = [app]
    for screen in app.screen_stack:
        roots += [screen, *screen.walk_children()]
    found: list[str] = []
    seen: set[int] = set()
    waiting: deque[tuple[object, int]] = deque((root, 0) for root in roots)
    keep: list[object] = []
    while waiting:
        thing, depth = waiting.popleft()
        if isinstance(thing, str):
            found.append(thing)
        elif isinstance(thing, bytes | bytearray):
            found.append(bytes(thing).decode("utf-8", "replace"))
        elif id(thing) not in seen and not isinstance(thing, (*_LEAVES, *SOURCES)):
            seen.add(id(thing))
            keep.append(thing)
            if depth < DEEPEST:
                waiting.extend((part, depth + 1) for part in _parts(thing))
    return "\n".join(found)


def _parts(thing: Any) -> Iterator[object]:
    """Yield the parts of an object."""
    if isinstance(thing, dict):
        yield from list(thing.keys())
        yield from list(thing.values())
    elif isinstance(thing, list | tuple | set | frozenset | deque):
        yield from list(thing)
    elif isinstance(thing, types.MethodType):
        yield thing.__self__
    elif isinstance(thing, partial):
        yield from (*thing.args, *thing.keywords.values())
    elif isinstance(thing, types.FunctionType):
        yield from (cell.cell_contents for cell in thing.__closure__ or () if _is_set(cell))
        yield from thing.__defaults__ or ()
    else:
        yield from list(getattr(thing, "__dict__", {}).values())
        for kind in type(thing).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in [slots] if isinstance(slots, str) else slots:
                yield getattr(thing, f"_{kind.__name__.lstrip('_')}{name}" if _is_private(name) else name, None)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _is_set(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
