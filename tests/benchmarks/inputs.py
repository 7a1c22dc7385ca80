"""The corpora to measure: made of real text from a seed, always identical, and kept in a folder for the next run."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from tests.benchmarks import writers
from tests.benchmarks.conversations import Conversation, Said, last_message
from tests.benchmarks.words import ABSENT, COMMON, FIRST, LAST, RARE, SEED
from viewer.errors import ViewerError

__all__ = ["ABSENT", "COMMON", "FIRST", "LAST", "RARE", "SEED"]

EDITION = 2
"""Increase this if the same seed starts to generate another corpus."""
MEGABYTE = 1_000_000
HEAD = "---\nversion: 2.2\nmodel: m\n---\n"


class Corpus(Struct, frozen=True):
    """How a corpus is made. Its files have the same name."""

    ending: str
    format: str
    parts: Callable[[], Iterator[str]]
    head: str = ""
    last: Callable[[Said], str] | None = None
    """A function that writes the last message, if there is one."""
    tail: str = ""


class Input(Struct, frozen=True):
    """A generated file."""

    path: Path
    messages: int
    size: int


def _text(conversation: Callable[[], Conversation], write: Callable[[Said], str]) -> Callable[[], Iterator[str]]:
    return lambda: writers.each(write)(conversation().turns())


def _agent(foreign_every: int) -> Corpus:
    make = _text(lambda: Conversation(foreign_every), writers.openchatml)
    return Corpus("ocml", "openchatml-2.2", make, HEAD, writers.openchatml)


def _harmony(foreign_every: int) -> Corpus:
    return Corpus(
        "harmony", "harmony", _text(lambda: Conversation(foreign_every), writers.harmony), "", writers.harmony
    )


def _chat(*, multilingual: bool) -> Corpus:
    make = _text(lambda: Conversation(multilingual=multilingual, tools=multilingual), writers.openchatml)
    return Corpus("ocml", "openchatml-2.2", make, HEAD, writers.openchatml)


def _records(write: Callable[[writers.Turns], Iterator[str]]) -> Callable[[], Iterator[str]]:
    return lambda: write(Conversation().turns())


CORPORA: dict[str, Corpus] = {
    **{f"agent-{every}": _agent(every) for every in (0, 1000, 100, 20, 5)},
    **{f"harmony-{every}": _harmony(every) for every in (0, 20)},
    "chat": _chat(multilingual=False),
    "multilingual": _chat(multilingual=True),
    "tools": Corpus("ocml", "openchatml-2.2", writers.declared_tools, HEAD),
    "array": Corpus("json", "json", _records(writers.json_array), "[", None, "]\n"),
    "lines": Corpus("jsonl", "json", _records(writers.json_lines)),
    "events": Corpus("jsonl", "events", _records(writers.events)),
    "chatml-json": Corpus("json", "chatml-json", _records(writers.chatml_json), "[", None, "]\n"),
    "openchatml-0.1": Corpus("txt", "openchatml-0.1", _text(Conversation, writers.openchatml_0_1)),
}
"""The corpora by name. The number N in `agent` and `harmony` means that, on average, one body in N has a foreign token:
`<|` followed by anything except a control token of the format. 0 means none."""


def generated(name: str, size: int) -> Input:
    """Return a corpus of at least `size` bytes, generating it if necessary. A file appears in the folder only when it
    is complete."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"  # the text comes from its standard library
    path = folder() / f"{EDITION}-{version}-{name}-{size}.{CORPORA[name].ending}"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts(name, size))
        unfinished.rename(path)
    return Input(path, _count(path, b"<|start|>"), path.stat().st_size)


def folder() -> Path:
    """Return a private folder, even if others share the folder for temporary files."""
    folder = Path(tempfile.gettempdir()) / f"ocmlview-bench-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise ViewerError(f"{folder} belongs to another user")
    return folder


def _count(path: Path, token: bytes) -> int:
    """Count the occurrences of a token. This also loads the file into the page cache, as far as it fits."""
    found, rest = 0, b""
    with path.open("rb") as file:
        while block := file.read(8 * MEGABYTE):
            found += (rest + block).count(token)
            rest = (rest + block)[-len(token) + 1 :]
    return found


def parts(name: str, size: int) -> Iterator[str]:
    """Yield the text of a corpus, part by part."""
    corpus = CORPORA[name]
    end = (corpus.last(last_message()) if corpus.last else "") + corpus.tail
    length = len(corpus.head) + len(end)
    yield corpus.head
    for part in corpus.parts():
        yield part
        length += len(part) if part.isascii() else len(part.encode("utf-8", "replace"))
        if length >= size:
            break
    yield end
