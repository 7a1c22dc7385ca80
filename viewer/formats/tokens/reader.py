"""Reader of Harmony token IDs: decode them, read the result as Harmony text, and map positions back to the IDs."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from msgspec.structs import replace

from viewer.cache import bounded_cache
from viewer.formats.text.harmony import HARMONY
from viewer.formats.tokens.items import Integers, Item, ItemReader, items_of
from viewer.formats.tokens.vocabulary import CONTROL, LAST_ID, Vocabulary, load_vocabulary, text_of_id
from viewer.model.events import Closed, DeclaredTools, Event, Found, Grew, Opened, Started, Strayed, ToolCancelled
from viewer.model.messages import Coding, Header, Message, Piece, Span
from viewer.reading.format import Channels, FormatTraits, Reader, ReadOptions
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PARSE_HEADER
from viewer.rules.structure import W_TEXT_BETWEEN

UNREADABLE = "⟨?⟩".encode()
"""The replacement for an item that is not an integer."""

_STAND_INS = {"<": "\ufdd0", "{": "\ufdd1"}
"""Noncharacters that replace the first characters of control tokens and events in decoded text, so text cannot
form them."""
_STAND_IN_BYTES = [(mark.encode(), stand_in.encode()) for mark, stand_in in _STAND_INS.items()]
_BACK = str.maketrans({stand_in: mark for mark, stand_in in _STAND_INS.items()})


def body_of_ids(data: bytes, vocabulary: Vocabulary | None = None) -> str:
    """Return the text of a body that is a list of token IDs. By default, decode it with the installed vocabulary."""
    known = vocabulary or load_vocabulary()
    texts: list[bytes] = []
    for item in items_of(data):
        if isinstance(item, Integers):
            texts += [_spelled(number, known) for number in item.numbers]
        elif not item.bracket:
            texts.append(_spelled_item(item, known))
    return b"".join(texts).decode("utf-8", "replace")


@bounded_cache(8192)
def _spelled(number: int, vocabulary: Vocabulary | None) -> bytes:
    return CONTROL.get(number) or text_of_id(number, vocabulary)


def _spelled_item(item: Item, vocabulary: Vocabulary | None) -> bytes:
    return UNREADABLE if item.number is None else _spelled(item.number, vocabulary)


@bounded_cache(8192)
def _spelled_for_reader(number: int, vocabulary: Vocabulary | None) -> bytes:
    """Return the text of an ID with `<` and `{` replaced so that only control token IDs form control tokens."""
    if number in CONTROL:
        return CONTROL[number]
    text = text_of_id(number, vocabulary)
    for mark, stand_in in _STAND_IN_BYTES:
        text = text.replace(mark, stand_in)
    return text


class IdOffsets:
    """Maps bytes of the decoded text to the IDs in the input."""

    def __init__(self) -> None:
        self.end = 0
        """The length of the decoded text."""
        self._texts = array("q")
        self._starts = array("q")
        self._ends = array("q")

    def add(self, item: Item, length: int) -> None:
        """Add the next ID with its decoded length."""
        self._texts.append(self.end)
        self._starts.append(item.start)
        self._ends.append(item.end)
        self.end += length

    def extend(self, ids: Integers, texts: Iterable[bytes]) -> None:
        """Add the next IDs with their decoded texts."""
        spans, offset = ids.spans, ids.offset
        *places, self.end = accumulate(map(len, texts), initial=self.end)
        self._texts.extend(places)
        self._starts.extend([offset + start for start, _ in spans])
        self._ends.extend([offset + end for _, end in spans])

    def start(self, at: int) -> int:
        """Return where the ID for this byte starts."""
        return self._starts[self._index(at)] if at < self.end else self.after(at)

    def after(self, at: int) -> int:
        """Return where the ID for the previous byte ends."""
        if not self._texts:
            return 0
        return self._ends[self._index(at - 1)] if at > self._texts[0] else self._starts[0]

    def span(self, start: int, end: int) -> Span:
        """Return the input span from the first ID to the end of the last. An empty span comes after the previous ID."""
        return (self.start(start), self.after(end)) if end > start else (self.after(start), self.after(start))

    def drop(self, before: int) -> None:
        """Drop the IDs before this position in the decoded text."""
        count = self._index(before)
        if count > len(self._texts) // 2:
            for column in (self._texts, self._starts, self._ends):
                del column[:count]

    def _index(self, at: int) -> int:
        return max(bisect_right(self._texts, at) - 1, 0)


class TokenIdReader:
    """Reads lists of IDs. Each list is a separate transcript."""

    def __init__(self, record: Recorder, options: ReadOptions, vocabulary: Vocabulary | None = None) -> None:
        self.record = record
        self._options = options
        self._vocabulary = vocabulary
        self._items = ItemReader()
        self._inner_record = Recorder(record.format)
        self._inner: Reader | None = None
        self._places = IdOffsets()
        self._needed_from = 0
        self._lists = 0

    def feed(self, data: bytes) -> None:
        self._read(self._items.feed(data))

    def close(self) -> None:
        self._read(self._items.close())
        self._end_list()

    def _read(self, items: Iterable[Item | Integers]) -> None:
        spelled = bytearray()
        for item in items:
            if isinstance(item, Item):
                self._add(item, spelled)
                continue
            numbers = item.numbers
            if max(numbers) > LAST_ID:
                for each in item.items():
                    self._add(each, spelled)
                continue
            if self._inner is None:
                self._begin_list(item.offset + item.spans[0][0])
            texts = [_spelled_for_reader(number, self._vocabulary) for number in numbers]
            self._places.extend(item, texts)
            spelled += b"".join(texts)
        self._pass_on(spelled)

    def _add(self, item: Item, spelled: bytearray) -> None:
        if item.bracket:
            self._pass_on(spelled)
            self._end_list()
            return
        if self._inner is None:
            self._begin_list(item.start)
        if not item.is_id:
            self._pass_on(spelled)
            self.record.start_if_none(item.start)
            self.record.report(E_PARSE_HEADER, "not-a-message", item.start, item.end)
        text = UNREADABLE if item.number is None else _spelled_for_reader(item.number, self._vocabulary)
        self._places.add(item, len(text))
        spelled += text

    def _begin_list(self, at: int) -> None:
        self._lists += 1
        self._places = IdOffsets()
        self._needed_from = 0
        if self._lists > 1:
            self._inner_record.start(at)
            self._inner_record.drain()
            self.record.start(at)
        self._inner = HARMONY.reader(self._inner_record, self._options)

    def _end_list(self) -> None:
        if self._inner is not None:
            self._inner.close()
            self._tell()
            self._inner = None

    def _pass_on(self, spelled: bytearray) -> None:
        if self._inner is not None and spelled:
            self._inner.feed(bytes(spelled))
            spelled.clear()
            self._tell()
            self._places.drop(self._needed_from)

    def _tell(self) -> None:
        """Pass on the events of the text reader with the positions of the IDs."""
        last_stray: Span | None = None
        for event in self._inner_record.drain():
            if isinstance(event, Strayed):
                last_stray = event.stray.span
            elif isinstance(event, Found) and event.rule is W_TEXT_BETWEEN and last_stray == (event.start, event.end):
                continue
            self._repeat(event)

    def _repeat(self, event: Event) -> None:
        record, places = self.record, self._places
        match event:
            case Started(transcript):
                if transcript.number > record.transcript:
                    record.start(places.start(transcript.start), transcript.version, transcript.model)
            case Opened(message):
                self._open(message)
            case Grew(number, pieces):
                record.grow(number, self._pieces(pieces))
            case Closed(message):
                self._close(message)
            case Strayed(stray):
                record.stray(*places.span(*stray.span))
            case Found():
                record.report(event.rule, event.reason, *places.span(event.start, event.end), event.message)
            case ToolCancelled():
                record.cancel_tool(event.call_id, *places.span(event.start, event.end))
            case DeclaredTools():
                record.declare(event.message, *places.span(event.start, event.end))

    def _open(self, message: Message) -> None:
        self._needed_from = message.span[0]
        self.record.open(
            _restored(message.header),
            self._places.start(message.span[0]),
            self._pieces(message.pieces),
            broke_out=message.broke_out,
            time_ms=message.time_ms,
        )

    def _close(self, message: Message) -> None:
        self.record.close(
            message.number,
            message.ending,
            self._places.after(message.span[1]),
            self._pieces(message.pieces),
            stop=self._places.span(*message.stop) if message.stop else None,
            header=_restored(message.header),
            cancelled=message.cancelled,
        )

    def _pieces(self, pieces: Iterable[Piece]) -> list[Piece]:
        return [Piece(*self._places.span(piece.start, piece.end), Coding.TOKEN_IDS) for piece in pieces]


@bounded_cache(1024)
def _restored(header: Header) -> Header:
    """Return the header with the original characters."""
    return replace(
        header,
        role=header.role.translate(_BACK),
        name=_restored_text(header.name),
        recipient=_restored_text(header.recipient),
        channel_given=_restored_text(header.channel_given),
        intent=_restored_text(header.intent),
        call_id=_restored_text(header.call_id),
        content_type=_restored_text(header.content_type),
        extra=tuple((key.translate(_BACK), value.translate(_BACK)) for key, value in header.extra),
    )


def _restored_text(text: str | None) -> str | None:
    return text.translate(_BACK) if text is not None else None


def _read(record: Recorder, options: ReadOptions) -> Reader:
    return TokenIdReader(record, options, load_vocabulary())


HARMONY_TOKENS = FormatTraits(
    name="harmony-tokens",
    reader=_read,
    stop_tokens=True,
    infers_calls=True,
    channel_required=True,
    channels=Channels.WRITTEN,
)
