"""JSON as rows of keys and values: strings with real line breaks, containers that fold, and JSON inside strings.

Numbers, literals, the order of keys, and duplicate keys appear as written. Only values that are drawn are read: text
between two brackets is skipped in one step."""

from __future__ import annotations

import re
from array import array
from collections.abc import Container, Iterator, Sequence
from itertools import islice

from msgspec import Raw, Struct
from msgspec.json import decode

from viewer.cache import lazy_regex
from viewer.render.layout import Row, lay_out
from viewer.render.number_format import byte_size, counted
from viewer.render.sanitize import SafeText, sanitize, sanitize_line
from viewer.render.style import UNICODE, Glyphs, Part, StyleRole, trusted
from viewer.render.width import cells, cut

MOST_ROWS = 2000
"""The maximum number of rows of one body."""
MOST_NODES = 200
"""The maximum number of values to show in one container, unless all nodes are open."""
ALL_NODES = 99
"""The depth at which all nodes are open."""
LONG_TEXT, SHOWN_TEXT = 15, 12
"""The maximum number of rows of a string that is not folded, and the number of rows to show of a folded one."""
_KEY_ROOM = 10
_LONG_PATH = lazy_regex(r"=(?:/[^/\s=]+){2,}?((?:/[^/\s=]+){1,2})(?=\s|$)")
"""An absolute path of three or more parts. Of three parts, the last one is kept; of more, the last two."""
_SHORT = 200
"""The length in characters below which a container starts open."""
_MOST_READ = 64 * 1024
"""How many characters of a folded string to decode."""

_SPACE = lazy_regex(r"[ \t\r\n]*")
_STRING = lazy_regex(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_WORD = lazy_regex(r'[^\s,:\[\]{}"]+')
_TO_BRACKET = lazy_regex(r'[^"\[\]{}]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"\[\]{}]*)*', re.DOTALL)
_INNERMOST = lazy_regex(r"\[[^\[\]{}]*+\]|\{[^\[\]{}]*+\}")
_MOST_NESTED = 8
"""The maximum nesting depth at which values are counted by repeatedly removing the innermost containers. At greater
depths, the values are read one by one."""
_SHORT_ARRAY = 200
"""The maximum length of an array of plain values whose items are shown on the line of a call."""
_ESCAPE = lazy_regex(r"\\u[dD][89abAB]..\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CLOSERS = {"{": "}", "[": "]"}


class NotJsonError(ValueError):
    """The text cannot be shown as keys and values."""


class Value(Struct, frozen=True, gc=False):
    """A value in the text, and its key as written, without quotes. Items of an array have no key."""

    key: str
    start: int
    end: int


class JsonRow(Struct, frozen=True):
    """One row: the tree lines, the key, and a row of the text."""

    lead: tuple[Part, ...]
    row: Row | None
    parts: tuple[Part, ...] = ()
    """The rest of the row, after the row of the text if there is one."""
    look: StyleRole = StyleRole.PLAIN
    node: int = -1
    """The offset of the value that this row folds or unfolds; -1 if there is none."""
    is_open: bool = False
    """True if the value at `node` is open."""


def value_end(text: str, start: int) -> int:
    """Return the end of the value that starts here. Raise `NotJsonError` if there is none."""
    first = text[start : start + 1]
    if first == '"':
        match = _STRING.match(text, start)
        if match is None:
            raise NotJsonError
        return match.end()
    if first not in _CLOSERS:
        match = _WORD.match(text, start)
        if match is None:
            raise NotJsonError
        return match.end()
    open_brackets = [_CLOSERS[first]]
    at = start + 1
    while open_brackets:
        match = _TO_BRACKET.match(text, at)
        at = match.end() if match else at
        bracket = text[at : at + 1]
        if bracket in _CLOSERS:
            open_brackets.append(_CLOSERS[bracket])
        elif not bracket or bracket != open_brackets.pop():
            raise NotJsonError
        at += 1
    return at


def children(text: str, start: int) -> Iterator[Value]:
    """Yield the values of the container that starts here, in order. Raise `NotJsonError` where the text is not JSON."""
    is_object, closer = text[start] == "{", _CLOSERS[text[start]]
    at = skip_space(text, start + 1)
    while text[at : at + 1] != closer:
        key = ""
        if is_object:
            name = _STRING.match(text, at)
            if name is None:
                raise NotJsonError
            key = name[0][1:-1]
            at = skip_space(text, name.end())
            if text[at : at + 1] != ":":
                raise NotJsonError
            at = skip_space(text, at + 1)
        end = value_end(text, at)
        yield Value(key, at, end)
        at = skip_space(text, end)
        if text[at : at + 1] == ",":
            at = skip_space(text, at + 1)
        elif text[at : at + 1] != closer:
            raise NotJsonError


def first_children(text: str, start: int, end: int, most: int) -> tuple[list[Value], int]:
    """Return the first values of the container between two offsets, and the total number of values."""
    found = list(islice(children(text, start), most))
    if len(found) < most:
        return found, len(found)
    rest = _STRING.sub("0", text[found[-1].end : end - 1])
    for _ in range(_MOST_NESTED):
        if "[" not in rest and "{" not in rest:
            return found, len(found) + rest.rstrip().removesuffix(",").count(",")
        rest = _INNERMOST.sub("0", rest)
    return found, sum(1 for _ in children(text, start))


def only_error(text: str) -> tuple[int, int] | None:
    """Return the span of the error text, without quotes, if the JSON contains only an error and `"ok": false`;
    otherwise None."""
    if len(text) > _MOST_READ or not is_container(text):
        return None
    found = {}
    try:
        start = skip_space(text, 0)
        if text[start] != "{":
            return None
        found = {value.key: value for value in children(text, start)}
    except NotJsonError:
        return None
    error, ok = found.pop("error", None), found.pop("ok", None)
    is_only = all(text[value.start : value.end] == "null" for value in found.values())
    if error is None or ok is None or text[ok.start : ok.end] != "false" or not is_only:
        return None
    is_text = text[error.start] == '"' and "\\" not in text[error.start : error.end]
    return (error.start + 1, error.end - 1) if is_text else None


def is_container(text: str) -> bool:
    """True if the whole text is enclosed in one pair of brackets, like an object or array. The content is not
    checked."""
    start = skip_space(text, 0)
    if text[start : start + 1] not in _CLOSERS:
        return False
    try:
        return not text[value_end(text, start) :].strip()
    except NotJsonError:
        return False


def _is_json(text: str) -> bool:
    """True if the whole text is one valid object or array. Text such as `[INFO]` is not."""
    if not is_container(text):
        return False
    try:
        decode(text.encode(), type=Raw)
    except (ValueError, RecursionError):
        return False
    return True


def arguments_line(beginning: str) -> SafeText:
    """Return the members of an object, given its first characters, on one line as `key=value`. Return other text on one
    line."""
    start = at = skip_space(beginning, 0)
    if beginning[start : start + 1] != "{":
        return _on_one_line(beginning)
    words = []
    try:
        for value in children(beginning, start):
            words += [f"{value.key}={_short(beginning[value.start : value.end])}"]
            at = value.end
    except NotJsonError:
        words.append(_rest_of(beginning[at:]))
    return sanitize_line(" ".join(filter(None, words)), 400)


def shorten_paths(arguments: SafeText, ellipsis: str) -> SafeText:
    """Replace the beginning of each long path among the arguments of a call so that the name of the file is kept."""
    return SafeText(_LONG_PATH.sub(lambda match: f"={ellipsis}{match[1]}", arguments))


def _rest_of(beginning: str) -> str:
    """Return the incomplete last member of an object that is cut off, as `key=value`, or an empty string."""
    match = re.search(r'[{,]\s*"([^"\\]*)"\s*:\s*(?:"((?:[^"\\]|\\.)*)|([^,{}\[\]"]*))$', beginning, re.DOTALL)
    return f"{match[1]}={' '.join(decode_string(match[2] or match[3] or '')[0].split())}" if match else ""


def _short(source: str) -> str:
    if source[0] == '"':
        return " ".join(decode_string(source[1:-1])[0].split())
    if source[0] == "[" and 2 < len(source) <= _SHORT_ARRAY:
        try:
            items = [source[value.start : value.end] for value in children(source, 0)]
        except NotJsonError:
            items = ["["]
        if all(item[0] not in _CLOSERS for item in items):
            return f"[{', '.join(map(_short, items))}]"
    return {"{": "{…}", "[": "[…]"}.get(source[0], source) if len(source) > 2 else source


def _on_one_line(text: str) -> SafeText:
    return sanitize_line(" ".join(text.split()), 400)


def skip_space(text: str, at: int) -> int:
    """Return the offset of the first character that is not whitespace."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def decode_string(body: str) -> tuple[str, list[int] | None]:
    """Return the text of a string without its quotes, and the offset of each character. The offsets are None if there
    are no escapes."""
    if "\\" not in body:
        return body, None
    out: list[str] = []
    places: list[int] = []
    at = 0
    for escape in _ESCAPE.finditer(body):
        out.append(body[at : escape.start()])
        places += range(at, escape.start())
        character = _character(escape[0])
        out.append(character)
        places += [escape.start()] * len(character)
        at = escape.end()
    out.append(body[at:])
    places += range(at, len(body) + 1)
    return "".join(out), places


def _character(escape: str) -> str:
    """Return the character that an escape represents. An escape that JSON does not define is left unchanged."""
    try:
        if len(escape) == 12:
            high, low = int(escape[2:6], 16), int(escape[8:], 16)
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        if len(escape) == 6:
            return chr(int(escape[2:], 16))
    except ValueError:
        return escape
    return _ESCAPED.get(escape[1], escape[1] if escape[1] in '"\\/' else escape)


def key_room(text: str, width: int) -> int:
    """Return the width of an object's keys and the space after them; the minimum for other text."""
    try:
        start = skip_space(text, 0)
        return _room_of(list(islice(children(text, start), MOST_NODES)), width) if is_container(text) else _KEY_ROOM
    except NotJsonError:
        return _KEY_ROOM


def _room_of(values: Sequence[Value], width: int) -> int:
    widest = max([_KEY_ROOM, *(cells(_key(each)) + 1 for each in values)])
    return min(widest, max(width // 3, _KEY_ROOM))


def _key(value: Value) -> SafeText:
    return sanitize_line(value.key, 60)


class JsonRows:
    """The rows of one JSON text.

    `depth` is the number of unfolded levels. The values in `turned` are folded or unfolded contrary to `depth`."""

    def __init__(
        self, text: str, width: int, depth: int, glyphs: Glyphs = UNICODE, turned: Container[int] = frozenset()
    ) -> None:
        self._text = text
        self._width = width
        self._depth = depth
        self._turned = turned
        self._glyphs = glyphs
        self._is_unicode = glyphs is UNICODE
        self._count = 0

    def rows(self, stem: str, *, is_last: bool) -> list[JsonRow]:
        """Return the rows of all values of the text, after these tree lines. `is_last` means that no row of the tree
        follows."""
        start = skip_space(self._text, 0)
        found, count = first_children(self._text, start, len(self._text.rstrip()), self._most)
        return list(self._children(self._text, found, count, None, stem, 0, is_last))

    @property
    def _most(self) -> int:
        """The maximum number of values to draw in one container."""
        return MOST_NODES if self._depth < ALL_NODES else MOST_ROWS

    def _children(
        self,
        text: str,
        found: Sequence[Value],
        count: int,
        places: list[int] | None,
        stem: str,
        level: int,
        is_last: bool,
    ) -> Iterator[JsonRow]:
        """Yield the rows of the first values of a container with `count` values."""
        room = _room_of(found, self._width)
        for number in range(count):
            if number >= len(found) or self._count >= MOST_ROWS:
                words = f"{self._more} {count - number:,} more"
                yield JsonRow((self._rule(stem + self._branch(is_last)),), None, (_quiet(words),))
                return
            value, is_end = found[number], is_last and number == count - 1
            yield from self._value(text, value, places, stem, level, is_end, room)

    def _value(
        self, text: str, value: Value, places: list[int] | None, stem: str, level: int, is_end: bool, room: int
    ) -> Iterator[JsonRow]:
        key = cut(_key(value), room - 1, trusted(self._glyphs.ellipsis))
        pad = room - cells(key) if key else 0
        branch = self._rule(stem + self._branch(is_end))
        name = Part(SafeText(key + " " * pad), StyleRole.JSON_KEY)
        lead = (branch, name) if key else (branch,)
        below = stem + ("  " if is_end else self._trunk)
        first = text[value.start]
        if first == '"':
            yield from self._string(text, value, places, lead, below, level)
        elif first in _CLOSERS:
            yield from self._container(text, value.start, value.end, places, lead, below, level, "")
        else:
            look = StyleRole.JSON_NUMBER if first in "-0123456789" else StyleRole.JSON_WORD
            shown = sanitize_line(text[value.start : value.end], 1000)
            yield from self._rows_of(shown, _moved_places(places, value.start, len(shown)), lead, below, look)

    def _container(
        self,
        text: str,
        start: int,
        end: int,
        places: list[int] | None,
        lead: tuple[Part, ...],
        below: str,
        level: int,
        kind: str,
    ) -> Iterator[JsonRow]:
        is_object = text[start] == "{"
        found, count = first_children(text, start, end, self._most)
        words = kind or ("object, " if is_object else "array, ")
        words += counted(count, "key" if is_object else "item")
        node = places[start] if places is not None else start
        is_open = count > 0 and ((level < self._depth or end - start < _SHORT) is not (node in self._turned))
        is_open = is_open and level < ALL_NODES
        self._count += 1
        mark = "" if is_open or not count else f" {self._more}"
        yield JsonRow(lead, None, (_quiet(f"{words}{mark}"),), node=node if count else -1, is_open=is_open)
        if is_open:
            yield from self._children(text, found, count, places, below, level + 1, True)

    def _string(
        self, text: str, value: Value, places: list[int] | None, lead: tuple[Part, ...], below: str, level: int
    ) -> Iterator[JsonRow]:
        node = places[value.start] if places is not None else value.start
        is_open = (self._depth > level) is not (node in self._turned)
        body = text[value.start + 1 : value.end - 1]
        size = len(body.encode("utf-8", "replace"))
        most = len(body) if is_open else _MOST_READ
        decoded, own = decode_string(body[:most])
        origins = _moved_places(places, value.start + 1, len(decoded)) if own is None else _joined(places, value, own)
        decoded = decoded.replace("\r\n", " \n")  # keeps the length, so offsets stay valid
        if level < ALL_NODES and most >= len(body) and _is_json(decoded):
            start = skip_space(decoded, 0)
            yield from self._container(
                decoded, start, len(decoded), [*origins], lead, below, level, "JSON in a string, "
            )
            return
        is_short = "\n" not in decoded and cells(decoded) <= 3 * self._room(lead)
        if is_short:
            yield from self._rows_of(sanitize(decoded), origins, lead, below, StyleRole.PLAIN)
            return
        lines = decoded.count("\n") + (not decoded.endswith("\n"))
        about = f"{counted(lines, 'line')}, " if most >= len(body) else ""
        inner = max(self._width - cells(below) - 4, 8)
        if not is_open:
            decoded = decoded[: (LONG_TEXT + 1) * inner * 2]
        rows = lay_out(sanitize(decoded.removesuffix("\n")), inner)
        is_long = len(rows) > LONG_TEXT or most < len(body)
        self._count += 1
        words = _quiet(f"text, {about}{byte_size(size)}")
        yield JsonRow(lead, None, (words,), node=node if is_long else -1, is_open=is_open)
        yield from self._panel(rows, inner, origins, below, lines if most >= len(body) else 0, is_open=is_open)

    def _panel(
        self, rows: Sequence[Row], inner: int, places: range | list[int], below: str, lines: int, *, is_open: bool
    ) -> Iterator[JsonRow]:
        """Yield the rows of the text in a frame. `lines` is the number of lines in the text, 0 if unknown."""
        most = max(MOST_ROWS - self._count, 1) if is_open else LONG_TEXT
        shown = rows if len(rows) <= most else rows[: most if is_open else SHOWN_TEXT]
        corners, rule = "╭╮╰╯│" if self._is_unicode else "++++|", self._glyphs.rule
        top = corners[0] + rule * (inner + 2) + corners[1]
        yield JsonRow((self._rule(below), Part(trusted(top), StyleRole.RULE)), None)
        lead = (self._rule(below), Part(trusted(f"{corners[4]} "), StyleRole.RULE))
        self._count += len(shown) + 2
        for row in shown:
            space = " " * max(inner - cells(row.text), 0)
            yield JsonRow(lead, _placed(row, places), (Part(trusted(f"{space} {corners[4]}"), StyleRole.RULE),))
        left = lines - sum(not row.joined for row in shown) if lines else 0
        note = f" {counted(left, 'more line')} {self._glyphs.dot} l unfolds it " if left > 0 else ""
        note = f" more {self._glyphs.dot} l unfolds it " if not lines else note
        end = corners[2] + rule * max(inner + 2 - cells(note), 0) + note + corners[3]
        yield JsonRow((self._rule(below), Part(trusted(end), StyleRole.RULE)), None)

    def _rows_of(
        self, shown: SafeText, places: range | list[int], lead: tuple[Part, ...], below: str, look: StyleRole
    ) -> Iterator[JsonRow]:
        for number, row in enumerate(lay_out(shown, self._room(lead))):
            indent = sum(cells(part.text) for part in lead) - cells(below)
            self._count += 1
            before = lead if not number else (self._rule(below), Part(trusted(" " * max(indent, 0))))
            yield JsonRow(before, _placed(row, places), look=look)

    def _room(self, lead: tuple[Part, ...]) -> int:
        return max(self._width - sum(cells(part.text) for part in lead), 8)

    def _rule(self, text: str) -> Part:
        return Part(trusted(text), StyleRole.RULE)

    def _branch(self, is_last: bool) -> str:
        return ("└ " if is_last else "├ ") if self._is_unicode else "- "

    @property
    def _trunk(self) -> str:
        return "│ " if self._is_unicode else "  "

    @property
    def _more(self) -> str:
        return "▸" if self._is_unicode else "+"


def _quiet(words: str) -> Part:
    return Part(trusted(words), StyleRole.QUIET)


def _moved_places(places: list[int] | None, start: int, length: int) -> range | list[int]:
    return range(start, start + length + 1) if places is None else places[start : start + length + 1]


def _joined(places: list[int] | None, value: Value, own: list[int]) -> list[int]:
    base = value.start + 1
    return [base + at for at in own] if places is None else [places[base + at] for at in own]


def _placed(row: Row, places: range | list[int]) -> Row:
    """Return the row with its offsets mapped to the source."""
    last = len(places) - 1
    origins = [places[min(at, last)] for at in (row.origins or range(row.start, row.start + len(row.text)))]
    start, end = places[min(row.start, last)], places[min(row.end, last)]
    return Row(row.text, start, end, row.joined, array("Q", origins))
