"""Random documents of every format, made from the fragments that their readers must distinguish."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Document = tuple[bytes, str]
"""Text, and the format in which it is read."""

ROLES = ["user", "assistant", "system", "developer", "tool", "functions.f", "browser.search", "python", "asistant"]
CHANNELS = ["analysis", "commentary", "final", "Final", ""]
TYPES = ["json", "text", "markdown", "code", "svg"]
ATTRIBUTES = [
    "to=functions.f",
    "to=functions.g",
    "to=user",
    "to=assistant",
    "to=",
    "call_id=c1",
    "call_id=c2",
    "name=functions.f",
    "name=Mika",
    "intent=preamble",
    "intent=status",
    "content_type=json",
    "mood=curious",
]
MARKS = [
    *("<|start|>", "<|channel|>", "<|message|>", "<|call|>", "<|constrain|>", "<|return|>", "<|end|>"),
    *(
        "<|literal|>",
        "<|endliteral|>",
        "<<|end|>",
        "<<<|start|>",
        "<<|literal|>",
        "<|",
        "|>",
        "<|en",
        "d|>",
        "<",
        "<|star",
    ),
    *("<|start_reason|>", "<|end_reason|>", "<|start_reflect|>", "<think>", "</think>", "<|constrain|> json"),
]
OLD_MARKS = [
    *("[BOS]", "[EOS]", "<s>", "</s>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|im_st", "[BO"),
    *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|file_separator|>"),
    *("<|reflect|>", "<|introspect|>", "<|reason|>", "<|start_reflect|>", "<|end_reflect|>", "<|start_reason|>"),
    *("<|end_reason|>", "<|function_list|>", "<|function_call|>", "<|function_output|>"),
    '{"arguments": {"a": 1}, "name": "f"}',
    '{"name": "f", "content": 2}',
    '{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"]}}}',
]
BODIES = [
    "",
    " ",
    "\n",
    "Hello",
    "half a word",
    "{}",
    '{"a": 1}',
    '{"a": 1, "a": 2}',
    '{"a": }',
    '{"ok": true}',
    '{"ok": false, "error": "E-TOOL-TIMEOUT"}',
    '{"ok": false}',
    '{"tool_calls": []}',
    '{"a": 1, "deadline_ms": 5}',
    "assistantfinal",
    "assistant",
    "analysisWe thinkassistantfinalHi",
    "namespace functions { type f = (_: { a: number }) => any; }",
    "日本語🐙",
    "pay\u200bpal",
    "in\u202evoice",
    "hi\U000e006f\U000e0062",
    "\x00",
    "\x1b[0m",
]
MESSAGES = [
    "<|start|>user<|message|>Hello<|end|>\n",
    "<|start|>assistant<|channel|>analysis<|message|><|start_reason|>Think<|end|>",
    "<|start|>assistant<|channel|>final<|message|>Hi <|start_reason|>why<|end_reason|> there<|return|>",
    "<|start|>assistant<|channel|>final<|message|><think>why</think>Hi<|return|>\n",
    "<|start|>assistant intent=preamble<|channel|>commentary<|message|>Plan<|end|>\n",
    "<|start|>assistant to=functions.f call_id=c1 intent=preamble<|channel|>commentary<|message|>{}<|call|>",
    '<|start|>assistant to=functions.f call_id=c1<|channel|>commentary<|constrain|>json<|message|>{"a": "x"}<|call|>\n',
    '<|start|>assistant to=functions.f<|channel|>commentary <|constrain|> json<|message|>{"b": 1, "c": [<|call|>\n',
    '<|start|>assistant<|channel|>commentary to=functions.g <|constrain|>json<|message|>["a"]<|call|>',
    '<|start|>tool name=functions.f call_id=c1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>\n',
    '<|start|>tool name=functions.f call_id=c1 to=assistant<|channel|>commentary<|message|>{"ok": false}<|end|>',
    "<|start|>functions.f to=assistant<|channel|>commentary<|constrain|>json<|message|>{}<|end|>\n",
    "<|start|>user<|message|><|literal|><|end|><|start|><|endliteral|> and <<|end|><|end|>\n",
    "<|start|>user<|message|><|literal|><|end|>",
    "<|start|>user<|message|>a <|endliteral|> b<|end|>",
    "<|start|>developer<|message|>namespace functions { type f = (_: { a: number, d?: 1 | 2 }) => any; }<|end|>\n",
    '<|start|>system<|message|>{"name": "f", "parameters": {"type": "object", "required": ["a"]}}<|end|>',
    '<|start|>assistant<|message|>{"tool_calls": [{}]}<|end|>\n',
    "<|start|>assistant",
    "analysisWe thinkassistantfinalHi",
]
DECLARED = "<|start|>developer<|message|>namespace functions { type f = (_: { a: number, d?: 1 | 2 }) => any; }<|end|>"
CALL = "<|start|>assistant to=functions.f call_id=c1<|channel|>commentary<|constrain|>json<|message|>"
REPLY = "<|start|>tool name=functions.f call_id=c1 to=assistant<|channel|>commentary<|message|>"
TOGETHER = [
    DECLARED + CALL + '{"a": "x", "d": 3, "e": 1}<|call|>',
    DECLARED + CALL + "[1]<|call|>\n" + REPLY + '{"ok": true}<|end|>\n' + REPLY + '{"ok": true}<|end|>',
    CALL + "{}<|call|>" + REPLY + '{"ok": false, "error": "E-TOOL-CANCELLED"}<|end|>\n',
]
HEADERS = [
    "version: 2.2\n",
    "version: 2.0\n",
    "version: 1.0\n",
    "version: 2.9\n",
    "---\nversion: 2.2\nmodel: m\n---\n",
    "---\nmodel: m\n---\n",
    "---\n",
    "version:",
    "versio",
    "version: 2.2\nprofiles:\n  harmony:\n    require_channels: [final]\n",
    "version: 2.2\na: &b [1]\nc: *b\n",
    'version: 2.2\nmodel: "m\n',
    "version: 2.2\ntokens: ['<|start|>', '<|end|>']\n",
]
EVENTS = [
    '{"type":"response.delta","delta":"a"}',
    '{"type":"response.delta","message_id":"m1","delta":"b"}',
    '{"type":"response.delta","message_id":"m2","delta":"c\\u00e9\\n"}',
    '{"type":"response.delta","message_id":"m3","channel":"analysis","delta":"d"}',
    '{"type":"response.delta","message_id":"m1","delta":"<thi"}',
    '{"type":"response.delta","message_id":"m1","delta":"nk>e"}',
    '{"type":"response.reasoning_text.delta","message_id":"m4","delta":"f"}',
    '{"type":"response.reasoning_text.delta","delta":"g"}',
    '{"type":"response.delta","delta":"l"}\n{"type":"response.reasoning_text.delta","delta":"m"}',
    '{"type":"response.reasoning_text.done","message_id":"m4"}',
    '{"type":"response.delta.flush","message_id":"m1"}',
    '{"type":"response.cancel","message_id":"m1"}',
    '{"type":"response.cancel"}',
    '{"type":"response.done","message_id":"m1"}',
    '{"type":"response.done"}',
    '{"type":"tool.cancel","call_id":"c1","reason":"h"}',
    '{"event":"response.delta","data":"i","ts":"2025-08-08T10:02:11Z"}',
    '{"type":"response.output_item.added","output_index":0,"item":{"id":"o1","type":"function_call","name":"f","call_id":"c1"}}',
    '{"type":"response.function_call_arguments.delta","item_id":"o1","output_index":0,"delta":"{\\"a\\":1}"}',
    '{"type":"response.function_call_arguments.done","item_id":"o1","output_index":0}',
    '{"type":"response.completed"}',
    '{"type":"response.unknown"}',
    '{"type":"other"}',
    '{"type":"response.delta","delta":',
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":"j"}}]}',
    '{"choices":[{"index":0,"delta":{"reasoning_content":"k"}}]}',
    '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
]
STREAM_LINES = [
    "",
    "event: response.delta",
    "event: response.done",
    "data: [DONE]",
    "data:",
    ": alive",
    "id: 1",
    "words",
]
BROKEN_BYTES = [b"\xff", b"\xe3\x81", b"\xf0\x9f\x98", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\xa0"]
TEXT_FORMATS = ["openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"]
CONTROL_IDS = [200002, 200003, 200005, 200006, 200007, 200008, 200012]
WORD_IDS = [17360, 1428, 173781, 17952, 35644, 12606, 815, 17196, 316, 4108]
STRAY_IDS = ["0", "17", "-1", "1.5", '"a"', "999999", "null", "[1]", "x"]


def _picked(*lists: list[str]) -> st.SearchStrategy[bytes]:
    return st.sampled_from([text.encode() for texts in lists for text in texts])


def _joined(parts: st.SearchStrategy[bytes], most: int, between: bytes = b"") -> st.SearchStrategy[bytes]:
    return st.lists(parts, max_size=most).map(between.join)


_BROKEN = st.sampled_from(BROKEN_BYTES)
_SPACE = st.sampled_from([b"", b" ", b"\n", b"\r\n", b"\t", b"\n\n"])
_EVENT_LINE = _picked(EVENTS).map(lambda line: line + b"\n")
_BODY_PART = st.one_of(_picked(BODIES), _picked(BODIES, MARKS), _BROKEN)
_STOP = _picked(["<|end|>", "<|return|>", "<|call|>", ""])


@st.composite
def _header(draw: st.DrawFn) -> bytes:
    """Return the words of a message header, mostly valid."""
    words = [draw(st.sampled_from(["", *ROLES]))]
    words += draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=3))
    text = " ".join(words)
    if draw(st.booleans()):
        text += "<|channel|>" + draw(st.sampled_from(CHANNELS))
        text += "".join(f" {word}" for word in draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=1)))
    if draw(st.integers(0, 3)) == 0:
        text += draw(st.sampled_from([" ", ""])) + "<|constrain|>" + draw(st.sampled_from(TYPES))
    if draw(st.integers(0, 7)) == 0:
        text += draw(st.sampled_from([" json", " words", "<|channel|>final", "\n", "<|end|>", "<|start|>"]))
    return text.encode()


@st.composite
def _message(draw: st.DrawFn) -> bytes:
    """Return a message, usually complete."""
    start = draw(st.sampled_from([b"<|start|>", b"<|start|>", b"<|start|>", b"<|start|><|start|>", b""]))
    mark = draw(st.sampled_from([b"<|message|>", b"<|message|>", b"<|message|>", b""]))
    body = draw(_joined(_BODY_PART, 3))
    return start + draw(_header()) + mark + body + draw(_STOP) + draw(_SPACE)


_TEXT = _joined(
    st.one_of(
        _picked(MESSAGES),
        _picked(MESSAGES),
        _picked(MESSAGES),
        _picked(MESSAGES),
        _picked(TOGETHER),
        _message(),
        _message(),
        _BODY_PART,
        _picked(MARKS),
        _EVENT_LINE,
        _picked(HEADERS),
        _SPACE,
    ),
    8,
)


@st.composite
def text_documents(draw: st.DrawFn) -> Document:
    """Return text with `<|start|>`, and one of the formats that use it. The text may have a document header."""
    format = draw(st.sampled_from(TEXT_FORMATS))
    header = draw(st.one_of(st.just(b""), _picked(HEADERS), _SPACE, st.just(b"\xef\xbb\xbf")))
    return header + draw(_TEXT), format


@st.composite
def stripped_documents(draw: st.DrawFn) -> Document:
    """Return Harmony text from which a decoder dropped tokens, perhaps not all of them."""
    words = ["analysis", "assistant", "final", "commentary", "Hi", " ", "\n", "assistantfinal", "assistantanalysis"]
    text = b"analysis" + draw(_joined(_picked(words), 6)) + b"assistantfinal"
    return text + draw(_joined(_picked(words, ["<|end|>", "<|start|>user<|message|>a", "<|sta"]), 5)), "harmony"


_OLD_FRAME = st.builds(
    lambda role, name, body, end: b"<|im_start|>" + role + name + b"\n" + body + end,
    _picked(["user", "assistant", "assistant", "system", "tool", "moderator", ""]),
    _picked(["", "", " name=Mika", " name=", " name=a b"]),
    _joined(_picked(OLD_MARKS, BODIES, ["\n", "\n"]), 5),
    _picked(["<|im_end|>", "<|im_end|>\n", "\n<|im_end|>[EOS]", ""]),
)


@st.composite
def old_documents(draw: st.DrawFn) -> Document:
    """Return OpenChatML 0.1: frames, fill-in-the-middle, files."""
    parts = st.one_of(_OLD_FRAME, _picked(OLD_MARKS, BODIES), _SPACE, _BROKEN)
    return draw(_joined(parts, 6)), "openchatml-0.1"


_STRINGS = st.sampled_from([*ROLES, *CHANNELS, *BODIES, "wx1", "2025-08-08T10:02:11Z", "<think>a</think>b", 'a"b\\c\n'])
_CALL = st.fixed_dictionaries(
    {},
    optional={
        "id": _STRINGS,
        "type": st.just("function"),
        "recipient": st.sampled_from(["functions.f", "python"]),
        "arguments": _STRINGS,
        "function": st.fixed_dictionaries({"name": st.sampled_from(["f", "browser.search"]), "arguments": _STRINGS}),
    },
)
_PARTS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "x"]), "text": _STRINGS}), max_size=2
)
_OBJECT = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(ROLES),
        "channel": st.sampled_from(CHANNELS),
        "content": st.one_of(_STRINGS, st.none(), _PARTS, st.just(1)),
        "thinking": _STRINGS,
        "reasoning_content": _STRINGS,
        "intent": st.sampled_from(["preamble", "status"]),
        "tool_call": _CALL,
        "tool_calls": st.lists(_CALL, max_size=2),
        "name": st.sampled_from(["functions.f", "Mika"]),
        "tool_call_id": st.sampled_from(["wx1", "wx2"]),
        "recipient": st.sampled_from(["functions.f", "assistant", "user"]),
        "content_type": st.sampled_from(["<|constrain|>json", "json", "text"]),
        "ts": st.sampled_from([1754640131, "2025-08-08T10:02:11Z", "never"]),
        "mood": _STRINGS,
    },
)


@st.composite
def _damaged(draw: st.DrawFn, text: bytes) -> bytes:
    """Return the text, sometimes truncated or with an insertion."""
    kind = draw(st.integers(0, 5))
    at = draw(st.integers(0, len(text)))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return (
            text[:at] + draw(st.one_of(_BROKEN, _picked([",", "”", "}", "]", "\n", '"', "1", "\\", "{"]))) + text[at:]
        )
    return text


@st.composite
def json_documents(draw: st.DrawFn) -> Document:
    """Return JSON messages in one of their layouts."""
    objects: list[Any] = draw(st.lists(_OBJECT, max_size=4))
    ascii_only = draw(st.booleans())
    indent = draw(st.sampled_from([None, 1]))
    layout = draw(st.integers(0, 3))
    if layout == 0:
        text = "\n".join(json.dumps(value, ensure_ascii=ascii_only) for value in objects)
    elif layout == 1:
        text = json.dumps(objects, ensure_ascii=ascii_only, indent=indent)
    elif layout == 2:
        text = json.dumps({"model": "m", "messages": objects}, ensure_ascii=ascii_only, indent=indent)
    else:
        text = json.dumps({"choices": [{"index": 0, "message": value} for value in objects]}, ensure_ascii=ascii_only)
    more = draw(st.sampled_from(["", "\n", "\n{}", "\nwords\n", '\n{"role":"user","content":"x"}\n']))
    return draw(_damaged((text + more).encode())), "json"


@st.composite
def chatml_documents(draw: st.DrawFn) -> Document:
    """Return an array of strings and token objects."""
    tokens = [{"token": f"<|{name}|>"} for name in ("start", "message", "end_message", "other")]
    words = ["user", "assistant", "Assistant", "system", "system:example_user", "assistant:example_user", *BODIES]
    whole = st.sampled_from(["user", "assistant", "system"]).map(
        lambda role: [tokens[0], role, tokens[1], "Hello\n", tokens[2]]
    )
    single = st.sampled_from([*tokens, *words]).map(lambda item: [item])
    items: list[Any] = [item for group in draw(st.lists(st.one_of(whole, single), max_size=5)) for item in group]
    text = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    text = "[" + text + draw(st.sampled_from(["]", ",]", "", "]\n[]"]))
    if draw(st.booleans()):
        text = text.replace("\\n", "\n")
    return draw(_damaged(text.encode())), "chatml-json"


@st.composite
def event_documents(draw: st.DrawFn) -> Document:
    """Return event lines, bare or as server-sent events, with other lines in between."""
    event = _picked(EVENTS)
    line = st.one_of(event, event, event.map(lambda text: b"data: " + text), _picked(STREAM_LINES), _BROKEN)
    end = draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
    return draw(_damaged(draw(_joined(line, 8, end)))), "events"


@st.composite
def id_documents(draw: st.DrawFn) -> Document:
    """Return token IDs, in an array or one per line."""
    item = st.one_of(
        st.sampled_from(CONTROL_IDS).map(str), st.sampled_from(WORD_IDS).map(str), st.sampled_from(STRAY_IDS)
    )
    items = draw(st.lists(item, max_size=20))
    text = draw(st.sampled_from([", ", ",", "\n", " "])).join(items)
    if draw(st.booleans()):
        text = f"[{text}]"
    return draw(_damaged(text.encode())), "harmony-tokens"


def documents() -> st.SearchStrategy[Document]:
    """Return documents of all formats, with text formats more often."""
    return st.one_of(
        text_documents(),
        text_documents(),
        text_documents(),
        stripped_documents(),
        old_documents(),
        json_documents(),
        chatml_documents(),
        event_documents(),
        id_documents(),
    )
