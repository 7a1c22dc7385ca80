"""Parts of JSON messages: how each is shown, and the exact position of unlisted ones."""

from __future__ import annotations

import base64
import json

import pytest

from tests.support.cases import each
from tests.support.json_cases import body, messages, problems, read, read_in_every_cutting, rows
from viewer.formats import FORMATS
from viewer.model.events import Found
from viewer.model.visibility import is_user_safe

JSON = FORMATS["json"]
DATA = base64.b64encode(bytes(40_000)).decode()
SHORT = base64.b64encode(bytes(1_234)).decode()
ADDRESS = "https://files.example/private.png?token=quagga"


def shown(content: object, role: str = "user", **fields: object) -> list[str]:
    """Return the text of each message that the end user sees."""
    text = json.dumps([{"role": role, "content": content, **fields}])
    return [body(message, text) for message in messages(read(JSON, text.encode())) if is_user_safe(message)]


@pytest.mark.parametrize(
    "fields, seen",
    [
        ({"text": "a"}, ["a"]),
        ({"text": "a", "type": "text"}, ["a"]),
        ({"text": "<think>b</think>a"}, ["a"]),
        ({"text": "a", "type": "reasoning"}, []),
        ({"text": "a", "kind": "plan"}, []),
        ({"text": "a", "thought": True}, []),
        ({"text": "a", "channel": "analysis"}, []),
        ({"text": "a", "content": None}, []),
        ({"text": ["a"]}, []),
    ],
)
def test_a_text_without_content_is_the_content(fields: dict[str, object], seen: list[str]) -> None:
    text = json.dumps([{"role": "assistant", **fields}] * 3)
    assert [body(message, text) for message in messages(read(JSON, text.encode())) if is_user_safe(message)] == seen * 3


LABELS: list[tuple[object, str]] = [
    ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}, "[image/png, 40 KB]"),
    ({"type": "image_url", "image_url": f"data:image/png;base64,{SHORT}"}, "[image/png, 1.2 KB]"),
    ({"type": "image_url", "image_url": {"url": ADDRESS}}, "[image]"),
    ({"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3Csvg%3E"}}, "[image/svg+xml, 5 B]"),
    ({"type": "input_image", "file_id": "file-quagga"}, "[image]"),
    ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "[audio, 40 KB]"),
    (
        {"type": "input_file", "filename": "report.pdf", "file_data": f"data:application/pdf;base64,{DATA}"},
        "[file report.pdf]",
    ),
    ({"type": "file", "file": {"filename": "/srv/quagga/report.pdf", "file_id": "f"}}, "[file report.pdf]"),
    ({"type": "file", "file": {"filename": ADDRESS}}, "[file]"),
    (
        {"type": "file", "file": {"filename": "a\u202eb\n<|end|>\u001b[2J" + "c" * 99}},
        "[file ab _|end|>(2J" + "c" * 46 + "…]",
    ),
    ({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}}, "[image/jpeg, 40 KB]"),
    ({"type": "image", "source": {"type": "url", "url": ADDRESS}}, "[image]"),
    (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Ahoy, you!"}},
        "[text/plain, 10 B]",
    ),
    ({"type": "image", "source": {"media_type": "quagga secret", "data": DATA}}, "[attachment, 40 KB]"),
    ({"inlineData": {"mimeType": "image/webp", "data": DATA}}, "[image/webp, 40 KB]"),
    ({"inline_data": {"mime_type": "audio/wav", "data": DATA}}, "[audio/wav, 40 KB]"),
    ({"fileData": {"mimeType": "video/mp4", "fileUri": ADDRESS}}, "[video/mp4]"),
    ({"image": {"format": "png", "source": {"bytes": DATA}}}, "[image, 40 KB]"),
    ({"document": {"format": "pdf", "name": "report", "source": {"bytes": DATA}}}, "[file report]"),
    ({"type": "image", "image": DATA, "mediaType": "image/png"}, "[image/png, 40 KB]"),
    ({"type": "file", "mediaType": "application/pdf", "data": DATA}, "[application/pdf, 40 KB]"),
    ({"type": "video", "video": ADDRESS}, "[video]"),
]


@pytest.mark.share(quick=3)
@each("part,label", LABELS)
def test_attachments_show_as_a_label_on_their_own_line(part: object, label: str) -> None:
    for role in ("user", "assistant"):
        assert shown([part], role) == [label]
        assert shown([{"type": "text", "text": "see"}, part, "and", part, part], role) == [
            f"see\n{label}\nand\n{label}\n{label}"
        ]


SHOWN: list[tuple[object, list[str]]] = [
    ("a", ["a"]),
    (
        ["a", {"type": "text", "text": "b"}, {"type": "", "text": "c"}, {"type": None, "text": "d"}, {"text": "e"}],
        ["abcde"],
    ),
    ([{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}], ["ab"]),
    ([{"type": "text", "value": "a"}, {"type": "text", "content": "b"}], ["ab"]),
    ([{"type": "text", "text": "a", "value": "quagga", "content": "quagga"}], ["a"]),
    ([{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}], ["a\nno"]),
    ([{"type": "text", "text": "a\n"}, {"type": "refusal", "refusal": "no"}, "b"], ["a\nno\nb"]),
    ([{"text": "a", "thoughtSignature": "quagga"}, {"type": "text", "text": "b", "thought": False}], ["ab"]),
    ([{"type": "text", "text": "quagga", "thought": True}], []),
    ([{"type": "text", "text": "quagga", "thought": "yes"}], []),
    ([{"type": "summary_text", "text": "quagga"}, {"type": "reasoning_text", "text": "quagga"}], []),
    ([{"type": "thinking", "thinking": "quagga"}, {"type": "redacted_thinking", "data": "quagga"}], []),
    ([{"reasoningContent": {"reasoningText": {"text": "quagga", "signature": "s"}}}], []),
    ([{"type": "tool_use", "id": "c", "name": "f", "input": {"q": "quagga"}}], []),
    (
        [{"functionCall": {"name": "f", "args": {"q": "quagga"}}}, {"toolUse": {"toolUseId": "c", "input": "quagga"}}],
        [],
    ),
    ([{"functionResponse": {"name": "f", "response": {"q": "quagga"}}}, {"toolResult": {"content": ["quagga"]}}], []),
    ([{"type": "mcp_tool_result", "content": [{"type": "text", "text": "quagga"}]}], []),
    ([{"type": "anything_tool_result", "content": "quagga"}, {"type": "tool-result", "output": "quagga"}], []),
    ([{"type": "function_call_output", "output": "quagga"}, {"type": "tool_call_response", "result": "quagga"}], []),
]


@each("content,expected", SHOWN)
def test_each_listed_part_in_every_role(content: object, expected: list[str]) -> None:
    assert shown(content, "user") == expected
    assert shown(content, "assistant") == expected
    assert shown(content, "tool") == shown(content, "system") == []


UNKNOWN = [
    '{"type":"search_result","text":"quagga"}',
    '{"type":"container_upload","file_id":"quagga"}',
    '{"type":"Text","text":"quagga"}',
    '{"Type":"thinking","text":"quagga"}',
    '{"type":"text","type":"thinking","text":"quagga"}',
    '{"type":"text","text":"a","text":"quagga"}',
    '{"type":"text","text":{"value":"quagga"}}',
    '{"type":7,"text":"quagga"}',
    '{"type":"text"}',
    '{"type":["text"],"text":"quagga"}',
    '{"quagga":"x"}',
    '["quagga"]',
    "7",
    "true",
]


@pytest.mark.share(quick=6, test=2)
@pytest.mark.parametrize("part", UNKNOWN)
@each("role", ["user", "assistant", "system", "developer"], quick=3)
def test_every_other_part_is_hidden_and_reported_at_its_place(part: str, role: str) -> None:
    text = f'[{{"role":"{role}","content":["a",{part},{{"type":"text","text":"b"}}]}}]'
    events = read_in_every_cutting(JSON, text)
    assert [row[2] for row in rows(events, text)] == [part, "ab"]
    assert [is_user_safe(message) for message in messages(events)] == [False, role in ("user", "assistant")]
    found = [event for event in events if isinstance(event, Found)]
    assert [(event.code, text[event.start : event.end], event.message) for event in found] == [
        ("W-PART-UNKNOWN", part, 1)
    ]


@pytest.mark.parametrize("content", ['{"a":"quagga"}', '{"type":"text","text":"quagga"}', '{"parts":["quagga"]}', "5"])
def test_an_object_as_content_is_an_unknown_part(content: str) -> None:
    text = f'[{{"role":"user","content":{content}}}]'
    events = read_in_every_cutting(JSON, text)
    assert [
        (row[2], is_user_safe(message)) for row, message in zip(rows(events, text), messages(events), strict=True)
    ] == [(content, False)]
    assert problems(events) == ["W-PART-UNKNOWN@1"]


def test_data_in_a_tool_reply_is_its_body() -> None:
    text = '[{"role":"tool","name":"f","content":{"ok":true}},{"role":"tool","name":"f","content":[{"a":1},2]}]'
    events = read_in_every_cutting(JSON, text)
    assert [row[2] for row in rows(events, text)] == ['{"ok":true}', '[{"a":1},2]']
    assert problems(events) == []


def test_a_refusal_follows_the_content_on_its_own_line() -> None:
    assert shown("I see.", "assistant", refusal="I cannot.") == ["I see.\nI cannot."]
    assert shown(None, "assistant", refusal="I cannot.") == ["I cannot."]


def test_a_message_that_is_flagged_as_a_thought_is_one() -> None:
    assert shown("quagga", "assistant", thought=True) == []
    assert shown("a", "assistant", thought=False) == ["a"]


def test_a_part_that_is_cut_off_is_not_shown() -> None:
    text = '[{"role":"assistant","channel":"final","content":[{"type":"text","text":"quagga'
    events = read_in_every_cutting(JSON, text)
    assert [is_user_safe(message) for message in messages(events)] == [False]
    assert problems(events) == ["E-STREAM-TRUNCATED/body@1"]


WRAPPED = [
    ('{"role":"user","message":{"content":[{"type":"text","text":"a"}]}}', ["a"], []),
    ('{"role":"user","id":"1","message":{"role":"user","id":"2","content":"a"}}', ["a"], []),
    ('{"role":"user","message":{"role":"tool","name":"f","content":"a"}}', [], ["E-PARSE-HEADER/attribute-repeated@1"]),
    ('{"role":"user","author":{"role":"tool"},"content":"a"}', [], ["E-PARSE-HEADER/attribute-repeated@1"]),
    (
        '{"messages":[{"role":"user","content":"a"}],"response":{"choices":[{"message":{"role":"assistant","content":"b"}}]}}',
        ["a", "b"],
        [],
    ),
    (
        '{"messages":[{"role":"user","content":"a"}],"response":{"role":"assistant","content":[{"type":"text","text":"b"}]}}',
        ["a", "b"],
        [],
    ),
    (
        '{"request":{"body":{"messages":[{"role":"user","content":"a"}]}},"response":{"body":{"choices":[{"message":{"role":"assistant","content":"b"}}]}}}',
        ["a", "b"],
        [],
    ),
    (
        '{"messages":[{"role":"user","content":"a"}],"chosen":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"rejected":[{"role":"user","content":"a"},{"role":"assistant","content":"c"}]}',
        ["a", "b"],
        [],
    ),
    (
        '{"messages":[{"role":"user","content":"a"}],"chosen":{"role":"assistant","content":"b"},"rejected":{"role":"assistant","content":"c"}}',
        ["a", "b"],
        [],
    ),
    ('{"messages":[{"role":"user","content":"a"}],"chosen":"b","rejected":"c"}', ["a", "b"], []),
    ('[[{"role":"user","content":"a"}],[{"role":"user","content":"b"}]]', ["a", "b"], []),
    ('{"role":"assistant","id":"m","content":null,"text":"b"}', [], ["W-CONTENT-MISSING@1"]),
    ('{"role":"assistant","audio":{"transcript":"b"}}', [], ["W-CONTENT-MISSING@1"]),
    ('{"role":"assistant","id":"m","model":"x","created":1767225600}', [""], []),
    ('{"role":"user","parts":[{"type":"text","text":"b"}]}', [], ["W-CONTENT-MISSING@1"]),
    (
        '{"messages":[{"role":"user","content":"a"}],"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}]}}',
        ["a", "b"],
        [],
    ),
    (
        '{"kwargs":{"messages":[{"role":"user","content":"a"}]},"response_obj":{"choices":[{"message":{"role":"assistant","content":"b"}}]}}',
        ["a", "b"],
        [],
    ),
    (
        '{"choices":[{"message":{"role":"assistant","content":"a"},"draft":{"role":"assistant","content":"b"}}]}',
        ["a"],
        ["W-SIBLING-UNREAD@None"],
    ),
    ('{"messages":[{"role":"user","content":"a"}],"tools":[{"role":{},"content":{}}]}', ["a"], []),
    (
        '{"messages":[{"role":"user","content":"a"}],"x":{"y":[{"role":"assistant","content":"b"}]}}',
        ["a"],
        ["W-SIBLING-UNREAD@None"],
    ),
]


@pytest.mark.share(quick=27)
@each("text,expected,found", WRAPPED)
def test_no_message_loses_its_content_silently(text: str, expected: list[str], found: list[str]) -> None:
    events = read_in_every_cutting(JSON, text)
    assert [body(message, text) for message in messages(events) if is_user_safe(message)] == expected
    assert problems(events) == found
    assert len({message.transcript for message in messages(events)}) == (2 if text.startswith("[[") else 1)


def test_the_items_of_a_response_keep_their_kinds() -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "quagga"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c", "output": "quagga"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "x", "text": "quagga"},
    ]
    for at in range(len(items)):
        text = json.dumps({"messages": [{"role": "user", "content": "a"}], "response": {"output": items[: at + 1]}})
        found = messages(read(JSON, text.encode()))
        assert [body(message, text) for message in found if is_user_safe(message)] == (["a", "b"] if at > 2 else ["a"])
        assert len(found) == at + 2


def test_a_thought_next_to_its_flag_keeps_its_text() -> None:
    for flag in (True, 1):
        text = json.dumps([{"role": "assistant", "content": [{"text": "quagga", "thought": flag}, {"text": "b"}]}])
        found = messages(read(JSON, text.encode()))
        assert [(body(message, text), is_user_safe(message)) for message in found] == [("quagga", False), ("b", True)]


def test_a_part_without_a_type_is_what_its_kind_says() -> None:
    for name in ("kind", "part_kind"):
        assert shown([{name: "thinking", "text": "SECRET"}, {name: "text", "text": "Seen."}], "assistant") == ["Seen."]
        for kind in ("hologram", "tool-return", "Text", 7, ["text"]):
            assert shown([{name: kind, "text": "SECRET"}]) == [], (name, kind)
    assert shown([{"kind": "text", "part_kind": "note", "text": "SECRET"}]) == []
    assert shown([{"type": "text", "kind": "thinking", "text": "SECRET"}]) == []
