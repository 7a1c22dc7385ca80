"""The transcripts that are measured: made from a seed, always the same, and kept in a folder for the next run."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import count
from json import dumps
from pathlib import Path

from viewer.errors import ViewerError

SEED = 20260101
EDITION = 1
"""Counted up when the same seed would make something else."""
MEGABYTE = 1_000_000
FIRST, LAST = "Wherefore", "Thereafter"
"""Words that only the first and the last message have."""
RARE, COMMON = "Zanzibar", "answer"
"""A word with a capital that few messages have, and one that nearly all have."""
RARE_EVERY = 20_000
FAR_APART = 10_000
BIG_OUTPUT = 1_000_000
SENTENCE = "the answer is that one of these ways will take less time than we thought about it before and after you"
WORDS = SENTENCE.split()
HEAD = "---\nversion: 2.2\nmodel: m\n---\n"


class Kind(Enum):
    """A kind of transcript; the value is the suffix of its file name."""

    CHAT = "chat.ocml"
    AGENT = "agent.ocml"
    HARMONY = "chat.harmony"


@dataclass(frozen=True, slots=True)
class Input:
    """A generated file."""

    path: Path
    messages: int
    size: int


def generated(kind: Kind, size: int) -> Input:
    """A transcript of at least `size` bytes, from the folder or generated."""
    path = folder() / f"{EDITION}-{size}-{kind.value}"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts(kind, size))
        unfinished.rename(path)
    return Input(path, _count(path, b"<|start|>"), path.stat().st_size)


def folder() -> Path:
    """A private folder, even if other users share the folder for temporary files."""
    folder = Path(tempfile.gettempdir()) / f"ocmlview-bench-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise ViewerError(f"{folder} belongs to somebody else")
    return folder


def _count(path: Path, token: bytes) -> int:
    """The number of occurrences. Afterwards the file is in the page cache, if there is room."""
    found, rest = 0, b""
    with path.open("rb") as file:
        while block := file.read(8 * MEGABYTE):
            found += (rest + block).count(token)
            rest = (rest + block)[-len(token) + 1 :]
    return found


def parts(kind: Kind, size: int) -> Iterator[str]:
    """The text, turn by turn."""
    chance = random.Random(SEED)
    turns = _TURNS[kind](chance)
    head = "" if kind is Kind.HARMONY else HEAD
    end = "<|start|>assistant<|channel|>final<|message|>" + LAST + ".<|return|>"
    first = f"{head}<|start|>user<|message|>{FIRST} is that?<|end|>{'' if kind is Kind.HARMONY else chr(10)}"
    yield first
    length = len(first.encode()) + len(end)
    while length < size:
        turn = next(turns)
        length += len(turn) if turn.isascii() else len(turn.encode())
        yield turn
    yield end


def _chat(chance: random.Random) -> Iterator[str]:
    """About 300 bytes a message."""
    pool = _sentences(chance)
    for number in count(1):
        asked, thought, said = chance.choices(pool, k=3)
        calls = ""
        if number % 3 == 0:
            calls = (
                f"<|start|>assistant to=functions.find{number % 4} call_id=c{number}<|channel|>commentary"
                f'<|constrain|>json<|message|>{{"words":{number},"text":"{chance.choice(WORDS)}"}}<|call|>\n'
                f"<|start|>tool name=functions.find{number % 4} call_id=c{number} to=assistant<|channel|>commentary"
                f'<|message|>{{"ok":true,"content":"{chance.choice(pool)}"}}<|end|>\n'
            )
        yield (
            f"<|start|>user<|message|>{asked}?<|end|>\n"
            f"<|start|>assistant<|channel|>analysis<|message|>{thought}<|end|>\n{calls}"
            f"<|start|>assistant<|channel|>final<|message|>{said}{_rare(number)}.<|return|>\n"
        )


def _rare(number: int) -> str:
    return f" {RARE}" if number % RARE_EVERY == FAR_APART else ""


def _sentences(chance: random.Random) -> list[str]:
    pool = [" ".join(chance.choices(WORDS, k=chance.randint(10, 90))) for _ in range(3000)]
    pool[7] += " “quoted” – naïve café 日本語 🐙"
    return pool


def _agent(chance: random.Random) -> Iterator[str]:
    """About 4 KB a message, and now and then an output of 1 MB."""
    pool = ["\n".join(_code_line(chance) for _ in range(chance.randint(2, 130))) for _ in range(600)]
    big = [_code_lines(chance, BIG_OUTPUT) for _ in range(4)]
    for number in count(1):
        output = chance.choice(big) if number % 150 == 0 else chance.choice(pool) + chance.choice(pool)
        asked = f"<|start|>user<|message|>{chance.choice(pool)}?<|end|>\n" if number % 10 == 1 else ""
        said = chance.choice(pool)
        answer = f"<|start|>assistant<|channel|>final<|message|>{said}<|return|>\n" if number % 10 == 0 else ""
        yield (
            f"{asked}<|start|>assistant<|channel|>analysis<|message|>{chance.choice(pool)}<|end|>\n"
            f"<|start|>assistant to=functions.run call_id=call_{number:08x}<|channel|>commentary<|constrain|>json"
            f'<|message|>{{"command":{dumps(chance.choice(pool))}}}<|call|>\n'
            f"<|start|>tool name=functions.run call_id=call_{number:08x} to=assistant<|channel|>commentary"
            f"<|message|>{output}<|end|>\n{answer}"
        )


def _code_line(chance: random.Random) -> str:
    return "    " * chance.randint(0, 3) + " ".join(chance.choices(WORDS, k=chance.randint(3, 12)))


def _code_lines(chance: random.Random, size: int) -> str:
    return "\n".join(" ".join(chance.choices(WORDS, k=10)) for _ in range(size // 40))[:size]


def _harmony(chance: random.Random) -> Iterator[str]:
    """The chat again, as the models write it."""
    pool = _sentences(chance)
    for number in count(1):
        asked, thought, said = chance.choices(pool, k=3)
        calls = ""
        if number % 3 == 0:
            calls = (
                f"<|start|>assistant<|channel|>commentary to=functions.find{number % 4} <|constrain|>json"
                f'<|message|>{{"words":{number}}}<|call|>'
                f"<|start|>functions.find{number % 4} to=assistant<|channel|>commentary"
                f'<|message|>{{"ok":true,"content":"{chance.choice(pool)}"}}<|end|>'
            )
        yield (
            f"<|start|>user<|message|>{asked}?<|end|>"
            f"<|start|>assistant<|channel|>analysis<|message|>{thought}<|end|>{calls}"
            f"<|start|>assistant<|channel|>final<|message|>{said}{_rare(number)}.<|end|>"
        )


_TURNS = {Kind.CHAT: _chat, Kind.AGENT: _agent, Kind.HARMONY: _harmony}
