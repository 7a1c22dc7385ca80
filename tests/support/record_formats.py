"""Laws for every record format: how the input is cut, what truncated input shows, and what renamed types hide."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.reading import Reading, codes, read, read_cut, visible_texts, visible_texts_at_any_time

EXAMPLES = Path(__file__).parents[1] / "data" / "formats"
SECRET = "SECRET_"


def lines(*records: object) -> bytes:
    """Return one record per line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def events(*records: dict[str, Any]) -> bytes:
    """Return server-sent events with the type of each record."""
    return b"".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in records)


def shown(data: bytes | object, format: str) -> list[str]:
    """Return the text of each message that the end user sees."""
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return [text.strip() for text in visible_texts(text, format)]


def hidden(data: bytes | object, format: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each hidden message."""
    found = reading(data, format)
    pairs = zip(found.messages, found.texts, found.visible, strict=True)
    return [(message.header.kind.value, text) for message, text, visible in pairs if not visible]  # type: ignore[attr-defined]


def reading(data: bytes | object, format: str) -> Reading:
    """Return the messages read from bytes, or from one JSON document."""
    return read(data if isinstance(data, bytes) else json.dumps(data).encode(), format)


def problems(data: bytes | object, format: str) -> list[str]:
    """Return the codes of all diagnostics."""
    return codes(reading(data, format))


def outcomes(data: bytes | object, format: str) -> list[str | None]:
    """Return the outcomes that the replies report."""
    replies = [each.header for each in reading(data, format).messages if each.header.kind.value == "reply"]  # type: ignore[attr-defined]
    return [header.outcome.value if header.outcome else None for header in replies]


def assert_cuts_do_not_matter(data: bytes, format: str) -> None:
    """Check that reading byte by byte, and in random pieces, yields the same result as reading in one piece."""
    whole = read(data, format)
    assert read_cut(data, format, range(1, len(data))) == whole
    chance = random.Random(len(data))
    for _ in range(8):
        assert read_cut(data, format, chance.sample(range(len(data)), min(5, len(data)))) == whole


def assert_truncation_hides(data: bytes, format: str, count: int = 80) -> None:
    """Check that no prefix of the input shows hidden text, whether the input still grows or has ended."""
    for end in range(0, len(data), max(1, len(data) // count)):
        for text in visible_texts_at_any_time(data[:end], format):
            assert SECRET not in text, (end, text)


def assert_renamed_types_hide(data: bytes, format: str) -> None:
    """Check that no other text is shown if the value or the key of any `type` is renamed."""
    usual = set(shown(data, format))
    count = 0
    for renamed in _renamed(data):
        count += 1
        for text in shown(renamed, format):
            assert SECRET not in text
            assert any(text in one or one in text for one in usual), (text, renamed)
    assert count


def _renamed(data: bytes) -> Iterator[bytes]:
    for mark in (b'"type":', b'"type": '):
        at = data.find(mark + b'"')
        while at >= 0:
            start = at + len(mark)
            end = data.index(b'"', start + 1)
            yield data[: start + 1] + b"x" + data[end:]
            yield data[:at] + b'"x":' + data[at + len(mark) :]
            at = data.find(mark + b'"', end)


def assert_forced_hides(format: str) -> None:
    """Check that the format hides every secret in the examples of all formats."""
    for path in sorted(EXAMPLES.iterdir()):
        if not path.name.endswith(".seen.json"):
            texts = shown(path.read_bytes(), format)
            assert not [text for text in texts if SECRET in text], path.name
