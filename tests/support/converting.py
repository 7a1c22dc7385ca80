"""Convert text between formats. Includes text in every format that is unchanged after conversion."""

from __future__ import annotations

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.formats import WRITERS
from viewer.model.visibility import EVERYTHING, Audience


class InMemory:
    """A source that reads from the text in memory."""

    name = "text"
    converted = False
    fault = ""
    only = ""
    note = ""

    def __init__(self, text: str | bytes) -> None:
        self._data = text.encode() if isinstance(text, str) else text
        self.size = len(self._data)

    def read(self, start: int, end: int) -> bytes:
        return self._data[start:end]

    read_again = read


def project(text: str | bytes, format: str, audience: Audience = EVERYTHING) -> Projection:
    return Document(InMemory(text), format).load().project(audience)


def messages_in(projection: Projection) -> list[ShownMessage]:
    return list(projection.writable())


def convert(
    text: str | bytes, format: str, target: str, audience: Audience = EVERYTHING
) -> tuple[str, list[str], list[ShownMessage]]:
    projection = project(text, format, audience)
    messages = messages_in(projection)
    return *WRITERS[target](projection.transcripts(), messages), messages


TOKENS = ["start", "channel", "message", "call", "constrain", "return", "end", "literal", "endliteral"]
WRITTEN = list(WRITERS)

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
