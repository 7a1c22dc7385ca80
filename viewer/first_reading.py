"""Read the beginning of a transcript with a whitelist, for the page that is painted before anything else is imported.

The reader accepts only the few spellings of message headers that most transcripts use, and only bodies in which nothing
can be hidden, reported, or drawn in a special way. It stops at anything else: the page ends there, and the app draws
the rest. It never guesses. This module uses no regular expressions, and nothing else that takes milliseconds to
import."""

from __future__ import annotations

from viewer.character_rows import has_one_cell_each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

USER, ASSISTANT, PLAN, HIDDEN, UNKNOWN = "user", "assistant", "commentary", "hidden", ""
"""The kinds of messages. The kind of a shown message is the style role of its speaker's name. An unknown message may be
shown or hidden."""

_HEADERS = {
    b"user": USER,
    b"assistant<|channel|>final": ASSISTANT,
    b"assistant<|channel|>analysis": HIDDEN,
    b"system": HIDDEN,
    b"developer": HIDDEN,
}
_HEADERS_2_2 = {
    **_HEADERS,
    b"user<|channel|>final": USER,
    b"assistant<|channel|>final content_type=markdown": ASSISTANT,
    b"assistant<|channel|>final content_type=text": ASSISTANT,
    b"assistant intent=preamble<|channel|>commentary": PLAN,
    b"assistant<|channel|>commentary intent=preamble": PLAN,
    b"system<|channel|>final": HIDDEN,
    b"developer<|channel|>final": HIDDEN,
}
"""The kind of message that each header begins."""
_VERSIONS = (b"version: 2.2\n", b'version: "2.2"\n')
_PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"
_FENCE = b"---\n"
_START, _MESSAGE, _MARK, _END = b"<|start|>", b"<|message|>", b"<|", b"<|end|>"
_RETURN, _CALL = b"<|return|>", b"<|call|>"
_BEGINS_TRANSCRIPT = (b"\nversion", b'\n"version', b"\n'version", b"\n---", b"\n{")
"""Text that may begin another transcript, or an event that changes an earlier message."""
_ATTRIBUTES = (b"call_id=", b"name=", b"intent=", b"content_type=")
"""Text in a message header that identifies a transcript without a document header as OpenChatML."""
_TOKENS = tuple(
    b"<|%s|>" % name
    for name in (b"start", b"channel", b"message", b"call", b"return", b"end", b"constrain", b"literal", b"endliteral")
)
"""The tokens of both formats. In a hidden body, anything else with `<|` is text."""
_LONGEST_HEADER = 512
_LARGEST = 16 * 1024
"""The maximum size in bytes of a body or document header that is read. The view folds larger bodies differently."""
_MOST_BLANK = 8
_SPECIAL = (
    *(
        "[unused",
        "[end_",
        "[{",
        "[think",
        "[thought",
        "[reason",
        "[scratch",
        "[cot]",
        "[inner",
        "[chain",
        "[analys",
        "[reflect",
        "[plan]",
        "[planning",
        "[criti",
        "[judge]",
        "[verifier]",
        "[evaluator]",
        "[draft]",
        "[avail",
        "[model_",
        "[monologue",
        "[internal",
        "[deliberation",
        "[/",
        "[tool",
        "[inst",
        "[sys",
        "[gm",
        "[e~",
        "]~b",
        "```json",
        "```mswea",
        "```tool_",
        '"tool_calls"',
    ),
    *("&lt;", "&amp;", "&#60;", "&#0", "&#x3c;", "003c", ":::"),
    *("◁", "＜", "﹤", "【", "〔", "〖", "⟨", "｜", "\r"),
)
"""Beginnings of the marks of chat templates, in lower case, except those that contain `<`."""
_AFTER_LESS = "=-0123456789"
"""The characters that may follow a `<`. With any other, it might begin a tag."""
_STRIPPED = ("analysis", "commentary", "final", "assistant")
"""Words that may begin a body whose control tokens were dropped."""
_STEPS = (
    *("{", "[", "```", "thought", "action", "function name", "tool", "observation", "i now", "execution result"),
    *("user: execution result", "here's", "here is my thought process", "sender", "conversation info"),
    *("thread starter", "replied message", "forwarded message", "chat history since", "location", "reply target of"),
    *("structured object", "context", "read heartbeat", "system: ["),
)
"""Words that may begin text with steps of an agent, in lower case. See `viewer/syntax/agent_text.py`."""
_INPUT = " input"
"""A word that such text contains if it begins with other words."""


class Found:
    """The result of reading: the kind and the body of each message, up to the first message that cannot be read."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.messages: list[tuple[str, bytes]] = []
        self.is_whole = False
        """True if these are all the messages in the file."""


def read_beginning(data: bytes, *, is_whole: bool) -> Found | None:
    """Return the messages at the beginning of a file that starts with `data`; None if they cannot be determined."""
    start = _header_end(data)
    if start is None:
        return None
    found = Found("openchatml-2.2" if start else "harmony")
    if not start and not _is_harmony(data):
        return None
    headers = _HEADERS_2_2 if start else _HEADERS
    at = start
    while at < len(data):
        after = _message(data, at, headers, found.messages)
        if after < 0:
            break
        at = _after_blank(data, after)
        if at < 0:
            return None if _may_begin_transcript(data, after) else found
    else:
        found.is_whole = is_whole
        return found
    return None if _may_begin_transcript(data, at) else found


def _is_harmony(data: bytes) -> bool:
    """True if a transcript without a document header is detected as Harmony."""
    if b"<|channel|>" not in data or b"<|literal|>" in data:
        return False
    at = data.find(_START)
    while at >= 0:
        end = data.find(_MESSAGE, at)
        words = data[at + len(_START) : end if end >= 0 else len(data)]
        is_plain = len(words) <= _LONGEST_HEADER and not any(sign in words for sign in _ATTRIBUTES)
        if not is_plain or words.lstrip().startswith(b"tool"):
            return False
        at = data.find(_START, at + 1)
    return True


def _header_end(data: bytes) -> int | None:
    """Return the end of the document header: 0 if there is no header, or None if the end is unknown."""
    if data.startswith(_START):
        return 0
    is_fenced = data.startswith(_FENCE)
    at = len(_FENCE) if is_fenced else 0
    if not data.startswith(_VERSIONS, at):
        return None
    at = data.index(b"\n", at) + 1
    end = data.find(b"\n" + _START, at - 1) + 1
    header = data[at : end - 1]
    if not end or len(header) > _LARGEST or b"version" in header:
        return None
    lines = header.split(b"\n") if header else []
    if is_fenced and lines[:1] != [b"---"] and b"---" in lines:  # the end of a header between two fences
        fence = lines.index(b"---")
        return end if _is_mapping(lines[:fence]) and not any(lines[fence + 1 :]) else None
    if lines[:1] == [b"---"]:
        lines = lines[1:]
        return end if is_fenced and not any(lines) else None
    return end if not is_fenced and _is_mapping([line for line in lines if line]) else None


def _is_mapping(lines: list[bytes]) -> bool:
    """True if the lines are simple, valid YAML: keys with words or lists of words, and no duplicate keys."""
    keys: set[tuple[int, bytes]] = set()
    last, is_open = 0, False
    for line in lines:
        bare = line.lstrip(b" ")
        indent = len(line) - len(bare)
        key, colon, value = bare.partition(b":")
        if indent % 2 or (indent != last + 2 if is_open else indent > last) or (indent, key) in keys:
            return False
        if not colon or not key.replace(b"_", b"").isalnum() or not key[:1].isalpha():
            return False
        if value and not (value.startswith(b" ") and _is_value(value[1:])):
            return False
        keys.add((indent, key))
        last, is_open = indent, not value
    return not is_open


def _is_value(value: bytes) -> bool:
    if value.startswith(b"[") and value.endswith(b"]"):
        return all(map(_is_quoted, value[1:-1].split(b",")))
    return _is_quoted(value) or (value[:1].isalnum() and not value.strip(_PLAIN))


def _is_quoted(value: bytes) -> bool:
    inner = value[1:-1]
    return len(value) > 2 and value[:1] == value[-1:] == b'"' and inner.isascii() and not inner.strip(_PLAIN + b"<|>*")


def _after_blank(data: bytes, at: int) -> int:
    """Return the offset after empty lines; -1 if there are too many."""
    end = at
    while end < len(data) and data[end] == 0x0A:
        end += 1
    return end if end - at <= _MOST_BLANK else -1


def _message(data: bytes, at: int, headers: dict[bytes, str], messages: list[tuple[str, bytes]]) -> int:
    """Add the message that begins here, and return its end; -1 if it cannot be read or is unfinished."""
    if not data.startswith(_START, at):
        return -1
    body = data.find(_MESSAGE, at)
    if body < 0 or body - at > _LONGEST_HEADER:
        return -1
    kind = headers.get(data[at + len(_START) : body], UNKNOWN)
    if kind == UNKNOWN and data.find(_START, at + 1, body) >= 0:
        return -1
    body += len(_MESSAGE)
    end = data.find(_MARK, body)
    while kind in (HIDDEN, UNKNOWN) and end >= 0 and not data.startswith(_TOKENS, end):
        end = data.find(_MARK, end + 1)
    if end < 0 or data[end - 1] == 0x3C:
        return -1
    if data.startswith(_END, end):
        after = end + len(_END)
    elif kind in (ASSISTANT, UNKNOWN) and data.startswith(_RETURN, end):
        after = end + len(_RETURN)
    elif kind == UNKNOWN and data.startswith(_CALL, end):
        after = end + len(_CALL)
    else:
        return -1
    messages.append((kind, data[body:end]))
    return after


def _may_begin_transcript(data: bytes, at: int) -> bool:
    """True if the rest may contain an event or another transcript. Either would change the page from its first line
    on."""
    begin = max(at - 1, 0)
    if data.startswith(_START, at):  # an unfinished message, whose body contains neither unless a mark ends it
        body = data.find(_MESSAGE, at)
        if body >= 0 and data.find(_MARK, body + len(_MESSAGE)) < 0:
            return False
    return any(data.find(sign, begin) >= 0 for sign in _BEGINS_TRANSCRIPT)


def hides_nothing(body: bytes) -> bool:
    """True if nothing in the body of a hidden message can be a problem, so the message only needs to be
    counted."""
    text = _text(body)
    return text is not None and all(map(has_one_cell_each, text.replace("\t", " ").split("\n")))


def shown_text(body: bytes) -> str | None:
    """Return the text of a shown message if all of it is shown, without a problem; None if that is uncertain."""
    text = _text(body)
    if text is None:
        return None
    lowered = text.lower()
    lead = lowered.lstrip()
    if any(sign in lowered for sign in _SPECIAL) or lead.startswith(_STRIPPED):
        return None
    if lead.lstrip("*").startswith(_STEPS) or _INPUT in lowered:
        return None
    at = text.find("<")
    while at >= 0:
        if text[at + 1 : at + 2] not in _AFTER_LESS:
            return None
        at = text.find("<", at + 1)
    return text


def _text(body: bytes) -> str | None:
    try:
        return body.decode() if len(body) <= _LARGEST else None
    except UnicodeDecodeError:
        return None


def plain_lines(text: str) -> Iterator[str | None]:
    """Yield the lines of the paragraphs at the beginning of the text. A final None means that the next line may be part
    of another block."""
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if not text:
        return
    if any(map(_may_be_block, lines)):
        yield from _paragraphs(lines)
        return
    for line in lines:
        if not _is_line(line):
            yield None
            return
        yield line


def _paragraphs(lines: list[str]) -> Iterator[str | None]:
    """Yield the lines of the paragraphs before any other block. A paragraph directly before such a block is omitted,
    because it may belong to the block."""
    paragraph: list[str] = []
    has_any = False
    for line in [*lines, ""]:
        if line and (line != line.strip() or _is_block(line) or not _is_line(line)):
            yield None
            return
        if line:
            paragraph.append(line)
        elif paragraph:
            yield from [""] * has_any
            yield from paragraph
            paragraph, has_any = [], True


def _is_line(line: str) -> bool:
    """True if each character of a line, apart from tabs, takes one cell and is shown unchanged."""
    shown = line.replace("\t", " ")
    return has_one_cell_each(shown) and shown.isprintable()


def _may_be_block(line: str) -> bool:
    """True if Markdown may parse a line as anything but a paragraph."""
    bare = line.lstrip(" \t")
    if bare[:1] in tuple("#>*+_=|:-") or bare.startswith(("```", "~~~")) or line.startswith(("    ", "\t")):
        return True
    number = bare.lstrip("0123456789")
    return number is not bare and number[:1] in (".", ")") and number != bare


def _is_block(line: str) -> bool:
    """True if a line without indentation may be anything but a line of a paragraph."""
    first = line[0]
    if first == "#":
        return line.lstrip("#")[:1] in ("", " ", "\t")
    if first in "*_+-=":  # a list, a rule, an underline, or a row of dashes below the head of a table
        return line[1:2] in ("", " ", "\t") or not line.strip("*_+-=|: \t")
    return _may_be_block(line)


def has_marks(line: str) -> bool:
    """True if a line may contain inline Markdown."""
    return any(mark in line for mark in "\\`[*_~") or "<http" in line
