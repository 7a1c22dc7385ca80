"""JSON messages yield the same result whether they are read and checked as columns or one by one on the slow path."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.cases import SLOW, each, targets_of
from tests.support.native import BOTH_WAYS, using
from tests.support.reading import read, read_batched
from viewer.checks import closed_rows, prefilter_block
from viewer.formats import FORMATS, hiding
from viewer.formats.containers import arrays
from viewer.formats.containers import regular_lines as lines
from viewer.formats.json import messages
from viewer.formats.json.known import column_appender, rows, runs, shapes, values
from viewer.index.messages import MessageIndex
from viewer.model.events import Closed, ClosedBatch
from viewer.model.visibility import is_header_safe
from viewer.reading import recorder
from viewer.reading.parser import Parser
from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS
from viewer.reading.thoughts import SIGNS
from viewer.syntax.json_text import JsonKind

TEXTS = (
    *("Hello", "a\n\tb", 'say "no"\\', "x < y [1]", "é🙂", "C:\\users\\new", "a\r\nb", "a\rb", "\b", "\f", "\x7f"),
    *("analysis", " \nassistantanalysis Hm.assistantfinal Yes", "final", "\x00", "\u200b", "a\ufe0f", "\u2028", "</a>"),
    *("\u00adx", "\u034f", "\u061c", "x\u180b", "\u2066", "\u3164", "\ufeff", "\uffa0", "\U0001bca0", "x\U000e0041"),
    *('"tool_calls"', '{"tool_calls": []}', "<|constrain|>json", '{"ok": true}', '{"ok": false}', " {", "[{", "\n{}"),
    *(
        '{"error": "E-TOOL-TIMEOUT"}',
        '{"a": 1, "a": 2}',
        '{"deadline_ms": 5}',
        "{",
        "NaN",
        "1e999",
        "<think>a</think>b",
    ),
    *("<think>open", "<|end|>", "<|im_start|>user", "namespace functions { type f = (_: {a: number}) => any; }"),
    *(
        '{"type": "function", "name": "f", "parameters": {"properties": {"a": {"type": "number"}}}}',
        "```json",
        "◁think▷",
    ),
    *(sign.decode() + "x" for sign in (*MARK_SIGNS, *TOKEN_SIGNS, *SIGNS)),
)
NAMES = ("f", "functions.f", "g", "browser.open")
SPOILED = (
    *(
        b"\xff",
        b"\x00",
        b"\\",
        b'"',
        b"\\u003c",
        b"\\/",
        b"\\ud83d",
        b"\\ude00",
        b",",
        b"NaN",
        b"\x7f",
        b"\r",
        b"\n",
        b"}",
    ),
    *(
        b'"role":"system",',
        b'"thought":true,',
        b'"channel":"analysis",',
        b'"zork":1,',
        b'"content":"x",',
        b"[",
        b" ",
        b"0",
    ),
)


def text(chance: Random, trouble: float) -> str:
    if chance.random() >= trouble:
        return chance.choice(("Hello ", "So it is.\n", 'He said "x"\n\n', "ü ")) * chance.randint(1, 4)
    return chance.choice(TEXTS) + chance.choice(("", "", " ", chance.choice(TEXTS)))


def thought(chance: Random, trouble: float) -> dict[str, Any]:
    """Return an answer with a thought, or with something that only looks like one."""
    key = chance.choice(("reasoning_content", "reasoning_content", "reasoning", "thinking"))
    one = text(chance, trouble)
    found: dict[str, Any] = {"role": "assistant", key: one, "content": chance.choice(("", None, text(chance, trouble)))}
    if chance.random() < trouble:
        found[chance.choice(("reasoning", "thinking"))] = chance.choice((one, "", "x", True, ["x"]))
    if chance.random() < trouble:
        found[chance.choice(("thought", "content", "reasoning_details"))] = chance.choice((True, "x", [{"text": "x"}]))
    return found


@dataclass(frozen=True)
class Habits:
    """The properties that most conversations of a document share, as probabilities."""

    parts: float
    speaker: float
    thought: float
    tool: float
    own: tuple[str, ...]
    """Members that the messages have."""


def habits(chance: Random) -> Habits:
    own = chance.sample(OWN, chance.randint(1, 4)) if chance.random() < 0.5 else []
    parts, speaker, thought, tool = (chance.choice((0, 0, 0.2, 1)) for _ in range(4))
    return Habits(parts, speaker, thought, tool, tuple(own))


def content(chance: Random, trouble: float, usual: Habits) -> object:
    """Return random message content: a string, a list of text parts, or a slightly malformed part."""
    if chance.random() >= usual.parts:
        return text(chance, trouble)
    part: dict[str, Any] = {"type": "text", "text": text(chance, trouble)}
    if chance.random() < trouble:
        part[chance.choice(("type", "text", "thought", "kind", "cache_control"))] = chance.choice(
            ("input_text", "thinking", "tool_result", "", True, None, {"type": "x"})
        )
    if chance.random() < trouble:  # a mark may be divided between parts
        one = text(chance, 1)
        at = chance.randrange(len(one) + 1)
        return [part, *({"type": "text", "text": each} for each in (one[:at], one[at:]))]
    return [part] * chance.choice((1, 1, 2))


def conversation(chance: Random, trouble: float, usual: Habits) -> list[dict[str, Any]]:
    """Return the messages of a conversation, most of them regular."""
    found: list[dict[str, Any]] = []
    known = ["c0"]
    if chance.random() < 0.5:
        found.append({"role": chance.choice(("system", "developer")), "content": text(chance, trouble)})
    for _ in range(chance.randint(1, 4)):
        name = {"name": chance.choice(SPEAKERS if chance.random() < trouble else ("ann", "bob"))}
        name = name if chance.random() < usual.speaker else {}
        found.append({"role": "user", **name, "content": content(chance, trouble, usual)})
        calls = []
        for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
            known.append(f"c{len(known)}" if chance.random() >= trouble else chance.choice(known))
            arguments = json.dumps({"a": text(chance, trouble)}) if chance.random() >= trouble else text(chance, 1)
            function = {"name": chance.choice(NAMES), "arguments": arguments}
            calls.append({"id": known[-1], "type": "function", "function": function})
        if calls:
            said = None if chance.random() < 0.6 else content(chance, trouble, usual)
            members = [("role", "assistant"), ("content", said), ("tool_calls", calls)]
            if chance.random() < usual.thought:
                members.insert(
                    chance.choice((1, 2)) if chance.random() < trouble else 1,
                    ("reasoning_content", text(chance, trouble)),
                )
            if chance.random() < trouble:
                chance.shuffle(members)
            found.append(dict(members))
        if chance.random() < 0.4:
            found.append(thought(chance, trouble))
        answered = [call for call in calls if chance.random() >= trouble]
        found += [
            {
                "role": "tool",
                **(_name(call) if chance.random() < usual.tool else {}),
                "tool_call_id": call["id"],
                "content": content(chance, trouble, usual),
            }
            for call in answered
        ]
        found.append({"role": "assistant", "content": content(chance, trouble, usual)})
    if chance.random() < trouble:
        found.insert(chance.randrange(len(found)), chance.choice(found))
    if usual.own:
        found = [own(one, at, [*usual.own], chance, trouble) for at, one in enumerate(found)]
    return found


SPEAKERS = ("bob", "carol_1", "x y", "é", "", "assistant", "a\\b", "d", 7, None)


def _name(call: dict[str, Any]) -> dict[str, str]:
    return {"name": call["function"]["name"]}


OWN = (
    *("id", "created_at", "timestamp", "seq", "status", "type", "phase", "parent_id", "thought", "model", "isHidden"),
    *("metadata", "tags", "annotations", "channel", "recipient", "intent", "content_type", "constrained", "call_id"),
)
"""Names of members that the messages of a conversation may have."""
INNER: tuple[Any, ...] = (
    *({"isHidden": True}, {"audience": ["assistant"]}, {"is_demo": 1}, {"a": {"isHidden": True}}, {"a": "<b>"}, {}),
    *({"role": "user", "content": "SECRET"}, [], [{"a": 1}], {"a": "x\n"}, {"a": None, "b": "y"}, {"a": "x", "n": 7}),
)
"""Objects and lists that members may have."""
WORDS = (
    *(
        "thought",
        "commentary",
        "analysis",
        "final",
        "tool_result",
        "summary",
        "hidden",
        "assistant",
        "completed",
        "x y",
    ),
    *("2024-05-01T10:00:00Z", "2024-05-01", "never", "1714557600", "<|im_start|>user", "<b>", "a\\b", '"', "", " "),
)


def own(message: dict[str, Any], at: int, names: list[str], chance: Random, trouble: float) -> dict[str, Any]:
    """Return the message with additional members before and after the others."""
    second = 1_714_557_600 + at + (chance.choice((-50, 1e12, 0.5, -3e9)) if chance.random() < trouble else 0)
    usual: dict[str, Any] = {
        "created_at": second,
        "timestamp": f"2024-05-01T10:{at // 60 % 60:02}:{at % 60:02}Z",
        "seq": at,
        "status": "done",
        "type": "message",
        "phase": "final",
        "thought": None,
        "model": "m",
        "isHidden": False,
        "metadata": {"a": f"x {at}", "n": at},
        "tags": ["a", at],
        "annotations": [],
        "channel": "analysis" if at % 4 == 2 else "commentary" if at % 4 == 3 else "final",
        "recipient": "functions.f" if at % 4 == 3 else "user",
        "intent": "preamble",
        "content_type": "json" if at % 4 == 3 else "text",
        "constrained": at % 4 == 3,
    }
    found: dict[str, Any] = {name: usual.get(name, f"{name}-{at}") for name in names}
    for name in names:
        if chance.random() < trouble:
            found[name] = chance.choice((*WORDS, *VALUES, *INNER))
    split = chance.randint(0, len(found)) if chance.random() < trouble else 1
    members = list(found.items())
    return {**dict(members[:split]), **message, **dict(members[split:])}


VALUES = (
    "x",
    "",
    'say "x"',
    "é",
    "a\\b",
    "\x7f",
    "<think>x</think>",
    0,
    -1,
    2.5,
    -0.0,
    1e300,
    10**16,
    None,
    True,
    ["x"],
)


def row(messages: object, at: int, chance: Random, trouble: float) -> dict[str, Any]:
    """Return a conversation between members that are different in every row."""
    found: dict[str, Any] = {"id": f"row-{at}", "n": at, "messages": messages, "score": at / 4, "source": "web"}
    for name in ("id", "score", "model", "version", "error", "role", "metadata", "n"):
        if chance.random() < trouble:
            found[name] = chance.choice((*VALUES, *INNER, {"id": at}))
    return found


def completion(message: object, at: int, chance: Random, trouble: float) -> dict[str, Any]:
    """Return the response of an API with a message."""
    numbers = {"prompt_tokens": at, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": at // 2}}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": chance.choice(("stop", "tool_calls"))}
    found = {"id": f"c-{at}", "object": "chat.completion", "created": 1_714_557_600 + at, "model": "m"}
    found |= {"choices": [choice], "usage": numbers, "system_fingerprint": chance.choice((None, "fp"))}
    if chance.random() < trouble / 2:
        found["choices"] = [choice, choice]
    holders: tuple[dict[str, Any], ...] = (found, choice, numbers)
    for name in ("id", "usage", "index", "finish_reason", "prompt_tokens", "prompt_tokens_details", "model", "choices"):
        holder = next((each for each in holders if name in each), found)
        if chance.random() < trouble / 2:
            holder[name] = chance.choice((*VALUES, *INNER))
        if chance.random() < trouble / 8:
            holder.pop(name, None)
    return found


def exchanges(messages: list[dict[str, Any]], first: int, chance: Random, trouble: float) -> list[dict[str, Any]]:
    """Return requests and responses, or responses only, or lines of batches."""
    form = chance.choice(("response", "exchange", "batch"))
    found: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        response = completion(message, first + at, chance, trouble)
        if form == "exchange":
            request = {"model": "m", "messages": messages[:at] or messages, "temperature": at / 4}
            found.append({"request": request, "response": response, "at": at})
        elif form == "batch":
            body = {"status_code": 200, "request_id": f"r{at}", "body": response}
            error = None if chance.random() >= trouble else {"message": "SECRET"}
            found.append({"id": f"b{at}", "custom_id": f"q-{at}", "response": body, "error": error})
        else:
            found.append(response)
    return found


def spoiled(data: bytes, chance: Random) -> bytes:
    """Return the bytes with a few others inserted, or with some removed."""
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.choice(SPOILED) + data[at + chance.choice((0, 0, 1)) :]
    return data


def document(chance: Random) -> bytes:
    """Return conversations as an array, as lines with one message each, or as lines with one conversation each."""
    trouble, is_ascii = chance.choice((0, 0.02, 0.1, 0.3)), chance.random() < 0.4
    separators = chance.choice(((", ", ": "), (",", ":")))
    form = chance.choice(("array", "lines", "rows", "rows", "arrays", "exchanges", "exchanges"))

    def dumped(value: object) -> str:
        return json.dumps(value, ensure_ascii=is_ascii, separators=separators)

    usual = habits(chance)
    found = [conversation(chance, trouble, usual) for _ in range(chance.randint(2, 6))]
    if form == "exchanges":
        values = [one for at, each in enumerate(found) for one in exchanges(each, 9 * at, chance, trouble)]
        values = [one for each in values for one in ([each] * chance.choice((1, 2, 3)))]
        lines = [dumped(one) for one in values]
        is_array = chance.random() < 0.4
        data = f"[{separators[0].join(lines)}]" if is_array else "".join(f"{line}\n" for line in lines)
    elif form == "rows":
        end = chance.choice(("\n", "\n", "\r\n"))
        found = chance.choices(found, k=chance.randint(6, 24))
        more = chance.choice(({}, {"model": "m"}, {"id": 7, "require_channels": True}, None, None))
        data = "".join(
            dumped(row(one, at, chance, trouble) if more is None else more | {"messages": one}) + end
            for at, one in enumerate(found)
        )
    elif form == "arrays":
        data = "".join(dumped(one) + "\n" for one in found)
    else:
        every = [message for one in found for message in one]
        rows = [dumped(message) for message in every]
        data = "".join(f"{row}\n" for row in rows) if form == "lines" else f"[{separators[0].join(rows)}]"
    bom = b"\xef\xbb\xbf" if chance.random() < 0.02 else b""
    return bom + spoiled(data.encode("utf-8", "surrogatepass"), chance)


def compare(number: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read a random document in both ways. Return the number of its messages."""
    chance = Random(f"batches {number}")
    return compare_document(document(chance), chance, monkeypatch)


def compare_document(data: bytes, chance: Random, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read a document in both ways. Return the number of its messages."""
    for module in (lines, arrays, messages):
        monkeypatch.setattr(module, "READ_WITH_CARE", 1 << 60)
    careful = read(data, "json")
    for module in (lines, arrays, messages):
        monkeypatch.setattr(module, "READ_WITH_CARE", 0)
    monkeypatch.setattr(recorder, "SMALLEST_BATCH", chance.choice((1, 1, 4)))
    monkeypatch.setattr(closed_rows, "MOST_BYTES", chance.choice((100, 1000, 1 << 18)))
    together = chance.choice((3, 16, 256))
    monkeypatch.setattr(runs, "MOST_TOGETHER", together)
    monkeypatch.setattr(runs, "MOST_TOGETHER_NATIVE", together)
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 0, 1, 3))))
    step = chance.choice((0, 300, 5000))
    for way in BOTH_WAYS:
        with using(way):
            assert read_batched(data, "json", cuts, step) == careful, (way, data, cuts)
    return len(careful.messages)


def rows_around(name: str, chance: Random) -> bytes:
    """Return rows in which one member has values of many kinds."""
    one = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}]
    found: list[bytes] = []
    roles = tuple({"role": role, "content": "SECRET"} for role in (None, 7, "user", None, "user"))
    for at, value in enumerate((*VALUES, *INNER, *roles)):
        for given in (f"{at}", value, at):
            each = row(one, at, chance, 0) | {name: given}
            found.append(json.dumps(each, ensure_ascii=chance.random() < 0.5).encode() + b"\n")
    for bad in (b"\xff", b"\\x", b"\\ud83d", b"\\ud83d\\ude00", b"\x01", b'\\"', b"\xc3\xa9", b'",'):
        found += [found[0], found[3].replace(b'"web', b'"' + bad, 1)]
    return b"".join(found)


@each("name", ["id", "n", "score", "model", "version", "error", "role", "content", "metadata", "é"], quick=0, test=4)
def test_members_around_messages_read_as_on_the_slow_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows_around(name, Random(name))
    assert compare_document(data, Random(name), monkeypatch) > 100
    compare_document(spoiled(data, Random(name)), Random(name), monkeypatch)


FAULTS: dict[str, tuple[object, str, object]] = {
    "strings have any escapes": (rows, "SCALAR", rb'(?:"(?>[^"\\]|\\.)*+"|-?\d++)'),
    "numbers are unlimited": (rows, "SCALAR", rb"[^,}]++"),
    "text is not checked": (runs, "_is_text", lambda data, span: True),
    "values decide": (rows, "_FIXED", frozenset()),
    "text is text": (values, "scalar_value", lambda source: source.strip(b'"').decode()),
}


@each("fault", FAULTS, quick=3)
def test_a_fault_in_the_pattern_of_a_member_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises((AssertionError, ValueError)):
        for name in ("id", "n", "score", "model", "metadata"):
            compare_document(rows_around(name, Random(name)), Random(name), monkeypatch)


def known_words() -> list[str]:
    """Return all words that the modules of message formats contain."""
    folder = Path(messages.__file__).parent
    modules = [*folder.glob("*.py"), *folder.parent.glob("*.py"), *(folder.parent / "tables").glob("*.py")]
    found = {
        node.value
        for path in modules
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    }
    return sorted(found - {"role", "content"})


def messages_with(name: str, chance: Random) -> bytes:
    """Return messages of two roles in which one member has many different values, each after a typical one."""
    chosen: list[Any] = [
        *chance.sample(WORDS, 8),
        *chance.sample(VALUES, 4),
        1_714_557_600,
        1_714_557_500,
        True,
        False,
        None,
        {},
    ]
    found: list[dict[str, Any]] = []
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"deadline_ms": 1}'}}
    for at, value in enumerate(chosen):
        found += [
            {"role": "assistant", name: given, "content": f"SECRET {at}", "id": f"m-{at}"}
            for given in ("usual", 7, "usual", value)
        ]
        found.append({"role": "user", "content": "Hi", name: value, "ts": 1_714_557_600 + 10 * at})
        found.append({"role": "assistant", "content": None, "tool_calls": [call], "ts": 1_714_557_600 + 10 * at})
        found.append({"role": "tool", "content": "x", "tool_call_id": "c", "ts": 1_714_557_605 + 10 * at, "n": at})
    return b"".join(json.dumps(one, ensure_ascii=chance.random() < 0.5).encode() + b"\n" for one in found)


COMMON = ("id", "type", "phase", "ts", "created_at", "kind", "usage", "custom_id", "isHidden", "summary", "é")
"""Members that are tried in every run of the tests."""


@each("name", COMMON, quick=10, test=3)
def test_members_of_messages_read_as_on_the_slow_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_document(messages_with(name, Random(name)), Random(name), monkeypatch) > 50
    compare_document(spoiled(messages_with(name, Random(name)), Random(name)), Random(name), monkeypatch)


DECIDING = {"isSidechain", "thinking", "custom_id", "response_obj", "phase", "type"}
"""Members whose values decide how a message is read, tried in every run."""


@pytest.mark.parametrize("test", [pytest.param(4, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.lab)])
def test_members_with_any_known_name_read_as_on_the_slow_path(test: int, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = targets_of(known_words(), 0, test)
    assert targets.keys() >= DECIDING
    names = [name for name, target in targets.items() if target == SLOW or name in DECIDING]
    given = ("usual", "thought", "commentary", 7, 8)
    for at in range(0, len(names), 19):
        some = names[at : at + 19]
        found = [{"role": "assistant", "content": "SECRET", name: value} for name in some for value in given]
        name = some[0]
        compare_document(b"".join(json.dumps(one).encode() + b"\n" for one in found), Random(name), monkeypatch)


EFFECTS: tuple[Any, ...] = (
    *("web", "user", "assistant", "tool", "System", "functions", "hidden", "Internal", "private", "model", "thinking"),
    *("reasoning", "analysis", "completed", "true", "0", "off", "functions.f", "a b", "", 0, 1, 7, True, False, None),
    *([], ["a"], ["a", "hidden"], ["user"], ["assistant", "model"], ["do not display"], [1, None], [{"role": "tool"}]),
    *({"role": "tool"}, {"role": "user"}, {"role": "assistant", "name": "Ann"}, {"name": "Ann"}, {"role": None}, {}),
    *({"type": "developer"}, {"kind": "app"}, {"isHidden": True}, {"isHidden": "no"}, {"visible": False}),
    *({"tags": ["internal"]}, {"tags": ["a"]}, {"source": "tool"}, {"source": "web"}, {"metadata": {"hide": 1}}),
    *(
        {"ui": {"meta": {"show": False}}},
        {"a": {"hidden": True}},
        {"audience": ["assistant"]},
        {"role": "user", "n": 7},
    ),
)
"""Values that hide a message in some members, or do not, or contradict its role."""
TWINS: tuple[Any, ...] = (
    {"source": "web"},
    {"source": "tool"},
    {"role": "user"},
    {"role": "assistant"},
    "web",
    "model",
)
"""Values that have the same form, but not the same effect."""
FLAGS = sorted(hiding.DECIDING | {"phase", "channel", "usage"})
OFTEN = ("author", "metadata", "source", "tags", "status", "extra")


def flagged_messages(chance: Random, names: list[str]) -> bytes:
    """Return messages of three roles with some members that may hide them. Most values recur."""
    usual = {name: chance.choice((TWINS, chance.choices(EFFECTS, k=chance.choice((1, 2, 4))))) for name in names}
    found: list[dict[str, Any]] = []
    for at in range(60):
        role = chance.choice(("user", "assistant", "assistant", "tool"))
        own = [(name, chance.choice(EFFECTS if chance.random() < 0.1 else usual[name])) for name in names]
        said = [("role", role), ("content", f"SECRET {at}"), ("tool_call_id", f"c{at}")]
        found.append(dict([*own, *said] if at % 20 == 7 else [*said[: 3 if role == "tool" else 2], *own]))
    rows: list[Any] = found if chance.random() < 0.6 else [{"messages": found[at : at + 3]} for at in range(0, 60, 3)]
    lines = [json.dumps(one, separators=chance.choice(((", ", ": "), (",", ":")))) for one in rows]
    return ("[" + ", ".join(lines) + "]" if chance.random() < 0.3 else "".join(f"{one}\n" for one in lines)).encode()


def compare_flags(numbers: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read messages with flags in both ways."""
    for number in numbers:
        chance = Random(f"flags {number}")
        names = {OFTEN[number % 6]} if number % 4 < 2 else {*chance.sample(FLAGS, number % 4 - 1)}
        data = flagged_messages(chance, sorted(names))
        compare_document(spoiled(data, chance) if number % 4 == 3 else data, chance, monkeypatch)


@pytest.mark.parametrize("count", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_members_that_may_hide_a_message_have_the_same_effect(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_flags(range(count), monkeypatch)


@pytest.mark.lab
def test_all_members_that_may_hide_a_message_have_the_same_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_flags(range(60, 2400), monkeypatch)


def _without_times(_record: object, _batch: object, _first: int) -> None:
    """Report no time that is earlier than a previous one."""


OWN_FAULTS: dict[str, tuple[object, str, object]] = {
    "values decide": (shapes, "_FIXED_KEYS", frozenset()),
    "flags decide": (shapes, "_GUARDED_KEYS", frozenset()),
    "authors contradict": (shapes, "_agrees", lambda node, role: True),
    "flags in holders decide": (shapes, "_is_plain_holder", lambda hole: hole.node.kind is JsonKind.OBJECT),
    "any verdict will do": (shapes.Guard, "passes", lambda guard, value: guard._verdict(value) is not None),
    "values have escapes": (shapes, "WORDS", rb'(?>[^"\\]|\\.)*+'),
    "numbers are unlimited": (shapes, "NUMBER", rb"[^,}]++"),
    "times are not read": (column_appender, "stated_ms", lambda shape, found: 0 if shape.time else None),
    "times include no quotes": (column_appender, "time_span", lambda shape, found: found.span(shape.time)),
    "times have no order": (recorder.Recorder, "_note_times", _without_times),
    "values are those of others": (
        column_appender,
        "values_of",
        lambda said, found: "\n".join("x" for _ in said.values),
    ),
    "times have no deadline": (MessageIndex, "has_times", False),
}


@pytest.mark.slow
@each("fault", OWN_FAULTS, quick=8, test=2)
def test_a_fault_in_members_of_messages_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*OWN_FAULTS[fault])
    with pytest.raises((AssertionError, ValueError, UnicodeDecodeError)):
        compare_flags(range(12), monkeypatch)
        for name in COMMON:
            compare_document(messages_with(name, Random(name)), Random(name), monkeypatch)
        compare_flags(range(12, 120), monkeypatch)


@pytest.mark.slow
def test_random_messages_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(compare(number, monkeypatch) for number in range(16)) > 200


@pytest.mark.lab
@pytest.mark.parametrize("part", range(8))
def test_many_random_messages_read_the_same_as_columns(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(compare(number, monkeypatch) for number in range(16 + part, 8000, 8)) > 12_500


def test_almost_all_messages_are_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lines, arrays):
        monkeypatch.setattr(module, "READ_WITH_CARE", 0)
    sizes: list[int] = []
    count = recorder.Recorder.count_batch

    def counted(self: recorder.Recorder, batch: ClosedBatch) -> None:
        count(self, batch)
        sizes.append(len(batch))

    monkeypatch.setattr(recorder.Recorder, "count_batch", counted)
    one = [{"role": "user", "content": 'Say "x"\n'}, {"role": "assistant", "content": "<b>x</b>"}]
    read_batched(b"".join(json.dumps({"messages": one}).encode() + b"\n" for _ in range(100)), "json")
    assert max(sizes) >= 196
    cut = [*one, {"role": "assistant", "content": "Yes.<|endoftext|><|start|>user"}]  # hidden from the first token on
    rows = [*one, *(message for at in range(50) for message in (one if at % 8 else cut))]
    forms = [b"[%s]" % b",\n".join(json.dumps(message).encode() for message in rows)]
    forms += [b"".join(json.dumps({"messages": each}).encode() + b"\n" for each in (one, *([one] * 7 + [cut]) * 8))]
    for text in forms:
        for way in BOTH_WAYS:
            sizes.clear()
            with using(way):
                read_batched(text, "json")
            assert max(sizes) >= 100


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"name": "f", "arguments": {}}',
            '[{"name": "f", "arguments": {}}]',
            '```json\n{"name": "f", "arguments": {}}\n```',
        ),
        *(
            "Thought: x\nAction: f\nAction Input: {}",
            "Action: f\nAction Input: {}",
            "I need to x\nAction: f\nAction Input: {}",
        ),
        *(
            "We need x\nAction: f\nAction Input: {}",
            "To find x\nAction: f\nAction Input: {}",
            "**Thought:** x\nAction: f",
        ),
    ],
)
def test_steps_of_agents_among_many_messages_are_never_shown(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lines, arrays):
        monkeypatch.setattr(module, "READ_WITH_CARE", 0)
    given = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}] * 20
    given.insert(30, {"role": "assistant", "content": text})
    for form in (json.dumps(given, separators=(",\n", ":")), "".join(json.dumps(one) + "\n" for one in given)):
        for way in BOTH_WAYS:
            with using(way):
                parser = Parser(FORMATS["json"])
                found = [*parser.feed(form.encode()), *parser.close()]
            closed = [event.message for event in found if isinstance(event, Closed)]
            assert len([each for each in closed if is_header_safe(each.header, each.ending)]) == 40, (way, form[:20])


@pytest.mark.slow
def test_a_fault_in_the_search_of_blocks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefilter_block.Block, "places_with", lambda self, find: set())
    with pytest.raises(AssertionError):
        for number in range(200, 320):
            compare(number, monkeypatch)
