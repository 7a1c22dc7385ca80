"""Calls and replies that are linked in bulk get the same links and diagnostics as when linked one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

from tests.laws.test_scan_equals_parse import CANCEL, DECLARED, HEADER, MIXED, TURNS, USER
from tests.support.reading import Reading, read, read_scanned
from viewer.checks import batches, call_columns
from viewer.checks.analysis import Analysis
from viewer.checks.call_columns import LinkedRun
from viewer.checks.calls import ToolChecks
from viewer.checks.plain_calls import PlainRows
from viewer.columns.api import Column
from viewer.document.backend import load_backend
from viewer.document.scanner import Scanner
from viewer.formats import FORMATS as TRAITS
from viewer.index.calls import CallLedger, CallState
from viewer.reading.parser import Parser

FORMATS = ("openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony")
PAIRED = ("openchatml-2.2", "openchatml-2.0", "harmony")
"""The formats in which calls and replies without problems are linked in bulk."""
HEADS = {"openchatml-2.2": HEADER, "openchatml-2.0": b"version: 2.0\n", "openchatml-1.x": b"---\nversion: 1.0\n---\n"}
WITHOUT_CONSTRAINT = FORMATS[1:3]
THOUGHT = b"<|start|>assistant<|channel|>analysis<|message|>So.<|end|>\n"
TOOLS = (b"functions.f", b"functions.f", b"g", b"browser.open", b"functions.g")
SWITCH = b"version: 2.0\n"
BAD_CALLS = (b'{"a": "x"}', b'{"a": 1, "a": 2}', b"[1]", b"{", b"text", b'{"deadline_ms": 5}', b'{"a": 1e999}')
BAD_REPLIES = (b'{"ok": false}', b'{"a": 1}', b'{"error": "E-TOOL-TIMEOUT"}', b"{x", b" {}", b'{"ok": true, "ok": 1}')
ESCAPED = b"<<|end|> \x01"
SHOWN = b"<|start|>assistant<|channel|>final<|message|>[TOOL_CALLS] <think>x</think><|end|>\n"
"""A message with problems that the call ledger does not see."""


def conversation(chance: Random, format: str) -> bytes:
    """Return turns whose calls are usually answered in pairs or in parallel, with rarer cases in between."""
    has_ids = chance.random() < (0.8 if format == FORMATS[0] else 0.2)
    trouble = chance.choice((0, 0.02, 0.1, 0.3))
    parts = [HEADS.get(format, b""), *([DECLARED] if chance.random() < 0.5 else [])]
    count = 0
    known = [b"c0"]
    for _ in range(chance.randrange(1, 7)):
        parts.append(USER)
        for _ in range(chance.randrange(5)):
            group: list[tuple[bytes, bytes]] = []
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                count += 1
                call_id = b"c%d" % count if chance.random() >= trouble else chance.choice(known)
                known.append(call_id)
                group.append((chance.choice(TOOLS), call_id if has_ids is (chance.random() >= trouble) else b""))
            messages = [_call(chance, format, *each, trouble) for each in group]
            chance.shuffle(group)
            messages += [_reply(chance, format, *each, trouble) for each in group if chance.random() >= trouble]
            if chance.random() < trouble:
                chance.shuffle(messages)
            if chance.random() < trouble:
                messages.insert(chance.randrange(len(messages) + 1), _rare(chance, known))
            parts += messages
        parts.append(THOUGHT)
    return b"".join(parts)


def _call(chance: Random, format: str, tool: bytes, call_id: bytes, trouble: float) -> bytes:
    body = b'{"a": 1}' if chance.random() >= trouble else chance.choice(BAD_CALLS)
    kind = b"<|constrain|>json" if chance.random() < 0.8 and format not in WITHOUT_CONSTRAINT else b""
    head = b"assistant to=" + tool + (b" call_id=" + call_id if call_id else b"")
    stop = b"<|call|>" if chance.random() >= trouble else b"<|end|>"
    return b"<|start|>" + head + b"<|channel|>commentary" + kind + b"<|message|>" + body + stop + b"\n"


def _reply(chance: Random, format: str, tool: bytes, call_id: bytes, trouble: float) -> bytes:
    body = chance.choice((b'{"ok": true}', b"text", b"")) if chance.random() >= trouble else chance.choice(BAD_REPLIES)
    if chance.random() < trouble:
        body += ESCAPED
    if format == "harmony":
        head = (tool if b"." in tool else b"functions." + tool) + b" to=assistant"
    else:
        head = b"tool" + (b" name=" + tool if chance.random() >= trouble else b"")
    head += b" call_id=" + call_id if call_id else b""
    return b"<|start|>" + head + b"<|channel|>commentary<|message|>" + body + b"<|end|>\n"


def _rare(chance: Random, known: list[bytes]) -> bytes:
    return chance.choice((USER, THOUGHT, MIXED, SWITCH, DECLARED, SHOWN, CANCEL % chance.choice(known), b"stray\n"))


def compare(number: int, format: str) -> None:
    chance = Random(f"pairs {number}")
    text = conversation(chance, format)
    cuts = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(3)))
    assert read_scanned(text, format, cuts, number % 3 * 200) == read(text, format), (number, format, cuts)


@pytest.mark.share(quick=0, test=2)
@pytest.mark.parametrize("format", FORMATS)
def test_random_conversations_link_alike_in_bulk_and_row_by_row(format: str) -> None:
    for number in range(30):
        compare(number, format)


@pytest.mark.lab
@pytest.mark.parametrize("format", FORMATS)
def test_many_random_conversations_link_alike_in_bulk_and_row_by_row(format: str) -> None:
    for number in range(60, 20_000):
        compare(number, format)


@pytest.fixture
def in_bulk(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """Link even few messages as columns. Return how many were linked, and how many were refused."""
    counts = Counter[bool]()
    link = ToolChecks.link_run

    def counted(self: ToolChecks, run: LinkedRun, tools: Column, bare_tools: Iterable[str]) -> bool:
        is_linked = link(self, run, tools, bare_tools)
        counts[is_linked] += run.end - run.first
        return is_linked

    monkeypatch.setattr(batches, "LEAST_TOGETHER", 0)
    monkeypatch.setattr(call_columns, "LEAST", 2)
    monkeypatch.setattr(ToolChecks, "link_run", counted)
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("format", PAIRED)
def test_columns_of_calls_link_alike_in_bulk_and_row_by_row(format: str, in_bulk: Counter[bool]) -> None:
    for number in range(200, 215):
        compare(number, format)
    assert in_bulk[True] > 20


@pytest.mark.lab
@pytest.mark.parametrize("format", PAIRED)
def test_many_columns_of_calls_link_alike_in_bulk_and_row_by_row(format: str, in_bulk: Counter[bool]) -> None:
    for number in range(215, 20_000):
        compare(number, format)
    assert in_bulk[True] > 20_000 and in_bulk[False] > 0


def test_faulty_arguments_are_reported_between_other_problems(in_bulk: Counter[bool]) -> None:
    turns = []
    for number in range(9):
        call = _call(Random(number), FORMATS[0], b"functions.f", b"c%d" % number, 0)
        turns += [call.replace(b": 1", b': "x"') if number % 3 else call, SHOWN if number % 2 else b""]
        turns.append(_reply(Random(number), FORMATS[0], b"functions.f", b"c%d" % number, 0))
    text = b"".join((HEADER, DECLARED, USER, *turns))
    expected = read(text, FORMATS[0])
    assert read_scanned(text, FORMATS[0]) == expected
    assert in_bulk == {True: 18}


@pytest.mark.slow
def test_a_forgotten_call_id_is_found_in_columns(in_bulk: Counter[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallLedger, "may_know", lambda _, short: bytearray(len(short)))
    with pytest.raises(AssertionError, match=FORMATS[0]):
        for number in range(100):
            compare(number, FORMATS[0])


@pytest.mark.slow
def test_a_conversation_cut_anywhere_links_as_whole() -> None:
    text = HEADER + USER + TURNS[:900] + conversation(Random("cuts"), FORMATS[0])[len(HEADER) :][:1500]
    expected = read(text, "openchatml-2.2")
    for cut in range(0, len(text), 41):
        assert read_scanned(text, "openchatml-2.2", [cut], cut % 2 * 700) == expected, cut


def _paired(monkeypatch: pytest.MonkeyPatch, text: bytes, format: str) -> tuple[int, Reading]:
    """Return how many calls and replies were linked together, and what was read."""
    numbers: list[int] = []
    link = ToolChecks.link_pairs

    def counted(self: ToolChecks, rows: PlainRows, first: int, last: int) -> tuple[int, int]:
        linked, tried = link(self, rows, first, last)
        numbers.extend(rows.numbers[first:linked])
        return linked, tried

    link_run = ToolChecks.link_run

    def counted_run(self: ToolChecks, run: LinkedRun, tools: Column, bare_tools: Iterable[str]) -> bool:
        numbers.extend((*run.calls, *run.replies))
        return link_run(self, run, tools, bare_tools)

    monkeypatch.setattr(ToolChecks, "link_pairs", counted)
    monkeypatch.setattr(ToolChecks, "link_run", counted_run)
    reading = read_scanned(text, format)
    return len(numbers), reading


@pytest.mark.parametrize("format", PAIRED)
def test_usual_calls_and_replies_are_linked_together(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [HEADS.get(format, b"")]
    for number in range(20):
        call_id = b"c%d" % number if format == FORMATS[0] else b""
        both = (make(Random(number), format, b"functions.f", call_id, 0) for make in (_call, _reply))
        parts += [USER, *both]
    text = b"".join(parts)
    linked, reading = _paired(monkeypatch, text, format)
    assert linked >= 38  # the first message belongs to the document header
    assert reading == read(text, format)


@pytest.mark.parametrize("most", [0, 3, 20, 29, 100])
def test_replies_without_an_id_are_counted_beyond_the_cap(most: int, in_bulk: Counter[bool]) -> None:
    chance = Random("cap")
    turns = [_call(chance, "harmony", b"functions.f", b"", 0) + _reply(chance, "harmony", b"functions.f", b"", 0)] * 10
    unanswered = _call(chance, "harmony", b"g", b"", 0)
    text = b"".join([USER, *turns, SHOWN, *turns, unanswered, USER, *turns, USER, unanswered])
    found = []
    for scans in (True, False):
        analysis = Analysis(lambda start, end: text[start:end], TRAITS, defers=True)
        analysis.index.use_columns(load_backend().columns)
        analysis.findings.keep(most)
        parser = Parser(TRAITS["harmony"])
        if scans:
            Scanner(parser, analysis).feed(text)
        else:
            analysis.apply(parser.feed(text))
        analysis.apply(parser.close())
        analysis.close()
        analysis.check_all()
        found.append(([*analysis.findings], analysis.findings.more, analysis.findings.total("info")))
    assert found[0] == found[1]
    assert found[0][2] == 30 and in_bulk[True] > 50


def test_answered_calls_are_collected_for_a_follower() -> None:
    text = HEADER + USER + TURNS.replace(b', "deadline_ms": 5', b"") + USER
    analysis = Analysis(lambda start, end: text[start:end], TRAITS)
    analysis.index.use_columns(load_backend().columns)
    analysis.calls.take_answered()
    Scanner(Parser(TRAITS["openchatml-2.2"]), analysis).feed(text)
    assert analysis.calls.take_answered() == list(range(19))
    assert {analysis.calls.state(row) for row in range(19)} == {CallState.OK}


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "format"), [("knows", "openchatml-2.2"), ("awaits_reply", "harmony")])
def test_a_skipped_query_of_the_ledger_is_found(fault: str, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallLedger, fault, lambda *_: False)
    with pytest.raises(AssertionError, match=format):
        for number in range(60):
            compare(number, format)
