"""A small transcript with hidden messages, and documents created from text."""

from __future__ import annotations

from pathlib import Path

from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.model.visibility import END_USER, EVERYTHING, Audience

STRICT = Audience(strict=True)

CHAT = """version: 2.2

<|start|>system<|message|>Be brief. The word is plums.<|end|>
<|start|>user<|message|>Is it warm in Tokyo? Warm, I mean.<|end|>
<|start|>assistant<|channel|>analysis<|message|>They want warm plums.<|end|>
<|start|>assistant to=functions.weather call_id=c1<|channel|>commentary<|message|>{"city":"Tokyo"}<|call|>
<|start|>tool name=functions.weather call_id=c1 to=assistant<|channel|>commentary<|message|>{"ok":true,"content":{"warm":1}}<|end|>
<|start|>assistant<|channel|>final<|message|>Yes: 20 degrees.
It is WARM.<|return|>
<|start|>user<|message|>Thanks.<|end|>
<|start|>assistant<|channel|>final<|message|>Stay warm.<|return|>
"""  # noqa: E501

__all__ = ["CHAT", "END_USER", "EVERYTHING", "STRICT", "document_of", "view"]


def document_of(folder: Path, text: str | bytes = CHAT, name: str = "chat.ocml") -> Document:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_document(str(path))


def view(document: Document, audience: Audience = END_USER) -> tuple[Projection, Rows]:
    projection = document.project(audience)
    return projection, projection.rows()
