"""`Reading`: one pass over an input from its first byte. Each restart creates a new `Reading`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from viewer.checks.analysis import Analysis
from viewer.checks.context import Read
from viewer.checks.text import find_nul
from viewer.document.backend import BIG, MANY, PLAIN, Backend, forced_backend, load_backend
from viewer.document.positions import Positions
from viewer.formats import FORMATS, Detection, body_of_ids
from viewer.index.findings import Kept
from viewer.model.events import Event
from viewer.model.messages import Span
from viewer.reading.format import ReadOptions
from viewer.reading.parser import Parser
from viewer.rules.errors import E_FORMAT_UNKNOWN, E_STREAM_TRUNCATED
from viewer.rules.structure import W_ENCODING
from viewer.sources.file_source import FileSource
from viewer.sources.files import Source
from viewer.syntax.utf8 import ill_formed

if TYPE_CHECKING:
    from viewer.document.scanner import Scanner
    from viewer.index.one_transcript import OneTranscript

WORTH_SCANNING = 16 * 1024
"""Chunks with fewer bytes than this are left to the parser."""
MOST_IN_BINARY = 20
"""Reading stops after this many findings in a binary input."""


class BackendChoice:
    """The backend of a document: the one requested by the environment, or else NumPy as soon as it pays off."""

    def __init__(self) -> None:
        self.forced = forced_backend()
        self.current: Backend = self.forced or PLAIN

    def load(self) -> None:
        """Load the fastest backend and keep it for later readings."""
        self.current = load_backend()


class Noise:
    """Counts the findings in a binary input, which is read only until there are enough."""

    def __init__(self) -> None:
        self._count = 0

    @property
    def is_heard(self) -> bool:
        """True if there are enough findings to stop."""
        return self._count >= MOST_IN_BINARY

    def listen(self, data: bytes) -> bool:
        """Count the findings in the next bytes of a binary input. Return True if the limit is now reached."""
        if self.is_heard or data.count(0) == len(data):  # NUL bytes form one long run
            return False
        found = chain(ill_formed(data), find_nul(data, 0))
        self._count += sum(1 for _ in islice(found, MOST_IN_BINARY))
        return self.is_heard


class Reading:
    """One reading of an input. It owns the parser, the findings, and the progress."""

    def __init__(
        self,
        source: Source,
        detection: Detection,
        read: Read,
        backend: BackendChoice,
        options: ReadOptions | None,
        caps: tuple[int, Kept | None],
    ) -> None:
        """`caps` are the arguments of `keep_per_code`."""
        self.source = source
        self.detection = detection
        self.places = Positions(read)
        self.analysis = Analysis(read, FORMATS, body_of_ids, defers=True, is_partial=True)
        self.analysis.index.use_columns(backend.current.columns)
        self.analysis.unknown = detection.unknown
        self.read_to = 0
        """The number of bytes read."""
        self.is_ended = False
        """True if the input was read to its end. Checks may still be running."""
        self.scanner: Scanner | None = None
        self.selection: OneTranscript | None = None
        """The selected transcript of the input; None if all transcripts are read."""
        self._backend = backend
        self._options = options
        self._parser = Parser(FORMATS[detection.format], options, batches=not source.only)
        self._noise = Noise()
        self._has_reported_fault = False
        self.keep_per_code(*caps)
        if source.only:
            from viewer.index.one_transcript import OneTranscript

            self.selection = OneTranscript(source.only)
        if source.converted:
            self.analysis.findings.add(W_ENCODING, "utf-16", 0, 0, None)

    def keep_per_code(self, most: int, before: Kept | None) -> None:
        """Keep at most this many diagnostics per code, 0 for all. Those of `before` count, too."""
        self._most_per_code = most
        self.analysis.findings.keep(most)
        if before is not None:
            self.analysis.findings.continue_after(before)

    def redetect(self, detection: Detection) -> None:
        """Adopt the result of detecting the same format again from a longer head of the input."""
        self.detection = detection
        self.analysis.unknown = detection.unknown

    @property
    def has_frames(self) -> bool:
        """True if the format consists of frames, which can be scanned in blocks."""
        return self._parser.has_frames

    @property
    def is_big(self) -> bool:
        """True if the input is large enough for NumPy in any format."""
        return self.source.size >= BIG

    @property
    def needs_backend(self) -> bool:
        """True if reading on requires a backend that is not loaded yet."""
        if self._backend.current is not PLAIN or self._backend.forced is not None or self.is_ended:
            return False
        return self.is_big or self.message_count >= MANY

    def load_backend(self) -> None:
        """Load the fastest backend and use it from now on."""
        self._backend.load()
        self.analysis.index.use_columns(self._backend.current.columns)

    def prefer_blocks(self, least: int) -> None:
        """Load the backend now if the input has at least this size and consists of frames."""
        if self.source.size >= least and self._parser.has_frames and self._backend.forced is None:
            self.load_backend()

    def take(self, data: bytes) -> None:
        """Read the next bytes of the input."""
        is_much = len(data) >= WORTH_SCANNING or self.message_count >= MANY
        if is_much and (self._parser.has_frames or self._parser.format.plain_runs) and self.needs_backend:
            self.load_backend()  # other formats are read just as fast without the backend, in half the memory
        self.read_to += len(data)
        self.places.feed(data, self._backend.current.columns)
        make_scanner, least = self._backend.current.make_scanner, 0 if self._backend.forced else WORTH_SCANNING
        if self.selection is not None:
            make_scanner = None
        if make_scanner is None or len(data) < least or not self._parser.has_frames:
            _index_source(self.source, self.read_to, data)
            self._apply(self._parser.feed(data))
            return
        if self.scanner is None:
            self.scanner = make_scanner(self._parser, self.analysis)
        self.scanner.feed(data)
        _index_source(self.source, self.read_to, data, self.scanner.parsed)

    def _apply(self, events: list[Event]) -> None:
        """Apply the parser's events, or only those of the selected transcript."""
        self.analysis.apply(self.selection.events(events) if self.selection else events)

    @property
    def is_noise(self) -> bool:
        """True if the input is binary and has enough findings to stop."""
        return self._noise.is_heard

    def hears_noise(self, data: bytes) -> bool:
        """Check the bytes just read for noise. Return True if reading should stop because they bring the findings to
        the limit. Only a few findings are kept for a binary input, unless it turns out to have another format."""
        heard = self.unknown == "binary" and self._noise.listen(data)
        is_noise = heard or (self.unknown == "binary" and self._noise.is_heard)
        self.analysis.findings.keep(MOST_IN_BINARY if is_noise else self._most_per_code)
        return heard

    def end(self) -> None:
        """Finish reading. Drop the parser and the scanner, because they contain hidden text. The index has everything
        that is still needed."""
        self._apply(self._parser.close())
        self.report_fault()
        self.analysis.close()
        if self.unknown:
            self.analysis.findings.add(E_FORMAT_UNKNOWN, self.unknown, 0, 0, None)
        self._parser, self.scanner = Parser(FORMATS[self.detection.format], self._options), None
        self.is_ended = True
        self.analysis.note_whole()

    def report_fault(self) -> None:
        """If the source is damaged, truncated, or too large, report it once, at the offset where reading stopped. Also
        report each part of a container that could not be read."""
        fault = self.source.fault
        if fault and not self._has_reported_fault:
            self._has_reported_fault = True
            self.analysis.findings.add(E_STREAM_TRUNCATED, fault, self.read_to, self.read_to, None)
        for at, reason in self._part_faults:
            self.analysis.findings.add(E_STREAM_TRUNCATED, reason, at, at, None)

    @property
    def unknown(self) -> str | None:
        """The kind of a nonempty input in which no transcript was recognized: `json`, `text`, or `binary`; otherwise
        None."""
        return None if len(self.analysis.index) else self.analysis.unknown

    @property
    def damage(self) -> str:
        """Why reading stopped early, as a reason of E-STREAM-TRUNCATED; empty if the whole input was read."""
        return self.source.fault or next((reason for _, reason in self._part_faults), "")

    @property
    def _part_faults(self) -> list[tuple[int, str]]:
        """The position and reason of each part of a container that could not be read."""
        faults: list[tuple[int, str]] = getattr(self.source, "part_faults", [])  # only containers have parts
        return faults

    @property
    def message_count(self) -> int:
        """The number of messages, including hidden ones."""
        return len(self.analysis.index)

    def missing_item(self, path: str) -> str:
        """Return why the input lacks the selected transcript, or an empty string if the input has it or has not been
        read to its end."""
        selection = self.selection
        if selection is None or not self.is_ended or selection.is_found:
            return ""
        if selection.number and selection.count:
            return f"{path} has no transcript {selection.number:,}: the last one is {selection.count:,}"
        count = f"{selection.count:,} transcript{'' if selection.count == 1 else 's'}"
        return f"{path} has no transcript {selection.item}: it has {count}, named by number or by session ID"


def _index_source(source: Source, end: int, data: bytes, parsed: Sequence[Span] | None = None) -> None:
    """Let the source record the bytes that were read. `parsed` are the spans that the parser has read, if it has not
    read all of them."""
    if isinstance(source, FileSource):
        source.index(end - len(data), data, parsed)
