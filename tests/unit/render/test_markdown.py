"""Markdown as spans: its blocks, its inline marks, and the tokens of its code."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from viewer.document.document import open_document
from viewer.model.visibility import END_USER
from viewer.render.highlight import LARGEST, MOST_LINES, Lexers, code_spans
from viewer.render.layout import LONG
from viewer.render.markdown import MarkdownSpans, markdown_spans
from viewer.render.page import BlockMaker
from viewer.render.style import Styled, StyleRole

ROWS: tuple[tuple[str, list[str]], ...] = (
    ("Plain text, 2 * 3 * 4.", []),
    ("**bold** and *em* and `code`", ["STRONG **bold**", "EMPHASIS *em*", "CODE `code`"]),
    ("# Title\nText", ["HEADING # Title"]),
    ("Title\n=====\nText", ["HEADING Title\n====="]),
    ("#hashtag", []),
    ("Text\n- one *a*\n  1. two", ["BULLET -", "EMPHASIS *a*", "BULLET 1."]),
    ("In 2024\n1986. was a year", []),
    ("a - b\n\n---\n\nc", ["RULE ---"]),
    ("> said **so**\n> > deep", ["BULLET >", "STRONG **so**", "BULLET >", "BULLET >"]),
    ("> - one", ["BULLET >", "BULLET -"]),
    ("```\n# no heading\n- no list\n```\ndone", ["CODE ```\n# no heading\n- no list\n```"]),
    ("- a\n  ~~~\n  x\n  ~~~", ["BULLET -", "CODE   ~~~\n  x\n  ~~~"]),
    ("Text\n\n    code\n    more\n\nText", ["CODE     code\n    more"]),
    ("```python\nnot closed", ["CODE ```python\nnot closed"]),
    ("| a | b |\n|---|---|\n| 1 | `2` |", ["STRONG | a | b |", "RULE |---|---|", "CODE `2`"]),
    ("a | b\n", []),
    ("<div>\n# Title\n</div>", ["HEADING # Title"]),
    ("[a]: http://example.org\n# Title", ["HEADING # Title"]),
)


def words(text: str, spans: list[Styled]) -> list[str]:
    return [f"{span.look.name} {text[span.start : span.end]}" for span in spans]


def test_blocks_and_marks_are_spans() -> None:
    for text, expected in ROWS:
        assert words(text, markdown_spans(text).spans) == expected, text


def test_code_with_a_known_language_has_tokens() -> None:
    text = "```python title=x\ndef f():  # why\n    return 'x'\n```"
    assert words(text, markdown_spans(text).tokens) == [
        *("CODE_WORD def", "CODE_KEY f", "CODE_NOTE # why", "CODE_WORD return"),
        *("CODE_TEXT '", "CODE_TEXT x", "CODE_TEXT '"),
    ]
    for plain in (text.replace("python", "zork"), text.replace("python", ""), f"> {text}".replace("\n", "\n> ")):
        assert markdown_spans(plain).tokens == [], plain


def test_the_last_line_of_code_that_is_not_closed_has_tokens() -> None:
    text = "~~~js\nvar a"
    assert words(text, markdown_spans(text).tokens) == ["CODE_WORD var"]


def test_long_code_is_plain() -> None:
    assert code_spans("x = 1\n" * (MOST_LINES - 1), "python")
    assert not code_spans("x = 1\n" * MOST_LINES, "python")
    assert not code_spans("1 " * LARGEST, "python")
    assert not code_spans("x = 1", "")
    assert not code_spans("x = 1", "p" * 100)


def test_code_is_plain_while_lexers_are_postponed(monkeypatch: pytest.MonkeyPatch) -> None:
    lexers = Lexers()
    monkeypatch.setattr("viewer.render.highlight.LEXERS", lexers)
    assert code_spans("x = 1", "python")
    lexers.postpone()
    assert code_spans("x = 1", "Python") == code_spans("x = 1", "no language") == []
    lexers.load_missed()
    assert code_spans("x = 1", "python") == []
    assert lexers.resume()
    assert code_spans("x = 1", "python")
    assert not lexers.resume()


def test_a_lexer_that_takes_too_long_leaves_the_rest_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.render.highlight.MOST_SECONDS", -1.0)
    assert code_spans("x = 1\n" * 100, "python") == []
    assert code_spans("x = 1", "python")


@pytest.mark.slow
def test_spans_of_any_text_are_in_order_and_inside_it() -> None:
    pieces = (
        "# ",
        "- ",
        "> ",
        "1. ",
        "```",
        "~~~",
        "py",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "|",
        "-|-",
        "*a*",
        "**b**",
        "`c`",
        "é",
        "\N{CAT}",
        " ",
    )
    chance = random.Random(1)
    for _ in range(300):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 40)))
        made = markdown_spans(text)
        for spans in (made.spans, made.tokens):
            ends = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
            assert ends == sorted(ends), text
            assert all(span.start < span.end for span in spans), text
        code = [span for span in made.spans if span.look is StyleRole.CODE]
        assert all(any(span.start <= token.start and token.end <= span.end for span in code) for token in made.tokens)


def test_a_text_that_is_too_long_is_plain() -> None:
    assert markdown_spans("# a\n" * 60_000) == MarkdownSpans()


@pytest.mark.parametrize("length", [1, 2 * LONG])
def test_tokens_of_code_are_drawn_in_short_and_in_long_messages(length: int, tmp_path: Path) -> None:
    path = tmp_path / "a.ocml"
    code = "```python\ndef f():\n    return 1\n```\n"
    path.write_text(f"version: 2.2\n<|start|>user<|message|>{code}{'a ' * length}<|end|>\n")
    projection = open_document(str(path)).project(END_USER)
    (block,) = (BlockMaker(projection, projection.rows(), 80).make(0),)
    looks = {part.look: part.text for line in block.lines for part in line.parts}
    assert (looks[StyleRole.CODE_WORD], looks[StyleRole.CODE_NUMBER]) == ("return", "1")
