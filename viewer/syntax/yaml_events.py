"""Build YAML values from the events of the YAML library, within the limits of `yaml_reader`."""

from __future__ import annotations

import re

from yaml.error import MarkedYAMLError
from yaml.events import (
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    StreamEndEvent,
)
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

from viewer.model.messages import Span
from viewer.syntax.utf8 import ill_formed
from viewer.syntax.yaml_reader import DEEPEST, LARGEST, MALFORMED, TOO_LARGE, YamlFault, YamlReading

_ONLY_COMMENTS = re.compile(r"\s*(?>#[^\n]*\s*)*+")
_SIMPLE_KEY = "while scanning a simple key"


def read_events(data: bytes, base: int = 0) -> YamlReading:
    """Read one YAML document up to its first fault. No input raises an exception."""
    text = _Text(data[:LARGEST], base)
    stop: tuple[int, int] | None = None
    faults: list[YamlFault] = []
    if len(data) > LARGEST:
        stop = (len(text.characters), len(text.characters))
        faults = [YamlFault(TOO_LARGE, base + LARGEST, base + len(data))]
    if refused := Reader.NON_PRINTABLE.search(text.characters):
        stop = refused.span()
        faults = [YamlFault(MALFORMED, *text.span(*stop))]
    whole_lines = len(text.characters) if stop is None else text.characters.rfind("\n", 0, stop[0]) + 1
    building = _Building(text.characters[:whole_lines])
    building.read()
    if building.fault and not (stop and building.is_unended):
        faults = [YamlFault(MALFORMED, *text.span(*building.fault))]
    return YamlReading(building.value, tuple(faults), text.span(*building.span))


class _Text:
    """Bytes decoded to characters, and a map from character positions back to byte positions."""

    def __init__(self, data: bytes, base: int) -> None:
        self.characters = data.decode("utf-8", "replace")
        self._data = data
        self._base = base

    def span(self, start: int, end: int) -> Span:
        """Return the byte span of these characters."""
        return self._offset(start), self._offset(end)

    def _offset(self, index: int) -> int:
        if len(self.characters) == len(self._data):
            return self._base + index
        position = 0
        for start, end in ill_formed(self._data):
            sound = self._data[position:start].decode()
            if index <= len(sound):
                return self._base + position + len(sound[:index].encode())
            index -= len(sound) + 1
            position = end
        return self._base + position + len(self._data[position:].decode("utf-8", "replace")[:index].encode())


class _Refused(Exception):  # noqa: N818 - stops reading, but is not reported as an error
    """The text contains something that a header must not contain."""

    def __init__(self, start: int, end: int) -> None:
        self.place = (start, end)


class _Events(Reader, Scanner, Parser):
    """Yields the events of YAML text, and records the positions of anchors and tags."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        self.properties: dict[int, int] = {}
        """The end of each anchor or tag, by its start."""

    def scan_anchor(self, TokenClass):  # type: ignore[no-untyped-def]  # noqa: N803
        token = super().scan_anchor(TokenClass)  # type: ignore[no-untyped-call]
        self.properties[token.start_mark.index] = token.end_mark.index
        return token

    def scan_tag(self):  # type: ignore[no-untyped-def]
        token = super().scan_tag()
        self.properties[token.start_mark.index] = token.end_mark.index
        return token

    def save_possible_simple_key(self) -> None:
        """Track possible keys only as deep as values are read, because each one costs a check at every token."""
        if self.flow_level <= DEEPEST:
            super().save_possible_simple_key()

    def fetch_directive(self) -> None:
        raise ScannerError(None, None, "directives are refused", self.get_mark())


class _Building:
    """Builds a value event by event so that everything before a fault is kept."""

    def __init__(self, text: str) -> None:
        self.value: object = ""
        self.span = (0, 0)
        self.fault: tuple[int, int] | None = None
        self.is_unended = False
        """True if the fault is that the text ends too early."""
        self._text = text
        self._events = _Events(text)

    def read(self) -> None:
        """Build the value from all events or, if there is a fault, from those before it. Record the fault."""
        try:
            self._documents()
        except _Refused as refused:
            self.fault = refused.place
        except MarkedYAMLError as error:
            self.fault = self._place(error)
        except (ValueError, OverflowError):  # `\UFFFFFFFF` is not a code point, and the scanner is at its digits
            self.fault = (self._events.index - 2, self._events.index + 8)

    def _documents(self) -> None:
        seen = False
        while not isinstance(event := self._next(), StreamEndEvent):
            if isinstance(event, DocumentStartEvent):
                if seen and self._is_fence(event):
                    return
                if seen:
                    raise _Refused(*_marks(event))
                seen = True
            elif isinstance(event, NodeEvent):
                self._root(event)

    def _is_fence(self, event: Event) -> bool:
        """True if only whitespace and comments follow this `---`."""
        match = _ONLY_COMMENTS.match(self._text, _marks(event)[1])
        return match is not None and match.end() == len(self._text)

    def _root(self, event: NodeEvent) -> None:
        self.span = _marks(event)
        self.value = self._begun(event, 1)
        last = self._fill(self.value, 1) or event
        self.span = (_marks(event)[0], _marks(last)[1])

    def _begun(self, event: NodeEvent, depth: int) -> object:
        """Return a scalar, or an empty mapping or list to be filled."""
        start, _ = _marks(event)
        if start in self._events.properties:
            raise _Refused(start, self._events.properties[start])
        if isinstance(event, ScalarEvent):
            return _whole_characters(event.value)
        if depth > DEEPEST:
            raise _Refused(start, start + 1)
        return {} if isinstance(event, MappingStartEvent) else []

    def _fill(self, value: object, depth: int) -> Event | None:
        """Fill a mapping or list from its events, and return the last one. Return None for a scalar, which needs
        none."""
        if isinstance(value, dict):
            return self._fill_mapping(value, depth)
        if isinstance(value, list):
            return self._fill_list(value, depth)
        return None

    def _fill_mapping(self, mapping: dict[str, object], depth: int) -> Event:
        while not isinstance(event := self._next(), CollectionEndEvent):
            key = self._key(event, mapping)
            mapping_value = self._begun(self._next(), depth + 1)
            mapping[key] = mapping_value
            self._fill(mapping_value, depth + 1)
        return event

    def _fill_list(self, items: list[object], depth: int) -> Event:
        while not isinstance(event := self._next(), CollectionEndEvent):
            item = self._begun(event, depth + 1)
            items.append(item)
            self._fill(item, depth + 1)
        return event

    def _key(self, event: NodeEvent, mapping: dict[str, object]) -> str:
        key = self._begun(event, 1)
        start, end = _marks(event)
        if not isinstance(key, str):
            raise _Refused(start, max(end, start + 1))
        merges = key == "<<" and isinstance(event, ScalarEvent) and not event.style
        if merges or key in mapping:
            raise _Refused(start, end)
        return key

    def _next(self) -> NodeEvent:
        event: NodeEvent = self._events.get_event()  # type: ignore[no-untyped-call]
        return event

    def _place(self, error: MarkedYAMLError) -> tuple[int, int]:
        """Return the span that an error concerns: an unclosed construct, or an unexpected character."""
        begun, problem = error.context_mark, error.problem_mark
        if begun and error.context == _SIMPLE_KEY:
            return begun.index, begun.index + len(self._text[begun.index :].splitlines()[0].rstrip())
        at = problem.index if problem else 0
        if self._text[at:].strip():
            return at, at + (0 if self._text[at] in "\r\n" else 1)
        self.is_unended = True
        return self._unended(begun.index if begun else at)

    def _unended(self, begun: int) -> tuple[int, int]:
        """Return the span of the first character of the construct that is still open at the end: quoted text, or the
        innermost mapping or list."""
        marks = self._events.marks
        if not self._text[begun:].strip() and marks:
            begun = marks[-1].index
        return begun, min(begun + 1, len(self._text))


def _marks(event: Event) -> tuple[int, int]:
    start, end = event.start_mark, event.end_mark
    return (start.index, end.index) if start and end else (0, 0)


def _whole_characters(text: str) -> str:
    """Join escaped surrogate pairs, and replace a lone surrogate with U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
