"""Read text in every text format, and compare its safe views."""

from __future__ import annotations

from viewer.cli.lens import compare
from viewer.document.document import Document
from viewer.document.values import ShownMessage
from viewer.insight.lens import READERS, Reading
from viewer.model.visibility import END_USER
from viewer.sources.files import SpooledSource


def document(text: bytes, format: str | None = None) -> Document:
    return Document(SpooledSource("chat", iter([text]), False), format).load()


def readings(text: bytes) -> list[Reading]:
    return [*compare(document(text)).readings]


def safe_view(text: bytes, format: str) -> list[tuple[str, str]]:
    items = document(text, format).project(END_USER).items()
    return [(item.role, item.body) for item in items if isinstance(item, ShownMessage)]


def letters(text: bytes) -> str:
    """Return one letter per reader. Equal letters mean equal safe views; letters are assigned from left to right."""
    known: dict[str, str] = {}
    return "".join(known.setdefault(repr(safe_view(text, name)), "ABCDE"[len(known)]) for name in READERS)
