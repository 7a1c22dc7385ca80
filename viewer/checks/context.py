"""`CheckContext`, the argument of every check function: a message, its decoded body, and the positions of its header
words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.model.diagnostic import Diagnostic, Rule
from viewer.model.messages import Message, Span
from viewer.reading.bodies import Body
from viewer.reading.document_header import HarmonyProfile
from viewer.reading.format import FormatTraits
from viewer.syntax.json_text import JsonFault, JsonGlance, JsonNode, check_json, glance, read_json

if TYPE_CHECKING:
    from viewer.checks.calls import ToolChecks
    from viewer.reading.grammar import TextGrammar

Read = Callable[[int, int], bytes]


LONGEST_HEADER = 64 * 1024
NEAR = 1024
"""The maximum distance from a body, in bytes, at which header words are searched for if messages share bytes."""

BEGINS_OBJECT = lazy_regex(rb"[ \t\r\n]*\{")
_CONSTRAINT_IN_BODY = lazy_regex(rb"\s*<\|constrain\|>\s*json\s*")


_Value = TypeVar("_Value")


class lazy_property(Generic[_Value]):  # noqa: N801 (used like `property`)
    """A property that is computed on first access, without the lock of `cached_property`."""

    def __init__(self, work_out: Callable[[Any], _Value]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[_Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...

    def __get__(self, instance: object | None, owner: type) -> _Value | lazy_property[_Value]:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work_out(instance)
        return value


def first_mark(words: bytes, *marks: bytes) -> int:
    """Return the smallest offset of any of these marks in the bytes of a header, or 0 if there is none."""
    places = [at for at in map(words.find, marks) if at >= 0]
    return min(places) if places else 0


class TranscriptFacts(Struct, frozen=True):
    """The properties of a transcript on which checks depend."""

    format: FormatTraits
    profile: HarmonyProfile


class CheckContext:
    """A message, its body, and methods that create its diagnostics."""

    def __init__(
        self,
        message: Message,
        turn: int,
        body: Body,
        read: Read,
        transcript: TranscriptFacts,
        checked_to: int = 0,
        tools: ToolChecks | None = None,
        grammar: TextGrammar | None = None,
    ) -> None:
        self.message = message
        self.turn = turn
        self.body = body
        self.read = read
        self.transcript = transcript
        self.is_cut = False
        """True if parts of the shown body are hidden."""
        self.checked_to = checked_to
        """The offset up to which the encoding has been checked."""
        self.tools = tools
        """The tool state of the transcript; used only by checks with the scope CALLS."""
        self.grammar = grammar
        """The grammar of the text format; used only by checks with the scope HEADER."""

    def diagnose(self, rule: Rule, reason: str | None, span: Span, count: int = 1) -> Diagnostic:
        """Create a diagnostic for this message at these bytes of the input."""
        return Diagnostic(rule, reason, self.message.number, *span, count)

    def diagnose_body(self, rule: Rule, reason: str | None, start: int, end: int, count: int = 1) -> Diagnostic:
        """Create a diagnostic for these bytes of the decoded body."""
        return self.diagnose(rule, reason, self.body.source_span(start, end), count)

    def mark_cut(self) -> None:
        """Record that parts of the shown body are hidden."""
        self.is_cut = True

    @lazy_property
    def words(self) -> bytes:
        """The bytes from the start of the message to its body, or to its end if it has no body; at most
        `LONGEST_HEADER`."""
        start, end = self.message.span
        body = self.message.body_span
        return self.read(start, min(body[0] if body else end, start + LONGEST_HEADER))

    @lazy_property
    def _near(self) -> tuple[tuple[int, bytes], tuple[int, bytes], tuple[int, bytes]]:
        """The bytes before the body, the bytes after the body, and the first bytes of the span that messages share,
        each with its offset."""
        start, end = self.message.span
        pieces = self.message.pieces
        first, last = (pieces[0].start, pieces[-1].end) if pieces else (start, start)
        spans = (max(start, first - NEAR), first), (last, min(end, last + NEAR)), (start, min(end, start + NEAR))
        before, after, beginning = ((at, self.read(at, max(at, to))) for at, to in spans)
        return before, after, beginning

    def place(self, *needles: str) -> Span:
        """Return the span of the first of these words that the header contains, or an empty span before the body."""
        for needle in needles:
            word = needle.encode("utf-8", "replace")
            at = self._find(word) if word else None
            if at is not None:
                return at, at + len(word)
        return self.before_mark(b"<|message|>")

    def _find(self, word: bytes) -> int | None:
        if not self.transcript.format.shares_spans:
            found = self.words.find(word)
            return self.message.span[0] + found if found >= 0 else None
        before, after, beginning = self._near
        places = (
            (before[0], before[1].rfind(word)),
            (after[0], after[1].find(word)),
            (beginning[0], beginning[1].find(word)),
        )
        return next((at + found for at, found in places if found >= 0), None)

    def before_mark(self, *marks: bytes) -> Span:
        """Return an empty span where something is missing: before the first of these marks in the header, or at the
        start of the message."""
        words = b"" if self.transcript.format.shares_spans else self.words
        at = self.message.span[0] + first_mark(words, *marks)
        return at, at

    @lazy_property
    def json_start(self) -> int:
        """The offset in the decoded bytes where JSON may begin: 0, or after a constraint that the body contains by
        mistake."""
        match = _CONSTRAINT_IN_BODY.match(self.body.data)
        return match.end() if match else 0

    @lazy_property
    def json(self) -> bytes:
        """The decoded bytes that may be JSON."""
        return self.body.data[self.json_start :] if self.json_start else self.body.data

    @lazy_property
    def begins_object(self) -> bool:
        """True if the body begins like a JSON object."""
        return BEGINS_OBJECT.match(self.json) is not None

    @lazy_property
    def glance(self) -> JsonGlance:
        """The result of a quick pass over the body as JSON."""
        return glance(self.json)

    @lazy_property
    def json_fault(self) -> JsonFault | None:
        """The fault in the body, or None if it is valid JSON."""
        return None if self.glance.valid else check_json(self.json, self.json_start, self.glance.survey)

    @lazy_property
    def node(self) -> JsonNode | None:
        """The body as a tree of JSON nodes, or None if nothing could be read. Positions refer to decoded bytes."""
        return read_json(self.json, self.json_start).node
