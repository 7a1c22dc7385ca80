"""Raw view of a message: its exact bytes, with control tokens marked and invisible characters made visible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from viewer.formats import FORMATS
from viewer.reading.bodies import THOUGHT_KINDS
from viewer.render.number_format import byte_size
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, plain_line
from viewer.syntax.characters import EMOJI, TAGS

LONGEST_RAW = 64 * 1024
"""The maximum number of bytes to show. To see more of a larger message, open it in an editor."""
MOST_TOKENS = 500
_FIRST_TAG = 0xE0000
_FRAMES = ("start", "channel", "message", "call", "return", "end", "constrain", "literal", "endliteral")
_NAMES = (
    *_FRAMES,
    *("im_start", "im_end", "file_separator", "function_call", "function_output", "function_list"),
    *(f"{edge}_{kind}" for edge in ("start", "end") for kind in THOUGHT_KINDS),
)
_TOKEN = r"<\|(?:" + "|".join(_NAMES) + r")\|>"
_WITHOUT_TOKENS = frozenset({"chatml-json", "json", "events", "harmony-tokens"})


def raw_lines(data: bytes, format: str, width: int, style: Style) -> Iterator[Line]:
    """Yield the bytes as rows of this width. Truncate a long message and report how many bytes are missing."""
    shown = _whole_characters(data[:LONGEST_RAW]) if len(data) > LONGEST_RAW else data
    for line in _lines(_parts(shown, format, style)):
        yield from _rows(line, width)
    if len(shown) < len(data):
        yield ()
        left = f"{style.signs.ellipsis} {len(data) - len(shown):,} more bytes"
        yield (Part(trusted(left), StyleRole.QUIET),)


def token_lines(data: bytes, start: int, format: str, style: Style) -> Iterator[Line]:
    """Yield the control tokens of a message and the text between them, with their input offsets."""
    if format in _WITHOUT_TOKENS:
        yield (Part(trusted("This format has no control tokens."), StyleRole.QUIET),)
        return
    count = position = 0
    for match in _pattern(format).finditer(data[:LONGEST_RAW].decode("latin-1")):
        for first, last, is_token in _pieces(match):
            if not is_token:
                continue
            yield from _between(start, position, first)
            yield _token_line(start + first, match.string[first:last], style)
            position = last
            count += 1
        if count >= MOST_TOKENS:
            yield (Part(trusted(f"{style.signs.ellipsis} and more"), StyleRole.QUIET),)
            return
    yield from _between(start, position, len(data))


def _between(start: int, first: int, last: int) -> Iterator[Line]:
    if last > first:
        yield Part(trusted(f"{start + first:>9,}  "), StyleRole.QUIET), Part(trusted(f"text {byte_size(last - first)}"))


def _token_line(offset: int, token: str, style: Style) -> Line:
    return Part(trusted(f"{offset:>9,}  "), StyleRole.QUIET), Part(style.name(token), StyleRole.MARKER)


def _pieces(match: re.Match[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield the tokens of a match: the match itself, or both marks of a literal block."""
    if match.lastgroup == "token":
        yield *match.span(), True
    elif match.lastgroup == "literal":
        yield match.start(), match.start() + len("<|literal|>"), True
        if match[0].endswith("<|endliteral|>"):
            yield match.end() - len("<|endliteral|>"), match.end(), True


@cache
def _pattern(format: str) -> re.Pattern[str]:
    """Return the pattern of tokens and other special bytes. In a format with escapes, a token that follows `<` is not a
    token."""
    known = FORMATS.get(format)
    if format in _WITHOUT_TOKENS:
        token = "(?P<token>(?!))"
    elif known is not None and known.escapes:
        token = rf"<(?P<escaped>{_TOKEN})|(?P<literal><\|literal\|>.*?(?:<\|endliteral\|>|\Z))|(?P<token>{_TOKEN})"
    else:
        token = f"(?P<token>{_TOKEN})"
    return re.compile(rf"{token}|(?P<broken>[\udc80-\udcff]+)|(?P<emoji>{EMOJI})|(?P<tags>[{TAGS}]+)", re.DOTALL)


def _parts(data: bytes, format: str, style: Style) -> Iterator[Part]:
    """Yield the styled text, including line ends."""
    text = data.decode("utf-8", "surrogateescape")
    position = 0
    for match in _pattern(format).finditer(text):
        yield from _text(text[position : match.start()], style)
        position = match.end()
        yield from _special(match, style)
    yield from _text(text[position:], style)


def _special(match: re.Match[str], style: Style) -> Iterator[Part]:
    found = match[0]
    match match.lastgroup:
        case "token":
            yield Part(trusted(found), StyleRole.MARKER)
        case "literal":
            yield from _literal(match, style)
        case "broken":
            yield Part(trusted("".join(f"\\x{ord(byte) - 0xDC00:02x}" for byte in found)), StyleRole.BAD_SPAN)
        case "tags":
            hidden = "".join(chr(ord(tag) - _FIRST_TAG) for tag in found)
            yield Part(style.spell(sanitize(f"[tags: {hidden}]")), StyleRole.NOTED_SPAN)
        case _:
            yield from _text(found, style)


def _literal(match: re.Match[str], style: Style) -> Iterator[Part]:
    """Style a literal block. Its marks are tokens, but its content is not."""
    first, *last = _pieces(match)
    inside = match.string[first[1] : last[0][0] if last else match.end()]
    yield Part(trusted("<|literal|>"), StyleRole.MARKER)
    yield from _text(inside, style)
    if last:
        yield Part(trusted("<|endliteral|>"), StyleRole.MARKER)


def _text(text: str, style: Style) -> Iterator[Part]:
    if text:
        shown = sanitize(normalize_newlines(text).replace("\t", "␉"))
        yield Part(style.spell(shown))


def _lines(parts: Iterator[Part]) -> Iterator[Line]:
    """Split the parts at line ends."""
    line: list[Part] = []
    for part in parts:
        first, *more = part.text.split("\n")
        if first:
            line.append(Part(plain_line(SafeText(first)), part.look))
        for text in more:
            yield tuple(line)
            line = [Part(plain_line(SafeText(text)), part.look)] if text else []
    if line:
        yield tuple(line)


def _rows(line: Line, width: int) -> Iterator[Line]:
    """Break a line exactly at the width so that no space is lost."""
    row: list[Part] = []
    room = width
    for part in line:
        rest = part.text
        while rest:
            taken = _fitting(rest, room)
            if not taken and row:
                yield tuple(row)
                row, room = [], width
                continue
            taken = taken or 1
            row.append(Part(SafeText(rest[:taken]), part.look))
            room -= cells(rest[:taken])
            rest = SafeText(rest[taken:])
    yield tuple(row)


def _fitting(text: str, room: int) -> int:
    """Return the number of characters that fit. Combining marks stay with their base."""
    if text.isascii():
        return min(len(text), room)
    used = 0
    for position, character in enumerate(text):
        used += cells(character)
        if used > room:
            return position
    return len(text)


def _whole_characters(data: bytes) -> bytes:
    """Return the bytes without an incomplete character at the end."""
    for back in range(1, 4):
        if data[-back] >= 0xC0:
            return data[:-back]
        if data[-back] < 0x80:
            break
    return data
