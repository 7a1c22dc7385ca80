"""The end of an input, read by itself, has the same messages as in the whole input."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.support.converting import InMemory
from viewer import native
from viewer.document.document import Document
from viewer.model.messages import Message
from viewer.model.visibility import is_user_safe
from viewer.scan import end_proof
from viewer.scan.end_proof import EndProof
from viewer.tui.files.end import has_events

PIECES = (
    "<|literal|>", "<|endliteral|>", "<<|literal|>", "<<|endliteral|>", "<|end|>", "<<|end|>", "<|start|>", "<",
    "<|channel|>", "<|message|>", "<|return|>\n", "\n---\n", "\n--- a/x\n", "\nversion: 2.0\n", "\nversion: 2.2\n---\n",
    '\n"version": 1.0\n', "version\n", "\n", "text ", '{"a":1}\n', "\n{", "\r\n", " ",
)  # fmt: skip
EVENT = '{"type":"message","role":"assistant","content":"%s"}\n'
DELTA = '{"choices":[{"index":0,"delta":{"content":"%s"}}]}\n'
SAID = ("hi", "<|end|>", "<|start|>", "<|message|>x", "<|end|><|start|>user<|message|>x<|end|>")
HEADERS = {
    "openchatml-2.2": ("---\nversion: 2.2\nmodel: m\n---\n", "version: 2.2\n", "\ufeff---\nversion: 2.2\n---\n", ""),
    "openchatml-2.0": ("---\nversion: 2.0\n---\n",),
    "openchatml-1.x": ("version: 1.0\n",),
    "harmony": ("",),
}


def text_of(chance: Random, format: str) -> bytes:
    """Return text with many features that make its end uncertain."""
    parts = [chance.choice(HEADERS[format])]
    for _ in range(chance.randint(2, 14)):
        kind = chance.random()
        body = "".join(chance.choice(PIECES) if chance.random() < 0.4 else "word " for _ in range(chance.randint(0, 6)))
        if kind < 0.8:
            role = chance.choice(("user", "assistant<|channel|>final", "assistant<|channel|>analysis", "system", "odd"))
            stop = chance.choice(
                ("<|end|>\n", "<|end|>\n", "<|end|>", "<|return|>\r\n", "<|end|> \n\n", "", "<<|end|>\n")
            )
            parts.append(f"<|start|>{role}<|message|>{body}{stop}")
        elif kind < 0.87:
            parts.append("".join(chance.choice(PIECES) for _ in range(3)))
        elif kind < 0.94:
            parts.append(chance.choice((EVENT, DELTA)) % chance.choice(SAID))
        else:
            parts.append(chance.choice(HEADERS[chance.choice(["openchatml-2.2", "openchatml-2.0"])]))
    return "".join(parts).encode()


def messages_from(document: Document, start: int, shift: int) -> list[tuple[object, ...]]:
    """Return the messages that begin at an offset or after it, with their offsets moved."""
    every = (document.index[number] for number in range(1, len(document.index) + 1))
    return [_facts(each, shift) for each in every if each.span[0] >= start]


def _facts(message: Message, shift: int) -> tuple[object, ...]:
    pieces = [(piece.start + shift, piece.end + shift, piece.coding) for piece in message.pieces]
    stop = message.stop and (message.stop[0] + shift, message.stop[1] + shift)
    return (
        (message.span[0] + shift, message.span[1] + shift),
        *(message.header, message.ending, pieces, stop, message.broke_out, is_user_safe(message)),
    )


def ends(text: bytes, format: str) -> Iterator[tuple[int, Document, int]]:
    """Yield each proven start, the text from there as a document, and the length of the header before it."""
    proof = EndProof(lambda first, last: text[first:last], len(text), is_harmony=format == "harmony")
    while not proof.is_complete:
        proof.step(lambda search, spans: [*map(search, reversed(spans))][::-1])  # as in parallel
    for start in proof.starts(0):
        end = Document(InMemory(proof.head + proof.text_from(start)), format).load()
        if not has_events(end, proof.head + proof.text_from(start), len(proof.head)):
            yield start, end, len(proof.head)


def check(seed: int, format: str) -> int:
    """Check one text and return the number of its starts."""
    text = text_of(Random(seed), format)
    whole = Document(InMemory(text), format).load()
    count = 0
    for start, end, head in ends(text, format):
        expected = messages_from(whole, start, 0)
        assert messages_from(end, head, start - head) == expected, (seed, format, start, text)
        count += 1
    return count


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_proof, "MOST_TAIL", 120)
    monkeypatch.setattr(end_proof, "BLOCK", 37)
    monkeypatch.setattr(end_proof, "BLOCKS", 2)
    monkeypatch.setattr(end_proof, "NATIVE_BLOCKS", 2)
    monkeypatch.setattr(end_proof, "FIRST_REACH", 40)


@pytest.mark.share(quick=24)
@pytest.mark.parametrize("is_native", [False, True])
@pytest.mark.parametrize("format", HEADERS)
def test_a_proven_end_has_the_messages_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, format: str, is_native: bool
) -> None:
    if not is_native:
        monkeypatch.setattr(native, "load", lambda: None)
    counts = [check(seed, format) for seed in range(100)]
    assert sum(count > 0 for count in counts) > 10, "too few ends were proven to test anything"


@pytest.mark.lab
@pytest.mark.parametrize("format", HEADERS)
def test_many_proven_ends(format: str) -> None:
    for seed in range(1_000_000, 1_050_000):
        check(seed, format)


NEEDS = (
    ("plain", True),
    ("<|literal|>quoted<|endliteral|>", True),
    ("<|literal|>quoted<|endliteral| >", False),
    ("<|literal|>quoted<|endliteral|>literal|", True),
    ("<|literal|>open", False),
    ("<<|literal|>escaped, so doubtful", False),
    ("\n--- a/file\n+++ b/file\nversion: 1\n", True),
    ("<|end|>\n---\nversion: 2.0\n---\n<|start|>user<|message|>", False),
    ("<|end|>\nversion: 2.0\n<|start|>user<|message|>", False),
    ("<|end|>\n'version': 2.0\n<|start|>user<|message|>", False),
    ("<|end|>\nadversion: 2.0\n<|start|>user<|message|>", True),
    ("<<|end|>\n---\n", False),
    ("<|end|>\n{<|message|>}\n---\n", False),
    ("<|end|>\n<<|message|>\n---\nversion: 2.0\n<|start|>user<|message|>", False),
)


def test_what_a_proof_needs() -> None:
    filler = "<|start|>user<|message|>more words<|end|>\n" * 4
    for before, is_proven in NEEDS:
        text = f"version: 2.2\n<|start|>user<|message|>{before}<|end|>\n{filler}".encode()
        assert bool(list(ends(text, "openchatml-2.2"))) is is_proven, before


def test_a_text_with_a_start_that_is_not_a_header_has_no_proof() -> None:
    filler = "<|start|>user<|message|>more words<|end|>\n" * 8
    assert not list(ends(f"some words\n{filler}".encode(), "openchatml-2.2"))
    assert list(ends(filler.encode(), "openchatml-2.2"))


def test_an_end_with_events_waits() -> None:
    filler = "<|start|>user<|message|>more words<|end|>\n" * 4
    text = f"version: 2.2\n{filler}{EVENT % 'hi'}{filler}".encode()
    starts = [start for start, _, _ in ends(text, "openchatml-2.2")]
    assert starts
    assert min(starts) > text.index(b'{"type"')
