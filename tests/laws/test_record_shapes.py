"""Records of a known shape yield the same result as on the slow path, whatever their values."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

import pytest

from tests.laws.test_fast_records import as_lines, both, events, format_of, mutations, record_samples, said
from tests.laws.test_message_batches import conversation, habits, spoiled
from tests.laws.test_record_columns import compare
from tests.support.cases import each
from tests.support.samples import Sample
from viewer.formats.containers import regular_lines as lines
from viewer.formats.engine import drafts
from viewer.formats.engine.drafts import read_record
from viewer.formats.engine.known import lists as record_lists
from viewer.formats.engine.known import shapes
from viewer.formats.engine.known.shapes import RecordShapes
from viewer.formats.engine.writing import columns
from viewer.formats.hiding import FLAGS
from viewer.formats.tables.model import Container, RecordFormat, RecordRule, has
from viewer.formats.tables.rows import ROWS
from viewer.model.events import Closed
from viewer.model.messages import Kind
from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS
from viewer.syntax.json_lines import read_regular

TEXTS = (
    *(
        "Hello",
        " ",
        "",
        "\n",
        "x < y",
        '{"a": 1}',
        "[1]",
        "[ x",
        "\t{",
        "true",
        "thinking",
        "<x",
        "é🙂",
        "\u00a0",
        "12",
    ),
    *("2026-01-02T03:04:05Z", "1767323045000", 'say "no"\\', "user", "assistant", "<command-name>/a</command-name>"),
    *("# AGENTS.md instructions", "<environment_context>a</environment_context>", "a\n\nb", "reasoning", "failed"),
    *("final_answer", "commentary", "\u200bz", "null", "data:image/png;base64,AAAA"),
    *(sign.decode("utf-8") for sign in (*MARK_SIGNS, *TOKEN_SIGNS)),
)
NUMBERS = (0, 1, 7, 12345, 1767323045, 1767323045123, -1, 2.5, "7")
MEMBERS = (
    *sorted(FLAGS),
    "zork",
    "type",
    "content",
    "text",
    "summary",
    "phase",
    "channel",
    "kind",
    "metadata",
    "error",
)


def changed(value: Any, chance: random.Random, share: float) -> Any:
    """Return a copy of a value in which some values and a few members are different."""
    if isinstance(value, dict):
        found = {key: changed(one, chance, share) for key, one in value.items() if chance.random() > share / 20}
        if chance.random() < share / 20:
            found[chance.choice(MEMBERS)] = chance.choice([True, False, None, 1, "x", {"a": 1}, ["user"]])
        return found
    if isinstance(value, list):
        more = value[:1] if chance.random() < share / 20 else []
        return [changed(one, chance, share) for one in (*value, *more)]
    if isinstance(value, bool) or value is None or chance.random() > share:
        return value
    if isinstance(value, str):
        first = chance.choice(["", "", "<", "{", " ", "["])
        return chance.choice([first + value, value + chance.choice(["x", "\n", " é", '"']), chance.choice(TEXTS)])
    return chance.choice(NUMBERS)


def session(text: bytes, chance: random.Random) -> list[str]:
    """Return a few records of a sample, repeated with other values."""
    rows = [json.loads(row) for row in as_lines(text).splitlines() if is_object(row)]
    rows = chance.sample(rows, min(len(rows), chance.choice([1, 2, 3, 8])))
    share, is_ascii = chance.choice([0.02, 0.1, 0.3]), chance.random() < 0.5
    return [
        json.dumps(changed(row, chance, share), ensure_ascii=is_ascii, separators=(",", ":"))
        for _ in range(chance.randint(3, 6))
        for row in rows
    ]


def is_object(row: bytes) -> bool:
    try:
        return isinstance(json.loads(row), dict)
    except ValueError:
        return False


@each("sample", record_samples(), ids=lambda sample: sample.name, quick=0, test=60)
def test_records_with_other_values_read_as_on_the_slow_path(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(sample.name)
    rows = session(sample.text, chance)
    text = "".join(f"{row}\n" for row in rows).encode()
    both(text, format_of(sample), monkeypatch)
    both(text, format_of(sample), monkeypatch, tuple(range(1, len(text), chance.randint(200, 900))))
    both(f"[{', '.join(rows)}]".encode(), format_of(sample), monkeypatch)
    for mutated in mutations(text, len(text), 1) if text else ():
        both(mutated, format_of(sample), monkeypatch)


def answer(number: int, text: str = "Yes", **more: object) -> bytes:
    """Return a record of Claude Code."""
    message = {"id": f"m{number}", "role": "assistant", "content": [{"type": "text", "text": text}]}
    head = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}", "sessionId": "s", "type": "assistant"}
    return json.dumps({**head, "message": message, **more}).encode() + b"\n"


KNOWN = b"".join(map(answer, range(1, 8)))


def test_almost_all_records_of_a_session_have_a_known_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    read: list[bool] = []
    known = RecordShapes.match

    def counted(self: RecordShapes, *given: Any) -> Any:
        found = known(self, *given)
        read.append(found is not None)
        return found

    monkeypatch.setattr(RecordShapes, "match", counted)
    events(b"".join(answer(number, f'Say "{number}"\n') for number in range(50)), "claude-code")
    assert read.count(True) >= 45


def test_a_line_that_arrives_in_parts_has_a_known_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bool] = []
    known = RecordShapes.match

    def counted(self: RecordShapes, *given: Any) -> Any:
        found = known(self, *given)
        read.append(found is not None)
        return found

    text = b"".join(answer(number, f'Say "{number}"\n') for number in range(50))
    both(text, "claude-code", monkeypatch, tuple(range(1, len(text))))
    monkeypatch.setattr(RecordShapes, "match", counted)
    both(text, "claude-code", monkeypatch, tuple(range(1, len(text), 90)))
    assert read.count(True) >= 20
    read.clear()
    monkeypatch.setattr(lines, "MOST_HELD", 0)
    both(text, "claude-code", monkeypatch, tuple(range(1, len(text), 90)))
    assert not any(read)


def test_no_flag_or_phase_hides_in_a_known_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    for flag in ("isMeta", "isSidechain", "isApiErrorMessage", "is_hidden", "thought"):
        for value in (True, 1, "x"):
            both(KNOWN + answer(8, "SECRET", **{flag: value}) + answer(9), "claude-code", monkeypatch)
    hidden = answer(8, "SECRET").replace(b'"text": "SECRET"', b'"text": "SECRET", "channel": "analysis"')
    for text in (hidden, answer(8, "SECRET").replace(b'"text",', b'"thinking",'), hidden.replace(b"channel", b"phase")):
        both(KNOWN + text, "claude-code", monkeypatch)
    twice = answer(8, "SECRET").replace(b'"type": "assistant"', b'"type": "assistant", "type": "user"')
    both(KNOWN + twice + answer(9, "a\x00\u2028"), "claude-code", monkeypatch)


def test_a_flag_with_another_value_is_another_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    values: dict[str, tuple[object, object]] = {
        "phase": ("final", "analysis"),
        "kind": ("text", "thinking"),
        "channel": ("final", "analysis"),
        "metadata": ({"audience": ["user"]}, {"audience": ["assistant"]}),
        "thought": ("no", 1),
        "parentToolUseId": (None, "c1"),
    }
    for name, (shown, hidden) in values.items():
        rows = [answer(number, "Yes", **{name: shown}) for number in range(8)] + [answer(9, "SECRET", **{name: hidden})]
        both(b"".join(rows), "claude-code", monkeypatch)


WORDS: tuple[Any, ...] = (
    *("web", "mail", "user", "a b", "done", "tool", "System", "hidden", "Internal", "model", "private", "é", "", " x"),
    *(["a", "b"], ["a", "hidden"], ["Internal"], [], [7], {"role": "tool"}, {"role": "user"}, {"name": "Ann"}, 7, None),
    *({"source": "web"}, {"source": "tool"}, {"tags": ["a"]}, {"tags": ["hidden"]}, {"source": {"kind": "hook"}}),
)
"""Values that hide something in some members."""
HIDING = ("source", "tags", "status", "author", "sender", "state", "label", "scope", "metadata", "origin", "visibility")


def flagged(chance: random.Random, format: str) -> bytes:
    """Return records with a member that may hide something: in the record, in its messages, or in their parts."""
    name, place = chance.choice(HIDING), chance.choice(("record", "message", "part"))
    usual = chance.sample(WORDS, chance.choice((2, 4)))
    found: list[bytes] = []
    for number in range(16):
        value = chance.choice(usual if chance.random() < 0.9 else WORDS)
        record, message, part = ({name: value} if place == each else {} for each in ("record", "message", "part"))
        content = [{"type": "text", "text": f"Yes {number}", **part}]
        said: dict[str, Any] = {"id": f"m{number}", "role": "assistant", "content": content, **message}
        whole: dict[str, Any] = {"type": "assistant", "uuid": f"u{number}", "sessionId": "s", "message": said, **record}
        if format == "rows":
            one = {"from": "human", "value": f"Hi {number}", **message}
            whole = {"id": number, "conversations": [one, {"from": "gpt", "value": "Yes", **part}], **record}
        elif format == "anthropic":
            whole = {"model": "m", "messages": [{"role": "user", "content": "Hi", **part}, said], **record}
        found.append(json.dumps(whole, ensure_ascii=number % 2 == 0).encode() + b"\n")
    return b"".join(found)


def compare_flags(numbers: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Read records with flags in both ways."""
    for number in numbers:
        format = ("rows", "claude-code", "anthropic")[number % 3]
        both(flagged(random.Random(number), format), format, monkeypatch)


@pytest.mark.parametrize("count", [9, pytest.param(24, marks=pytest.mark.slow)])
def test_a_member_that_may_hide_something_has_the_same_effect(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_flags(range(count), monkeypatch)


def test_a_member_that_is_overlooked_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes.Alike, "_hides", lambda alike, name, text: False)
    with pytest.raises(AssertionError):
        compare_flags(range(60), monkeypatch)


@pytest.mark.lab
def test_many_members_that_may_hide_something_have_the_same_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_flags(range(24, 3000), monkeypatch)


def asked(text: str) -> bytes:
    """Return a record of Codex."""
    return json.dumps({"type": "event_msg", "payload": {"type": "user_message", "message": text}}).encode() + b"\n"


def test_a_fault_in_a_shape_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(map(asked, ("a", "b", "c", "<environment_context>SECRET</environment_context>", "d")))
    both(text, "codex", monkeypatch)
    monkeypatch.setattr(shapes, "_beginning", lambda text, beginnings: ("a",))
    with pytest.raises(AssertionError):
        both(text, "codex", monkeypatch)


def given(text: str) -> bytes:
    """Return a training row with its tools in a string."""
    return json.dumps({"tools": text, "prompt": "Hi", "completion": "Yes"}).encode() + b"\n"


def test_whitespace_before_a_text_hides_no_json(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (
        "find",
        "\n find",
        " [",
        '\n\t{"name": "find"}',
        "\u00a0{",
        '\f["x"]',
        "\\n{",
        "\b{",
        "\u2028[1]",
        '"{"',
        "/",
    )
    text = b"".join(map(given, (*texts, *reversed(texts))))
    both(text, "rows", monkeypatch)
    both(text.replace(b"/", b"\\/").replace(b"\\t", b"\\u0009"), "rows", monkeypatch)
    monkeypatch.setattr(shapes, "_sign_at", lambda data, start: "a")
    with pytest.raises(AssertionError):
        both(text, "rows", monkeypatch)


def prompt(origin: dict[str, str]) -> bytes:
    """Return a record of Claude Code with text of the user, and its origin."""
    record = {"type": "user", "origin": origin, "message": {"role": "user", "content": "Hi"}}
    return json.dumps(record).encode() + b"\n"


def test_an_object_in_which_a_rule_looks_is_not_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    both(prompt({"place": "a"}) * 3 + prompt({"kind": "human"}) + prompt({"kind": "task"}), "claude-code", monkeypatch)


def test_a_rule_may_look_in_every_object() -> None:
    rules = (RecordRule((has("*.hidden"),), Kind.UNKNOWN, body="text"), RecordRule((), Kind.SAID, "user", body="text"))
    format = RecordFormat("any", "Any", Container.LINES, (), rules)
    known = RecordShapes(format)
    for number in range(4):
        node = read_regular(b'{"text":"Hi","more":{"a":%d}}' % number, 0)
        assert node is not None
        known.learn(node, read_record(rules, node))
    assert known.match(b'{"text":"Yes","more":{"a":3}}', 0) is not None
    assert known.match(b'{"text":"SECRET","more":{"hidden":true}}', 0) is None


def test_a_key_that_is_repeated_in_a_hole_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [answer(number, more={"a": number}) for number in range(4)]
    twice = rows[0].replace(b'{"a": 0}', b'{"a": 1, "a": 2}')
    assert twice != rows[0]
    both(b"".join([*rows, twice]), "claude-code", monkeypatch)


def called(number: int) -> bytes:
    """Return a call of Codex with a number as its id."""
    payload = {"type": "function_call", "call_id": number, "name": "shell", "arguments": "{}"}
    return json.dumps({"type": "response_item", "order": 7, "payload": payload}).encode() + b"\n"


def test_a_number_that_equals_a_mark_is_not_part_of_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1001, 1001 + 8):
        both(called(number) * 3 + called(7), "codex", monkeypatch)


def test_the_time_of_a_record_may_be_none_in_a_known_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [answer(at, timestamp=time) for at, time in enumerate(("x", "2026-01-01T00:00:00Z", "y", "2026") * 3)]
    both(b"".join(rows), "claude-code", monkeypatch)
    assert any(isinstance(event, Closed) for event in events(b"".join(rows), "claude-code"))


def rows(*texts: str) -> list[bytes]:
    """Training rows of several kinds, with this text."""
    found: list[dict[str, object]] = []
    for text, other in zip(texts, [*texts[1:], texts[0]], strict=True):
        asked, said = {"role": "user", "content": text}, {"role": "assistant", "content": other}
        found += [
            {"instruction": text, "input": other, "output": text},
            {"id": text, "conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": other}]},
            {"messages": [asked, said], "tools": [], "label": True},
            {"prompt": text, "chosen": [asked, said], "rejected": [asked, {"role": "assistant", "content": "SECRET"}]},
        ]
    return [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in found]


@pytest.mark.slow
def test_training_rows_read_as_on_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, others = (
        rows(*"abcd"),
        rows('say "x"', "a\n", "é", "a\tb", " ", "<think>a</think>b", '[{"role": "user"}]', "e"),
    )
    both(b"".join((*plain, *others)), "rows", monkeypatch)
    for kind in range(4):
        both(b"".join(plain[kind::4] + others[kind::4]), "rows", monkeypatch)


def test_training_rows_have_shapes() -> None:
    for kind in range(4):
        known = RecordShapes(ROWS)
        for row in rows(*"abcde")[kind::4]:
            node = read_regular(row.strip(), 0)
            assert node is not None
            known.learn(node, read_record(ROWS.records, node))
        assert known.match(rows("x", "y")[kind].strip(), 0) is not None


def pair(prompt: object, chosen: list[str], rejected: list[str], **more: object) -> bytes:
    """Return a preference pair. The messages of each conversation alternate between the user and the assistant."""
    lists = [
        [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
        for texts in (chosen, rejected)
    ]
    row = {"prompt": prompt, "chosen": lists[0], "rejected": lists[1], **more}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


@pytest.mark.slow
def test_texts_that_are_equal_by_chance_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = [pair(f"Hi {at}", [f"Hi {at}", "yes"], [f"Hi {at}", "no"]) for at in range(4)]
    others = [
        pair("Hi", ["Hello", "yes"], ["Hi", "no"]),
        pair("Hi", ["Hello", "yes"], ["Hello", "no"]),
        pair("Hi", ["Hi", "same"], ["Hi", "same"]),
        pair("Hi", ["Hi", "Hi"], ["Hi", "Hi"]),
        pair("Hi", ["Hi", "yes"], ["Hey", "yes"]),
        pair("a\u00e9\n", ["a\u00e9\n", "yes"], ["a\u00e9\n", "no"]),
        pair("", ["", "yes"], ["", "no"]),
    ]
    escaped = [row.replace(b'"prompt": "H', b'"prompt": "\\u0048') for row in (*usual, *others)]
    text = b"".join([*usual, *others * 4, *escaped, *usual])
    both(text, "rows", monkeypatch)
    longer = [
        pair([{"role": "user", "content": "Hi"}], ["a", f"b{at}", "c", at * "d"], ["a", "b1", "c", "ddd"])
        for at in range(6)
    ]
    listed = [pair("Hi", ["Hi", "yes"], ["Hi", "no"], messages=[{"role": "user", "content": "Hi"}]) for _ in range(4)]
    both(b"".join([*longer, *longer, *listed, *longer]), "rows", monkeypatch)
    monkeypatch.setattr(shapes, "_equal_texts", lambda texts: ())
    with pytest.raises(AssertionError):
        both(text, "rows", monkeypatch)


def test_calls_that_a_rule_compares_are_not_holes(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(first: int, second: int) -> bytes:
        calls = [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"n": at}}} for at in (first, second)
        ]
        lists = [
            [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "assistant", "content": end},
            ]
            for call, end in zip(calls, "ab", strict=True)
        ]
        return json.dumps({"chosen": lists[0], "rejected": lists[1]}).encode() + b"\n"

    both(b"".join([row(1, 1)] * 4 + [row(1, 2), row(2, 2), row(1, 1)] * 4), "rows", monkeypatch)


def lists(chance: random.Random, format: str) -> bytes:
    """Return records with lists of messages, hardly any two of which have the same length."""
    trouble = chance.choice((0, 0.02, 0.1))
    usual = habits(chance)
    rows: list[dict[str, Any]] = []
    for number in range(chance.randint(8, 24)):
        talk: list[Any] = conversation(chance, trouble, usual)
        if chance.random() < trouble:
            talk.insert(chance.randrange(len(talk)), chance.choice((7, "x", None, [], {}, {"role": "user"})))
        head: dict[str, Any] = (
            {"system": f"Help {number}", "max_tokens": 9} if format == "anthropic" else {"label": True}
        )
        if chance.random() < 0.15:
            odd = ({"isHidden": True}, {"type": "thought"}, {"prompt": talk[:1]}, {"rejected": talk}, {"chosen": talk})
            head |= chance.choice((*odd, {"visible": False}, {"timestamp": "2026-01-02T03:04:05Z"}, {"thread": "t"}))
        rows.append(head | {"messages": talk})
    return "".join(json.dumps(row, ensure_ascii=chance.random() < 0.4) + "\n" for row in rows).encode()


def compare_lists(numbers: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for number in numbers:
        for format in ("rows", "anthropic"):
            chance = random.Random(f"lists {number}")
            data = lists(chance, format)
            data = spoiled(data, chance) if chance.random() < 0.3 else data
            both(data, format, monkeypatch, tuple(range(1, len(data), 3000)) if number % 2 else ())
            compare(data, format, random.Random(number), monkeypatch)


@pytest.mark.slow
def test_items_of_lists_read_as_on_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random("lists 0")
    both(lists(chance, "rows"), "rows", monkeypatch)


@pytest.mark.lab
@pytest.mark.parametrize("part", range(4))
def test_items_of_many_lists_read_as_on_the_slow_path(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_lists(range(1 + part, 241, 4), monkeypatch)


HEADS: dict[str, dict[str, Any]] = {
    "hidden": {"isHidden": True},
    "repeated": {"prompt": [said("user", "Hi")]},
    "invisible": {"visible": False},
    "chosen": {"chosen": [said("user", "Hi"), said("assistant", "Yes")]},
    "rejected": {"rejected": [said("user", "Hi")]},
    "completion": {"completion": "Yes"},
    "timed": {"timestamp": "2026-01-02T03:04:05Z"},
    "audience": {"audience": ["tool"]},
    "system": {"system": "Help"},
}
"""Members around a list whose messages inherit something from them, or repeat them."""


def with_head(head: dict[str, Any]) -> bytes:
    """Return records with lists of messages, most of them with these members as well. The first records do not have
    them."""
    talk = [said("user", "Hi"), said("assistant", "Yes")]
    hidden = [said("system", "Help"), said("developer", "Do")]
    rows = [{"messages": talk * at, "tools": []} for at in (1, 2, 3)]
    rows += [head | {"messages": hidden * at, "tools": []} for at in (1, 2, 3)]
    rows += [head | {"messages": talk * at, "tools": []} for at in (1, 2, 3)]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@each("head", HEADS, quick=9, test=3)
def test_items_that_inherit_something_read_as_on_the_slow_path(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for format in ("rows", "anthropic"):
        both(with_head(HEADS[head]), format, monkeypatch)


@pytest.mark.slow
def test_a_fault_in_frames_of_lists_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_lists.ListShapes, "_is_apart", lambda *_: True)
    with pytest.raises(AssertionError):
        both(with_head(HEADS["hidden"]), "rows", monkeypatch)


@pytest.mark.slow
@each("fault", ("items inherit nothing", "no item has its own place"), quick=2, test=1)
def test_a_fault_in_items_of_lists_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "items inherit nothing":
        monkeypatch.setattr(drafts._Outer, "is_neutral", property(lambda outer: True))
    else:
        read = shapes.Shape.reading
        monkeypatch.setattr(shapes.Shape, "reading", lambda own, data, at, base, *more: read(own, data, 0, base, *more))
    with pytest.raises(AssertionError):
        for number in range(9):
            both(lists(random.Random(f"lists {number}"), "rows"), "rows", monkeypatch)


def test_most_records_with_lists_have_a_known_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[bool] = []
    add = columns.ColumnWriter.add_list

    def counted(self: columns.ColumnWriter, one: record_lists.MatchedList, *given: Any, **more: Any) -> bool:
        found.append(add(self, one, *given, **more))
        return found[-1]

    monkeypatch.setattr(columns.ColumnWriter, "add_list", counted)
    chance = random.Random(1)
    talks = [[said("user", "Hi"), said("assistant", "Yes")] * chance.randint(1, 9) for _ in range(20)]
    rows = b"".join(json.dumps({"messages": talk, "label": True}).encode() + b"\n" for talk in talks)
    both(rows, "rows", monkeypatch)
    assert sum(found) > 5
