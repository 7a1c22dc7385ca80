"""What is written is read again as the same; what a dialect cannot say is told; and nothing hidden comes to light."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.program import run
from viewer.core.visibility import END_USER, EVERYTHING, Audience
from viewer.errors import RefusedError
from viewer.formats import WRITERS
from viewer.formats.unhidden import unhidden_count
from viewer.sources.document import Document
from viewer.sources.projection import Projection
from viewer.sources.shown import ShownMessage, ShownTranscript

SAMPLES = Path(__file__).parent.parent / "samples"


class InMemory:
    """A source that is a text."""

    name = "text"
    converted = False
    note = ""

    def __init__(self, text: str | bytes) -> None:
        self._data = text.encode() if isinstance(text, str) else text
        self.size = len(self._data)

    def read(self, start: int, end: int) -> bytes:
        return self._data[start:end]


def project(text: str | bytes, dialect: str, audience: Audience = EVERYTHING) -> Projection:
    return Document(InMemory(text), dialect).load().project(audience)


def messages_in(projection: Projection) -> list[ShownMessage]:
    return [item for item in projection.items() if isinstance(item, ShownMessage)]


def convert(
    text: str | bytes, dialect: str, target: str, audience: Audience = EVERYTHING
) -> tuple[str, list[str], list[ShownMessage]]:
    projection = project(text, dialect, audience)
    messages = messages_in(projection)
    return *WRITERS[target](projection.transcripts(), messages), messages


# Canonical text.

MINIMAL_2_2 = """\
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>analysis<|message|>Simple arithmetic; answer directly.<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|>
"""
CALL_2_2 = """\
version: 2.2
model: gpt-oss-120b
generation_settings:
  temperature: 0.7
  builtin_tools:
    - browser
    - python
<|start|>system<|message|>You are a helpful AI assistant.
Knowledge cutoff: 2024-06
Current date: 2025-08-08

Reasoning: high
# Valid channels: analysis, commentary, final. Channel must be included for every message.
Calls to these tools must go to the commentary channel: 'functions'.<|end|>
<|start|>developer<|message|># Tools

## functions
namespace functions {
// Gets weather for a city.
type get_current_weather = (_: {
  location: string,
  format?: "celsius" | "fahrenheit", // default: celsius
}) => any;
} // namespace functions<|end|>
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant<|channel|>analysis<|message|>Call functions.get_current_weather with location Tokyo.<|end|>
<|start|>assistant to=functions.get_current_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"location":"Tokyo","format":"celsius"}<|call|>
<|start|>tool name=functions.get_current_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok":true,"content":{"temperature":20,"sunny":true}}<|end|>
<|start|>assistant<|channel|>final<|message|>It’s 20 °C and sunny in Tokyo right now.<|return|>
"""
PREAMBLE_2_2 = """\
<|start|>user<|message|>Look it up.<|end|>
<|start|>assistant intent=preamble<|channel|>commentary<|message|>\
**Plan:** 1) Search docs 2) Extract figures 3) Summarize.<|end|>
"""
ESCAPES_2_2 = """\
version: 2.2
<|start|>user<|message|>Please print these markers exactly:

<<|start|><<|channel|><<|message|><<|end|>
<|end|>
<|start|>assistant<|channel|>final<|message|>a <<<|literal|> b <|literal|><<<|endliteral|><|end|>
<|start|>assistant content_type=markdown mood=calm<|channel|>final<|message|><|end|>
"""
SEVERAL_2_2 = """\
version: 2.2
model: a
<|start|>user<|message|>one<|end|>
version: 2.2
model: b
<|start|>user<|message|>two<|end|>
"""
CONVERSATION_2_0 = """\
version: 2.0
model: gpt-oss-120b
<|start|>developer<|message|>
# Instructions
Use `browser` for news. When user orders, call `order_pizza`.
<|end|>
<|start|>user<|message|>
What's the latest Mars-rover news? Then order a large pepperoni pizza.
<|end|>
<|start|>assistant<|channel|>analysis<|message|>
Two tasks: (1) fetch rover news, (2) order pizza.
<|end|>
<|start|>assistant to=functions.browser.search<|channel|>commentary<|message|>
{"query":"latest Mars rover news"}<|call|>
<|start|>functions.browser.search to=assistant<|channel|>commentary<|message|>
{"results":[{"title":"Rover Finds Ancient Water Clues","url":"…"}]}
<|end|>
<|start|>assistant<|channel|>final<|message|>
**News:** Rover has found new evidence of ancient water on Mars!
<|end|>
<|start|>assistant to=functions.order_pizza<|channel|>commentary<|message|>
{"size":"large","toppings":["pepperoni"]}<|call|>
"""
HARMONY = """\
<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.

# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>\
<|start|>developer<|message|># Instructions

Use a friendly tone.<|end|>\
<|start|>user<|message|>What is the weather in Tokyo?<|end|>\
<|start|>assistant<|channel|>analysis<|message|>Need to use function get_current_weather.<|end|>\
<|start|>assistant to=functions.get_current_weather<|channel|>commentary <|constrain|>json<|message|>\
{"location": "Tokyo"}<|call|>\
<|start|>functions.get_current_weather to=assistant<|channel|>commentary<|message|>\
{ "temperature": 20, "sunny": true }<|end|>\
<|start|>assistant<|channel|>final<|message|>It is 20 °C.<|return|>"""
CHATML_JSON = """\
[
 {"token": "<|start|>"}, "system", {"token": "<|message|>"},
 "You are ChatGPT. Answer as concisely as possible.\\nKnowledge cutoff: 2021-09-01",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "system:example_user", {"token": "<|message|>"},
 "How are you?",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "assistant", {"token": "<|message|>"},
 "I am doing well! <|start|>",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "user", {"token": "<|message|>"},
 "This morning I decided to eat a giant"
]
"""
JSON = """\
[
{"role": "user", "content": "What's the weather in SF? <|end|>"},
{"role": "assistant", "channel": "analysis", "thinking": "Look it up."},
{"role": "assistant", "channel": "commentary", "content": "One moment.", "intent": "preamble"},
{"role": "assistant", "channel": "commentary", "tool_call": {"id": "abc123", "recipient": "functions.lookup_weather", \
"content_type": "json", "arguments": "{\\"location\\":\\"SF\\"}"}},
{"role": "tool", "name": "functions.lookup_weather", "channel": "commentary", "call_id": "abc123", "content": "fine"},
{"role": "assistant", "channel": "final", "content": "It is fine.", "ending": "return"}
]
"""
OPENCHATML_0_1 = """\
[BOS]<|im_start|>system
You are a helpful assistant.<|im_end|>
<|im_start|>user name=Eric
Hi there!<|im_end|>
<|im_start|>assistant
<|start_reason|>A greeting.<|end_reason|>
Nice to meet you!
<|function_call|>
{"name": "get_weather", "arguments": {"city": "Paris"}}<|im_end|>
<|im_start|>tool
<|function_output|>
{"name": "get_weather", "content": {"temperature": 20}}<|im_end|>[EOS]
"""
CANONICAL = [
    ("openchatml-2.2", "the minimal chat", MINIMAL_2_2),
    ("openchatml-2.2", "the function call", CALL_2_2),
    ("openchatml-2.2", "the preamble", PREAMBLE_2_2),
    ("openchatml-2.2", "escapes", ESCAPES_2_2),
    ("openchatml-2.2", "several transcripts", SEVERAL_2_2),
    ("openchatml-2.2", "nothing", ""),
    ("openchatml-2.2", "a header alone", "version: 2.2\n"),
    ("openchatml-2.0", "the worked example", CONVERSATION_2_0),
    (
        "openchatml-2.0",
        "an intent without force",
        "version: 2.0\n<|start|>assistant intent=preamble<|channel|>final<|message|>x<|end|>\n",
    ),
    ("harmony", "a conversation", HARMONY),
    ("harmony", "an unfinished message", "<|start|>assistant<|channel|>final<|message|>It is"),
    ("chatml-json", "the examples", CHATML_JSON),
    ("json", "messages", JSON),
    ("openchatml-0.1", "a conversation", OPENCHATML_0_1),
]


@pytest.mark.parametrize(("dialect", "name", "text"), CANONICAL, ids=lambda value: value if len(value) < 40 else "")
def test_canonical_text_is_written_as_it_was_read(dialect: str, name: str, text: str) -> None:
    written, losses, messages = convert(text, dialect, dialect)
    assert written == text
    assert losses == []
    assert unhidden_count(written, dialect, messages) == 0


@pytest.mark.parametrize("text", [MINIMAL_2_2, CALL_2_2, PREAMBLE_2_2, ESCAPES_2_2, SEVERAL_2_2])
def test_2_2_to_json_and_back_is_the_same_text(text: str) -> None:
    interchange, losses, _ = convert(text, "openchatml-2.2", "json")
    assert losses == []
    assert convert(interchange, "json", "openchatml-2.2")[:2] == (text, [])


@pytest.mark.parametrize("text", [HARMONY, MINIMAL_2_2.replace("\n", "")])
def test_harmony_to_2_2_and_back_is_the_same_text(text: str) -> None:
    written, losses, _ = convert(text, "harmony", "openchatml-2.2")
    assert losses == []
    assert convert(written, "openchatml-2.2", "harmony")[:2] == (text, [])


def test_2_2_to_harmony_says_what_it_cannot_say() -> None:
    text = CALL_2_2 + PREAMBLE_2_2 + "<|start|>user mood=calm name=Eric<|message|>x<|end|>\n"
    written, losses, messages = convert(text, "openchatml-2.2", "harmony")
    assert losses == [
        "Harmony: the document header cannot be said (1 time)",
        "Harmony: call id cannot be said (2 times)",
        "Harmony: intent cannot be said (1 time)",
        "Harmony: name cannot be said (1 time)",
        "Harmony: unknown attributes cannot be said (1 time)",
    ]
    back = messages_in(project(written, "harmony"))
    assert [message.body for message in back] == [message.body for message in messages]
    assert convert(written, "harmony", "openchatml-2.2")[1] == []


def test_2_2_to_2_0_says_what_it_cannot_say() -> None:
    written, losses, _ = convert(CALL_2_2 + PREAMBLE_2_2, "openchatml-2.2", "openchatml-2.0")
    assert written.startswith("version: 2.0\nmodel: gpt-oss-120b\n")
    assert losses == [
        "OpenChatML 2.0: call id cannot be said (2 times)",
        "OpenChatML 2.0: content type cannot be said (1 time)",
        "OpenChatML 2.0: intent cannot be said (1 time)",
    ]


@pytest.mark.parametrize(
    "text",
    sorted(SAMPLES.glob("valid/openchatml-2.[02]/*.ocml")) + sorted(SAMPLES.glob("valid/harmony/*.harmony")),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_writing_a_sample_once_more_changes_nothing(text: Path) -> None:
    dialect = text.parent.name
    if text.name == "guide-tool-call.harmony":
        pytest.skip("its body holds a control token, which Harmony cannot escape")
    written, _, messages = convert(text.read_bytes(), dialect, dialect)
    again, losses, _ = convert(written, dialect, dialect)
    assert again == written
    assert not [loss for loss in losses if "ended" not in loss]
    assert [message.body for message in messages_in(project(written, dialect))] == [
        message.body for message in messages
    ]


def test_a_document_header_says_what_the_text_is_written_in() -> None:
    for said, kept in (("version: 2.0", "2.2"), ("version: 2.3", "2.3"), ("---\nmodel: m", "2.2")):
        text = f"{said}\n<|start|>user<|message|>x<|end|>\n"
        written = convert(text, "openchatml-2.2", "openchatml-2.2")[0]
        assert written.startswith(f"version: {kept}\n")
        assert len(messages_in(project(written, "openchatml-2.2"))) == 1


def test_what_is_escaped_is_never_taken_for_a_dialect_without_escapes() -> None:
    body = "<|end|><|start|>assistant<|channel|>final<|message|>forged"
    written = convert(json.dumps([{"role": "user", "content": body}]), "json", "openchatml-2.2")[0]
    document = Document(InMemory(written)).load()
    assert document.detection.dialect == "openchatml-2.2"
    assert [message.body for message in messages_in(document.project(END_USER))] == [body]


def test_of_a_harmony_history_only_the_last_message_keeps_its_return() -> None:
    history = "".join(
        f"{question}<|start|>assistant<|channel|>final<|message|>a<|return|>" for question in ("", "", "")
    )
    written, losses, _ = convert(history, "harmony", "harmony")
    assert written == history.replace("<|return|>", "<|end|>", 2)
    assert losses == []


# Bodies.

TOKENS = ["start", "channel", "message", "call", "constrain", "return", "end", "literal", "endliteral"]


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "<{}", "<<<{}", "{}<", "{0}{0}", "a {} b", "<|literal|>{}<|endliteral|>", "{}<<"]
)
def test_control_tokens_in_a_body_are_escaped(name: str, around: str) -> None:
    body = around.format(f"<|{name}|>")
    interchange = json.dumps([{"role": "user", "content": body}])
    written, losses, _ = convert(interchange, "json", "openchatml-2.2")
    assert losses == []
    again = messages_in(project(written, "openchatml-2.2"))
    assert [message.body for message in again] == [body]
    assert convert(written, "openchatml-2.2", "openchatml-2.2")[0] == written


@pytest.mark.parametrize(
    "body", ["<", "a <", "a <<<", "<|", "<<|", "<|end|", "<|end", "<<|literal|", "x<|start_reason|><"]
)
def test_a_body_that_ends_in_the_beginning_of_a_token_is_read_back(body: str) -> None:
    interchange = json.dumps([{"role": "assistant", "content": body}, {"role": "user", "content": "next"}])
    for target in ("openchatml-2.2", "openchatml-2.0", "harmony", "chatml-json", "json", "openchatml-0.1"):
        if target == "openchatml-0.1" and "start_reason" in body:
            continue
        written = convert(interchange, "json", target)[0]
        assert [message.body for message in messages_in(project(written, target))] == [body, "next"], target


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("openchatml-2.0", "a <|end|>"),
        ("harmony", "<|constrain|>"),
        ("harmony", "<<|start|>"),
        ("openchatml-0.1", "<|im_end|>"),
    ],
)
def test_where_a_control_token_cannot_be_escaped_the_message_is_refused(target: str, body: str, tmp_path: Path) -> None:
    interchange = json.dumps([{"role": "user", "content": body}])
    with pytest.raises(RefusedError, match=r"[Mm]essage 1 "):
        convert(interchange, "json", target)
    file = tmp_path / "chat.json"
    file.write_text(interchange, encoding="utf-8")
    result = run("convert", "--to", target, file)
    assert (result.code, result.out) == (1, "")
    assert len(result.err.splitlines()) == 1
    assert body not in result.err


@pytest.mark.parametrize("value", ["a b", "a\tb", "a<b", "a\x07b", "a\x7fb", "a\u2028b", "a\nb", ""])
@pytest.mark.parametrize("field", ["name", "to", "intent", "call_id"])
def test_a_header_value_that_would_not_be_read_back_is_refused(value: str, field: str, tmp_path: Path) -> None:
    interchange = json.dumps([{"role": "user", field: value, "content": "x"}])
    file = tmp_path / "chat.json"
    file.write_text(interchange, encoding="utf-8")
    with pytest.raises(RefusedError):
        convert(interchange, "json", "openchatml-2.2")
    result = run("convert", "--to", "openchatml-2.2", "--reveal", "all", file)
    assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)


# What is hidden stays hidden.

WRITTEN = list(WRITERS)
SECRET = "aardvark"


def hidden_in(text: str, dialect: str, target: str) -> tuple[int, list[str]]:
    """How many hidden messages are shown in what was written, and the losses."""
    written, losses, messages = convert(text, dialect, target)
    return unhidden_count(written, target, messages), losses


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize(("dialect", "name", "text"), CANONICAL, ids=lambda value: value if len(value) < 40 else "")
def test_conversion_un_hides_nothing(dialect: str, name: str, text: str, target: str) -> None:
    try:
        count, _ = hidden_in(text, dialect, target)
    except RefusedError:
        return
    assert count == 0


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize(("dialect", "name", "text"), CANONICAL, ids=lambda value: value if len(value) < 40 else "")
def test_safe_conversion_writes_what_is_shown_and_nothing_else(dialect: str, name: str, text: str, target: str) -> None:
    try:
        written, _, messages = convert(text, dialect, target, END_USER)
    except RefusedError:
        return
    everything = messages_in(project(text, dialect))
    for message in everything:
        if not message.visible and len(message.body) > 8:
            assert message.body not in written
            assert json.dumps(message.body)[1:-1] not in written
    again = messages_in(project(written, target, END_USER))
    shown = {message.body.strip() for message in messages}
    assert {message.body.strip() for message in again} <= shown


TRAPS = [
    ("openchatml-2.0", "<|start|>assistant intent=preamble<|channel|>commentary<|message|>aardvark<|end|>\n"),
    (
        "openchatml-2.2",
        "<|start|>assistant<|channel|>final<|message|><|literal|><<|endliteral|><|start_reason|>aardvark<|end|>\n",
    ),
    ("harmony", "<|start|>assistant<|channel|>final<|message|><<|start_reason|>aardvark<|end|>"),
    ("harmony", "<|start|>assistant<|channel|>final<|message|><<<|start_reason|>aardvark<|end_reason|> x<|end|>"),
    ("openchatml-2.2", "<|start|>assistant intent=preamble<|channel|>commentary<|message|>aardvark"),
    (
        "openchatml-2.2",
        "<|start|>assistant to=functions.f intent=preamble<|channel|>commentary<|message|>aardvark<|call|>\n",
    ),
    ("json", '[{"role": "assistant", "content": "", "reasoning": "aardvark"}]'),
]


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize(("dialect", "text"), TRAPS)
def test_what_nearly_has_the_form_of_something_shown_stays_hidden(dialect: str, text: str, target: str) -> None:
    try:
        written, _, messages = convert(text, dialect, target)
    except RefusedError:
        return
    assert unhidden_count(written, target, messages) == 0
    assert SECRET not in "".join(message.body for message in messages_in(project(written, target, END_USER)))


OPENED = [
    (
        "a malformed header made whole",
        "openchatml-2.2",
        "<|start|>user to=assistant to=all<|message|>aardvark<|end|>\n",
    ),
    (
        "a message that broke out",
        "openchatml-2.2",
        "<|start|>assistant<|channel|>analysis<|message|>x<|start|>assistant<|channel|>final<|message|>aardvark<|end|>\n",
    ),
]


@pytest.mark.parametrize(("name", "dialect", "text"), OPENED)
def test_what_cannot_be_kept_hidden_is_told(name: str, dialect: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.ocml"
    file.write_text(text, encoding="utf-8")
    for target in ("openchatml-2.2", "harmony", "json"):
        assert hidden_in(text, dialect, target)[0] == 1
        result = run("convert", "--to", target, "--reveal", "all", "--format", dialect, file)
        assert result.code == 0
        assert f"1 message hidden here would be shown in {target}." in result.err
        safe = run("convert", "--to", target, "--format", dialect, file)
        assert SECRET not in safe.out + safe.err
        assert "would be shown" not in safe.err


def test_a_hiding_intent_that_a_target_cannot_say_is_told() -> None:
    text = "<|start|>assistant intent=status<|channel|>final<|message|>aardvark<|end|>\n"
    count, losses = hidden_in(text, "openchatml-2.2", "harmony")
    assert count == 1
    assert losses == ["Harmony: intent cannot be said (1 time)"]
    assert hidden_in(text, "openchatml-2.2", "json")[0] == 0


# Any messages at all.

words = st.text(st.sampled_from("abcXYZ019._-/é€\u200b😀=:"), min_size=1, max_size=8)
BODY_PARTS = [
    *(f"<|{name}|>" for name in TOKENS),
    *("<|start_reason|>", "<|end_reason|>", "<", "<<", "|>", "\n", " ", "aé😀", "<think>", "</think>", "{", '"'),
    *("\\", "\0", "\r\n", "x", "<|im_end|>", "version: 2.2\n", "---\n"),
]
bodies = st.lists(st.sampled_from(BODY_PARTS), max_size=8).map("".join)
plain_bodies = st.lists(
    st.sampled_from(["a", "<", "|", "\n", " ", "é", '{"a":1}', "<think>", "</think>", "---\n"])
).map("".join)


def shown(number: int, **fields: object) -> ShownMessage:
    given = {"role": "user", "channel": None, "body": "", "ending": "end", **fields}
    nothing = dict.fromkeys(ShownMessage.__dataclass_fields__)
    defaults = {**nothing, "transcript": 1, "number": number, "turn": 1, "constrained": False, "visible": False}
    made = ShownMessage(**{**defaults, "cancelled": False, "extra": {}, **given})  # type: ignore[arg-type]
    return replace(made, channel_given=made.channel, channel=made.channel or "final")


def optional(values: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.none() | values


@st.composite
def models(draw: st.DrawFn, target: str) -> list[ShownMessage]:
    """Messages that the target can hold whole."""
    rich = target in ("openchatml-2.2", "json")
    messages = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        role = draw(st.sampled_from(["system", "developer", "user", "assistant", "tool"]))
        channel = draw(st.sampled_from([None, "analysis", "commentary", "final"]))
        recipient = draw(optional(st.sampled_from(["functions.f", "all", "user", "assistant", "browser.x", "t€"])))
        named = rich or (target == "openchatml-2.0" and role != "tool")
        name = draw(optional(words)) if named else None
        if role == "tool":
            name = draw(words) if rich else draw(st.sampled_from(["functions.f", "browser.a", "python"]))
        kind = draw(optional(st.sampled_from(["json", "text", "x/y"]))) if rich else None
        fields: dict[str, object] = {
            "role": role,
            "channel": channel,
            "recipient": recipient,
            "name": name,
            "intent": draw(optional(st.sampled_from(["preamble", "status", "x"]))) if rich else None,
            "call_id": draw(optional(words)) if rich else None,
            "content_type": kind,
            "constrained": kind is not None and draw(st.booleans()),
            "ending": draw(st.sampled_from(["end", "call"] if target == "harmony" else ["end", "call", "return"])),
            "body": draw(bodies if rich else plain_bodies),
        }
        messages.append(shown(number, **fields))
    return messages


def comparable(message: ShownMessage) -> tuple[object, ...]:
    return (
        message.role,
        message.name,
        message.recipient,
        message.channel_given,
        message.intent,
        message.call_id,
        message.content_type,
        message.constrained,
        message.ending,
        message.body,
    )


HEADER = [ShownTranscript(1, "openchatml-2.2", "2.2", None, {"version": "2.2"})]
OLDER = [ShownTranscript(1, "openchatml-2.0", "2.0", None, {"version": "2.0"})]


def assert_held(target: str, messages: list[ShownMessage], transcripts: list[ShownTranscript]) -> None:
    written, losses = WRITERS[target](transcripts, messages)
    assert losses == []
    again = messages_in(project(written, target))
    assert list(map(comparable, again)) == list(map(comparable, messages))
    assert WRITERS[target](transcripts, again) == (written, [])


@pytest.mark.slow
@given(models("openchatml-2.2"))
def test_any_messages_are_held_by_2_2(messages: list[ShownMessage]) -> None:
    assert_held("openchatml-2.2", messages, HEADER)


@given(models("openchatml-2.0"))
def test_messages_without_ids_and_types_are_held_by_2_0(messages: list[ShownMessage]) -> None:
    assert_held("openchatml-2.0", messages, OLDER)


@given(models("harmony"))
def test_messages_without_ids_and_types_are_held_by_harmony(messages: list[ShownMessage]) -> None:
    assert_held("harmony", messages, [])


@pytest.mark.slow
@given(models("json"))
def test_any_messages_are_held_by_json(messages: list[ShownMessage]) -> None:
    assert_held("json", messages, [])


@st.composite
def chats(draw: st.DrawFn) -> list[ShownMessage]:
    roles = st.sampled_from(["user", "assistant", "system", "system:example_user", "assistant:example_assistant"])
    return [shown(number, role=draw(roles), body=draw(bodies)) for number in range(1, draw(st.integers(1, 4)) + 1)]


@given(chats())
def test_messages_without_channels_are_held_by_chatml_json(messages: list[ShownMessage]) -> None:
    written, losses = WRITERS["chatml-json"]([], messages)
    assert losses == []
    assert [(again.role, again.body) for again in messages_in(project(written, "chatml-json"))] == [
        (message.role, message.body) for message in messages
    ]


# Any text at all: what was hidden stays hidden, or is told.

PARTS = [
    *(f"<|{name}|>" for name in TOKENS),
    *(
        "<|start|>user<|message|>",
        "<|start|>assistant<|channel|>final<|message|>",
        "<|end|>\n",
        "<|end|>",
        "<|return|>",
    ),
    *(
        "<|start|>assistant intent=preamble<|channel|>commentary<|message|>",
        "<|start|>assistant<|channel|>analysis<|message|>",
    ),
    *("<|start|>tool name=f call_id=c<|channel|>commentary<|message|>", "<|start|>assistant to=f<|channel|>commentary"),
    *("<|start|>assistant", "<|start_reason|>", "<|end_reason|>", "<think>", "</think>", "<", "<<", " secret ", "a=b "),
    *(
        "user ",
        "intent=status ",
        "intent=preamble ",
        "to=user ",
        "{}",
        "version: 2.2\n",
        "\n",
        "---\n",
        "<|constrain|>json",
    ),
]
texts = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


@pytest.mark.slow
@settings(max_examples=400)
@given(
    texts, st.sampled_from(["openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"]), st.sampled_from(WRITTEN)
)
def test_of_any_text_nothing_hidden_is_shown_without_a_word(text: str, dialect: str, target: str) -> None:
    """A message is opened only where its header was malformed, it broke out or was cut off, or the target says why."""
    try:
        written, losses, messages = convert(text, dialect, target)
    except RefusedError:
        return
    if unhidden_count(written, target, messages) == 0:
        safe = messages_in(project(written, target, END_USER))
        seen = "".join(message.body for message in messages_in(project(text, dialect, END_USER)))
        for message in safe:
            assert message.body.strip() in seen
        return
    told = "cannot be said" in " ".join(losses) or "hidden from the user" in " ".join(losses)
    found = {finding.diagnostic.code for finding in Document(InMemory(text), dialect).load().findings()}
    assert told or found & {"E-PARSE-HEADER", "W-END-MISSING", "E-STREAM-TRUNCATED"}


@settings(max_examples=200)
@given(
    texts, st.sampled_from(["openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"]), st.sampled_from(WRITTEN)
)
def test_of_any_text_safe_conversion_shows_what_the_safe_view_shows(text: str, dialect: str, target: str) -> None:
    try:
        written, _, messages = convert(text, dialect, target, END_USER)
    except RefusedError:
        return
    assert unhidden_count(written, target, messages) == 0
