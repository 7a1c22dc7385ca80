"""`Document`: an input read in one format, and the source of its projections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import clear_caches, release_memory
from viewer.checks.analysis import Analysis
from viewer.checks.context import Read
from viewer.document.one_reading import BackendChoice, Reading
from viewer.document.positions import Positions
from viewer.document.stored_input import StoredInput
from viewer.errors import FileRewrittenError, HiddenError, ViewerError
from viewer.formats import FORMATS, Detection, detect
from viewer.formats.detect import HEAD, LONG_HEAD
from viewer.index.calls import CallLink
from viewer.index.findings import MOST_PER_CODE, Kept
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic, Rule
from viewer.model.events import Closed
from viewer.model.messages import Header, Message, Piece, Span, Transcript
from viewer.model.visibility import END_USER, Audience, is_user_safe
from viewer.reading.format import FormatTraits, ReadOptions
from viewer.reading.parser import Parser
from viewer.rules.structure import W_RECORD_UNKNOWN
from viewer.sources.checksums import BLOCK
from viewer.sources.containers.items import split_item
from viewer.sources.file_source import FileSource
from viewer.sources.files import CHUNK, Source, open_source

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter
    from viewer.document.projection import Projection
    from viewer.document.redaction.redactor import Redactor

LONGEST_EXCERPT = 512
_READ_TOGETHER = 64 * 1024
"""The number of bytes to read at once for excerpts."""
PARSED_AT_ONCE = 16 * 1024
CHECKED_AT_ONCE = 128 * 1024
LARGEST_STEP = 4 * CHUNK
CHECKING_SHARE = 0.8
"""The share of the loading time of a large input that is spent on checks."""
MOST_REVISIONS = 16
"""The maximum number of times that a command starts over because the file was rewritten while it was being read."""


class Finding(Struct, frozen=True):
    """A diagnostic with its line and column, for developers."""

    diagnostic: Diagnostic
    line: int
    column: int
    end_line: int
    end_column: int


class Rewrites:
    """Decides what happens when the file of a document has been rewritten.

    A reading step restarts. Any other access raises FileRewrittenError or, once `withhold` has been called, returns no
    content and reports that."""

    def __init__(self) -> None:
        self._source: Source | None = None
        self._report: Callable[[], None] | None = None
        self._is_in_step = False

    def withhold(self, report: Callable[[], None]) -> None:
        """From now on, withhold rewritten content and call `report`, possibly in another thread."""
        self._report = report

    @property
    def are_withheld(self) -> bool:
        """True if rewritten content is withheld; otherwise, accessing it raises an error."""
        return self._report is not None

    def begin(self, source: Source) -> None:
        """Record that this source is being read."""
        self._source = source

    def __enter__(self) -> None:
        self._is_in_step = True

    def __exit__(self, *_: object) -> None:
        self._is_in_step = False

    def report(self, source: Source) -> None:
        """Report withheld content, unless another source is already being read. Without `withhold`, raise the
        FileRewrittenError that is being handled."""
        if self._report is None:
            raise
        if source is self._source:
            self._report()

    def read(self, source: Source, start: int, end: int) -> bytes:
        """Return the bytes between two offsets, for positions and checks. Return no bytes if they are withheld."""
        try:
            return source.read(start, end)
        except FileRewrittenError:
            if self._is_in_step:
                raise
            self.report(source)
            return b""


class Quotes:
    """Positions and quoted values of diagnostics, for commands that reveal everything. The text is not sanitized."""

    def __init__(self, analysis: Analysis, places: Positions, read: Read) -> None:
        self._findings = analysis.findings
        self._places = places
        self._read = read
        self._missing = cache(partial(analysis.missing_arguments, read))

    def locate(self, diagnostic: Diagnostic) -> Finding:
        """Return the diagnostic with its line and column."""
        line, column = self._places.line_and_column(diagnostic.start)
        end_line, end_column = self._places.line_and_column(diagnostic.end)
        return Finding(diagnostic, line, column, end_line, end_column)

    def add(self, rule: Rule, reason: str | None, span: Span, message: int | None) -> None:
        """Add a diagnostic that a command for developers found in the whole input."""
        self._findings.add(rule, reason, *span, message)

    def value_of(self, finding: Finding) -> str | None:
        """Return the offending value of a finding, or None if it has none."""
        from viewer.checks.offending import offending_value  # lazy: few outputs need it

        return offending_value(finding.diagnostic, self._read, self._missing())

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two offsets, cut to the length of an excerpt."""
        return self._read(start, min(end, start + LONGEST_EXCERPT)).decode("utf-8", "replace")

    def excerpts(self, spans: Iterable[Span], longest: int) -> Iterator[str]:
        """Yield the start of each of these texts, which are in ascending order: at most `longest` bytes. Neighbors are
        read together."""
        waiting: list[Span] = []
        for start, end in spans:
            span = start, min(end, start + longest)
            if waiting and span[1] - waiting[0][0] > _READ_TOGETHER:
                yield from self._texts(waiting)
                waiting.clear()
            waiting.append(span)
        yield from self._texts(waiting)

    def _texts(self, spans: Sequence[Span]) -> Iterator[str]:
        if spans:
            first = spans[0][0]
            data = self._read(first, max(end for _, end in spans))
            for start, end in spans:
                yield data[start - first : end - first].decode("utf-8", "replace")

    def line_text(self, finding: Finding) -> tuple[str, int, int]:
        """Return the line of a finding, cut around its position, and the columns, from 0, of its start and end."""
        start, end = finding.diagnostic.start, finding.diagnostic.end
        line_start = max(self._places.line_start(start), start - LONGEST_EXCERPT)
        after = self._read(start, start + LONGEST_EXCERPT)
        after = after.split(b"\n", 1)[0].rstrip(b"\r")
        before = self._read(line_start, start).decode("utf-8", "replace")
        place = after[: max(0, end - start)].decode("utf-8", "replace")
        rest = after[max(0, end - start) :].decode("utf-8", "replace")
        return before + place + rest, len(before), len(before) + len(place)


Problem = tuple[str, str | None, int, int]
"""A diagnostic in comparable form: code, reason, message number, and offset."""


class Tally:
    """The counts of one reading, including hidden content. No view may show them."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    @property
    def transcripts(self) -> int:
        """The number of transcripts in the input."""
        return len(self._analysis.transcripts)

    @property
    def sessions(self) -> list[str | None]:
        """The session IDs of the transcripts, with None for a transcript without one."""
        return [transcript.id for transcript in self._analysis.transcripts]

    @property
    def metadata(self) -> int:
        """The number of records that contain no message and come before the first message."""
        return self._analysis.metadata_count

    @property
    def unknown_records(self) -> int:
        """The number of records that contain text but are not covered by any rule of the format."""
        return self._analysis.findings.count(W_RECORD_UNKNOWN.code)

    @property
    def unlisted(self) -> dict[str, int]:
        """The number of diagnostics that were counted but not kept, by code."""
        return self._analysis.findings.more

    @property
    def links(self) -> Sequence[CallLink]:
        """The links of all calls and replies."""
        return self._analysis.calls.links

    def answered(self) -> Iterator[tuple[int, int]]:
        """Yield the message numbers of each answered call and its reply."""
        return self._analysis.calls.answered()

    @property
    def cut(self) -> frozenset[int]:
        """The numbers of messages that are shown but have hidden parts."""
        return frozenset(self._analysis.cut)

    def last_declaring(self, first: int, last: int) -> int:
        """Return the number of the last message in this range that declares tools, or 0 if none does."""
        return self._analysis.last_declaring(first, last)

    def transcript_start(self, transcript: int) -> int:
        """Return the offset at which a transcript begins."""
        return self._analysis.transcripts[transcript - 1].start

    def problems(self, after: int, start: int) -> set[Problem]:
        """Return the diagnostics from offset `start` on, except those of messages up to `after`. Message numbers and
        offsets are relative to `after` and `start`."""
        return {
            (each.code, each.reason, each.message - after if each.message else 0, each.start - start)
            for each in self._analysis.findings
            if each.start >= start and (each.message is None or each.message > after)
        }

    def kept_between(self, first: int, end: int) -> Kept:
        """Count the diagnostics that are kept between two offsets, for each code over the cap."""
        return self._analysis.findings.kept_between(first, end)

    def diagnostics(self, severity: str) -> int:
        """Return how many diagnostics have this severity, including those not kept."""
        return self._analysis.findings.total(severity)


def _options(options: ReadOptions | None, ignores_call_ids: bool) -> ReadOptions | None:
    return replace(options or ReadOptions(), ignores_call_ids=True) if ignores_call_ids else options


class Document:
    """One input, which can be read all at once or in steps."""

    def __init__(
        self,
        source: Source,
        format: str | None = None,
        options: ReadOptions | None = None,
        *,
        under: Audience = END_USER,
    ) -> None:
        """If `under` is a sealed audience, no other audience can see anything of the document."""
        self.name = source.name
        self.under = under
        self._options = options
        self._caps: tuple[int, Kept | None] = MOST_PER_CODE, None
        self._format = format
        self.revision = 0
        """The number of times that reading was restarted from the start of the input."""
        self.rewrites = Rewrites()
        self._backend = BackendChoice()
        self._begin(source, _choose(source, format))

    def _begin(self, source: Source, detection: Detection) -> None:
        """Start reading this source from its first byte."""
        self.rewrites.begin(source)
        read = partial(self.rewrites.read, source)
        reading = self._reading = Reading(source, detection, read, self._backend, self._options, self._caps)
        self._quotes = Quotes(reading.analysis, reading.places, read)
        self.tally = Tally(reading.analysis)
        self.stored = StoredInput(source)
        self._progress = 0.0
        self.is_complete = False
        """True if the input was read to its end and fully checked."""

    @property
    def _source(self) -> Source:
        return self._reading.source

    @property
    def _analysis(self) -> Analysis:
        return self._reading.analysis

    @property
    def quotes(self) -> Quotes:
        """Positions and quoted values of diagnostics. A sealed document has none."""
        if self.under.sealed:
            raise HiddenError
        return self._quotes

    @property
    def detection(self) -> Detection:
        """The format that was detected or requested, and why."""
        return self._reading.detection

    def as_format(self, format: str, *, ignores_call_ids: bool = False) -> Document:
        """Return a document for the same input in another format. The new document has not read anything yet."""
        source = open_source(self.name) if isinstance(self._source, FileSource) else self._source
        return Document(source, format, _options(self._options, ignores_call_ids), under=self.under)

    def begin_again(self) -> None:
        """Restart after a file was rewritten, or raise FileRewrittenError. Earlier projections lose their bodies."""
        if not isinstance(self._source, FileSource):
            raise FileRewrittenError(self.name)
        self.revision += 1
        source = self._source.begin_again()
        self._begin(source, _choose(source, self._format))

    @property
    def named_format(self) -> str | None:
        """The format that was requested; None if it was detected."""
        return self._format

    def load(self) -> Document:
        """Read and check the whole input, and return the document."""
        while not self.is_complete:
            self.read_some(LARGEST_STEP if self._reading.has_frames else CHUNK)
        return self

    @property
    def step_size(self) -> int:
        """The number of bytes to read or check per step to keep the screen responsive."""
        if self._reading.is_ended:
            return CHECKED_AT_ONCE
        return 2 * CHUNK if self._reading.has_frames and self._reading.is_big else PARSED_AT_ONCE

    @property
    def needs_backend(self) -> bool:
        """True if reading will need a backend that is not loaded yet."""
        return self._reading.needs_backend

    def load_backend(self) -> None:
        """Load and use the backend for this and later readings. Interactive callers do this in another thread."""
        self._reading.load_backend()

    def read_in_blocks(self, least: int) -> None:
        """Use the backend from the start if the format consists of frames and the input has at least this size."""
        self._reading.prefer_blocks(least)

    def read_unchecked(self, size: int) -> None:
        """Read this many more bytes without checks. At the end of the input, the document is read but not complete."""
        if not self._reading.is_ended:
            with self.rewrites:
                self._step(size, checks=False)

    def read_some(self, size: int) -> None:
        """Read this many more bytes or, once all are read, check this many. After the last check, it is complete. If
        the file was rewritten in the meantime, reading restarts."""
        if self.is_complete:
            return
        with self.rewrites:
            try:
                self._step(size, checks=True)
            except FileRewrittenError:
                if not self.rewrites.are_withheld and self.revision >= MOST_REVISIONS:
                    raise
                self.begin_again()

    def check_some(self, size: int) -> bool:
        """Check this many of the bytes read so far. Return True if there is more to check."""
        self._analysis.check_some(size)
        return not self._analysis.is_checked

    def _step(self, size: int, *, checks: bool) -> None:
        reading, analysis = self._reading, self._reading.analysis
        if reading.is_ended:
            analysis.check_some(size)
        elif data := _next_bytes(reading.source, reading.read_to, size):
            self._take(data)
            if checks and not reading.scanner:
                analysis.check_all()
            if reading.hears_noise(data):
                reading.end()
        else:
            reading.end()
        if reading.is_ended and analysis.is_checked:
            clear_caches()
            if reading.is_big:
                release_memory()
            self.is_complete = True
        done = reading.read_to - CHECKING_SHARE * min(reading.read_to, analysis.unchecked)
        self._progress = max(self._progress, min(1.0, done / max(1, reading.source.size)))

    def _take(self, data: bytes) -> None:
        """Add these bytes to the reading."""
        self._reading.take(data)

    @property
    def unknown(self) -> str | None:
        """The kind of a nonempty input without a recognized transcript (`json`, `text`, or `binary`), or None."""
        return self._reading.unknown

    @property
    def size(self) -> int:
        """The number of bytes read."""
        return self._reading.read_to

    @property
    def is_read(self) -> bool:
        """True if the input was read to its end. Checks may still be running."""
        return self._reading.is_ended

    @property
    def is_checked(self) -> bool:
        """True if everything has been read and checked, and no more data is expected."""
        return self.is_complete

    @property
    def progress(self) -> float:
        """The share of the input that has been read and checked, from 0 to 1."""
        return 1.0 if self.is_complete else self._progress

    @property
    def damage(self) -> str:
        """Why reading stopped early, as one of the reasons of E-STREAM-TRUNCATED; empty if the whole input was read."""
        return self._reading.damage

    @property
    def options(self) -> ReadOptions | None:
        """The options of the reader."""
        return self._options

    @property
    def path(self) -> str:
        """The path of the file or folder, without the part that selects a transcript."""
        return split_item(self.name)[0]

    @property
    def is_part(self) -> bool:
        """True if one transcript of the input was selected."""
        return self._reading.selection is not None

    @property
    def missing_item(self) -> str:
        """Why the input lacks the selected transcript; empty if the input has it or has not been read to its end."""
        return self._reading.missing_item(self.path)

    @property
    def note(self) -> str:
        """How the input is read, as a note for the status line; empty for a file that is read in place."""
        return self._source.note

    @property
    def message_count(self) -> int:
        """The number of messages, including hidden ones."""
        return self._reading.message_count

    @property
    def index(self) -> MessageIndex:
        """The index of all messages, shown or hidden. For counting only; views must not use it."""
        return self._analysis.index

    def keep_per_code(self, most: int, before: Kept | None = None) -> Document:
        """Keep at most this many diagnostics per code, counting those of `before`; 0 for all. Call this first."""
        self._caps = most, before
        self._reading.keep_per_code(most, before)
        return self

    def project(
        self,
        audience: Audience,
        *,
        withholds: bool = True,
        where: Filter | None = None,
        redactor: Redactor | None = None,
    ) -> Projection:
        """Project the document, or the messages that match a filter, for this audience. Without `withholds`, access to
        rewritten content raises FileRewrittenError instead of returning nothing. A redactor masks secrets."""
        from viewer.document.projection import Projection  # some commands show no messages
        from viewer.document.vault import Vault

        is_still = partial(_is_still_in, self._analysis, self._options)
        on_rewritten = partial(self.rewrites.report, self._source) if withholds else None
        vault = Vault(
            *(self._source, self._analysis.unsettled, self._analysis.transcripts, is_still, on_rewritten),
            *(lambda: withholds and self.rewrites.are_withheld, self._analysis.missing_arguments, self.under),
        )
        projection = Projection(audience, self._analysis, self._reading.places, vault)
        if where is not None:
            from viewer.document.filter.predicate import matching  # few commands filter

            projection = projection.narrowed(matching(where, projection, self.name))
        return projection if redactor is None else projection.redacted(redactor)

    def findings(self) -> list[Finding]:
        """Return all diagnostics with their positions, in order of position."""
        return list(map(self.quotes.locate, self._analysis.findings.by_position()))

    def transcript_at(self, diagnostic: Diagnostic) -> Transcript:
        """Return the transcript of a diagnostic: its message's transcript, or else the one at its position."""
        known = self._analysis.transcripts
        if diagnostic.message is not None:
            return known[self._analysis.index.transcript(diagnostic.message) - 1]
        before = [transcript for transcript in known if transcript.start <= diagnostic.start]
        return (before or known or [Transcript(1, self.detection.format, 0)])[-1 if before else 0]


def _next_bytes(source: Source, start: int, size: int) -> bytes:
    """Return the next bytes. A large piece ends at the boundary of a checksum block, because only whole blocks may lack
    a checksum."""
    if not isinstance(source, FileSource):
        return source.read(start, start + size)
    if size > 2 * BLOCK:
        size -= (start + size) % BLOCK
    return source.next(start, size)


def _choose(source: Source, format: str | None) -> Detection:
    if format is None:
        found = detect(source.read(0, HEAD))
        is_short = found.unknown == "json" and source.size > HEAD
        return detect(source.read(0, LONG_HEAD), LONG_HEAD) if is_short else found
    if format not in FORMATS:
        raise ViewerError(f"unknown format {format}; known formats: {', '.join(FORMATS)}")
    return Detection(format, "as requested", 1.0)


def open_document(
    path: str, *, format: str | None = None, options: ReadOptions | None = None, most_per_code: int = MOST_PER_CODE
) -> Document:
    """Read the whole input at a path and return its document. Raise ViewerError if it lacks the selected transcript."""
    document = Document(open_source(path), format, options).keep_per_code(most_per_code).load()
    if document.missing_item:
        raise ViewerError(document.missing_item)
    return document


def is_same_message(message: Message, frame: bytes, format: FormatTraits, options: ReadOptions | None) -> bool:
    """True if these bytes, now at the position of the message, are a message with the same header, kind, bounds, and
    visibility."""
    parser = Parser(format, options)
    events = [*parser.feed(frame), *parser.close()]
    found = [event.message for event in events if isinstance(event, Closed)]
    if format.shares_spans:
        return any(_is_same(each, message) for each in found)
    return len(found) == 1 and _is_same(found[0], message)


def _is_still_in(analysis: Analysis, options: ReadOptions | None, message: Message, frame: bytes) -> bool:
    """True if these bytes are still the message with this number. `message` may be a shortened copy of it."""
    known = analysis.index[message.number]
    format = analysis.transcripts[known.transcript - 1].format
    return is_same_message(known, frame, FORMATS[format], options)


def _is_same(found: Message, message: Message) -> bool:
    base = message.span[0]
    return (
        _own_facts(found.header) == _own_facts(message.header)
        and found.ending is message.ending
        and _moved(found.span, base) == message.span
        and tuple(Piece(piece.start + base, piece.end + base, piece.coding) for piece in found.pieces) == message.pieces
        and (found.stop and _moved(found.stop, base)) == message.stop
        and is_user_safe(found) == is_user_safe(message)
    )


def _own_facts(header: Header) -> Header:
    """Return the header without the values that come from earlier records: the tool of a reply, and the thread
    number."""
    return replace(header, name=None if header.role == "tool" else header.name, thread=min(header.thread, 1))


def _moved(span: Span, base: int) -> Span:
    return span[0] + base, span[1] + base
