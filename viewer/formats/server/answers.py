"""Read logged prompts and outputs (answers) with the chat template of the model."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.server.source_text import Segment, SourceText, made, plain
from viewer.formats.text.template_reader import TemplateReader
from viewer.formats.text.template_signs import find_sign
from viewer.formats.text.templates import TEMPLATES
from viewer.model.events import Closed, Found, Strayed
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Message, Piece, Span
from viewer.reading.format import ReadOptions
from viewer.reading.recorder import Recorder
from viewer.reading.template_marks import MARK_PAIRS, MarkKind
from viewer.syntax.json_text import read_json

_TURN = b"<|start|>assistant"
_TURN_ENDS = (b"<|end|>", b"<|return|>", b"<|call|>")
_BEFORE, _BETWEEN, _AFTER = (
    b'{"log":{"entries":[{"request":{"postData":{"text":',
    b'}},"response":{"content":{"text":',
    b"}}}]}}",
)
"""The text around a request and its response that makes them the only entry of a HAR file."""
_NO_REQUEST = b'{"model":"","messages":[{}]}'
_HARMONY = (b"<|start|>", b"<|channel|>")
_THOUGHT_ENDS = tuple(
    mark.encode()
    for pair in MARK_PAIRS
    if pair.kind is MarkKind.THOUGHT and not pair.shared_close
    for mark in pair.closes
)


class Reading(Struct):
    """The content of a prompt and its output: messages, problems, and stray text."""

    text: SourceText
    messages: list[Message] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    strays: list[Span] = field(default_factory=list)
    goes_on: bool = False
    """True if the text ends in an answer that a completion would continue."""
    prompt_length: int = 0
    is_known: bool = True
    """False if no template was found."""
    is_json: bool = False
    """True for a request and its response as JSON. The pieces then have their own codings."""

    @property
    def has_output(self) -> bool:
        """True if the text contains more than the prompt."""
        return len(self.text.data) > self.prompt_length

    def pieces(self, piece: Piece) -> list[Piece]:
        """Return the pieces of the input from which a piece of the text came."""
        if self.is_json:
            return (
                [replace(piece, start=span[0], end=span[1])] if (span := self.text.span(piece.start, piece.end)) else []
            )
        return self.text.pieces(piece.start, piece.end)


def read_request(prompt: list[Segment], output: list[Segment], *, is_cut: bool, options: ReadOptions) -> Reading:
    """Read a prompt, and the output that continues it. If the prompt is cut off, or does not end in an answer, read
    only the prompt. Without a known template, both become hidden messages."""
    text = SourceText(prompt)
    format = _format_of(text.data)
    if format is None:
        return _unread([prompt, output])
    alone = _read(text, format, options)
    alone.prompt_length = len(text.data)
    if not output or is_cut or not alone.goes_on:
        return alone
    whole = _read(SourceText([*prompt, *output]), format, options)
    whole.prompt_length = len(text.data)
    whole.goes_on = True
    return whole


def read_objects(request: list[Segment], response: list[Segment], *, are_chunks: bool, options: ReadOptions) -> Reading:
    """Read a request and its response, both of which are JSON. A response may be a list of chunks."""
    at = (request or response)[0].span(0, 0)[0]
    asked = _with_model(request, at) if request else [made(_NO_REQUEST, at)]
    start = [made(_BEFORE, at), *asked]
    if are_chunks:
        response = [made(b"[", at), *response, made(b"]", at)]
    rest = [made(_BETWEEN, at), *response] if response else []
    reading = _read(SourceText([*start, *rest, made(_AFTER, at)]), "har", options)
    reading.prompt_length = sum(len(segment.data) for segment in start)
    reading.is_json = True
    return reading


def _with_model(request: list[Segment], at: int) -> list[Segment]:
    """Return a request that names a model, as every entry of a HAR file must."""
    [whole] = request
    node = read_json(whole.data).node
    if node is None or node.get("model") is not None:
        return request
    rest = plain(whole.data[1:], whole.base + 1)
    return [made(b'{"model":"",' if node.members else b'{"model":""', at), rest]


def read_output(output: list[Segment], options: ReadOptions) -> Reading:
    """Read an output without its prompt. It may begin inside a thought, so only marks determine what it is."""
    data = SourceText(output).data
    start = output[0].span(0, 0)[0]
    if b"<|message|>" in data and b"<|channel|>" in data:
        text = SourceText([made(_TURN, start), *output] if data.startswith(b"<|channel|>") else output)
        return _read(text, "harmony", options)
    if any(mark in data for mark in _THOUGHT_ENDS):
        return _read(SourceText([made(b"<|im_start|>assistant\n", start), *output]), "chatml", options)
    reading = _unread([output])
    reading.is_known = True
    return reading


def _format_of(data: bytes) -> str | None:
    sign = find_sign(data)
    places = [(place, "harmony") for mark in _HARMONY if (place := data.find(mark)) >= 0]
    places += [(place, "chatml") for place in (data.find(b"<|im_start|>"),) if place >= 0]
    places += [(sign.start, sign.format)] if sign else []
    return min(places, key=lambda place: place[0])[1] if places else None


def _read(text: SourceText, format: str, options: ReadOptions) -> Reading:
    recorder = Recorder(format)
    reading = Reading(text)
    if format in TEMPLATES:
        template = TemplateReader(recorder, TEMPLATES[format])
        template.feed(text.data)
        template.close()
        reading.goes_on = template.ends_in_answer
    elif format == "har":
        from viewer.formats import FORMATS

        documents = FORMATS[format].reader(recorder, options)
        documents.feed(text.data)
        documents.close()
    else:
        from viewer.formats.text.harmony import HARMONY

        harmony = HARMONY.reader(recorder, options)
        harmony.feed(text.data)
        harmony.close()
        reading.goes_on = text.data.rfind(_TURN) > max(map(text.data.rfind, _TURN_ENDS))
    for event in recorder.drain():
        match event:
            case Closed(message):
                reading.messages.append(message)
            case Found():
                reading.found.append(event)
            case Strayed(stray):
                reading.strays.append(stray.span)
    reading.messages.sort(key=lambda message: message.number)
    return reading


def _unread(texts: list[list[Segment]]) -> Reading:
    """Return these pieces of text as hidden messages."""
    text = SourceText([segment for segments in texts for segment in segments])
    reading = Reading(text, is_known=False)
    at = 0
    for number, segments in enumerate(texts, 1):
        end = at + sum(len(segment.data) for segment in segments)
        if at < end:
            header = Header("", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)
            reading.messages.append(Message(number, 1, header, Ending.END, (at, end), (Piece(at, end, Coding.PLAIN),)))
        at = end
    reading.prompt_length = sum(len(segment.data) for segment in texts[0]) if len(texts) > 1 else 0
    return reading
