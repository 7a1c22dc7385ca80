"""The words of the errors: the eight codes of OpenChatML 2.2, section 14."""

from __future__ import annotations

from viewer.core.rules import Rule

ERRORS = (
    Rule(
        code="E-PARSE-HEADER",
        title="The document header or a message header is malformed.",
        safe="A part of this transcript is not written as its format demands; what is unclear stays hidden.",
        section="OpenChatML 2.2 sections 14, 2, 6",
        advice="Correct the header at the marked place; a message with a malformed header is hidden from end users.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>anaylsis<|message|>Simple arithmetic.<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
        reasons={
            "yaml-malformed": "The YAML header breaks off here: no YAML, or more of it than a header may use.",
            "yaml-too-large": "The YAML header is larger than 64 KB; what lies beyond is not read.",
            "version-missing": "The YAML header has no `version`.",
            "role-unknown": "The role is none that the dialect knows.",
            "role-missing": "The message header has no role.",
            "channel-empty": "`<|channel|>` is followed by no channel.",
            "channel-unknown": "The channel is none of `analysis`, `commentary` and `final`.",
            "channel-repeated": "The message header has more than one channel.",
            "attribute-repeated": "An attribute is given twice with different values.",
            "attribute-empty": "An attribute has no value.",
            "word-unknown": "A word in the message header is neither role, attribute nor type.",
            "message-missing": "The message header is not ended by `<|message|>`.",
            "marker-unknown": "A control token stands where a message header cannot have it.",
            "not-a-message": "This is neither a message nor anything else that the dialect knows.",
        },
    ),
    Rule(
        code="E-PARSE-CHANNEL-MISSING",
        title="The message names no channel, and its profile demands one.",
        safe="A message does not say whom it is meant for, although this transcript promises that it does.",
        section="OpenChatML 2.2 sections 14, 5, 12",
        advice="Write `<|channel|>` and one of `analysis`, `commentary` and `final` before `<|message|>`.",
        example="""\
version: 2.2
profiles:
  harmony:
    require_channels: [analysis, commentary, final]
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|message|>4.<|return|>
""",
    ),
    Rule(
        code="E-BODY-CONSTRAINT-VIOLATION",
        title="The body does not parse as the type that `<|constrain|>` declares.",
        safe="A step of this transcript is not in the form that it announces.",
        section="OpenChatML 2.2 sections 14, 6",
        advice="Correct the body at the marked place, or drop the constraint if the body is no such data.",
        example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": }<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": true, "content": {"sunny": true}}<|end|>
<|start|>assistant<|channel|>final<|message|>It is sunny.<|return|>
""",
        reasons={
            "json-malformed": "The body is not JSON from here on.",
            "json-truncated": "The body ends before its JSON is complete.",
            "json-trailing": "Something follows the JSON value of the body.",
            "json-too-deep": "The JSON of the body is nested more than 200 levels deep.",
            "empty": "The body is empty where JSON was declared.",
        },
    ),
    Rule(
        code="E-CALL-SCHEMA",
        title="The arguments of a call do not fit the declaration of its tool.",
        safe="A step behind the answer was not asked for as it should be.",
        section="OpenChatML 2.2 sections 14, 8",
        advice="Compare the arguments with the tool's declaration in the system or developer message.",
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
        reasons={
            "not-an-object": "The arguments are not a JSON object.",
            "missing-argument": "An argument that the tool demands is missing.",
            "wrong-type": "An argument has another type than the tool declares.",
            "unknown-argument": "The tool declares no such argument.",
            "not-in-enum": "An argument has a value that the tool does not allow.",
        },
    ),
    Rule(
        code="E-TOOL-TIMEOUT",
        title="A tool took longer than its call allowed.",
        safe="A step behind the answer took too long.",
        section="OpenChatML 2.2 sections 14, 8.2",
        advice="Raise `deadline_ms`, make the tool faster, or let the model go on without its reply.",
        example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": "Tokyo", "deadline_ms": 500}<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": false, "content": null, "error": "E-TOOL-TIMEOUT"}<|end|>
<|start|>assistant<|channel|>final<|message|>I could not find out.<|return|>
""",
        reasons={
            "reported": "The reply reports that the tool took too long.",
            "late": "The reply came after the deadline of its call.",
            "overdue": "The deadline of the call has passed, and no reply has come.",
        },
    ),
    Rule(
        code="E-TOOL-CANCELLED",
        title="The runtime cancelled a call.",
        safe="A step behind the answer was cancelled.",
        section="OpenChatML 2.2 sections 14, 8.2, 9",
        advice="See the reason that the reply or the `tool.cancel` event gives; call again if the reply is needed.",
        example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": "Tokyo"}<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": false, "content": null, "error": "E-TOOL-CANCELLED"}<|end|>
<|start|>assistant<|channel|>final<|message|>I stopped looking.<|return|>
""",
        reasons={
            "reported": "The reply reports that the call was cancelled.",
            "event": "A `tool.cancel` event cancelled the call.",
        },
    ),
    Rule(
        code="E-STREAM-TRUNCATED",
        title="The input ended inside a message, before a stop token.",
        safe="The transcript ends in the middle of a message.",
        section="OpenChatML 2.2 sections 14, 9",
        advice="Look for the rest of the stream; if there is none, the message is incomplete and should not be reused.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|>Two and two make""",
        reasons={
            "header": "The input ended inside a message header.",
            "body": "The input ended inside a body.",
            "literal": "The input ended inside a literal block: `<|endliteral|>` is missing.",
            "event-stream": "The event stream ended before its `done` event.",
        },
    ),
    Rule(
        code="E-PERM-VISIBILITY",
        title="Something that must stay hidden is written so that it would be shown.",
        safe="Something that is not meant to be shown was kept back.",
        section="OpenChatML 2.2 sections 14, 5, 7, 11",
        advice="Move private reasoning into an `analysis` message, and flag as preamble only commentary for the user.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|><think>Simple arithmetic.</think>4.<|return|>
""",
        reasons={
            "cot-in-final": "Private reasoning stands in a message that is shown; it is cut out of the safe view.",
            "preamble-on-analysis": "`intent=preamble` on another channel than commentary makes nothing visible.",
            "preamble-on-call": "`intent=preamble` on a message that is a call makes nothing visible.",
            "hidden-delta": "A `response.delta` carries a channel that must stay hidden.",
            "late-channel": "A later event moved shown text to a hidden channel. The text was already on the screen.",
        },
    ),
)
