"""Texts that could slow down or break a reader. Each shape can have any size."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.support.reading import examine

HEADER = "version: 2.2\n"
USER = "<|start|>user<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"
CALL = "<|start|>assistant to=functions.f call_id={id}<|channel|>commentary<|constrain|>json<|message|>{body}<|call|>\n"
REPLY = "<|start|>tool name=functions.f call_id={id} to=assistant<|channel|>commentary<|message|>{body}<|end|>\n"
DECLARATION = "<|start|>developer<|message|># Tools\n\n"
DEEPEST_BRACKETS = 100_000
"""The maximum depth of brackets in one message. Beyond it, the message is repeated."""


@dataclass(frozen=True)
class Shape:
    """One kind of hostile text."""

    name: str
    format: str
    make: Callable[[int], bytes]

    @property
    def title(self) -> str:
        return f"{self.format}: {self.name}"

    @property
    def is_named(self) -> bool:
        """True if the shape must be readable at 16 MB."""
        return self.name in NAMED.get(self.format, ())

    def text(self, size: int) -> bytes:
        """Return the text, at about this size."""
        return self.make(size)


def _repeated(unit: str, before: str = HEADER, after: str = "") -> Callable[[int], bytes]:
    data, first, last = unit.encode(), before.encode(), after.encode()
    return lambda size: first + data * max(1, (size - len(first) - len(last)) // len(data)) + last


def _numbered(unit: str, before: str = "", after: str = "", joiner: str = "") -> Callable[[int], bytes]:
    def make(size: int) -> bytes:
        parts: list[str] = []
        length = 0
        while length < size:
            part = unit.replace("%d", str(len(parts)))
            parts.append(part)
            length += len(part) + len(joiner)
        return (before + joiner.join(parts) + after).encode()

    return make


def _raw(unit: bytes, before: str = HEADER + FINAL, after: str = "<|end|>") -> Callable[[int], bytes]:
    return lambda size: before.encode() + unit * max(1, size // len(unit)) + after.encode()


def _nested(opening: str, before: str, after: str, closing: str = "") -> Callable[[int], bytes]:
    def make(size: int) -> bytes:
        parts = [HEADER.encode()]
        left = size
        while left > 0:
            depth = max(1, min(DEEPEST_BRACKETS, left // len(opening + closing)))
            parts.append(f"{before}{opening * depth}{closing * depth}{after}".encode())
            left -= len(parts[-1])
        return b"".join(parts)

    return make


def _plain_nested(opening: str) -> Callable[[int], bytes]:
    return lambda size: opening.encode() * (size // len(opening))


def _headers(size: int) -> bytes:
    return b"version: 2.2\nmodel: m\n<|start|>user<|message|>x<|end|>\n" * max(1, size // 56)


def _merge_bombs(size: int) -> bytes:
    lines = ["version: 2.2", "a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    bomb = "\n".join(lines) + f"\n{USER}x<|end|>\n"
    return bomb.encode() * max(1, size // len(bomb))


def _big_header(size: int) -> bytes:
    return b"version: 2.2\n" + b"".join(b"key%d: value\n" % n for n in range(size // 16)) + USER.encode() + b"x<|end|>"


def _namespace(size: int) -> bytes:
    one = 'type f%d = (_: {\n// what\na?: string | "x" | number[],\nb: {c: boolean},\n}) => any;\n'
    body = _numbered(one, "namespace functions {\n", "} // namespace functions\n")(size).decode()
    return f"{HEADER}{DECLARATION}{body}<|end|>".encode()


def _call_bodies(size: int) -> bytes:
    keys = ",".join(f'"k{n % 97}":{n}' for n in range(size // 10))
    return (HEADER + CALL.replace("{id}", "c").replace("{body}", "{" + keys + "}")).encode()


def _deltas(size: int, message: str = '"m"') -> bytes:
    return _numbered('{"type":"response.delta","message_id":' + message + ',"delta":"x"}\n')(size)


def _interleaved(size: int) -> bytes:
    one = '{{"type":"response.delta","message_id":"m{}","delta":"x"}}\n'
    return "".join(one.format(number % 1000) for number in range(size // len(one))).encode()


def _anonymous(size: int) -> bytes:
    one = '{"type":"response.delta","delta":"x"}\n{"type":"response.reasoning_text.delta","delta":"y"}\n'
    return one.encode() * (size // len(one))


def _keys_and_choices(size: int) -> bytes:
    keys = _numbered('"k%d":1', "{", ",", ",")(size // 2)
    return keys + _numbered('{"index":%d,"delta":{"content":"x"}}', '"choices":[', "]}", ",")(size // 2)


def _keys_and_calls(size: int) -> bytes:
    keys = _numbered('"k%d":1', '{"choices":[{"delta":{', ",", ",")(size // 2)
    return keys + _numbered('{"index":%d,"function":{"name":"f"}}', '"tool_calls":[', "]}}]}", ",")(size // 2)


def _messages_array(size: int) -> bytes:
    return _numbered('{"role":"user","content":"number %d"}', "[", "]", ",\n")(size)


def _calls(reply: bool, numbered: bool) -> Callable[[int], bytes]:
    call = CALL.replace("{id}", "c%d" if numbered else "c").replace("{body}", '{"a":1}')
    answer = REPLY.replace("{id}", "c%d" if numbered else "c").replace("{body}", '{"ok":true}')
    return _numbered(call + (answer if reply else ""), HEADER)


def _calls_then_replies(size: int) -> bytes:
    call = CALL.replace("{id}", "c").replace("{body}", "{}")
    reply = REPLY.replace("{id}", "c").replace("{body}", "{}")
    count = max(1, size // (len(call) + len(reply)))
    return (HEADER + call * count + reply * count).encode()


def _long_word(size: int) -> bytes:
    return (HEADER + "<|start|>assistant " + "w" * size + "<|message|>x<|end|>").encode()


def _token_ids(size: int) -> bytes:
    message = "200006,1428,200008,25,25,25,25,25,25,200007,"
    return ("[" + message * (size // len(message)) + "200007]").encode()


def _declared_json(size: int) -> bytes:
    tools = ",".join(f'{{"name":"f{n}","parameters":{{"type":"object"}}}}' for n in range(size // 50))
    return f"{HEADER}{DECLARATION}[{tools}]<|end|>".encode()


def _chatml(size: int) -> bytes:
    return _numbered(
        '{"token":"<|start|>"},"user",{"token":"<|message|>"},"n %d",{"token":"<|end_message|>"}', "[", "]", ","
    )(size)


def _deep_call(opening: str) -> Callable[[int], bytes]:
    return _nested(opening, CALL.replace("{id}", "c").partition("{body}")[0], "<|call|>\n")


_OLD = "<|im_start|>assistant\n"

SHAPES = [
    Shape("starts", "openchatml-2.2", _repeated("<|start|>")),
    Shape("starts", "harmony", _repeated("<|start|>", "")),
    Shape("starts in a body", "openchatml-2.2", _repeated("<|start|>", HEADER + USER)),
    Shape("starts and names in a body", "openchatml-2.2", _repeated("<|start|>assistant ", HEADER + USER)),
    Shape("starts of assistants", "openchatml-2.2", _repeated("<|start|>assistant")),
    Shape("starts of assistants", "harmony", _repeated("<|start|>assistant", "")),
    Shape("starts with channels in a body", "harmony", _repeated("<|start|>assistant<|channel|>", FINAL)),
    Shape("channels in a body", "harmony", _repeated("<|channel|>", FINAL)),
    Shape("channels and words in a body", "harmony", _repeated("<|channel|>final", FINAL)),
    Shape("channels in a header", "harmony", _repeated("<|channel|>final", "<|start|>assistant")),
    Shape("messages that nothing closes", "openchatml-2.2", _repeated(FINAL + "x")),
    Shape("unclosed literals", "openchatml-2.2", _repeated("<|literal|>", HEADER + FINAL)),
    Shape("literals in messages", "openchatml-2.2", _repeated(FINAL + "<|literal|>x<|endliteral|><|end|>")),
    Shape("ends of literals", "openchatml-2.2", _repeated("<|endliteral|>", HEADER + FINAL)),
    Shape("escapes", "openchatml-2.2", _repeated("<<|end|>", HEADER + FINAL)),
    Shape("escapes between messages", "openchatml-2.2", _repeated("<<|start|>")),
    Shape("beginnings of tokens", "openchatml-2.2", _repeated("<|en", HEADER + FINAL)),
    Shape("less-thans", "openchatml-2.2", _repeated("<", HEADER + FINAL)),
    Shape("a header of words", "openchatml-2.2", _repeated("word ", HEADER + "<|start|>assistant ")),
    Shape("a header of attributes", "openchatml-2.2", _repeated("a=b ", HEADER + "<|start|>assistant ")),
    Shape("a header of other attributes", "openchatml-2.2", _numbered("a%d=b ", HEADER + "<|start|>assistant ")),
    Shape(
        "headers too long", "openchatml-2.2", _repeated("<|start|>assistant " + "x=y " * 20000 + "<|message|>z<|end|>")
    ),
    Shape("a header that is one word", "openchatml-2.2", _long_word),
    Shape("redundant stops", "openchatml-2.2", _repeated("<|end|>")),
    Shape("redundant stops", "harmony", _repeated("<|return|>", "<|start|>user<|message|>x<|end|>")),
    Shape("stray words and stops", "harmony", _repeated("word<|end|>", "<|start|>user<|message|>x<|end|>")),
    Shape("a line without an end", "openchatml-2.2", _repeated("word ", HEADER + USER + "x<|end|>\n")),
    Shape("lines of nothing", "openchatml-2.2", _repeated("\n", HEADER + USER + "x<|end|>\n")),
    Shape("lines between messages", "openchatml-2.2", _repeated("---x\n", HEADER + USER + "x<|end|>\n")),
    Shape("braces between messages", "openchatml-2.2", _repeated("{", HEADER + USER + "x<|end|>\n")),
    Shape("lines of braces between messages", "openchatml-2.2", _repeated("{}\n", HEADER + USER + "x<|end|>\n")),
    Shape("document headers", "openchatml-2.2", _headers),
    Shape("fences", "openchatml-2.2", _repeated("---\n", HEADER + USER + "x<|end|>\n")),
    Shape("version lines", "openchatml-2.2", _repeated("version: 2.2\n", "")),
    Shape("merge bombs", "openchatml-2.2", _merge_bombs),
    Shape("a document header too long", "openchatml-2.2", _big_header),
    Shape("messages", "openchatml-2.2", _repeated(USER + "x<|end|>\n" + FINAL + "y<|return|>\n")),
    Shape("messages", "harmony", _repeated(USER + "x<|end|>" + FINAL + "y<|return|>", "")),
    Shape("tokens dropped", "harmony", _repeated("assistantfinalx", "analysisWe ")),
    Shape("tokens dropped, one segment", "harmony", _repeated("assistant ", "analysisWe assistantfinal")),
    Shape("think tags", "openchatml-2.2", _repeated("<think>", HEADER + FINAL, "<|end|>")),
    Shape("think tags that close", "openchatml-2.2", _repeated("<think>a</think>", HEADER + FINAL, "<|end|>")),
    Shape("ends of think tags", "openchatml-2.2", _repeated("</think>", HEADER + FINAL, "<|end|>")),
    Shape("thought marks", "openchatml-2.2", _repeated("<|start_reason|>", HEADER + FINAL, "<|end|>")),
    Shape("thought blocks", "openchatml-2.2", _repeated("<|start_reason|>a<|end_reason|>", HEADER + FINAL, "<|end|>")),
    Shape("zero-width characters", "openchatml-2.2", _repeated("\u200b", HEADER + FINAL, "<|end|>")),
    Shape("zero-width characters apart", "openchatml-2.2", _repeated("a\u200b", HEADER + FINAL, "<|end|>")),
    Shape("emoji and joiners", "openchatml-2.2", _repeated("\U0001f468\u200d", HEADER + FINAL, "<|end|>")),
    Shape("bidi controls apart", "openchatml-2.2", _repeated("a\u202e", HEADER + FINAL, "<|end|>")),
    Shape("invalid bytes", "openchatml-2.2", _raw(b"\xff")),
    Shape("invalid bytes apart", "openchatml-2.2", _raw(b"\xe2\x80a")),
    Shape("invalid bytes between messages", "openchatml-2.2", _raw(b"\xffa ", HEADER, "")),
    Shape("NUL", "openchatml-2.2", _raw(b"\0")),
    Shape("NUL apart", "openchatml-2.2", _raw(b"\0a")),
    Shape("carriage returns", "openchatml-2.2", _raw(b"\r")),
    Shape("equal call ids", "openchatml-2.2", _calls(reply=False, numbered=False)),
    Shape("equal call ids with replies", "openchatml-2.2", _calls(reply=True, numbered=False)),
    Shape("equal call ids, then replies", "openchatml-2.2", _calls_then_replies),
    Shape("different call ids", "openchatml-2.2", _calls(reply=False, numbered=True)),
    Shape(
        "replies of different calls",
        "openchatml-2.2",
        _numbered(REPLY.replace("{id}", "r%d").replace("{body}", "x"), HEADER),
    ),
    Shape("deep arrays in a body", "openchatml-2.2", _deep_call("[")),
    Shape("deep objects in a body", "openchatml-2.2", _deep_call('{"a":')),
    Shape(
        "closed deep arrays in a body",
        "openchatml-2.2",
        _nested("[", CALL.replace("{id}", "c").partition("{body}")[0], "<|call|>\n", "]"),
    ),
    Shape("deep arrays in a declaration", "openchatml-2.2", _nested('["name",', DECLARATION, "<|end|>\n", "]")),
    Shape("deep objects in a declaration", "openchatml-2.2", _nested('{"name":', DECLARATION, "<|end|>\n", "}")),
    Shape("open objects in a declaration", "openchatml-2.2", _nested('{"name":', DECLARATION, "<|end|>\n")),
    Shape("names in a declaration", "openchatml-2.2", _repeated('{"name": "f"} ', HEADER + DECLARATION, "<|end|>")),
    Shape(
        "broken objects in a declaration", "openchatml-2.2", _repeated('{"name" 1} ', HEADER + DECLARATION, "<|end|>")
    ),
    Shape("tools in a declaration", "openchatml-2.2", _declared_json),
    Shape("namespaces", "openchatml-2.2", _repeated("namespace functions {\n", HEADER + DECLARATION, "<|end|>")),
    Shape("a namespace", "openchatml-2.2", _namespace),
    Shape(
        "deep types",
        "openchatml-2.2",
        _nested("{a: ", DECLARATION + "namespace functions {\ntype f = (_: ", "<|end|>\n"),
    ),
    Shape(
        "comments in a namespace",
        "openchatml-2.2",
        _repeated("// a\n", HEADER + DECLARATION + "namespace functions {\n", "<|end|>"),
    ),
    Shape("fences of YAML", "openchatml-2.2", _repeated("```yaml\nname: a\n", HEADER + DECLARATION, "<|end|>")),
    Shape("lines of YAML", "openchatml-2.2", _repeated("name: a\nx", HEADER + DECLARATION, "<|end|>")),
    Shape("repeated keys", "openchatml-2.2", _call_bodies),
    Shape(
        "quotes in a body",
        "openchatml-2.2",
        _nested('"', CALL.replace("{id}", "c").partition("{body}")[0] + "{", "<|call|>\n"),
    ),
    Shape(
        "backslashes in a body",
        "openchatml-2.2",
        _nested("\\", CALL.replace("{id}", "c").partition("{body}")[0] + '{"', "<|call|>\n"),
    ),
    Shape("deep arrays", "json", _plain_nested("[")),
    Shape("deep objects", "json", _plain_nested('{"a":')),
    Shape("deep messages", "json", _plain_nested('{"messages":[')),
    Shape("closed arrays", "json", _repeated("[]", "")),
    Shape("messages", "json", _messages_array),
    Shape("messages, one a line", "json", _numbered('{"role":"user","content":"number %d"}\n')),
    Shape("keys of a wrapper", "json", _numbered('"k%d":1', '{"messages":[],', "}", ",")),
    Shape("keys of no message", "json", _numbered('"k%d":1', "{", "}", ",")),
    Shape("keys of one event", "events", _numbered('"k%d":1', '{"type":"response.delta","delta":"x",', "}", ",")),
    Shape("keys and choices of one chunk", "events", _keys_and_choices),
    Shape("keys and calls of one chunk", "events", _keys_and_calls),
    Shape("broken lines", "json", _repeated('{"role":"user","content":\n', "")),
    Shape("broken lines after good ones", "json", _repeated('{"role":"user"}{\n', '{"role":"user","content":"x"}\n')),
    Shape("braces", "json", _repeated("{", "")),
    Shape("braces and newlines", "json", _repeated("{\n", "")),
    Shape("quotes", "json", _repeated('"', "[")),
    Shape("backslashes", "json", _repeated("\\", '["')),
    Shape("curly quotes", "json", _repeated("\u201c\u201d", '["')),
    Shape("opening curly quotes", "json", _repeated("\u201c,", "[")),
    Shape("strings with curly quotes", "json", _repeated('"\u201da",', "[")),
    Shape("commas", "json", _repeated(",", "[")),
    Shape("words", "json", _repeated("NaN,", "[")),
    Shape("numbers", "json", _repeated("1,", "[")),
    Shape("arrays in an array", "json", _repeated("[],", "[")),
    Shape("parts", "json", _repeated('{"type":"text","text":"a"},', '[{"role":"user","content":[')),
    Shape("keys of one message", "json", _numbered('"k%d":1', '[{"role":"user",', "}]", ",")),
    Shape(
        "calls of one message",
        "json",
        _repeated(
            '{"id":"c","function":{"name":"f","arguments":"{}"}},', '[{"role":"assistant","tool_calls":[', "{}]}]"
        ),
    ),
    Shape("thoughts of one message", "json", _numbered('"thinking%d":"a"', '[{"role":"assistant",', "}]", ",")),
    Shape("brackets", "chatml-json", _plain_nested("[")),
    Shape("objects", "chatml-json", _plain_nested('[{"a":')),
    Shape("starts", "chatml-json", _repeated('{"token":"<|start|>"},', "[")),
    Shape(
        "strings of a body", "chatml-json", _repeated('"x",', '[{"token":"<|start|>"},"user",{"token":"<|message|>"},')
    ),
    Shape("messages", "chatml-json", _chatml),
    Shape("arrays", "chatml-json", _repeated("[]\n", "")),
    Shape("deltas of one message", "events", _deltas),
    Shape("deltas of a thousand messages", "events", _interleaved),
    Shape(
        "deltas of as many messages", "events", _numbered('{"type":"response.delta","message_id":"m%d","delta":"x"}\n')
    ),
    Shape("deltas without an id", "events", _anonymous),
    Shape(
        "flushes", "events", _repeated('{"type":"response.delta.flush"}\n', '{"type":"response.delta","delta":"x"}\n')
    ),
    Shape("cancels", "events", _numbered('{"type":"response.cancel","message_id":"m%d"}\n')),
    Shape("cancelled tools", "events", _numbered('{"type":"tool.cancel","call_id":"c%d"}\n')),
    Shape("chunks", "events", _repeated('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n', "")),
    Shape("chunks of many choices", "events", _numbered('data: {"choices":[{"index":%d,"delta":{"content":"x"}}]}\n')),
    Shape("deep arrays in a line", "events", _repeated("[" * 100_000 + "\n", "{")),
    Shape("objects in a line", "events", _repeated('{"type":"response.delta","delta":"x"}', "")),
    Shape("braces in a line", "events", _repeated("{", "")),
    Shape("quotes in a line", "events", _repeated('"', '{"type":"response.delta","delta":')),
    Shape("event lines", "events", _repeated("event: response.delta\n", "")),
    Shape("lines of data", "events", _repeated("data: x\n", "event: response.delta\n")),
    Shape("lines that are no events", "events", _repeated("x\n", "")),
    Shape("event lines in a log", "harmony", _repeated('{"type":"response.delta","delta":"x"}\n', USER + "x<|end|>\n")),
    Shape("deep event lines in a log", "harmony", _repeated('{"type":' + "[" * 100_000 + "\n", USER + "x<|end|>\n")),
    Shape("ids", "harmony-tokens", _token_ids),
    Shape("ids of starts", "harmony-tokens", _repeated("200006,", "[")),
    Shape("ids of one body", "harmony-tokens", _repeated("25,", "[200006,1428,200008,")),
    Shape("ids of stray text", "harmony-tokens", _repeated("25,", "[200006,1428,200008,25,200007,")),
    Shape("commas", "harmony-tokens", _repeated(",", "[200006,1428,200008,")),
    Shape("digits", "harmony-tokens", _repeated("9", "[200006,1428,200008,")),
    Shape("brackets", "harmony-tokens", _repeated("[", "")),
    Shape("frames", "openchatml-0.1", _repeated("<|im_start|>user\nx<|im_end|>\n", "")),
    Shape("starts", "openchatml-0.1", _repeated("<|im_start|>", "")),
    Shape("starts in a frame", "openchatml-0.1", _repeated("<|im_start|>", _OLD + "x")),
    Shape("starts of frames", "openchatml-0.1", _repeated(_OLD, "")),
    Shape("a header line", "openchatml-0.1", _repeated("a=b ", "<|im_start|>assistant ")),
    Shape("thought marks", "openchatml-0.1", _repeated("<|start_reason|>", _OLD)),
    Shape("thoughts", "openchatml-0.1", _repeated("<|start_reason|>a<|end_reason|>", _OLD)),
    Shape("calls", "openchatml-0.1", _repeated('<|function_call|>{"name":"f"}', _OLD)),
    Shape("deep calls", "openchatml-0.1", _repeated("[" * 100_000, _OLD + "<|function_call|>")),
    Shape("function lists", "openchatml-0.1", _repeated('<|function_list|>[{"name":"f"}]', "<|im_start|>system\n")),
    Shape("fill-ins", "openchatml-0.1", _repeated("<|fim_prefix|>a<|fim_middle|>b", "")),
    Shape("files", "openchatml-0.1", _repeated("<|file_separator|>\nx\n", "")),
    Shape("edges", "openchatml-0.1", _repeated("[BOS]", "")),
    Shape("edges and frames", "openchatml-0.1", _repeated("[BOS]<|im_start|>user\nx<|im_end|>[EOS]\n", "")),
    Shape("stray text", "openchatml-0.1", _repeated("x ", "")),
    Shape("stops", "openchatml-0.1", _repeated("<|im_end|>", "")),
]


def pieces(text: bytes, size: int) -> Iterator[bytes]:
    """Yield the text cut into pieces of this size."""
    return (text[at : at + size] for at in range(0, len(text), size))


NAMED = {
    "openchatml-2.2": {
        "starts",
        "starts in a body",
        "unclosed literals",
        "a header of words",
        "a header that is one word",
        "equal call ids",
        "equal call ids with replies",
        "merge bombs",
        "deep arrays in a body",
        "deep objects in a body",
        "deep arrays in a declaration",
    },
    "json": {"deep arrays", "deep objects"},
    "events": {"deep arrays in a line"},
}
"""The shapes that must be read at 16 MB."""


def peak_of(shape: Shape, size: int) -> tuple[int, int]:
    """Return the size of the text, and the extra memory for reading it, in bytes."""
    text = shape.text(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    examine(pieces(text, 64 * 1024), text, shape.format)
    return len(text), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


if __name__ == "__main__":
    chosen = next(shape for shape in SHAPES if shape.title == sys.argv[1])
    print(*peak_of(chosen, int(sys.argv[2])))
