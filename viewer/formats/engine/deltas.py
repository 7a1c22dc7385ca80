"""Read runs of delta events, which differ only in the text they add, using one pattern per run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import takewhile
from operator import eq, sub

from msgspec import Struct

from viewer import native
from viewer.formats.engine.paths import path
from viewer.formats.json.known.values import CONTAINER
from viewer.formats.tables.model import Outcomes, PartRule, RecordFormat, RecordRule, When
from viewer.model.messages import Coding, Piece
from viewer.native import Native
from viewer.scan.records import HAS_ESCAPE, Step, literal, match_values, step
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_string import string_body
from viewer.syntax.json_text import JsonKind, JsonNode, plain_object
from viewer.syntax.utf8 import is_utf8

MOST_PATTERNS = 64
LONGEST = 64 * 1024 * 1024
"""The maximum length of an event in bytes. A longer one takes the slow path."""
MOST_MISSES = 32
"""After this many failed attempts in a row, stop looking for runs."""
_PLAIN = rb'[^"\\\x00-\x1f]*+'
_TEXT = _PLAIN + rb'(?>\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})' + _PLAIN + rb")*+"
_SCALAR = rb'(?:"' + _TEXT + rb'"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)'
_KEY = re.compile(rb'"([A-Za-z_]+)"[ \t]*:[ \t]*"\Z')
_KNOWN_NAMES = frozenset({"type", "role", "thought", "channel", "content", "text", "message", "value", "delta"})
"""Member names that may have a meaning in any format."""
_CODINGS = tuple(Coding.JSON_STRING if flags & HAS_ESCAPE else Coding.PLAIN for flags in range(8))
"""The coding of a string with these flags."""


class DeltaRun(Struct, frozen=True):
    """A run of events that each add text."""

    count: int
    pieces: list[Piece]
    text: str
    """The text of all events."""
    last_start: int
    """Where the last event begins."""
    end: int
    """Where the object of the last event ends."""
    text_end: int | None
    """Where the object of the last event with text ends, if any event has text."""
    next: int
    """Where the next line begins in the data."""


class DeltaRuns:
    """Finds the runs of delta events in one input."""

    def __init__(self, format: RecordFormat) -> None:
        self._format = format
        self._misses = 0
        self._was_delta = False

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of members that may have a meaning."""
        return frozenset((*_KNOWN_NAMES, *_format_names(self._format), *_names(all_rules(self._format.records))))

    @cached_property
    def _decided(self) -> frozenset[str]:
        """The last name of each path to a value that rules use for anything other than text."""
        rules = all_rules(self._format.records)
        return frozenset((*_decided_by(rules), *_decided_by_parts({id(rule.parts): rule.parts for rule in rules})))

    def note_other(self) -> None:
        """Record that an event did more than add text."""
        self._was_delta = False

    def after(self, data: bytes, start: int, at: int, base: int, node: JsonNode, piece: Piece) -> DeltaRun | None:
        """Return the run of delta events after an event that only added a piece of text, or None if there is none.
        `start` is the index of the given event in the data, `at` the index after it, and `base` the offset of the
        data."""
        was_delta, self._was_delta = self._was_delta, True
        if not was_delta or self._misses >= MOST_MISSES or not isinstance(node, LazyNode):
            return None
        key = key_of(data, start, base, piece)
        template = template_of(data, start, at, base, node, piece, self._is_unread) if key is not None else None
        if template is None or key in self._decided or not begins(template, data, at):
            self._misses += 1
            return None
        self._misses = 0
        return read_texts(template, data, at, base, node.end - base - at)

    def _is_unread(self, name: str) -> bool:
        return name not in self._names


def key_of(data: bytes, start: int, base: int, piece: Piece) -> str | None:
    """Return the name of the member that contains the text, or None if its key is not found. `start` is the index of
    its event, and `base` the offset of the data."""
    first = _body(base, piece)[0]
    key = _KEY.search(data, max(start, first - 64), first)
    return key[1].decode() if key is not None else None


def template_of(
    data: bytes,
    start: int,
    at: int,
    base: int,
    node: LazyNode,
    piece: Piece,
    is_unread: Callable[[str], bool],
    opaque: Iterable[JsonNode] = (),
) -> tuple[bytes, ...]:
    """Return the bytes of an event, alternating with markers for its text and for values that nothing reads. `opaque`
    are the unread values that are objects or arrays.

    `start` is the index of the event in the data, `at` the index after it, and `base` the offset of the data."""
    holes = [(*_body(base, piece), b"text")]
    holes += [(value.start - base, value.end - base, b"value") for value in opaque]
    for member in node.members:
        value = member.value
        if value.kind not in (JsonKind.OBJECT, JsonKind.ARRAY) and is_unread(member.key):
            holes.append((value.start - base, value.end - base, b"other"))
    parts: list[bytes] = []
    for first, last, marker in sorted(holes):
        parts += [data[start:first], marker]
        start = last
    return *parts, data[start:at]


def _body(base: int, piece: Piece) -> tuple[int, int]:
    """Return the start and end of a string in the data, without its quotes."""
    quote = piece.coding is Coding.JSON_STRING
    return piece.start - base + quote, piece.end - base - quote


def match_event(template: tuple[bytes, ...], data: bytes, at: int) -> re.Match[bytes] | None:
    """Return the event of this template at an index, with its text as the group `text`, or None if there is none."""
    return next(_events(template, data, at), None)


def begins(template: tuple[bytes, ...], data: bytes, at: int) -> bool:
    """True if an event of this template begins at an index."""
    return next(_events(template, data, at), None) is not None


def _events(template: tuple[bytes, ...], data: bytes, at: int) -> Iterator[re.Match[bytes]]:
    """Yield the consecutive events of this template that begin at an index.

    The pattern accepts any bytes in place of the first part of the template, which names the message: a stream has many
    messages, and compiling a pattern for each one would take longer than reading it."""
    first, *others = template
    match = _pattern(len(first), tuple(others)).match
    while data.startswith(first, at) and (found := match(data, at)) is not None:
        if b"value" in others and not _are_values(found):
            return
        yield found
        at = found.end()


def _are_values(found: re.Match[bytes]) -> bool:
    """True if the objects and arrays that nothing reads are regular values."""
    values = (value for name, value in found.groupdict().items() if name != "text")
    return all(plain_object(b'{"":' + value + b"}") is not None for value in values)


@lru_cache(MOST_PATTERNS)
def _pattern(length: int, others: tuple[bytes, ...]) -> re.Pattern[bytes]:
    parts = [re.escape(part) for part in others]
    parts[::2] = [_hole(marker, place) for place, marker in enumerate(others[::2])]
    return re.compile(b"(?s:.{%d})" % length + b"".join(parts))


def _hole(marker: bytes, place: int) -> bytes:
    if marker == b"text":
        return b"(?P<text>" + _TEXT + b")"
    return b"(?P<value%d>" % place + CONTAINER + b")" if marker == b"value" else _SCALAR


def read_texts(
    template: tuple[bytes, ...], data: bytes, at: int, base: int, tail: int, *, keep: int = 0, longest: int = LONGEST
) -> DeltaRun | None:
    """Return the run of events that starts at an index, up to the first event longer than `longest`, without the last
    `keep` events. Return None if no event is left, or if the bytes are not UTF-8.

    `tail` is the negative length of what follows the object of an event."""
    accelerator = native.load()
    program = _program(template) if accelerator is not None else None
    if accelerator is not None and program is not None:
        return _read_natively(accelerator, program, data, at, base, tail, keep, longest)
    first, start = at, at
    found = [*_events(template, data, at)]
    if max((each.end() - each.start() for each in found), default=0) > longest:
        found = [*takewhile(lambda each: each.end() - each.start() <= longest, found)]
    found = found[: len(found) - keep]
    if not found:
        return None
    bounds = [(*each.span("text"), *each.span()) for each in found]
    start, at = found[-1].span()
    if not data[first:at].isascii() and not is_utf8(data[first:at]):
        return None
    pieces: list[Piece] = []
    texts: list[str] = []
    text_end: int | None = None
    for low, high, _, end in bounds:
        if low == high:
            continue
        if data.find(b"\\", low, high) < 0:
            pieces.append(Piece(base + low, base + high, Coding.PLAIN))
            texts.append(data[low:high].decode())
        else:
            pieces.append(Piece(base + low - 1, base + high + 1, Coding.JSON_STRING))
            texts.append(string_body(data[low - 1 : high + 1]))
        text_end = base + end + tail
    return DeltaRun(len(bounds), pieces, "".join(texts), start, base + at + tail, text_end, at)


def _program(template: tuple[bytes, ...]) -> bytes | None:
    """Return the program that matches events of this template, or None if there is none. Numbers that nothing reads may
    be shorter than for the pattern, and their strings may have surrogate pairs."""
    parts: list[bytes] = []
    quoted = 0
    for text, marker in zip(template[::2], (*template[1::2], b""), strict=True):
        is_text = marker == b"text"
        if marker == b"value" or (is_text and not text.endswith(b'"')):
            return None
        parts.append(literal(text[quoted : len(text) - is_text]))
        quoted = int(is_text)
        if marker:
            parts.append(step(Step.DELTA if is_text else Step.SCALAR))
    return b"".join(parts)


def _read_natively(
    accelerator: Native, program: bytes, data: bytes, at: int, base: int, tail: int, keep: int, longest: int
) -> DeltaRun | None:
    """Do what `read_texts` does."""
    found = match_values(accelerator, data, at, base, program)
    starts, ends, bounds = found.starts, found.ends, found.values
    count = len(ends)
    if max(map(sub, ends, starts), default=0) > longest:
        count = next(place for place in range(count) if ends[place] - starts[place] > longest)
    count -= keep
    if count <= 0:
        return None
    last = ends[count - 1]
    bounds = bounds[: 3 * count]
    text = accelerator.joined(data, base, bounds)
    if text is None or not (data[at:last].isascii() or is_utf8(data[at:last])):
        return None
    lows, highs = bounds[0::3], bounds[1::3]
    pieces = [*map(Piece, lows, highs, map(_CODINGS.__getitem__, bounds[2::3]))]
    text_end: int | None = base + last + tail
    if any(map(eq, lows, highs)):
        full = [place for place, piece in enumerate(pieces) if piece.start < piece.end]
        text_end = base + ends[full[-1]] + tail if full else None
        pieces = [pieces[place] for place in full]
    return DeltaRun(count, pieces, text.decode(), starts[count - 1], base + last + tail, text_end, last)


def _format_names(format: RecordFormat) -> Iterator[str]:
    for at in (format.session, format.model, format.version):
        yield from _first_names(at)
    for inner in format.inner:
        yield from _first_names(inner if isinstance(inner, str) else inner.holders or inner.path)
    for rule in format.usage:
        counts = (*rule.input, *rule.output, *rule.cached, *rule.reasoning, *rule.total)
        for at in (rule.each, rule.at, rule.key, *counts, *(when.path for when in rule.when)):
            yield from _first_names(at)
    if format.threads is not None:
        yield from (*_first_names(format.threads.id), *_first_names(format.threads.parent))
    if format.history is not None:
        yield from (*_first_names(format.history.id), *_first_names(format.history.previous))
    if format.replays is not None:
        yield from _first_names(format.replays.time)


def all_rules(rules: tuple[RecordRule, ...]) -> list[RecordRule]:
    """Return these rules and all rules nested in them, without duplicates."""
    found: dict[int, RecordRule] = {}
    waiting = [*rules]
    while waiting:
        rule = waiting.pop()
        if id(rule) not in found:
            found[id(rule)] = rule
            waiting += (*rule.also, *rule.rules)
    return [*found.values()]


def _names(rules: list[RecordRule]) -> Iterator[str]:
    """Yield the first name of each path in the rules."""
    for rule in rules:
        for at in paths_of(rule):
            yield from _first_names(at)


def _first_names(at: str) -> Iterator[str]:
    for choice in at.split("&"):
        yield from (str(steps[0]) for steps in path(choice).choices if steps)


def _last_names(at: str) -> Iterator[str]:
    for choice in at.split("&"):
        yield from (str(steps[-1]) for steps in path(choice).choices if steps)


def paths_of(rule: RecordRule) -> Iterator[str]:
    """Yield all paths that a rule looks up in a record."""
    yield from (rule.body, rule.each, *rule.then, *rule.repeats)
    yield from _deciding_paths(rule)


def _deciding_paths(rule: RecordRule) -> Iterator[str]:
    """Yield the paths that a rule looks up for anything other than text."""
    yield from (rule.session, rule.call_id, rule.name, rule.time, rule.thread, rule.rewind, rule.rewind_turns)
    if rule.role.startswith("@"):
        yield rule.role[1:]
    if rule.channel is not None and not hasattr(rule.channel, "value"):
        yield rule.channel.path
    if rule.merge is not None:
        yield rule.merge.key
        yield from (when.path for when in (rule.merge.done, rule.merge.begins) if when is not None)
    if rule.stream is not None:
        yield from (rule.stream.block, rule.stream.scope, rule.stream.reply)
    if rule.narrows is not None:
        yield rule.narrows.time
        yield from (when.path for when in rule.narrows.until)
    yield from (when.path for when in rule.when)
    yield from _outcome_paths(rule.outcome)
    yield from (fault.path for fault in rule.faults)


def _outcome_paths(outcomes: Outcomes | None) -> Iterator[str]:
    if outcomes is not None:
        for tests in (outcomes.ok, outcomes.failed, outcomes.cancelled, outcomes.timeout, outcomes.refused):
            yield from (test.partition("!=")[0].partition("=")[0] for test in tests)


def _decided_by(rules: list[RecordRule]) -> Iterator[str]:
    for rule in rules:
        for at in _deciding_paths(rule):
            yield from _last_names(at)


def _decided_by_parts(lists: dict[int, tuple[PartRule, ...]]) -> Iterator[str]:
    waiting = [part for parts in lists.values() for part in parts]
    while waiting:
        part = waiting.pop()
        waiting += (*part.also, *((part.reply,) if part.reply is not None else ()))
        whens = (when.path for when in part.when if _looks_at_value(when))
        for at in (part.call_id, part.name, *whens, *_outcome_paths(part.outcome)):
            yield from _last_names(at)


def _looks_at_value(when: When) -> bool:
    """True if a condition depends on more than the presence of a value."""
    return when != When(when.path, present=when.present)
