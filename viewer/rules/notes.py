"""Rule rows for notes, whatever they are about: remarks that need no correction. `leaks.py` has one more."""

from __future__ import annotations

from viewer.model.diagnostic import Rule

I_OPEN_PROMPT = Rule(
    code="I-OPEN-PROMPT",
    title="Open prompt at the end.",
    safe="The next answer has not started.",
    section="Harmony guide: simple chat",
    advice="No action needed. Prompts usually end like this.",
    example="version: 2.2\n<|start|>user<|message|>What is 2 + 2?<|end|>\n<|start|>assistant",
)

I_CALL_INFERRED = Rule(
    code="I-CALL-INFERRED",
    title="Call and reply matched by order.",
    safe="Two background steps were matched by order, not by ID.",
    section="Harmony guide: providing tool results",
    advice="No action needed. This format has no call IDs.",
    example="""\
<|start|>user<|message|>What time is it?<|end|>\
<|start|>assistant<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{}<|call|>\
<|start|>functions.get_time to=assistant<|channel|>commentary<|message|>{"time": "12:00"}<|end|>\
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
)

I_TYPE_BARE = Rule(
    code="I-TYPE-BARE",
    title="Type without `<|constrain|>`.",
    safe="A message gives its type in abbreviated form.",
    section="OpenChatML 2.2 section 6",
    advice="Write `<|constrain|>` before the type if the body must be checked.",
    example="""\
<|start|>user<|message|>What time is it?<|end|>\
<|start|>assistant to=functions.get_time<|channel|>commentary json<|message|>{}<|call|>
""",
)

I_TYPE_UNKNOWN = Rule(
    code="I-TYPE-UNKNOWN",
    title="Unknown type; not checked …",
    safe="A message has a type that is not checked.",
    section="OpenChatML 2.2 section 6",
    advice="No action needed. Checked types are `json`, `text`, `markdown`, and `code`.",
    example="""\
version: 2.2
<|start|>user<|message|>Draw a line.<|end|>
<|start|>assistant<|channel|>final<|constrain|>svg<|message|><path d="M0 0h9"/><|return|>
""",
)

I_HARMONY_STRICT = Rule(
    code="I-HARMONY-STRICT",
    title="Rejected or misread by the reference Harmony library.",
    safe="Some programs may not read a message.",
    section="Harmony guide; its reference library",
    advice="Use the spelling of the reference library if it must read this transcript.",
    example="""\
<|start|>user<|message|>What time is it?<|end|>\
<|start|>assistant<|channel|>commentary to=functions.get_time <|constrain|> json<|message|>{}<|call|>
""",
    shown_reason="constrain-space",
    reasons={
        "reply-unaddressed": "The tool reply has no `to=assistant`.",
        "constrain-unaddressed": "`<|constrain|>` on a message without a recipient.",
        "constrain-space": "Space after `<|constrain|>`.",
        "channel-space": "Space after `<|channel|>`.",
        "attribute": "Harmony has no attribute other than `to=`.",
    },
)

I_JSON_LENIENT = Rule(
    code="I-JSON-LENIENT",
    title="Trailing commas or raw newlines in JSON.",
    safe="The transcript deviates slightly from its format.",
    section="ChatML: the examples in its document",
    advice="Remove trailing commas, and write newlines in strings as `\\n`.",
    example="""\
[
 {"token": "<|start|>"}, "user", {"token": "<|message|>"},
 "What is 2 + 2?",
 {"token": "<|end_message|>"},
]
""",
)

I_RECORD_UNKNOWN = Rule(
    code="I-RECORD-UNKNOWN",
    title="Unknown record without text …",
    safe="The transcript contains additional data.",
    section="Event streams",
    advice="No action needed.",
    example="""\
{"type": "response.delta", "delta": "It is sunny."}
{"type": "response.heartbeat", "sequence_number": 2}
{"type": "response.done"}
""",
)

I_TEMPLATE_UNKNOWN = Rule(
    code="I-TEMPLATE-UNKNOWN",
    title="Unknown chat template.",
    safe="A prompt of unknown structure stays hidden.",
    section="Server logs",
    advice="Select the template with `--format`.",
    example="""\
INFO 09-10 19:13:01 [logger.py:40] Received request cmpl-1: prompt: 'Q: Is it sunny? A:', params: SamplingParams(n=1)
INFO 09-10 19:13:02 [logger.py:71] Generated response cmpl-1: output: ' Yes.', finish_reason: stop
""",
)

I_ROW_ORDER = Rule(
    code="I-ROW-ORDER",
    title="Unusual message order in a training row.",
    safe="The order of messages in this transcript is unusual.",
    section="Training rows; with `check --strict` only",
    advice="Check that each row alternates and ends with an answer.",
    example="""\
{"conversations": [{"from": "human", "value": "Is it sunny?"}, {"from": "gpt", "value": "Yes."}, \
{"from": "human", "value": "And warm?"}]}
""",
)

I_STREAM_FINAL_ONLY = Rule(
    code="I-STREAM-FINAL-ONLY",
    title="The text is only in the closing record.",
    safe="A message arrived in one piece.",
    section="OpenAI Responses",
    advice="No action needed.",
    example="""\
{"type": "response.completed", "response": {"id": "r1", "output": [{"id": "m1", "type": "message", \
"role": "assistant", "content": [{"type": "output_text", "text": "It is sunny."}]}]}}
""",
)

I_NEXT_AMBIGUOUS = Rule(
    code="I-NEXT-AMBIGUOUS",
    title="The next prompt is ambiguous.",
    safe="",
    section="`ocmlview next` only",
    advice="Escape the control tokens in the marked body, or build the prompt from token IDs.",
    example="version: 2.2\n<|start|>user<|message|>What does <<|end|> do?<|end|>\n",
)

I_TIME_BACKWARDS = Rule(
    code="I-TIME-BACKWARDS",
    title="Times run backwards.",
    safe="Times in this transcript are out of order.",
    section="ocmlview: replay and timing",
    advice="Check the clocks. Durations that span this point are omitted.",
    example="""\
{"role": "user", "content": "Is it open?", "timestamp": "2026-03-01T09:00:05Z"}
{"role": "assistant", "content": "Yes, until six.", "timestamp": "2026-03-01T09:00:02Z"}
""",
    grows=True,
)

I_TIME_UNREADABLE = Rule(
    code="I-TIME-UNREADABLE",
    title="Unreadable time …",
    safe="A time in this transcript could not be read.",
    section="ocmlview: replay and timing",
    advice="Write times as RFC 3339 or as seconds since 1970.",
    example="""\
{"role": "user", "content": "Is it open?", "timestamp": "this morning"}
{"role": "assistant", "content": "Yes, until six."}
""",
)

NOTES = (
    I_OPEN_PROMPT,
    I_CALL_INFERRED,
    I_TYPE_BARE,
    I_TYPE_UNKNOWN,
    I_HARMONY_STRICT,
    I_JSON_LENIENT,
    I_RECORD_UNKNOWN,
    I_TEMPLATE_UNKNOWN,
    I_ROW_ORDER,
    I_STREAM_FINAL_ONLY,
    I_NEXT_AMBIGUOUS,
    I_TIME_BACKWARDS,
    I_TIME_UNREADABLE,
)
