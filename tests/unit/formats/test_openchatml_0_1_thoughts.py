"""Nested and unmatched thought marks in the frames of OpenChatML 0.1."""

from __future__ import annotations

import pytest

from tests.support.reading import examine
from viewer.model.visibility import is_user_safe
from viewer.reading.bodies import read_body

CASES = [
    ("vis <|start_reason|>A <|start_reflect|>B<|end_reflect|> STILL<|end_reason|> tail", ["vis", "tail"]),
    ("<|start_reason|>A<|start_reason|>B<|end_reason|>STILL<|end_reason|>tail", ["tail"]),
    ("<|start_reason|>A<|start_reflect|>B<|start_introspect|>C<|end_reason|>tail", ["tail"]),
    ("<|start_reason|>A<|start_reflect|>B<|end_reason|>tail<|start_reflect|>C<|end_reflect|>end", ["tail", "end"]),
    ("SECRET<|end_reason|>tail", ["tail"]),
    ("one<|start_reason|>A<|end_reason|>SECRET<|end_reflect|>tail", ["one", "tail"]),
    ("<|start_reason|>A<|end_reflect|>STILL", []),
    ("<|end_reason|>tail", ["tail"]),
]


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_only_text_outside_blocks_is_shown(text: str, shown: list[str]) -> None:
    data = f"<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n{text}<|im_end|>\n".encode()
    for size in (len(data), 1):
        analysis = examine([data[at : at + size] for at in range(0, len(data), size)], data, "openchatml-0.1")
        answers = [one for one in analysis.index if is_user_safe(one) and one.header.role == "assistant"]
        bodies = [read_body(one.pieces, lambda start, end: data[start:end]).text for one in answers]
        assert [body.strip() for body in bodies] == shown
        everything = b"".join(data[piece.start : piece.end] for one in analysis.index for piece in one.pieces)
        assert all(word.encode() in everything for word in ("SECRET", "STILL", "tail") if word in text)
