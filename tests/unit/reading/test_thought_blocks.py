"""Thought blocks, compared with a model written from VISIBILITY.md section 2, for all ways to read a body."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.stats import count
from viewer.document.values import ShownMessage
from viewer.model.messages import Coding, Piece
from viewer.model.visibility import END_USER
from viewer.reading.bodies import Body, read_body
from viewer.reading.template_marks import THINK_TAGS
from viewer.reading.thoughts import MAY_BE_MARK, quoted_tags, thought_blocks, without_thoughts, without_thoughts_so_far
from viewer.sources.files import open_source

WORDS = ["a", "b", " ", "\n", "é", "<", "[", "</", "<think", "` ", '<think a="', "<<|end_reason|>", "<think/>"]
MARKS = [
    *("<|start_reason|>", "<|end_reason|>", "<|start_reflect|>", "<|end_reflect|>"),
    *("<think>", "</think>", "<THINK>", '<think time="3">', "</Think >", "<thinking>", "</thinking>"),
    *("[THINK]", "[/THINK]", "\n<think>", "\n</think>"),
]
TEXTS = st.lists(st.sampled_from([*WORDS, *MARKS, *MARKS]), max_size=14).map("".join)
MARK = re.compile(
    r"(?<!<)<\|(start|end)_(reason|reflect|introspect)\|>|<(/?)((?i:think(?:ing)?))(?:\s[^<>]*)?(?<!/)>|\[(/?)(THINK)\]"
    r"|<((?i:think(?:ing)?))\s[^<>]*(?=<|\Z)"
)


def body_of(text: str) -> Body:
    data = text.encode()
    return read_body((Piece(0, len(data), Coding.ESCAPED),), lambda start, end: data[start:end])


def model(text: str) -> tuple[str, bool]:
    """Return the visible rest of the text, and whether a closing mark without an opening one hid earlier text."""
    hidden = [False] * len(text)
    hidden_to, before = 0, 0
    withdrawn = False
    opened: list[tuple[str, int]] = []
    quoted: list[tuple[str, int]] = []
    for mark in MARK.finditer(text):
        gap = text[before : mark.start()]
        before = mark.end()
        kind = (mark[2] or mark[4] or mark[6] or mark[7]).lower() + ("[" if mark[6] else "")
        if mark[1] == "start" or not (mark[1] or mark[3] or mark[5]):
            begins = mark[1] or gap.strip(" \t\v\f") == "" or gap.rstrip(" \t\v\f")[-1] in "\r\n"
            if begins:
                opened.append((kind, mark.start()))
            elif not opened:
                quoted.append((kind, mark.start()))
            continue
        is_open = kind in [each for each, _ in opened]
        if is_open:
            while True:
                name, start = opened.pop()
                if name == kind:
                    break
            if not opened:
                hidden[start : mark.end()] = [True] * (mark.end() - start)
                hidden_to = mark.end()
        elif not opened and kind in [each for each, _ in quoted]:
            while quoted.pop()[0] != kind:
                pass
        elif not opened:
            withdrawn = True
            quoted = [one for one in quoted if one[1] < hidden_to]
            hidden[hidden_to : mark.end()] = [True] * (mark.end() - hidden_to)
            hidden_to = mark.end()
    for _, start in [*opened[:1], *quoted[:1]]:
        hidden[start:] = [True] * (len(text) - start)
    return "".join(char for char, is_hidden in zip(text, hidden, strict=True) if not is_hidden), withdrawn


def shown(text: str) -> str:
    return without_thoughts(body_of(text))


@pytest.mark.slow
@given(TEXTS)
def test_the_remaining_text_equals_that_of_the_reference_model(text: str) -> None:
    left, _ = model(text)
    assert shown(text).lstrip() == left.replace("<<|", "<|").lstrip()


@pytest.mark.slow
@given(TEXTS)
def test_shown_text_only_grows_until_a_mark_closes_nothing(text: str) -> None:
    _, withdrawn = model(text)
    settled, data = shown(text), text.encode()
    for length in range(len(data) + 1):
        so_far = without_thoughts_so_far(
            read_body((Piece(0, length, Coding.ESCAPED),), lambda start, end: data[start:end])
        )
        assert withdrawn or settled.startswith(so_far), data[:length]
    assert settled.startswith(without_thoughts_so_far(body_of(text)))


@pytest.mark.slow
@given(TEXTS)
def test_no_text_with_a_block_escapes_the_prefilters(text: str) -> None:
    body = body_of(text)
    if thought_blocks(body) or quoted_tags(body):
        assert MAY_BE_MARK.search(body.data)


NESTED = [
    ("vis <|start_reason|>A <|start_reflect|>B<|end_reflect|> STILL<|end_reason|> tail", "vis  tail"),
    ("a<|start_reason|>x<|end_reflect|>y", "a"),
    ("a<|start_reason|>x<|start_reflect|>y<|end_reason|>b", "ab"),
    ("a<|start_reason|>x<|start_reason|>y<|end_reason|>z", "a"),
    ("secret<|end_reason|>b", "b"),
    ("a<|start_reason|>x<|end_reason|>secret<|end_introspect|>b", "ab"),
    ("<think>\n<think>\nx</think>\nstill</think>b", "b"),
    ("<thinking>x <think>y</think> still</thinking>b", "b"),
    ("<think>x</thinking>still", ""),
    ('<THINK time="3">x</think>b', "b"),
    ("a\n  <Thinking>x</THINKING>b", "a\n  b"),
    ("[THINK]x[/THINK]b", "b"),
    ("a<|end_reason|><think>x</think>b", "b"),
    ("say `<think>` and `</think>`.", "say `<think>` and `</think>`."),
    ("Sure. <think>cut off", "Sure. "),
    (
        "Run `git commit -m <reason>` or f [-m <reason>] (<thinking> ).",
        "Run `git commit -m <reason>` or f [-m <reason>] (<thinking> ).",
    ),
    ("It emits <think>, then <think>. Then text.", "It emits <think>, then <think>. Then text."),
    ("Sure. <think>... cut off", "Sure. "),
    ('Sure. <think>"Cut off', "Sure. "),
    ("Sure. <think> cut, <think>, off", "Sure. "),
    ("<reason>, cut off", ""),
    ("a\n<think>. Cut off", "a\n"),
    ("Sure. <think>a</think> b<think>cut off", "Sure. <think>a</think> b"),
    ("one</think>two</think>three", "three"),
]


NESTED += [
    ("< think >x</ think >b", "b"),
    ("x< / THINK >b", "b"),
    ("[REASONING]x", ""),
    ("a\n[Thought]x[/Thought]b", "a\nb"),
    ("[Analysis]\nSales rise.", "[Analysis]\nSales rise."),
    ("[Analysis]\n<think>x</think>b", "[Analysis]\nb"),
    ("[reasoning](https://example.com/a) b", "[reasoning](https://example.com/a) b"),
    ("[reasoning][1] b\n\n[reasoning]: https://example.com", "[reasoning][1] b\n\n[reasoning]: https://example.com"),
    ("x[/reasoning]b", "b"),
    ("＜think＞x＜／think＞b", "b"),
    ("【Analysis】a 《Reflection》", "【Analysis】a 《Reflection》"),
    (":::thinking\nx\n:::\nb", "\nb"),
    (":::thinking\nx :::\ny", ""),
    (":::note\na\n:::\nb", ":::note\na\n:::\nb"),
    ("a < b, < think > and < /think >", "a < b, < think > and < /think >"),
]


@each("written, left", NESTED)
def test_nested_and_unmatched_marks(written: str, left: str) -> None:
    assert shown(written) == left


@each("tag", THINK_TAGS, batch=100)
def test_each_tag_hides_in_every_bracket(tag: str) -> None:
    for written in ("<%s>x</%s>b", "< %s >x< /%s >b", "&lt;%s&gt;x&lt;/%s&gt;b", "＜%s＞x＜/%s＞b", "⟨%s⟩x⟨/%s⟩b"):
        assert shown(written % (tag, tag)) == "b", written


def test_colons_elsewhere_change_no_mark() -> None:
    for tag in ("think", "THOUGHTS", "plan", "inner_monologue", "思考"):
        for opening, closing in (
            ("<", ">"),
            ("< ", ">"),
            ("&lt;", "&gt;"),
            ("\\u003c", "\\u003e"),
            ("[", "]"),
            ("＜", "＞"),
            ("◁", "▷"),
        ):
            ends = f"{opening}/{tag}{closing}"
            for text in (
                f"{opening}{tag}{closing}b{ends}c",
                f"b{ends}c",
                f"a {opening}{tag}{closing} b",
                f"{opening}0 {tag}",
            ):
                body, other = body_of(text), body_of(f"{text} x:::y")
                assert quoted_tags(body) == quoted_tags(other), text
                assert [start for start, _ in thought_blocks(body)] == [start for start, _ in thought_blocks(other)], (
                    text
                )


@pytest.mark.parametrize(
    ("written", "blocks", "tags"),
    [
        ("<think>a</think><think>b</think>c", ["<think>a</think>", "<think>b</think>"], []),
        ("a <think>b</think>c", [], ["<think>"]),
        ("a <think>b</think>c</think>d", ["a <think>b</think>c</think>"], []),
        ("a<|start_reason|>b<|start_reflect|>c", ["<|start_reason|>b<|start_reflect|>c"], []),
    ],
)
def test_each_block_and_each_quoted_tag_is_reported(written: str, blocks: list[str], tags: list[str]) -> None:
    body = body_of(written)
    data = body.data.decode()
    assert [data[start:end] for start, end in thought_blocks(body)] == blocks
    assert [data[start:end] for start, end in quoted_tags(body)] == tags


@pytest.mark.slow
@pytest.mark.share(quick=18, test=3)
@pytest.mark.parametrize(
    "part", ["<|start_reason|>", "<|end_reflect|>", "<think>", "</think>", "a <think>", "\n[THINK]"]
)
def test_many_marks_take_linear_time(part: str) -> None:
    body = body_of("<|start_reason|>" * 30_000 + part * 30_000)
    assert len(without_thoughts(body)) <= 30_000 * len(part)


@pytest.mark.share(quick=0)
@pytest.mark.parametrize("big", [False, True])
def test_body_blocks_search_stats_and_checks_agree(big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(13)
    texts = ["".join(chance.choices([*WORDS, *MARKS], k=chance.randrange(10))) + "." for _ in range(300)]
    file = tmp_path / "answers.ocml"
    frame = "<|start|>assistant<|channel|>final<|message|>{}<|end|>\n"
    file.write_text("version: 2.2\n" + "".join(map(frame.format, texts)), "utf-8")
    monkeypatch.setattr("viewer.document.vault.BLOCK", 5)
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    if big:
        monkeypatch.setattr("viewer.document.one_reading.BIG", 0)
        monkeypatch.setattr("viewer.document.one_reading.WORTH_SCANNING", 0)
    document = Document(open_source(str(file))).load()
    projection = document.project(END_USER)
    rows = projection.rows()
    wanted = list(map(shown, texts))
    items = list(projection.items())
    assert [item.body for item in items if isinstance(item, ShownMessage)] == wanted
    assert ["".join(projection.body_blocks(rows, row)) for row in range(len(rows))] == wanted
    for word in ("a", "é", "<", "[", "think"):
        assert _found(projection, rows, word) == [row for row, text in enumerate(wanted) for _ in _matches(text, word)]
    findings = document.findings()
    cut = {found.diagnostic.message for found in findings if found.diagnostic.reason == "cot-in-final"}
    assert cut == {number for number, text in enumerate(texts, 1) if thought_blocks(body_of(text))}
    quoted = {found.diagnostic.message for found in findings if found.diagnostic.reason == "thought"}
    assert quoted == {number for number, text in enumerate(texts, 1) if quoted_tags(body_of(text))}
    assert sum(row.messages for row in count(document, END_USER).messages) == len(texts)


def _matches(text: str, word: str) -> list[re.Match[str]]:
    return list(re.finditer(re.escape(word), text))


def _found(projection: Projection, rows: Rows, word: str) -> list[int]:
    """Return the rows with a match, once per match. Rows that the block search cannot decide are read."""
    skimmer = projection.block_searcher(rows, word, ignores_case=False)
    assert skimmer is not None
    found: list[int] = []
    row = 0
    while row < len(rows):
        stretch = skimmer.search(row, len(rows))
        read = ["".join(projection.body_blocks(rows, careful)) for careful in stretch.unsure]
        found += [*stretch.rows]
        found += [one for one, text in zip(stretch.unsure, read, strict=True) for _ in _matches(text, word)]
        row = stretch.after
    return sorted(found)
