"""The words of the notes: what is worth knowing and nothing to correct."""

from __future__ import annotations

from viewer.core.rules import Rule

NOTES = (
    Rule(
        code="I-OPEN-PROMPT",
        title="The input ends with an open prompt: the model's turn has not begun.",
        safe="The transcript ends where the next answer would begin.",
        section="Harmony guide: simple chat",
        advice="Nothing to do; a prompt usually ends so.",
        example="version: 2.2\n<|start|>user<|message|>What is 2 + 2?<|end|>\n<|start|>assistant",
    ),
    Rule(
        code="I-CALL-INFERRED",
        title="A call and its reply were paired by tool and order.",
        safe="Two steps behind the answer were put together by their order.",
        section="Harmony guide: providing tool results",
        advice="Nothing to do; Harmony has no call ids.",
        example="""\
<|start|>user<|message|>What time is it?<|end|>\
<|start|>assistant<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{}<|call|>\
<|start|>functions.get_time to=assistant<|channel|>commentary<|message|>{"time": "12:00"}<|end|>\
<|start|>assistant<|channel|>final<|message|>Noon.<|return|>
""",
    ),
    Rule(
        code="I-TYPE-BARE",
        title="A type stands in the message header without `<|constrain|>`.",
        safe="A message names its form in a short way.",
        section="OpenChatML 2.2 section 6",
        advice="Write `<|constrain|>` before the type if the body must be checked.",
        example="""\
<|start|>user<|message|>What time is it?<|end|>\
<|start|>assistant to=functions.get_time<|channel|>commentary json<|message|>{}<|call|>
""",
    ),
    Rule(
        code="I-TYPE-UNKNOWN",
        title="The declared type is not checked.",
        safe="A message names a form that is not checked here.",
        section="OpenChatML 2.2 section 6",
        advice="Nothing to do; `json`, `text`, `markdown` and `code` are known.",
        example="""\
version: 2.2
<|start|>user<|message|>Draw a line.<|end|>
<|start|>assistant<|channel|>final<|constrain|>svg<|message|><path d="M0 0h9"/><|return|>
""",
    ),
    Rule(
        code="I-HARMONY-STRICT",
        title="The reference Harmony library rejects or misreads this.",
        safe="A message is written in a way that some other programs do not read.",
        section="Harmony guide; its reference library",
        advice="Write it as the reference library does, if that library will read it.",
        example="""\
<|start|>user<|message|>What time is it?<|end|>\
<|start|>assistant<|channel|>commentary to=functions.get_time <|constrain|> json<|message|>{}<|call|>
""",
        reasons={
            "reply-unaddressed": "The tool's reply has no `to=assistant`.",
            "constrain-unaddressed": "`<|constrain|>` stands in a message without a recipient.",
            "constrain-space": "A space follows `<|constrain|>`.",
            "attribute": "Harmony knows no attribute but `to=`.",
        },
    ),
    Rule(
        code="I-JSON-LENIENT",
        title="The JSON has trailing commas or raw newlines in strings, and was read all the same.",
        safe="The transcript is written a little more freely than its format allows.",
        section="ChatML: the examples of the document",
        advice="Drop trailing commas and write newlines in strings as `\\n`, for other readers.",
        example="""\
[
 {"token": "<|start|>"}, "user", {"token": "<|message|>"},
 "What is 2 + 2?",
 {"token": "<|end_message|>"},
]
""",
    ),
    Rule(
        code="I-RECORD-UNKNOWN",
        title="Unknown record without text.",
        safe="The transcript contains additional data.",
        section="Event streams",
        advice="No action needed.",
        example="""\
{"type": "response.delta", "delta": "It is sunny."}
{"type": "response.heartbeat", "sequence_number": 2}
{"type": "response.done"}
""",
    ),
    Rule(
        code="I-STREAM-FINAL-ONLY",
        title="The text is only in the closing record.",
        safe="A message arrived in one piece.",
        section="OpenAI Responses",
        advice="No action needed.",
        example="""\
{"type": "response.completed", "response": {"id": "r1", "output": [{"id": "m1", "type": "message", \
"role": "assistant", "content": [{"type": "output_text", "text": "It is sunny."}]}]}}
""",
    ),
)
