"""Records yield the same result whether they are written as columns or read one by one on the slow path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from random import Random
from typing import Any

import pytest

from tests.laws.test_fast_records import as_lines, both, events, format_of, record_samples
from tests.laws.test_message_batches import TEXTS, spoiled, text
from tests.support.cases import each
from tests.support.reading import Reading, read, read_batched
from tests.support.samples import Sample
from viewer.checks import closed_rows
from viewer.formats import record_formats
from viewer.formats.containers import arrays
from viewer.formats.containers import regular_lines as lines
from viewer.formats.engine.history import Conversation
from viewer.formats.engine.known import runs, shapes
from viewer.formats.engine.tree import RecordTree
from viewer.formats.engine.writing import columns, plans
from viewer.formats.engine.writing.copies import CopyPairs
from viewer.formats.engine.writing.growing import GrowingMessages
from viewer.formats.engine.writing.text_hooks import TextHooks
from viewer.formats.engine.writing.writer import DraftWriter, can_be_columns
from viewer.index import messages as index_messages
from viewer.index.messages import MessageIndex
from viewer.model.events import ClosedBatch, Started, Used
from viewer.model.messages import Transcript, Usage
from viewer.reading import recorder

PROMPTS = ("### Instruction\nx", "[INST] x [/INST]", "USER: x", "<|user|>\nx", "x ### Response")
"""Prompts that contain more than the user typed."""
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def row(chance: Random, trouble: float) -> dict[str, Any]:
    """Return a training row."""

    def one() -> Any:
        if chance.random() < trouble / 4:
            return chance.choice((*PROMPTS, 7, None, "", " ", ["x"], {"a": 1}))
        return text(chance, trouble)

    def parts() -> Any:
        if chance.random() < 0.7:
            return one()
        return [{"type": "text", "text": one()} for _ in range(chance.choice((1, 1, 2)))]

    def message(role: str) -> dict[str, Any]:
        return {"role": role, "content": parts()}

    prompt, said = one(), one()
    talk = [message("user"), message("assistant")] * chance.choice((1, 1, 2))
    head: dict[str, Any] = {"id": chance.randrange(99)} if chance.random() < 0.5 else {}
    if chance.random() < trouble:
        head[chance.choice(("model", "system", "tools", "score", "role", "metadata", "thinking"))] = one()
    kind = chance.choice(("alpaca", "alpaca", "sharegpt", "pairs", "plain pairs", "prompt", "calls", "lists"))
    if kind == "alpaca":
        return head | {"instruction": prompt, "input": chance.choice(("", one())), "output": said}
    if kind == "sharegpt":
        speakers = ("system", *("human", "gpt") * 2)[chance.randrange(2) :]
        return head | {"conversations": [{"from": speaker, "value": one()} for speaker in speakers]}
    if kind == "pairs":
        asked = {"role": "user", "content": prompt}
        head |= {"prompt": prompt, "chosen": [asked, message("assistant")], "rejected": [asked, *talk[1:]]}
        return head | ({"messages": head["chosen"]} if chance.random() < 0.5 else {})
    if kind == "plain pairs":
        return head | {"prompt": prompt, "chosen": said, "rejected": one()}
    if kind == "prompt":
        return head | {"prompt": prompt, "completion": said}
    if kind == "calls":
        reply = {"role": "tool", "content": one(), "tool_call_id": chance.choice(("c", "c", "d"))}
        calls = {"role": "assistant", "content": chance.choice(("", one())), "tool_calls": [CALL]}
        return head | {"messages": [message("user"), calls, reply, message("assistant")], "label": True}
    return head | {"messages": talk, "label": True}


def document(chance: Random) -> bytes:
    """Return training rows as lines or as an array. Most of them share a few shapes."""
    trouble, is_ascii = chance.choice((0, 0.02, 0.1, 0.3)), chance.random() < 0.4
    rows = []
    for _ in range(chance.randint(1, 3)):
        form = chance.randrange(1 << 30)
        for at in range(chance.randint(4, 16)):
            own = row(Random(form), 0)
            rows.append(changed(own, chance, trouble, at) if chance.random() < 0.8 else row(chance, trouble))
    chance.shuffle(rows)
    found = [json.dumps(one, ensure_ascii=is_ascii) for one in rows]
    data = "".join(f"{one}\n" for one in found) if chance.random() < 0.6 else f"[{', '.join(found)}]"
    return spoiled(data.encode("utf-8", "surrogatepass"), chance) if chance.random() < 0.5 else data.encode()


def changed(value: Any, chance: Random, trouble: float, at: int) -> Any:
    """Return a copy of a value with different text."""
    if isinstance(value, dict):
        fixed = ("role", "from", "type", "id", "function", "tool_call_id")
        return {key: one if key in fixed else changed(one, chance, trouble, at) for key, one in value.items()}
    if isinstance(value, list):
        return [changed(one, chance, trouble, at) for one in value]
    if not isinstance(value, str) or not value.strip() or chance.random() < 0.2:
        return value
    return f"{at} {value}" if chance.random() < 0.6 else text(chance, trouble) or "x"


@lru_cache(64)
def read_with_care(data: bytes, format: str) -> Reading:
    """Read a document one record after another. Tests of faults do this before they plant a fault."""
    with pytest.MonkeyPatch.context() as patches:
        for module in (lines, arrays):
            patches.setattr(module, "READ_WITH_CARE", 1 << 60)
        return read(data, format)


def compare(data: bytes, format: str, chance: Random, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read a document in both ways. Return the number of its messages."""
    careful = read_with_care(data, format)
    for module in (lines, arrays):
        monkeypatch.setattr(module, "READ_WITH_CARE", 0)
    monkeypatch.setattr(shapes, "SEEN_BEFORE", 0)
    monkeypatch.setattr(recorder, "SMALLEST_BATCH", chance.choice((1, 1, 4)))
    monkeypatch.setattr(closed_rows, "MOST_BYTES", chance.choice((100, 1000, 1 << 18)))
    monkeypatch.setattr(runs, "MOST_TOGETHER", chance.choice((1, 3, 256)))
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 0, 1, 3))))
    fast = read_batched(data, format, cuts, chance.choice((0, 300, 5000)))
    assert fast == careful, (data, cuts)
    return len(careful.messages)


@pytest.mark.slow
def test_random_rows_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    found = 0
    for number in range(16):
        chance = Random(f"columns {number}")
        found += compare(document(chance), "rows", chance, monkeypatch)
    assert found > 600


@pytest.mark.lab
@pytest.mark.parametrize("part", range(8))
def test_many_random_rows_read_the_same_as_columns(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(16 + part, 4000, 8):
        chance = Random(f"columns {number}")
        compare(document(chance), "rows", chance, monkeypatch)


COLUMNS = frozenset(format.name for format in record_formats() if can_be_columns(format))
"""The formats with records that may be written as columns."""


def sessions() -> list[Sample]:
    """Return each sample of these formats, and all broken ones. Their format is detected only when they are read."""
    return [sample for sample in record_samples() if sample.folder == "broken" or sample.path.parent.name in COLUMNS]


@each("sample", sessions(), ids=lambda sample: sample.name, quick=0, test=4, batch=1000)
def test_repeated_records_read_the_same_as_columns(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    if format_of(sample) not in COLUMNS:
        return
    data = as_lines(sample.text)
    rows = [row for row in data.splitlines(keepends=True) if len(row) < 20_000][:24]
    text = b"".join([*rows, *rows, *rows, *(row for row in rows for _ in range(2))])
    compare(text, format_of(sample), Random(data), monkeypatch)


def lines_of(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def with_texts() -> bytes:
    """Return rows of each kind, including rows with every text that may affect how a row is read."""
    rows: list[dict[str, Any]] = []
    for at, one in enumerate(("Hello", *TEXTS[::3], *PROMPTS, "<think>a</think>b", "analysis")):
        asked = {"role": "user", "content": f"Hi {at}"}
        rows += [{"instruction": "Hi", "input": f"more {at}", "output": "Yes"} for at in range(2)]
        rows += [{"instruction": one, "input": "more", "output": one}, {"prompt": one, "completion": one}]
        rows += [{"prompt": f"Hi {at}", "completion": "Yes"}]
        for last in ("no", one):
            rejected = [asked, {"role": "assistant", "content": last}, {"role": "user", "content": "Why?"}]
            rows.append({"chosen": [asked, {"role": "assistant", "content": "Yes"}], "rejected": rejected})
        halves = [{"type": "text", "text": each} for each in (one[: len(one) // 2], one[len(one) // 2 :])]
        usual = [{"type": "text", "text": each} for each in ("a", "b")]
        for content in (usual, usual, halves):
            rows.append({"messages": [asked, {"role": "assistant", "content": content}], "label": True})
    return lines_of(*rows)


FAULTS: dict[str, tuple[object, str, object]] = {
    "no text has marks": (columns, "_is_divided", lambda raw, line: False),
    "no text looks like a turn": (columns, "begins_turn", lambda data, start: False),
    "no mark spans two pieces": (plans, "_is_broken_apart", lambda said: True),
    "every prompt is said": (TextHooks, "is_said", lambda hooks, text: True),
    "every body is one run": (MessageIndex, "irregular", lambda index, first, last: iter(())),
    "every message starts a turn": (index_messages, "is_aside", lambda header: False),
}


@pytest.mark.slow
def test_texts_that_decide_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(with_texts(), "rows", Random(1), monkeypatch)


@pytest.mark.slow
@each("fault", FAULTS, quick=0, test=2)
def test_a_fault_in_columns_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read_with_care(with_texts(), "rows")
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises((AssertionError, IndexError)):
        compare(with_texts(), "rows", Random(1), monkeypatch)


def reply(number: int, part: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a record of Claude Code with one part of a reply."""
    usage = {"input_tokens": 3, "output_tokens": number}
    message = {"id": f"m{number // 4}", "role": "assistant", "model": "m", "content": [part], "usage": usage}
    return record(number, "assistant", message) | more


def record(number: int, kind: str, message: dict[str, Any]) -> dict[str, Any]:
    head = {"parentUuid": f"u{number - 1}" if number else None, "sessionId": "s", "type": kind, "message": message}
    return head | {"uuid": f"u{number}", "timestamp": f"2026-01-02T03:{number // 60:02}:{number % 60:02}.000Z"}


def replies(*others: dict[str, Any], turns: int = 12) -> bytes:
    """Return a session of Claude Code. The other records come in its middle and at its end."""
    rows: list[dict[str, Any]] = []
    for turn in range(turns):
        number = 4 * turn
        result = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"Result {turn}\n"}
        call = {"type": "tool_use", "id": f"c{turn}", "name": "Read", "input": {"path": f"/a{turn}"}}
        rows += [
            record(number, "user", {"role": "user", "content": f"Question {turn}"}),
            reply(number + 1, {"type": "thinking", "thinking": f"Thought {turn}"}),
            reply(number + 2, {"type": "text", "text": f"Answer {turn}"}),
            reply(number + 3, call),
            record(number + 4, "user", {"role": "user", "content": [result]})
            | {"uuid": f"r{turn}", "toolUseResult": {"size": turn}},
        ]
        rows[-5]["parentUuid"] = f"r{turn - 1}" if turn else None
        if turn in (turns // 2, turns - 1):
            rows += others
    return lines_of(*rows)


def odd_replies() -> Iterator[bytes]:
    """Yield sessions with records that depend on others."""
    text = {"type": "text", "text": "Answer 6"}
    yield replies()
    yield replies(reply(26, text | {"text": "Answer 6 and more"}), reply(27, text), reply(26, text))
    yield replies(record(50, "user", {"role": "user", "content": "Again"}) | {"parentUuid": "r1"})
    yield replies(reply(50, text), reply(51, text) | {"parentUuid": "gone"}, reply(52, text))
    yield replies(*(record(at, "user", {"role": "user", "content": one}) for at, one in enumerate(TAGGED, 60)))
    yield replies(*(reply(4 * at, text | {"text": one}) for at, one in enumerate((*TEXTS, *TAGGED), 15)))
    agent = {"isSidechain": True, "agentId": "a"}
    yield replies(*(reply(at, text) | agent | {"agentId": f"a{at % 3}"} for at in range(60, 80)))
    yield replies(*(reply(at, text) | {"sessionId": f"s{at // 4}"} for at in range(60, 80)))
    yield replies().replace(b'{"size": 7}', b'{"size": 7, "size": 8}')
    yield replies().replace(b'{"path": "/a7"}', b'{"path": 1, "path": 2}').replace(b'{"path": "/a8"}', b'{"path": [}')
    yield replies().replace(b'{"path": "/a7"}', b'{"path":\r 1}').replace(b"03:00:33", b"02:00:33")


TAGGED = (
    "<command-name>/a</command-name>",
    " x",
    "Caveat: x",
    "a <system-reminder>b</system-reminder>",
    "{x",
    "",
)

FAULTS_IN_REPLIES: dict[str, tuple[object, str, object]] = {
    "no reply has parts": (GrowingMessages, "knows", lambda growing, key, identity: False),
    "every text of a reply ends": (columns.ColumnWriter, "_ends", lambda writer, ready, place, part: True),
    "every parent is known": (RecordTree, "takes", lambda tree, id, parent: True),
    "no prompt replaces another": (RecordTree, "takes_prompt", lambda tree, parent: True),
    "no text is split": (TextHooks, "is_whole", lambda hooks, text, role: True),
    "every object is regular": (columns, "plain_object", lambda data: {}),
    "no usage is repeated": (columns.ColumnWriter, "_use", lambda writer, plan, texts, number: None),
    "no marks in texts": (columns, "_is_divided", lambda raw, line: False),
}


@pytest.mark.slow
def test_replies_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, data in enumerate(odd_replies()):
        compare(data, "claude-code", Random(number), monkeypatch)
        both(data, "claude-code", monkeypatch)


@each("fault", FAULTS_IN_REPLIES, quick=0, test=2)
def test_a_fault_in_columns_of_replies_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [*odd_replies()]
    for data in documents:
        read_with_care(data, "claude-code")
    monkeypatch.setattr(*FAULTS_IN_REPLIES[fault])
    with pytest.raises(AssertionError):
        for number, data in enumerate(documents):
            compare(data, "claude-code", Random(number), monkeypatch)
            both(data, "claude-code", monkeypatch)


def response(number: int, **more: Any) -> dict[str, Any]:
    said = {"type": "output_text", "text": f"Answer {number}", "annotations": []}
    call = {"type": "function_call", "call_id": f"c{number}", "name": "find", "arguments": '{"text": "x"}'}
    output = [
        {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": [said]},
        call | {"id": f"f{number}", "status": "completed"},
    ]
    head = {"id": f"r{number}", "object": "response", "model": "m", "previous_response_id": None}
    return head | {"status": "completed", "output": output, "usage": {"input_tokens": number}} | more


def odd_responses() -> Iterator[bytes]:
    """Yield responses, some of which belong to the conversation of the one before them."""
    usual = [response(number) for number in range(8)]
    request = {"model": "m", "input": [{"role": "user", "content": "Question"}]}
    yield lines_of(*usual, response(7), response(8), response(8), response(9))
    yield lines_of(*usual, response(9, previous_response_id="r7"), *usual)
    yield lines_of(*usual, request, response(9), response(10))
    yield lines_of(*usual, request | {"previous_response_id": "r7"}, response(9), response(10))


def random_response(number: int, chance: Random, trouble: float) -> dict[str, Any]:
    """Return a response with thoughts, answers, refusals, and calls."""

    def said() -> Any:
        return text(chance, trouble) if chance.random() < trouble else f"Text {number}"

    def spoken() -> dict[str, Any]:
        part = {"type": "output_text", "text": said(), "annotations": []}
        part = part if chance.random() < 0.9 else {"type": "refusal", "refusal": said()}
        phase = chance.choice(({}, {}, {"phase": "commentary"}, {"phase": "final_answer"}))
        head = {"type": "message", "id": f"m{number}", "role": "assistant"}
        return head | phase | {"content": [part] * chance.choice((1, 1, 2))}

    call = {"type": "function_call", "call_id": f"c{number}", "name": "find", "arguments": '{"a": 1}'}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": said()}], "encrypted_content": "gAAA"}
    kinds = ([spoken()], [thought, spoken()], [thought, call], [spoken(), call], [call, {"type": "odd", "text": "x"}])
    own = response(number, output=chance.choice(kinds[: 4 + (chance.random() < trouble)]))
    if chance.random() < 0.2:
        own["previous_response_id"] = f"r{number - chance.choice((1, 1, 2, 9))}"
    if chance.random() < trouble:
        own[chance.choice(("instructions", "error", "usage", "status", "model", "id"))] = said()
    return own


def random_responses(chance: Random) -> bytes:
    """Return responses as lines or as an array, some of them damaged or with a repeated member."""
    trouble = chance.choice((0, 0.02, 0.1, 0.3))
    rows = [json.dumps(random_response(number, chance, trouble)) for number in range(chance.randint(8, 24))]
    for place, row in enumerate(rows):
        if chance.random() < trouble:
            key = chance.choice(('"id": ', '"type": ', '"role": ', '"output": ', '"text": '))
            rows[place] = row.replace(
                key, chance.choice((f'{key}"x", {key}', key.upper(), key.replace("t", "\\u0074")))
            )
    data = "".join(f"{row}\n" for row in rows) if chance.random() < 0.6 else f"[{', '.join(rows)}]"
    return spoiled(data.encode(), chance) if chance.random() < 0.5 else data.encode()


@pytest.mark.slow
def test_random_responses_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        chance = Random(f"responses {number}")
        compare(random_responses(chance), "responses", chance, monkeypatch)


@pytest.mark.lab
@pytest.mark.parametrize("part", range(4))
def test_many_random_responses_read_the_same_as_columns(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6 + part, 1000, 4):
        chance = Random(f"responses {number}")
        data = random_responses(chance)
        compare(data, "responses", chance, monkeypatch)
        both(data, "responses", monkeypatch)


FAULTS_IN_RESPONSES: dict[str, tuple[object, str, object]] = {
    "every response begins a conversation": (Conversation, "is_new", lambda conversation, id, previous: True),
    "no response is noted": (Conversation, "settle", lambda conversation: None),
    "no usage": (columns.ColumnWriter, "_use", lambda writer, plan, texts, number: None),
}


def test_responses_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, data in enumerate(odd_responses()):
        compare(data, "responses", Random(number), monkeypatch)
        both(data, "responses", monkeypatch)


@each("fault", FAULTS_IN_RESPONSES)
def test_a_fault_in_columns_of_responses_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS_IN_RESPONSES[fault])
    with pytest.raises(AssertionError):
        for number, data in enumerate(odd_responses()):
            compare(data, "responses", Random(number), monkeypatch)
            both(data, "responses", monkeypatch)


def turn(number: int, *, said: str = "", repeated: str | None = None) -> list[dict[str, Any]]:
    """Return a turn of Codex, in which events repeat the records. `repeated` is the text of the event of the answer."""
    said = said or f"Answer {number}"
    call = {"type": "function_call", "name": "shell", "arguments": '{"a": 1}', "call_id": f"c{number}"}
    summary = [{"type": "summary_text", "text": f"Thought {number}"}]
    question = [{"type": "input_text", "text": f"Question {number}"}]
    used = {"total_token_usage": {"input_tokens": number, "output_tokens": 2 * number}}
    return [
        item(number, {"type": "message", "role": "user", "content": question}),
        event(number, {"type": "user_message", "message": f"Question {number}", "images": []}),
        event(number, {"type": "agent_reasoning", "text": f"Thought {number}"}),
        item(number, {"type": "reasoning", "summary": summary, "encrypted_content": f"gAAA{number}"}),
        item(number, call),
        item(number, {"type": "function_call_output", "call_id": f"c{number}", "output": f"Result {number}"}),
        event(number, {"type": "agent_message", "message": said if repeated is None else repeated}),
        item(number, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}),
        event(number, {"type": "token_count", "info": used}),
    ]


def item(number: int, payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
    time = f"2026-01-02T03:{number // 60:02}:{number % 60:02}.000Z"
    return {"timestamp": time, "type": kind, "payload": payload}


def event(number: int, payload: dict[str, Any]) -> dict[str, Any]:
    return item(number, payload, "event_msg")


def odd_turns() -> Iterator[bytes]:
    """Yield sessions of Codex with records that have no copy, a different one, or one that is far away."""
    start = item(0, {"id": "s", "cwd": "/a"}, "session_meta")
    usual = [record for number in range(1, 5) for record in turn(number)]
    last = [record for number in range(9, 12) for record in turn(number)]
    lacking = [turn(number + 12)[:number] + turn(number + 12)[number + 1 :] + turn(number + 30) for number in range(9)]
    yield lines_of(start, *usual, *(record for turn in lacking for record in turn))
    answers = ("Other", "Answer 9 ", "", "<oai-mem-citation>x</oai-mem-citation>")
    told = [turn(9, repeated=one) + turn(8) + turn(13, said=one or "x") for one in answers]
    yield lines_of(start, *usual, *(record for turn in told for record in turn), *last)
    swapped = [turn(number)[at] for number in range(9, 12) for at in (1, 0, 3, 2, 4, 5, 7, 6, 8)]
    same = [record for number in range(12, 15) for record in turn(number, said="Same answer")]
    older = [record | {"timestamp": "2026-01-01T00:00:00.000Z"} for record in last]
    yield lines_of(start, *usual, *swapped, *same, *older)
    late, early = ([turn(number)[at] for number in range(20, 26)] for at in (7, 6))
    yield lines_of(start, *usual, *late, *early, *last, *early, *late)
    done = {"type": "exec_command_end", "aggregated_output": "x"}
    ended = [
        one
        for number in range(9, 18)
        for one in (*turn(number)[4:6], event(number, done | {"call_id": f"c{number}", "exit_code": number % 3}))
    ]
    yield lines_of(start, *usual, *ended, item(12, {"model": "m"}, "turn_context"), *turn(18))
    apart = [turn(number)[at] for at in (3, 2) for number in range(9, 30)]
    yield lines_of(start, *usual, *apart, *usual)
    again = item(3, {"id": "t", "cwd": "/a"}, "session_meta")
    yield lines_of(*usual, again, *last, start, *last)


FAULTS_IN_COPIES: dict[str, tuple[object, str, object]] = {
    "no record repeats another": (CopyPairs, "partners", lambda copies, draft: []),
    "every neighbor is a copy": (CopyPairs, "are_twins", lambda copies, first, second: True),
    "every pair is quiet": (CopyPairs, "pairs_quietly", lambda copies, draft, partners: True),
    "nothing waits too long": (CopyPairs, "forget_quietly", lambda copies, at: True),
    "every text is settled": (CopyPairs, "is_settled_alone", lambda copies, draft: True),
}


@pytest.mark.slow
def test_copies_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, data in enumerate(odd_turns()):
        if number % 2:
            compare(data, "codex", Random(number), monkeypatch)
        else:
            both(data, "codex", monkeypatch)


@pytest.mark.slow
@each("fault", FAULTS_IN_COPIES, quick=0)
def test_a_fault_in_columns_of_copies_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_events("codex", *odd_turns())
    monkeypatch.setattr(*FAULTS_IN_COPIES[fault])
    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    monkeypatch.setattr(shapes, "SEEN_BEFORE", 0)
    assert any(events(data, "codex") != found for data, found in known)


@cache
def known_events(format: str, *documents: bytes) -> list[tuple[bytes, object]]:
    """Return each document with its events. Tests of faults do this before they plant a fault."""
    return [(data, events(data, format)) for data in documents]


def completion(number: int, text: str = "", reason: str | None = "stop") -> dict[str, Any]:
    choice = {"text": text or f"Answer {number}", "index": 0, "logprobs": None, "finish_reason": reason}
    return {"id": f"c{number}", "object": "text_completion", "created": number, "model": "m", "choices": [choice]}


def ended_messages() -> Iterator[tuple[str, bytes]]:
    """Yield records that complete a message, alone or after others, and the formats that they are in."""
    usual = [completion(number) for number in range(8)]
    parts = [completion(number, "Part ", reason) for number in range(9, 14) for reason in (None, None, "stop")]
    nested = [{"id": f"b{at}", "response": {"body": one}} for at, one in enumerate([*usual, *parts, completion(20)])]
    yield "completions", lines_of(*usual, *parts, *usual, completion(30, "x", "length"), completion(31, "x", None))
    yield "completions", lines_of(*nested)
    items: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "t"}]
    for turn in range(6):
        run = {"id": f"r{turn}", "type": "command_execution", "command": f"ls {turn}", "aggregated_output": ""}
        said = {"id": f"a{turn}", "type": "agent_message", "text": f"Answer {turn}"}
        done = run | {"aggregated_output": f"Result {turn}", "exit_code": turn % 2, "status": "completed"}
        items += [
            {"type": "turn.started"},
            {"type": "item.completed", "item": {"id": f"t{turn}", "type": "reasoning", "text": f"Thought {turn}"}},
            {"type": "item.started", "item": run},
            {"type": "item.completed", "item": done},
            *[{"type": "item.updated", "item": said | {"text": "Answer"}}][: turn % 3 // 2],
            {"type": "item.completed", "item": said},
            {"type": "turn.completed", "usage": {"input_tokens": turn, "output_tokens": 7}},
        ]
    calls = [one for number in range(40, 46) for one in command(number)]
    crossed = [one for pair in zip(command(50), command(51), strict=True) for one in pair]
    again = [*command(52), {"type": "item.updated", "item": command(53)[0]["item"]}, command(53)[1], command(54)[0]]
    yield "codex-exec", lines_of(*items, *items[1:9], *calls, *crossed, *calls[2:4], *again, *command(55), *calls[:1])


def command(number: int) -> list[dict[str, Any]]:
    """Return the records of Codex about a command that begins and ends."""
    begun = {"id": f"i{number}", "type": "command_execution", "command": f"ls {number}", "aggregated_output": ""}
    ends = {"aggregated_output": f"Result {number}", "exit_code": 0, "status": "completed"}
    return [{"type": "item.started", "item": begun}, {"type": "item.completed", "item": begun | ends}]


FAULTS_IN_ENDS: dict[str, tuple[object, str, object]] = {
    "every record ends its message": (shapes._Learner, "_ends", lambda learner, rule: True),
    "every record completes the call before it": (
        columns.ColumnWriter,
        "_completion",
        lambda writer, ready, place, session, at: ready[place + 1] if ready[place + 1 :] else None,
    ),
    "no key of an end": (shapes, "_filled", lambda mix, texts: ""),
}


def test_ended_messages_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (format, data) in enumerate(ended_messages()):
        both(data, format, monkeypatch)
        compare(data, format, Random(number), monkeypatch)


@each("fault", FAULTS_IN_ENDS)
def test_a_fault_in_columns_of_ended_messages_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS_IN_ENDS[fault])
    with pytest.raises(AssertionError):
        for format, data in ended_messages():
            both(data, format, monkeypatch)
        for number, (format, data) in enumerate(ended_messages()):
            compare(data, format, Random(number), monkeypatch)


def requested(number: int, *last: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a request of the Messages API, which ends with these messages."""
    call = {"type": "tool_use", "id": f"u{number}", "name": "find", "input": {"q": f"x{number}"}}
    result = {"type": "tool_result", "tool_use_id": f"u{number}", "content": f"Result {number}"}
    talk = [
        {"role": "user", "content": f"Question {number}"},
        {"role": "assistant", "content": [{"type": "text", "text": f"I look {number}"}, call]},
        {"role": "user", "content": [result]},
    ]
    return {"model": "m", "max_tokens": 9, "system": "You help.", "messages": [*talk, *last]} | more


def answered(number: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a response of the Messages API."""
    content = [*parts] or [{"type": "text", "text": f"Answer {number}"}]
    head = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "m", "content": content}
    return head | {"stop_reason": "end_turn", "usage": {"input_tokens": number, "output_tokens": 3}} | more


def odd_answers() -> Iterator[bytes]:
    """Yield requests and responses, some of which continue the text before them."""
    begun = [{"role": "assistant", "content": "It is "}]
    question, parts = {"role": "user", "content": "Why?"}, [{"type": "text", "text": "It is "}]
    thought = {"type": "thinking", "thinking": "Hm", "signature": "x"}
    requests = [requested(number, *begun * (number % 2)) for number in range(6)]
    responses = [answered(number) for number in range(6)]
    pairs = [each for number in range(6) for each in (requested(number, *begun), answered(number))]
    plain = [each for number in range(6) for each in (requested(number), answered(number, thought))]
    marked = requested(9, {"role": "user", "content": "<|im_start|>user\nx<|im_end|>"})
    odd = answered(9, {"type": "text", "text": "<think>a</think>b"})
    yield lines_of(*requests, *responses, requested(9, {"role": "assistant", "content": parts}), *responses, *requests)
    yield lines_of(*pairs, *plain, *requests, *responses)
    yield lines_of(*responses, odd, *requests, marked, *responses[:3], requested(9, question), odd, *pairs)
    yield lines_of(*requests, answered(9, thought, *parts), *requests, answered(8, thought), *responses, *requests)
    fault = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    yield lines_of(*responses, *requests, fault, *responses, *requests[:4], {"messages": []}, *responses, *pairs)


FAULTS_IN_ANSWERS: dict[str, tuple[object, str, object]] = {
    "no answer continues a message": (columns, "_goes_no_further", lambda ready, place: True),
    "no response may continue a message": (plans, "continues", lambda draft: False),
    "every message is complete": (DraftWriter, "_end_prefill", lambda writer: setattr(writer, "_prefill", None)),
}


@pytest.mark.slow
def test_answers_that_continue_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, data in enumerate(odd_answers()):
        if number % 2:
            compare(data, "anthropic", Random(number), monkeypatch)
        else:
            both(data, "anthropic", monkeypatch)


@pytest.mark.slow
@each("fault", FAULTS_IN_ANSWERS, quick=0)
def test_a_fault_in_columns_of_answers_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_events("anthropic", *odd_answers())
    monkeypatch.setattr(*FAULTS_IN_ANSWERS[fault])
    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    monkeypatch.setattr(shapes, "SEEN_BEFORE", 0)
    assert any(events(data, "anthropic") != found for data, found in known)


def repeated_texts() -> bytes:
    """Return the output of Claude Code, with results and questions that repeat earlier text and others that do not."""
    head = {"session_id": "s", "parent_tool_use_id": None}
    rows: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "session_id": "s", "model": "m"}]
    for turn in range(10):
        said = {"type": "text", "text": f"Answer {turn} "}
        call = {"type": "tool_use", "id": f"c{turn}", "name": "Read", "input": {"path": f"/a{turn}"}}
        result = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"Result {turn}"}
        message = {"id": f"m{turn}", "role": "assistant", "model": "m", "usage": {"output_tokens": turn}}
        asked = {"type": "user", "message": {"role": "user", "content": f"Question {turn}"}} | head
        ends = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "usage": {}}
        rows += [
            asked,
            {"type": "assistant", "message": message | {"content": [said]}} | head,
            {"type": "assistant", "message": message | {"content": [call]}} | head,
            {"type": "user", "message": {"role": "user", "content": [result]}} | head,
            ends | {"result": f"Answer {turn - turn % 3}" + " more" * (turn == 7)},
            asked | {"isReplay": turn % 4 < 2},
        ]
    return lines_of(*rows)


@each("mode", ("as they are", "no text is noted"))
def test_texts_that_others_repeat_are_noted_in_columns(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "as they are":
        both(repeated_texts(), "claude-stream", monkeypatch)
        compare(repeated_texts(), "claude-stream", Random(1), monkeypatch)
        return
    known = events(repeated_texts(), "claude-stream")
    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    monkeypatch.setattr(shapes, "SEEN_BEFORE", 0)
    begin: Any = columns.ColumnWriter.__init__
    monkeypatch.setattr(columns.ColumnWriter, "__init__", lambda own, *given: begin(own, *given[:-1], None))
    assert events(repeated_texts(), "claude-stream") != known


def test_almost_all_rows_are_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    count = recorder.Recorder.count_batch

    def counted(self: recorder.Recorder, batch: ClosedBatch) -> None:
        count(self, batch)
        sizes.append(len(batch))

    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    monkeypatch.setattr(recorder.Recorder, "count_batch", counted)
    asked = {"role": "user", "content": "Hi"}
    kinds: tuple[dict[str, Any], ...] = (
        {"instruction": "Hi", "input": "more", "output": "Yes"},
        {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "<b>Yes</b>"}]},
        {"prompt": "Hi", "chosen": [asked, asked | {"role": "assistant"}], "rejected": [asked, asked]},
    )
    for kind in kinds:
        sizes.clear()
        read_batched(lines_of(*([kind] * 100)), "rows")
        assert max(sizes) >= 190
    sizes.clear()
    read_batched(replies(turns=60), "claude-code")
    assert max(sizes) >= 250
    sizes.clear()
    read_batched(lines_of(*(record for number in range(60) for record in turn(number))), "codex")
    assert max(sizes) >= 250
    sizes.clear()
    read_batched(lines_of(*map(response, range(100))), "responses")
    assert max(sizes) >= 190
    sizes.clear()
    read_batched(lines_of(*map(completion, range(200))), "completions")
    assert max(sizes) >= 190
    sizes.clear()
    read_batched(lines_of(*(one for number in range(100) for one in command(number))), "codex-exec")
    assert max(sizes) >= 190
    for make in (requested, answered):
        sizes.clear()
        read_batched(lines_of(*map(make, range(100))), "anthropic")
        assert max(sizes) >= 90


def test_few_records_are_prepared_where_many_need_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[int] = []
    add = columns.ColumnWriter.add

    def counted(self: columns.ColumnWriter, run: list[columns.Item], *given: Any, **more: Any) -> int:
        prepared.append(len(run))
        return add(self, run, *given, **more)

    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    monkeypatch.setattr(columns.ColumnWriter, "add", counted)
    session = replies(turns=60)
    read_batched(session + session, "claude-code")
    repeated = session.count(b"\n")
    assert sum(prepared) < 12 * repeated, "a record that the session already has is not written as a column"
    prepared.clear()
    read_batched(session, "claude-code")
    assert max(prepared) >= 250


def test_records_before_the_first_message_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    data = lines_of(*({"type": "file-history-snapshot", "messageId": f"u{at}", "snapshot": {}} for at in range(9)))
    both(data, "claude-code", monkeypatch)
    both(data + replies(), "claude-code", monkeypatch)


def test_usage_follows_the_start_of_its_transcript() -> None:
    used = [Used(number, 0, Usage(total=number)) for number in (1, 2)]
    started = Transcript(2, "goose", 0)
    batch = ClosedBatch(1, 1, [(0, started)], used=[(0, one) for one in used])
    assert [*batch.one_by_one()] == [used[0], Started(started), used[1]]
