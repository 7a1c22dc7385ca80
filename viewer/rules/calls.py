"""Rule rows for warnings about calls, replies, and tools. Errors and notes are in `errors.py` and `notes.py`."""

from __future__ import annotations

from viewer.model.diagnostic import Rule

W_CALL_ID_MISSING = Rule(
    code="W-CALL-ID-MISSING",
    title="Call or reply without `call_id`.",
    safe="A background step has no ID.",
    section="OpenChatML 2.2 sections 6, 8.2",
    advice="Write the same `call_id=` into the header of the call and of its reply.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    reasons={
        "call": "The call has no `call_id`. Its reply was matched by tool and order.",
        "reply": "The reply has no `call_id`. Its call was matched by tool and order.",
    },
)

W_CALL_ID_DUPLICATE = Rule(
    code="W-CALL-ID-DUPLICATE",
    title="Duplicate `call_id` …",
    safe="Two background steps share the same ID.",
    section="OpenChatML 2.2 section 8.2",
    advice="Give each call a unique ID and exactly one reply.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    shown_reason="reply",
    reasons={
        "call": "An earlier call has the same `call_id` …",
        "reply": "An earlier reply has the same `call_id` …",
    },
)

W_CALL_ID_UNKNOWN = Rule(
    code="W-CALL-ID-UNKNOWN",
    title="The reply's `call_id` matches no call …",
    safe="A background result belongs to no known step.",
    section="OpenChatML 2.2 section 8.2",
    advice="Copy the `call_id` of the call into its reply, and keep the call in the transcript.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>tool name=functions.get_time call_id=t9 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
)

W_CALL_UNANSWERED = Rule(
    code="W-CALL-UNANSWERED",
    title="Call without a reply.",
    safe="A background step never got a result.",
    section="OpenChatML 2.2 section 8",
    advice="Add the reply with the same `call_id`, or remove the call.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>assistant<|channel|>final<|message|>I do not know.<|return|>
""",
)

W_CALL_CHANNEL = Rule(
    code="W-CALL-CHANNEL",
    title="The call is on the wrong channel.",
    safe="A background step is on an unusual channel.",
    section="OpenChatML 2.2 sections 8.3, 12",
    advice="Write calls to `functions.*` on `commentary`, or set `tool_calls_in` in the profile.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>analysis<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
)

W_CALL_MIXED = Rule(
    code="W-CALL-MIXED",
    title="Two tool-call notations are mixed.",
    safe="Background steps use two different notations.",
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
    shown_reason="turn",
    reasons={
        "turn": "The turn has both `<|call|>` messages and a JSON `tool_calls` field.",
        "content-and-calls": "The message has both `content` and `tool_calls`.",
    },
)

W_TOOL_NAME_MISSING = Rule(
    code="W-TOOL-NAME-MISSING",
    title="Reply without a tool name.",
    safe="A background result does not name its source.",
    section="OpenChatML 2.2 sections 4, 6",
    advice="Add `name=` with the tool to the header.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool call_id=t1 to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
)

W_TOOL_UNDECLARED = Rule(
    code="W-TOOL-UNDECLARED",
    title="Call to an undeclared tool …",
    safe="A background step used something that was not offered.",
    section="OpenChatML 2.2 section 8.3; Harmony guide: defining tools",
    advice="Declare the tool in a system or developer message, or fix its name in the call.",
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
)

W_TOOL_FAILED = Rule(
    code="W-TOOL-FAILED",
    title="The tool reported a failure.",
    safe="A background step failed.",
    section="OpenChatML 2.2 section 8.2",
    advice="Check the `error` of the reply.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|message|>\
{"ok": false, "content": null, "error": "no clock"}<|end|>
<|start|>assistant<|channel|>final<|message|>I do not know.<|return|>
""",
)

W_REPLY_ENVELOPE = Rule(
    code="W-REPLY-ENVELOPE",
    title="The reply does not use the recommended envelope.",
    safe="A background step returned data in an unusual form.",
    section="OpenChatML 2.2 section 8.2",
    advice="Reply with an object that has `ok`, `content`, `error`, and `provenance`.",
    example="""\
version: 2.2
<|start|>user<|message|>What time is it?<|end|>
<|start|>assistant to=functions.get_time call_id=t1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.get_time call_id=t1 to=assistant<|channel|>commentary<|constrain|>json<|message|>\
["12:00"]<|end|>
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
)

CALLS = (
    W_CALL_ID_MISSING,
    W_CALL_ID_DUPLICATE,
    W_CALL_ID_UNKNOWN,
    W_CALL_UNANSWERED,
    W_CALL_CHANNEL,
    W_CALL_MIXED,
    W_TOOL_NAME_MISSING,
    W_TOOL_UNDECLARED,
    W_TOOL_FAILED,
    W_REPLY_ENVELOPE,
)
