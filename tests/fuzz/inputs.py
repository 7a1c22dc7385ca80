"""Fuzz inputs: mutations of samples and of known cases, hostile shapes, and random sequences of tokens."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.hostile import SHAPES

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
"""Inputs that failed once, and small inputs of every kind. All of them are replayed."""
ON_TRIAL = "new-"
"""The prefix of an input while a campaign tries it. Other campaigns skip such files."""
LARGEST = 64 * 1024

SOUP = [
    *(f"<|{name}|>".encode() for name in ("start", "end", "message", "channel", "constrain", "return", "call")),
    *(f"<|{name}|>".encode() for name in ("literal", "endliteral", "im_start", "im_end", "file_separator")),
    *(f"<|{name}|>".encode() for name in ("fim_prefix", "fim_middle", "fim_suffix", "function_call", "function_list")),
    *(f"<|{name}|>".encode() for name in ("start_reason", "end_reason", "function_output", "end_message", "endoftext")),
    *(b"user assistant system developer tool functions.f python final analysis commentary json".split()),
    *(b" to=f to=assistant call_id=c name=n intent=preamble intent=status content_type=json a=b to= ".split(b" ")),
    *(
        b"<",
        b"|>",
        b"<<",
        b"\n",
        b"\r\n",
        b" ",
        b"\t",
        b"\0",
        b"\xff",
        b"\xe2\x80",
        b"\xc2\xa0",
        b"\xe2\x80\x8b",
        b"\xef\xbb\xbf",
    ),
    *(
        b"---\n",
        b"version: 2.2\n",
        b"version: 2.0\n",
        b"model: m\n",
        b"&a ",
        b"*a ",
        b"!!x ",
        b"? ",
        b"- ",
        b": ",
        b"|\n",
        b"%YAML",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b",",
        b":",
        b"null",
        b"1e999",
        b"NaN",
        b"\\ud800",
        b"\\u0000",
        b"-",
        b"0",
        b"9" * 30,
    ),
    *(
        b'"role"',
        b'"content"',
        b'"channel"',
        b'"tool_calls"',
        b'"thinking"',
        b'"type"',
        b'"delta"',
        b'"message_id"',
        b'"m"',
    ),
    *(
        b'"response.delta"',
        b'"response.cancel"',
        b'"response.done"',
        b'"tool.cancel"',
        b'"choices"',
        b'"name"',
        b'"parameters"',
    ),
    *(
        b"event: response.delta\n",
        b"data: ",
        b"[DONE]\n",
        b"[BOS]",
        b"[EOS]",
        b"<think>",
        b"</think>",
        b"200006,",
        b"1428,200008,",
    ),
    *(
        b"namespace functions {\n",
        b"type f = (_: {\n",
        b"a?: string,\n",
        b"}) => any;\n",
        b"} // x\n",
        b"// c\n",
        b"| ",
        b"paths:\n",
    ),
    *(mark.encode() for mark in ("“", "”", "é", "😀", "\u202e", "\U000e0041", "\ufdd0")),
    *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b]0;x\x07"),
]


def seeds() -> list[bytes]:
    """Return small samples, found cases and hostile shapes."""
    found = [file for folder in (ROOT / "samples", CORPUS) for file in sorted(folder.rglob("*"))]
    files = [file for file in found if file.is_file() and not file.name.startswith(ON_TRIAL)]
    texts = [file.read_bytes()[:LARGEST] for file in files]
    return [*texts, *(shape.text(300) for shape in SHAPES)]


def mutated(seed: bytes, others: list[bytes], chance: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((0, 1, 1, 2, 5, 20, 100)))
        way = chance.randrange(7)
        if way == 0:
            del data[at:to]
        elif way == 1:
            data[at:to] = chance.choice(SOUP)
        elif way == 2:
            data[at:at] = b"".join(chance.choices(SOUP, k=chance.randrange(1, 6)))
        elif way == 3:
            data[at:at] = data[at:to] * chance.choice((1, 2, 30))
        elif way == 4:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            data[at:to] = other[start : start + chance.choice((3, 30, 300))]
        elif way == 5 and at < len(data):
            data[at] = chance.randrange(256)
        else:
            del data[at:]
    return bytes(data[:LARGEST])


def next_input(others: list[bytes], chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return b"".join(chance.choices(SOUP, k=chance.choice((1, 3, 8, 20, 60, 200))))
    return mutated(chance.choice(others), others, chance)
