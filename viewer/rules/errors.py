"""Rule rows for errors, whatever they are about: the codes of OpenChatML 2.2, section 14, and unknown formats."""

from __future__ import annotations

from viewer.model.diagnostic import Rule

E_PARSE_HEADER = Rule(
    code="E-PARSE-HEADER",
    title="Invalid document or message header.",
    safe="Part of this transcript is malformed and stays hidden.",
    section="OpenChatML 2.2 sections 14, 2, 6",
    advice="Fix the marked part of the header. A message with a malformed header is hidden from end users.",
    example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>anaylsis<|message|>Simple arithmetic.<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
    shown_reason="channel-unknown",
    reasons={
        "yaml-malformed": "The YAML header is invalid or uses a feature that headers do not allow.",
        "yaml-too-large": "The YAML header is larger than 64 KB. The rest was not read.",
        "version-missing": "The YAML header has no `version`.",
        "role-unknown": "Unknown role … Expected a role of this format or a tool name.",
        "role-missing": "The message header has no role.",
        "channel-empty": "`<|channel|>` has no channel.",
        "channel-unknown": "Unknown channel … Expected `analysis`, `commentary`, or `final`.",
        "channel-repeated": "The message header has more than one channel.",
        "attribute-repeated": "The attribute has two different values …",
        "attribute-empty": "The attribute has no value …",
        "word-unknown": "Unexpected word in the message header …",
        "message-missing": "The message header has no `<|message|>`.",
        "marker-unknown": "Unexpected control token in the message header …",
        "not-a-message": "This is not a message or record of this format.",
    },
)

E_PARSE_CHANNEL_MISSING = Rule(
    code="E-PARSE-CHANNEL-MISSING",
    title="Missing channel; the profile requires one.",
    safe="A message does not declare its audience.",
    section="OpenChatML 2.2 sections 14, 5, 12",
    advice="Add `<|channel|>` with `analysis`, `commentary`, or `final` before `<|message|>`.",
    example="""\
version: 2.2
profiles:
  harmony:
    require_channels: [analysis, commentary, final]
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|message|>4.<|return|>
""",
)

E_BODY_CONSTRAINT_VIOLATION = Rule(
    code="E-BODY-CONSTRAINT-VIOLATION",
    title="The body does not match its declared type.",
    safe="A message contains invalid data.",
    section="OpenChatML 2.2 sections 14, 6",
    advice="Fix the marked part of the body, or remove the constraint if the body has another type.",
    example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": }<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": true, "content": {"sunny": true}}<|end|>
<|start|>assistant<|channel|>final<|message|>It is sunny.<|return|>
""",
    shown_reason="json-malformed",
    reasons={
        "json-malformed": "Invalid JSON.",
        "json-truncated": "The JSON is incomplete.",
        "json-trailing": "Unexpected text after the JSON value.",
        "json-too-deep": "The JSON is nested more than 200 levels deep.",
        "empty": "The body is empty; JSON was expected.",
    },
)

E_CALL_SCHEMA = Rule(
    code="E-CALL-SCHEMA",
    title="The arguments do not match the tool's declaration.",
    safe="A background step was given invalid input.",
    section="OpenChatML 2.2 sections 14, 8",
    advice="Compare the arguments with the declaration of the tool in the system or developer message.",
    example="""\
version: 2.2
<|start|>developer<|message|># Tools

## functions

namespace functions {

// Gets the weather of a city.
type get_weather = (_: {
  city: string,
}) => any;

} // namespace functions<|end|>
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": true, "content": {"sunny": true}}<|end|>
<|start|>assistant<|channel|>final<|message|>It is sunny.<|return|>
""",
    shown_reason="missing-argument",
    reasons={
        "not-an-object": "The arguments are not a JSON object.",
        "missing-argument": "Missing required argument …",
        "wrong-type": "Wrong type for the argument …",
        "unknown-argument": "Unknown argument …",
        "not-in-enum": "The value is not allowed for the argument …",
    },
)

E_TOOL_TIMEOUT = Rule(
    code="E-TOOL-TIMEOUT",
    title="The tool exceeded its deadline.",
    safe="A background step took too long.",
    section="OpenChatML 2.2 sections 14, 8.2",
    advice="Raise `deadline_ms`, make the tool faster, or let the model continue without the reply.",
    example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": "Tokyo", "deadline_ms": 500}<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": false, "content": null, "error": "E-TOOL-TIMEOUT"}<|end|>
<|start|>assistant<|channel|>final<|message|>I could not find out.<|return|>
""",
    shown_reason="reported",
    reasons={
        "reported": "The reply reports a timeout.",
        "late": "The reply arrived after the deadline.",
        "overdue": "The deadline has passed, and no reply has arrived.",
    },
)

E_TOOL_CANCELLED = Rule(
    code="E-TOOL-CANCELLED",
    title="The call was cancelled.",
    safe="A background step was cancelled.",
    section="OpenChatML 2.2 sections 14, 8.2, 9",
    advice="Check the reason in the reply or the `tool.cancel` event. Repeat the call if the reply is needed.",
    example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": "Tokyo"}<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": false, "content": null, "error": "E-TOOL-CANCELLED"}<|end|>
<|start|>assistant<|channel|>final<|message|>I stopped looking.<|return|>
""",
    shown_reason="reported",
    reasons={
        "reported": "The reply reports a cancellation.",
        "event": "A `tool.cancel` event cancelled the call.",
    },
)

E_STREAM_TRUNCATED = Rule(
    code="E-STREAM-TRUNCATED",
    title="The input is incomplete.",
    safe="The transcript is incomplete.",
    section="OpenChatML 2.2 sections 14, 9",
    advice="Look for the rest of the input. Do not reuse an incomplete message.",
    example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|>Two and two make""",
    shown_reason="body",
    reasons={
        "header": "The input ended inside a message header.",
        "body": "The input ended inside a message body.",
        "literal": "The input ended inside a literal block; `<|endliteral|>` is missing.",
        "event-stream": "The event stream ended without a `done` event.",
        "log": "The logger cut this text.",
        "compressed-truncated": "The compressed file is truncated. The content up to that point is shown.",
        "compressed-damaged": "The compressed file is damaged. Reading stopped here.",
        "too-large": "The size limit was reached. Reading stopped here.",
        "part-damaged": "Part of the container is damaged. Its readable content is shown.",
        "part-too-large": "A part of the container is too large. Reading it stopped here.",
        "part-unread": "A part of the container was not read: its name, encryption, or compression is not supported.",
        "part-repeated": "Two parts of the container have the same name. The last one was read.",
    },
)

E_PERM_VISIBILITY = Rule(
    code="E-PERM-VISIBILITY",
    title="Private content would be shown to the user.",
    safe="Private content was kept out of this view.",
    section="OpenChatML 2.2 sections 14, 5, 7, 11",
    advice="Move private reasoning into an `analysis` message. Set `intent=preamble` only on commentary for the user.",
    example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|><think>Simple arithmetic.</think>4.<|return|>
""",
    shown_reason="cot-in-final",
    reasons={
        "cot-in-final": "Private reasoning inside a shown message; the safe view hides it.",
        "preamble-on-analysis": "`intent=preamble` has no effect outside `commentary`.",
        "preamble-on-call": "`intent=preamble` has no effect on a call.",
        "hidden-delta": "The delta is on a hidden channel.",
        "late-channel": "A later event moved shown text to a hidden channel. The text was already on the screen.",
        "tokens-in-content": "Control tokens inside JSON content; the hidden parts were removed.",
    },
)

E_FORMAT_UNKNOWN = Rule(
    code="E-FORMAT-UNKNOWN",
    title="The file is not a known transcript format.",
    safe="This file is not a known transcript format.",
    section="ocmlview: detection",
    advice="Select a format with `--format`. `ocmlview formats` lists them.",
    example="Take two eggs.\n",
    shown_reason="text",
    reasons={
        "json": "The file is JSON, but not a known transcript format.",
        "text": "The file is text, but contains no transcript.",
        "binary": "The file is binary.",
    },
)

ERRORS = (
    E_PARSE_HEADER,
    E_PARSE_CHANNEL_MISSING,
    E_BODY_CONSTRAINT_VIOLATION,
    E_CALL_SCHEMA,
    E_TOOL_TIMEOUT,
    E_TOOL_CANCELLED,
    E_STREAM_TRUNCATED,
    E_PERM_VISIBILITY,
    E_FORMAT_UNKNOWN,
)
