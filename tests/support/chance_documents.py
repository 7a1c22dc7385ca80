"""Random documents like those of `tests.support.fragments`, at a tenth of the cost, for long campaigns."""

from __future__ import annotations

from random import Random

from tests.support.fragments import (
    ATTRIBUTES,
    BODIES,
    BROKEN_BYTES,
    CHANNELS,
    EVENTS,
    HEADERS,
    MARKS,
    MESSAGES,
    ROLES,
    TEXT_FORMATS,
    TOGETHER,
    TYPES,
    Document,
)

SPACES = ["", " ", "\n", "\r\n", "\t", "\n\n"]
STARTS = ["<|start|>"] * 4 + ["<|start|><|start|>", ""]
STOPS = ["<|end|>", "<|return|>", "<|call|>", ""]
MESSAGE_MARKS = ["<|message|>"] * 3 + [""]
WRONG_IN_A_HEADER = [" json", " words", "<|channel|>final", "\n", "<|end|>", "<|start|>"]
LINES = [line + "\n" for line in EVENTS]
WHOLE = [MESSAGES, MESSAGES, MESSAGES, MESSAGES, TOGETHER, MARKS, LINES, HEADERS, SPACES]


def chance_document(chance: Random) -> Document:
    """Return text with `<|start|>`, and one of the formats that use it."""
    beginning = chance.choice([b"", chance.choice(HEADERS).encode(), b"\xef\xbb\xbf"])
    text = beginning + b"".join(_part(chance) for _ in range(chance.randrange(9)))
    if chance.randrange(4) == 0:
        text = _slipped(text, chance)
    return text, chance.choice(TEXT_FORMATS)


def _part(chance: Random) -> bytes:
    which = chance.randrange(len(WHOLE) + 4)
    if which < len(WHOLE):
        return chance.choice(WHOLE[which]).encode()
    return _body_part(chance) if which == len(WHOLE) else _message(chance)


def _message(chance: Random) -> bytes:
    start = chance.choice(STARTS) + _header(chance) + chance.choice(MESSAGE_MARKS)
    body = b"".join(_body_part(chance) for _ in range(chance.randrange(4)))
    return start.encode() + body + (chance.choice(STOPS) + chance.choice(SPACES)).encode()


def _header(chance: Random) -> str:
    words = [chance.choice(["", *ROLES]), *chance.sample(ATTRIBUTES, chance.randrange(4))]
    text = " ".join(words)
    if chance.randrange(2):
        text += "<|channel|>" + chance.choice(CHANNELS) + chance.choice(["", f" {chance.choice(ATTRIBUTES)}"])
    if chance.randrange(4) == 0:
        text += chance.choice([" ", ""]) + "<|constrain|>" + chance.choice(TYPES)
    return text + (chance.choice(WRONG_IN_A_HEADER) if chance.randrange(8) == 0 else "")


def _body_part(chance: Random) -> bytes:
    if chance.randrange(8) == 0:
        return chance.choice(BROKEN_BYTES)
    return chance.choice(BODIES if chance.randrange(3) else MARKS).encode()


def _slipped(text: bytes, chance: Random) -> bytes:
    """Remove, repeat, or change some bytes."""
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((1, 1, 2, 5, 20)))
    between = chance.choice([b"", text[start:end] * 2, chance.choice(MARKS).encode(), bytes([chance.randrange(256)])])
    return text[:start] + between + text[end:]
