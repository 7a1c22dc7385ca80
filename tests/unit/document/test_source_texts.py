"""The source text of a body, which writers need, is read only if it can differ from the body."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewer.document.document import open_document
from viewer.model.visibility import END_USER, EVERYTHING, Audience

START = b"<|start|>assistant<|channel|>final<|message|>"
BODIES = [
    "plain",
    "größer als 世界 🙂",
    "a <<|end|> quoted token",
    "<|literal|><|end|> in a block<|endliteral|> and after it",
    "<think>hidden</think>Shown.",
    "&lt;think&gt;hidden&lt;/think&gt;Shown.",
    "[THINK]hidden[/THINK]Shown.",
    "a < b <",
    "replaced \ufffd here",
    "\ufffd<<|end|><<|end|>",
    "",
]
SAMPLES = sorted(Path(__file__).parents[3].glob("samples/*valid/openchatml-2.2/*.ocml"))


def texts_of(path: Path, audience: Audience) -> list[tuple[str | None, str | None]]:
    """Return what writers get for each message, and the source text that was read in any case."""
    projection = open_document(str(path)).project(audience)
    vault, index = projection._vault, projection._analysis.index
    shown = list(projection.writable())
    seen = [message for message in index if audience.sees(message)]
    read = [vault.source_text_for(audience, message, "\ufffd") for message in seen]
    return list(zip((message.source_text for message in shown), read, strict=True))


@pytest.mark.parametrize("audience", [END_USER, EVERYTHING], ids=["safe", "debug"])
def test_it_is_the_same_as_if_it_were_always_read(audience: Audience, tmp_path: Path) -> None:
    path = tmp_path / "bodies.ocml"
    bodies = [*(body.encode() for body in BODIES), b"\xff <<|end|> <<|end|>"]
    path.write_bytes(b"version: 2.2\n" + b"".join(START + body + b"<|end|>" for body in bodies))
    for file in [path, *SAMPLES]:
        for given, read in texts_of(file, audience):
            assert given == read
