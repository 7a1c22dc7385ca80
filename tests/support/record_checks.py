"""Checks that hold for every record format, used by the tests of each format."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.support.reading import Reading, read, read_cut, visible_texts

EXAMPLES = Path(__file__).parents[1] / "data" / "formats"
_TYPE = re.compile(rb'"(?:type|role|object)":"([^"]+)"')


def shown(text: bytes | str, format: str) -> list[str]:
    """Return the text of each message that the end user saw."""
    data = text.encode() if isinstance(text, str) else text
    return [body.strip() for body in visible_texts(data, format)]


def shown_in(reading: Reading) -> list[str]:
    """Return the text of each message that the end user saw, given a reading."""
    return [body.strip() for body, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def headers(reading: Reading) -> list[Any]:
    """Return the headers of all messages."""
    return [message.header for message in reading.messages]  # type: ignore[attr-defined]


def kinds(text: bytes | str, format: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each message."""
    reading = read(text, format)
    return [(header.kind.value, body) for header, body in zip(headers(reading), reading.texts, strict=True)]


def check_bytes(text: bytes, format: str) -> None:
    """Check that reading byte by byte yields the same result as reading in one piece."""
    whole = read(text, format)
    assert read_cut(text, format, range(1, len(text))) == whole


def check_prefixes(text: bytes, format: str, step: int = 61) -> None:
    """Check that the input shows no hidden text, wherever it ends."""
    for end in range(0, len(text), step):
        assert not [body for body in shown(text[:end], format) if "SECRET_" in body], end


def check_renamed(text: bytes, format: str) -> None:
    """Check that a renamed record, part, or speaker never shows more."""
    before = "\n".join(shown(text, format))
    for found in _TYPE.finditer(text):
        renamed = text[: found.start(1)] + b"x" + text[found.end(1) :]
        for body in shown(renamed, format):
            assert _is_part_of(body, before), (found[0], found.start())


def check_values(text: bytes, format: str) -> None:
    """Check that replacing a string with a number, a list, or an object never shows more."""
    before = "\n".join(shown(text, format))
    for found in re.finditer(rb'(?<=:)"[^"\\]{0,40}"(?=[,}\]])', text):
        for value in (b"7", b"[" + found[0] + b"]", b'{"text":' + found[0] + b"}", b"null", b"true"):
            if value == b"null" and text.endswith((b'"phase":', b'"kind":', b'"type":'), 0, found.start()):
                continue  # without them, the text was said
            for body in shown(text[: found.start()] + value + text[found.end() :], format):
                assert _is_part_of(body, before), (found[0], value)


def check_forced(format: str) -> None:
    """Check that no example of another format shows hidden text."""
    for path in sorted(EXAMPLES.iterdir()):
        if path.name == "README.md" or path.name.endswith(".seen.json"):
            continue
        assert not [body for body in shown(path.read_bytes(), format) if "SECRET_" in body], path.name


def _is_part_of(body: str, before: str) -> bool:
    """True if each line was there before. The label of an attachment may differ."""
    return all(line in before or line.startswith("[") for line in body.splitlines())
