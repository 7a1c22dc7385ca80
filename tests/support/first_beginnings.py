"""Compare the page before the first page (see `viewer.first`) with the first page, cell by cell, and generate random
documents for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

from viewer.cli.first_page import FirstPageRequest, page_lines
from viewer.first import SIZE, Beginning, beginning_of
from viewer.model.visibility import Audience
from viewer.render.strip_controls import strip_controls
from viewer.render.style import Style
from viewer.render.theme import DARK
from viewer.tui.settings.settings import Settings

Cell = tuple[str, str]
"""The style role and the character of a cell."""

HEADERS = [
    'version: "2.2"\n', '---\nversion: "2.2"\nmodel: a\n---\n\n',
    "version: 2.2\n", "version: 2.2\nmodel: m-1\n", "---\nversion: 2.2\nmodel: m\n---\n", "", "",
    "version: 2.0\n", "version: 2.2\nprofiles:\n  harmony:\n    enabled: true\n",
    'version: 2.2\ncapabilities:\n  roles: ["user"]\n\n',
]  # fmt: skip
FRONTS = [
    "user<|channel|>final",
    "user", "user", "assistant<|channel|>final", "assistant<|channel|>final", "assistant<|channel|>analysis",
    "system", "developer", "assistant intent=preamble<|channel|>commentary", "assistant<|channel|>commentary",
    "user name=x", "assistant to=functions.f call_id=c1<|channel|>commentary<|constrain|>json", "assistant",
    "developer<|channel|>final", "tool name=functions.f call_id=c1 to=assistant<|channel|>commentary",
    "user<|channel|>analysis", "usr", " user", "assistant<|channel|>final content_type=markdown",
    "assistant<|channel|>final intent=debug", "assistant to=user",
]  # fmt: skip
STOPS = [
    "<|end|>", "<|end|>", "<|end|>", "<|return|>", "<|return|>", "<|call|>", "", "<<|end|>",
]  # fmt: skip
WORDS = [
    "word ", "word ", "A longer sentence of plain words. ", "x" * 95, "\n", "\n\n", "\n", " ", "  ", "\t",
    "\n    code", "**bold** ", "`code` ", "_it_ ", "# head\n", "\n- item", "\n1. one", "```\nfence\n```\n",
    "> quote\n", "a < b ", "<think>", "</think>", "<b>", "[INST]", "[/TOOL_CALLS]", "[{", "[link](x)",
    "◁think▷", "analysis", "final", "\\*", "~~s~~", "<|endoftext|>", "<|start_reason|>", "<|literal|>",
    "<|start|>", "<|", "<<|end|>", "<|message|>", "\u200b", "\u202e", "\x07", "\r\n", "\r", "é – “q” ", "東京 ",
    "🎉 ", "☀️", "\x1b[31m", "\xa0", "|a|b|\n|-|-|\n", "===\n", "---\n", "\nversion: 2.2\n",
    '\n{"type": "response.created"}\n', "12345. ", "12)\n", "<https://x.example> ", "&amp; ",
    '{"tool_calls": [1]}', "\x00", "<|end", "* * *\n",
    "#tag ", "*", "-", "--", "==", "a|b", "\n*word*", "\n-word", "\n__w__", "\n#", "+1 ", "\n:", "~~~", "`", "**",
]  # fmt: skip
GAPS = [
    "\n", "\n", "\n\n", "", " \n", "\n\n\n", "text\n", "\nversion: 2.2\n\n", '\n{"type": "response.cancel"}\n',
    "\n---\n",
]  # fmt: skip


def chance_text(chance: Random) -> bytes:
    """Return a document like those that the page can show, with or without something that it must not show."""
    odd, odd_words = chance.choice([0.0, 0.02, 0.1, 0.4]), chance.choice([0.0, 0.05, 0.2, 0.6])
    parts = [chance.choice(HEADERS[:7] if chance.random() > odd else HEADERS)]
    for _ in range(chance.choice([1, 3, 6, 30])):
        parts += ["<|start|>", _one(chance, FRONTS, 9, odd), "<|message|>"]
        parts += [_one(chance, WORDS, 9, odd_words) for _ in range(chance.choice([0, 1, 3, 8, 60]))]
        parts += [_one(chance, STOPS, 3, odd), _one(chance, GAPS, 3, odd)]
    return "".join(parts).encode()


def _one(chance: Random, choices: list[str], usual: int, odd: float) -> str:
    return chance.choice(choices if chance.random() < odd else choices[:usual])


def beginning_at(path: Path, size: tuple[int, int]) -> Beginning | None:
    """Return the page before the first page, as the console script makes it."""
    with path.open("rb") as file:
        data = file.read(SIZE + 1)
    return beginning_of(data[:SIZE], path.name, size, is_whole=len(data) <= SIZE)


def first_lines(path: Path, size: tuple[int, int]) -> list[list[Cell]] | None:
    """Return the cells of the first page."""
    request = FirstPageRequest(str(path), Audience(), Style(color=True), None, None, DARK, Settings())
    lines = page_lines(request, size)
    if lines is None:
        return None
    return [cells((part.look.value, strip_controls(part.text, False)) for part in line) for line in lines]


def cells(parts: Iterable[tuple[str, str]]) -> list[Cell]:
    """Return the cells of a line without those at its end that are blank. The role of blank cells has no color."""
    found = [(role if letter.strip() else "", letter) for role, text in parts for letter in text]
    while found and not found[-1][1].strip():
        found.pop()
    return found


def difference(path: Path, size: tuple[int, int]) -> str:
    """Return the first row in which the page before the first page differs from the first page; empty if there is none.
    Its title contains only the file and the level."""
    page = beginning_at(path, size)
    if page is None:
        return ""
    lines = first_lines(path, size)
    if lines is None:
        return "there is no first page"
    made = [cells(line) for line in page.lines]
    for number, (one, other) in enumerate(zip(made, lines, strict=True)):
        is_same = one == other or (not one and not page.is_complete)
        if number == 0 and not page.is_complete:
            padded = [*other, *[("", " ")] * (len(one) - len(other))]
            is_same = all(not cell[1].strip() or cell == padded[at] for at, cell in enumerate(one))
        if not is_same:
            texts = ("".join(letter for _, letter in line) for line in (one, other))
            return f"row {number}: {' instead of '.join(map(repr, texts))}"
    return ""
