"""The words of the warnings about headers, frames and text."""

from __future__ import annotations

from viewer.core.rules import Rule

FRAMES = (
    Rule(
        code="W-ATTRIBUTE-UNKNOWN",
        title="The message header has an attribute that no dialect defines.",
        safe="A message carries a detail that is not part of its format.",
        section="OpenChatML 2.2 section 6",
        advice="Check its spelling; the attribute is kept, and the message is read as if it were not there.",
        example="""\
version: 2.2
<|start|>user mood=curious<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
    ),
    Rule(
        code="W-HEADER-MISSING",
        title="The transcript has no YAML header.",
        safe="The transcript does not say which version of its format it follows.",
        section="OpenChatML 2.2 section 2",
        advice="Begin the transcript with a line `version: 2.2`.",
        example="""\
<|start|>user<|message|>How do I bake bread?<|end|>
<|start|>assistant intent=preamble<|channel|>commentary<|message|>I will look for a recipe.<|end|>
<|start|>assistant<|channel|>final<|message|>Mix flour, water, salt and yeast.<|return|>
""",
    ),
    Rule(
        code="W-VERSION-UNKNOWN",
        title="The header names a version that this program does not know.",
        safe="The transcript follows a version of its format that is not known here.",
        section="OpenChatML 2.2 section 2",
        advice="It is read as the nearest known version; name one with `--format` if that is not right.",
        example="""\
version: 2.9
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
    ),
    Rule(
        code="W-TEXT-BETWEEN",
        title="Text stands outside any message.",
        safe="Something stands outside the messages of this transcript.",
        section="OpenChatML 2.2 section 6",
        advice="Look whether a `<|start|>` or a stop token was lost near it; the debug view keeps the text.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
one moment
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
    ),
    Rule(
        code="W-RECORD-UNKNOWN",
        title="Unknown record type.",
        safe="The transcript contains an unknown entry, which stays hidden.",
        section="Event streams",
        advice="Check `--format`, or update ocmlview. The debug view shows the record.",
        example="""\
{"type": "response.delta", "delta": "It is sunny."}
{"type": "response.weather_report.delta", "delta": "clear sky"}
{"type": "response.done"}
""",
    ),
    Rule(
        code="W-PART-UNKNOWN",
        title="Unknown content part.",
        safe="Part of a message is of an unknown kind and stays hidden.",
        section="JSON messages",
        advice="Check `--format`, or update ocmlview. The debug view shows the part.",
        example="""\
[{"role":"user","content":[{"type":"text","text":"Is it sunny?"},{"type":"weather_map","zoom":3}]}]
""",
    ),
    Rule(
        code="W-CONTENT-MISSING",
        title="The message has no readable content.",
        safe="The content of a message could not be read.",
        section="JSON messages",
        advice="Check `--format`. The marked member holds text that was not read.",
        example="""\
[{"role":"user","content":"Is it sunny?"},{"role":"assistant","answer":"Yes, all day."}]
""",
    ),
    Rule(
        code="W-SIBLING-UNREAD",
        title="A message next to the message list was not read.",
        safe="Part of this transcript was not read.",
        section="JSON messages",
        advice="Check `--format`. Move the message into the list if it belongs to the conversation.",
        example="""\
{"messages":[{"role":"user","content":"Is it sunny?"}],"draft":{"role":"assistant","content":"Yes."}}
""",
    ),
    Rule(
        code="W-START-IMPLICIT",
        title="A message begins without `<|start|>`.",
        safe="The beginning of a message is not marked.",
        section="OpenChatML 2.2 section 6",
        advice="Write `<|start|>` and the role; the message is read as the assistant's.",
        example="""\
<|channel|>analysis<|message|>Simple arithmetic.<|end|>\
<|channel|>final<|message|>4.<|return|>
""",
    ),
    Rule(
        code="W-START-REPEATED",
        title="`<|start|>` stands twice before one message.",
        safe="The beginning of a message is marked twice.",
        section="OpenChatML 2.2 section 6",
        advice="Drop the first `<|start|>`.",
        example="<|start|><|start|>assistant<|channel|>final<|message|>4.<|return|>\n",
    ),
    Rule(
        code="W-END-MISSING",
        title="A message begins before the last one is closed.",
        safe="The end of a message is not marked.",
        section="OpenChatML 2.2 section 6",
        advice="Close each message with `<|end|>`, `<|return|>` or `<|call|>`.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
    ),
    Rule(
        code="W-STOP-REDUNDANT",
        title="A stop token stands between messages.",
        safe="The end of a message is marked twice.",
        section="OpenChatML 2.2 section 6",
        advice="Drop it: one stop token closes a message.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|><|end|>
""",
    ),
    Rule(
        code="W-STOP-UNEXPECTED",
        title="The stop token does not suit the message that it closes.",
        safe="The end of a message is marked in an unusual way.",
        section="OpenChatML 2.2 sections 3, 6",
        advice="Close calls with `<|call|>`, the last final message with `<|return|>`, all others with `<|end|>`.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 + 2?<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|call|>
""",
    ),
    Rule(
        code="W-MARKER-IN-BODY",
        title="A control token stands in a body, neither escaped nor in a literal block.",
        safe="A message holds a mark that has a meaning in its format.",
        section="OpenChatML 2.2 section 3",
        advice="Double its `<`, or put it between `<|literal|>` and `<|endliteral|>`, if it is meant as text.",
        example="""\
version: 2.2
<|start|>user<|message|>What is <|start|> for?<|end|>
<|start|>assistant<|channel|>final<|message|>It begins a message.<|return|>
""",
        reasons={
            "constrain": "`<|constrain|>` stands in the body instead of the header.",
            "nested": "A control token stands in the body and is read as text.",
            "unbalanced-literal": "`<|endliteral|>` has no `<|literal|>` before it.",
        },
    ),
    Rule(
        code="W-TOKENS-STRIPPED",
        title="The control tokens are gone: a decoder dropped them.",
        safe="The marks between the messages were lost, so nothing of them can be shown.",
        section="Harmony guide: special tokens",
        advice="Decode again and keep special tokens; where the messages begin can now only be guessed.",
        example="analysisSimple arithmetic.assistantfinal4.\n",
    ),
)

TEXT = (
    Rule(
        code="W-JSON-DUPLICATE-KEY",
        title="An object in a JSON body has the same key twice.",
        safe="A step of this transcript says the same thing twice.",
        section="RFC 8259 section 4",
        advice="Keep one of them: readers differ in which one counts.",
        example="""\
version: 2.2
<|start|>user<|message|>What's the weather in Tokyo?<|end|>
<|start|>assistant to=functions.get_weather call_id=wx1<|channel|>commentary<|constrain|>json<|message|>\
{"city": "Tokyo", "city": "Kyoto"}<|call|>
<|start|>tool name=functions.get_weather call_id=wx1 to=assistant<|channel|>commentary<|message|>\
{"ok": true, "content": {"sunny": true}}<|end|>
<|start|>assistant<|channel|>final<|message|>It is sunny.<|return|>
""",
    ),
    Rule(
        code="W-STREAM-INTERLEAVED",
        title="The deltas of two messages interleave without `message_id`.",
        safe="The pieces of two messages arrived mixed.",
        section="OpenChatML 2.2 section 9",
        advice="Give each event the `message_id` of its message.",
        example="""\
{"type": "response.delta", "delta": "Two and two "}
{"type": "response.reasoning_text.delta", "delta": "Simple arithmetic."}
{"type": "response.delta", "delta": "make 4."}
{"type": "response.done"}
""",
    ),
    Rule(
        code="W-STREAM-LATE",
        title="Text arrived after its message was closed.",
        safe="Text arrived too late and stays hidden.",
        section="OpenChatML 2.2 section 9",
        advice="Send the `done` event after the last delta.",
        example="""\
{"type": "response.delta", "message_id": "m1", "delta": "Two and two make 4."}
{"type": "response.delta.done", "message_id": "m1"}
{"type": "response.delta", "message_id": "m1", "delta": "Or 5."}
{"type": "response.done"}
""",
    ),
    Rule(
        code="W-TEXT-HIDDEN-CHARACTERS",
        title="The body has characters that are not seen, or that move what is seen.",
        safe="A message has characters that are not seen; they are shown as marks.",
        section="ocmlview: text made safe",
        advice="Look at the raw view before you trust or copy this text.",
        example="""\
version: 2.2
<|start|>user<|message|>Pay\u200bpal or not?<|end|>
<|start|>assistant<|channel|>final<|message|>Look closely.<|return|>
""",
        reasons={
            "bidi": "Characters that change the direction of text.",
            "zero-width": "Characters without width, or blank ones.",
            "tags": "Tag characters, which can carry text that is not seen.",
            "control": "Control characters.",
        },
    ),
    Rule(
        code="W-ENCODING",
        title="The input is not clean UTF-8.",
        safe="Some characters of the transcript could not be read.",
        section="OpenChatML 2.2 section 6",
        advice="Write the transcript as UTF-8 without NUL bytes.",
        example="""\
version: 2.2
<|start|>user<|message|>What is 2 +\x00 2?<|end|>
<|start|>assistant<|channel|>final<|message|>4.<|return|>
""",
        reasons={
            "invalid-utf8": "Bytes that are not UTF-8; each ill-formed part is shown as U+FFFD.",
            "nul": "A NUL byte.",
            "utf-16": "The input is UTF-16; it was read as such.",
        },
    ),
)
