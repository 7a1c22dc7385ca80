"""HTML of JSON: a tree of keys and values as in the app, with real line breaks, containers that fold, and JSON in
strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viewer.render.blocks.json_rows import (
    MOST_ROWS,
    NotJsonError,
    Value,
    children,
    decode_string,
    is_container,
    skip_space,
)
from viewer.render.exports.html_spans import Marks, leaf_html
from viewer.render.exports.html_text import Html, closing, element, joined, opening, text, words
from viewer.render.number_format import byte_size, counted
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import StyleRole

_DEEPEST = 24
"""The depth beyond which nested containers are shown as source."""
_LARGE = 4000
"""The length in characters above which a container is folded, unless it is the whole body."""
_LONG, _SHOWN = 15, 12
"""The maximum number of lines of a string that is not folded, and the number of lines to show of a folded one."""


def json_html(body: str, marks: Marks) -> Html | None:
    """Return the tree of an object or array; None for other text, or if a problem lies outside the values."""
    if not is_container(body):
        return None
    try:
        made = _Tree(marks).container(body, skip_space(body, 0), len(body.rstrip()), None, 0)
    except NotJsonError:
        return None
    return made if marks.are_drawn else None


class _Tree:
    """Builds the HTML of one JSON value."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._count = 0

    def container(self, source: str, start: int, end: int, places: Sequence[int] | None, level: int) -> Html:
        """Return the HTML of the members of a container. Members beyond the limit are shown as source."""
        parts: list[Html] = [opening("div", class_="tree")]
        for value in children(source, start):
            if self._count >= MOST_ROWS:
                summary = element("summary", words(f"{end - value.start:,} more characters"))
                rest = self._source(source, value.start, end, places)
                parts.append(element("details", summary, rest, class_="rest"))
                break
            self._count += 1
            parts += self._value(source, value, places, level)
        else:
            if len(parts) == 1:
                parts.append(element("span", text(sanitize(source[start:end])), class_="quiet"))
        return joined([*parts, closing("div")])

    def _value(self, source: str, value: Value, places: Sequence[int] | None, level: int) -> Iterator[Html]:
        key = element("span", text(sanitize(value.key)), class_="key") if value.key else Html("")
        first = source[value.start]
        if first == '"':
            yield self._string(source, value, places, key, level)
        elif first in "{[":
            yield self._container(source, value.start, value.end, places, key, level, "")
        else:
            look = StyleRole.JSON_NUMBER if first in "-0123456789" else StyleRole.JSON_WORD
            shown = sanitize(source[value.start : value.end])
            leaf = leaf_html(shown, _moved(places, value.start, len(shown)), look, self._marks)
            yield element("div", key, leaf, class_="row")

    def _container(
        self, source: str, start: int, end: int, places: Sequence[int] | None, key: Html, level: int, kind: str
    ) -> Html:
        is_object = source[start] == "{"
        count = sum(1 for _ in children(source, start))
        if not count:
            leaf = leaf_html(
                sanitize(source[start:end]), _moved(places, start, end - start), StyleRole.QUIET, self._marks
            )
            return element("div", key, leaf, class_="row")
        about = kind or ("object, " if is_object else "array, ")
        about += counted(count, "key" if is_object else "item")
        summary = element("summary", key, element("span", words(about), class_="quiet"))
        if level + 1 >= _DEEPEST:
            inside = self._source(source, start, end, places)
        else:
            inside = self.container(source, start, end, places, level + 1)
        is_open = {} if end - start > _LARGE else {"open": ""}
        return element("details", summary, inside, class_="row", **is_open)

    def _string(self, source: str, value: Value, places: Sequence[int] | None, key: Html, level: int) -> Html:
        body = source[value.start + 1 : value.end - 1]
        decoded, own = decode_string(body)
        base = value.start + 1
        inner: Sequence[int] = range(base, base + len(decoded) + 1) if own is None else [base + at for at in own]
        origins = inner if places is None else [places[min(at, len(places) - 1)] for at in inner]
        if is_container(decoded):
            try:
                start = skip_space(decoded, 0)
                return self._container(decoded, start, len(decoded.rstrip()), origins, key, level, "JSON in a string, ")
            except NotJsonError:
                pass
        shown = sanitize(decoded.replace("\r\n", " \n"))  # keeps the length, so offsets stay valid
        if "\n" not in shown:
            return element("div", key, leaf_html(shown, origins, StyleRole.JSON_TEXT, self._marks), class_="row")
        return self._panel(shown, origins, key, len(body.encode("utf-8", "replace")))

    def _panel(self, shown: str, origins: Sequence[int], key: Html, size: int) -> Html:
        """Return the HTML of a string with several lines, folded if it is long."""
        lines = shown.count("\n") + (not shown.endswith("\n"))
        about = element("span", words(f"text, {counted(lines, 'line')}, {byte_size(size)}"), class_="quiet")
        cut = _after_line(shown, _SHOWN) if lines > _LONG else len(shown)
        panels = [element("pre", self._piece(shown, origins, 0, cut))]
        if cut < len(shown):
            more = element("summary", words(counted(lines - _SHOWN, "more line")))
            rest = element("pre", self._piece(shown, origins, cut, len(shown)))
            panels.append(element("details", more, rest, class_="rest"))
        return element("div", key, about, element("div", *panels, class_="panel"), class_="row")

    def _piece(self, shown: str, origins: Sequence[int], start: int, end: int) -> Html:
        return leaf_html(SafeText(shown[start:end]), origins[start:end], StyleRole.PLAIN, self._marks)

    def _source(self, source: str, start: int, end: int, places: Sequence[int] | None) -> Html:
        shown = sanitize(normalize_newlines(source[start:end]))
        whole = len(shown) == end - start
        leaf = leaf_html(shown, _moved(places, start, len(shown)) if whole else (), StyleRole.PLAIN, self._marks)
        return element("div", element("pre", leaf), class_="panel")


def _moved(places: Sequence[int] | None, start: int, length: int) -> Sequence[int]:
    return range(start, start + length) if places is None else places[start : start + length]


def _after_line(shown: str, lines: int) -> int:
    """Return the offset after the first `lines` lines."""
    at = 0
    for _ in range(lines):
        at = shown.index("\n", at) + 1
    return at
