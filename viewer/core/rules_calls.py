"""The words of the warnings about calls, replies and tools."""

from __future__ import annotations

from viewer.core.rules import Rule

CALLS = (
    Rule(
        code="W-CALL-ID-MISSING",
        title="A call or a reply has no `call_id`.",
        safe="A step behind the answer is not marked as its format demands.",
        section="OpenChatML 2.2 sections 6, 8.2",
        advice="Write the same `call_id=` into the `<|start|>` header of the call and of its reply.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
        reasons={
            "call": "The call has no `call_id`; its reply was found by tool and order.",
            "reply": "The reply has no `call_id`; its call was found by tool and order.",
        },
    ),
    Rule(
        code="W-CALL-ID-DUPLICATE",
        title="A `call_id` is used twice.",
        safe="Two steps behind the answer are marked alike.",
        section="OpenChatML 2.2 section 8.2",
        advice="Give each call an id of its own, and each call one reply.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
        reasons={
            "call": "An earlier call has the same `call_id`.",
            "reply": "An earlier reply has the same `call_id`.",
        },
    ),
    Rule(
        code="W-CALL-ID-UNKNOWN",
        title="A reply names a `call_id` that no call has.",
        safe="A step behind the answer belongs to nothing before it.",
        section="OpenChatML 2.2 section 8.2",
        advice="Echo the `call_id` of the call in its reply, and keep the call in the transcript.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>tool name=functions.get_time call_id=t9 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    ),
    Rule(
        code="W-CALL-UNANSWERED",
        title="A call has no reply.",
        safe="A step behind the answer was never finished.",
        section="OpenChatML 2.2 section 8",
        advice="Add the tool's reply with the same `call_id`, or drop the call.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>assistant<|channel|>final<|message|>I do not know.<|return|>
""",
    ),
    Rule(
        code="W-CALL-CHANNEL",
        title="A call stands on a channel that is not for calls of its kind.",
        safe="A step behind the answer stands in an unusual place.",
        section="OpenChatML 2.2 sections 8.3, 12",
        advice="Write calls to `functions.*` on `commentary`, or set `tool_calls_in` in the profile.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>analysis<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    ),
    Rule(
        code="W-CALL-MIXED",
        title="Two ways of calling tools are mixed.",
        safe="The steps behind the answer are written in two different ways.",
        section="OpenChatML 2.2 section 6; OpenChatML 2.0 section 10",
        advice="Use `<|call|>` messages or a JSON `tool_calls` field, not both.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>commentary<|message|>\
{"tool_calls": [{"id": "t2", "type": "function", "function": {"name": "get_date", "arguments": "{}"}}]}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
        reasons={
            "turn": "The turn has both `<|call|>` messages and a JSON `tool_calls` field.",
            "content-and-calls": "The message has both `content` and `tool_calls`.",
        },
    ),
    Rule(
        code="W-TOOL-NAME-MISSING",
        title="A tool's reply does not name its tool.",
        safe="A step behind the answer does not say where it comes from.",
        section="OpenChatML 2.2 sections 4, 6",
        advice="Write `name=` and the tool into the `<|start|>` header.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    ),
    Rule(
        code="W-TOOL-UNDECLARED",
        title="A call goes to a tool that the transcript does not declare.",
        safe="A step behind the answer asks for something that was not offered.",
        section="OpenChatML 2.2 section 8.3; Harmony guide: defining tools",
        advice="Declare the tool in a system or developer message, or correct its name in the call.",
        example="""\
version: 2.2
<|start|>developer<|message|># Tools

## functions

namespace functions {

// Gets the time of day.
type get_time = () => any;

} // namespace functions<|end|>
<|start|>user<|message|>What day is it?<|end|>
<|start|>assistant to=functions.get_date call_id=d1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_date call_id=d1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Monday.<|return|>
""",
    ),
    Rule(
        code="W-TOOL-FAILED",
        title="A tool's reply reports a failure.",
        safe="A step behind the answer did not succeed.",
        section="OpenChatML 2.2 section 8.2",
        advice="See the `error` of the reply.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>\
{"ok": false, "content": null, "error": "no clock"}<|end|>
<|start|>assistant<|channel|>final<|message|>I do not know.<|return|>
""",
    ),
    Rule(
        code="W-REPLY-ENVELOPE",
        title="A tool's reply is JSON, but not the recommended envelope.",
        safe="A step behind the answer came back in an unusual form.",
        section="OpenChatML 2.2 section 8.2",
        advice="Reply with an object that has `ok`, `content`, `error` and `provenance`.",
        example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|constrain|>json<|message|>\
["12:00"]<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    ),
)
