"""Reader of model server logs: vLLM, SGLang, llama.cpp, and LM Studio.

`lines.py` finds prompts and outputs, `answers.py` reads them with the chat template of the model, and
`conversation.py` relates one request to the next."""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import blake2b

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.server.answers import read_objects, read_output, read_request
from viewer.formats.server.conversation import Conversation, Outcome
from viewer.formats.server.joined import Joiner, Part, joined_line
from viewer.formats.server.lines import OPENER, REQUEST, Literal, Logged, json_records, plain_line, wrapped_line
from viewer.formats.server.source_text import Segment, made
from viewer.model.diagnostic import Rule
from viewer.model.messages import Span
from viewer.model.time_order import TimeOrder
from viewer.reading.format import FormatTraits, ReadOptions
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PARSE_HEADER, E_STREAM_TRUNCATED
from viewer.rules.notes import I_TIME_BACKWARDS
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind, read_json

LONGEST_LINE = 64 * 1024 * 1024
MOST_PENDING = 1024
"""The maximum number of requests that may await their outputs."""
MOST_WRITTEN = 65_536
"""The maximum number of polled tasks whose latest state is remembered."""
_INSIDE = (b" ", b"\t", b"}", b"\r")
"""The first bytes of a line inside an object."""
_STREAM = re.compile(rb'"stream"\s*:\s*true')
_CHOICE = re.compile(r"-\d{1,3}\Z")
_FINISHED: dict[str, tuple[Rule, str]] = {
    "length": (W_RUN_INCOMPLETE, "max-tokens"),
    "abort": (W_RUN_ERROR, "aborted"),
    "error": (W_RUN_ERROR, "unknown"),
}


class _Output(Struct):
    """The output of one choice."""

    deltas: list[Segment] = field(default_factory=list)
    whole: Literal | None = None
    is_cut: bool = False
    is_open: bool = False
    has_objects: bool = False
    """True if the output is a JSON response, or consists of chunks of one."""


class _Request(Struct):
    """A prompt whose outputs may not all have arrived."""

    prompt: Literal | None
    span: Span
    time_ms: int | None
    outputs: dict[str, _Output] = field(default_factory=dict)
    was_written: bool = False
    """True if the prompt has already been written."""
    streams: bool = False
    """True for a request as JSON that asks for a stream."""


class ServerLogReader:
    """Reads a log line by line. A request is written when its output is complete."""

    def __init__(self, record: Recorder, options: ReadOptions) -> None:
        self._record = record
        self._options = options
        self._conversation = Conversation(record)
        self._line = bytearray()
        self._line_at = 0
        self._last = 0
        """Where the last line in `_line` starts."""
        self._times = TimeOrder()
        self._is_array = False
        """True inside an array that spans several lines."""
        self._is_object = False
        """True inside an object that spans several lines."""
        self._pending: OrderedDict[str, _Request] = OrderedDict()
        self._written: OrderedDict[str, bytes] = OrderedDict()
        """The most recently written polled tasks, each with a hash of its prompt and output."""
        self._count = 0
        self._joiner = Joiner(LONGEST_LINE)

    def feed(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._is_object and not self._line[self._last :] and not line.startswith(_INSIDE):
                self._end_line()
            self._line += line + b"\n"
            if not self._goes_on():
                self._end_line()
        self._line += rest

    def close(self) -> None:
        """Write the requests that still wait for output at the end of the input."""
        if self._line:
            self._end_line()
        for parts in self._joiner.rest():
            self._read_joined(parts)
        while self._pending:
            self._write_pending(next(iter(self._pending)))
        self._conversation.close()

    def _goes_on(self) -> bool:
        """True if the last line is part of an array that continues on the next line."""
        last, at = bytes(self._line[self._last :]).strip(), self._last
        self._last = len(self._line)
        if self._is_object:
            return not self._line.startswith(b"}", at) and len(self._line) <= LONGEST_LINE
        if last.endswith(b"{") and OPENER.search(last):
            self._is_object = True
            return True
        if self._is_array:
            return last not in (b"]", b"}]") and len(self._line) <= LONGEST_LINE
        self._is_array = last in (b"[", b"[{")
        return self._is_array

    def _end_line(self) -> None:
        line, at = bytes(self._line), self._line_at
        self._line_at += len(line)
        self._line.clear()
        self._last, self._is_array, self._is_object = 0, False, False
        parts = self._joiner.take(line, at) if len(line) <= LONGEST_LINE else None
        if parts is not None:
            self._conversation.end_stray()
            if parts:
                self._read_joined(parts)
        elif len(line) > LONGEST_LINE or not self._read(line, at):
            self._conversation.add_stray(line, at)
        else:
            self._conversation.end_stray()

    def _read_joined(self, parts: list[Part]) -> None:
        """Read a line that consists of several parts."""
        records = list(joined_line(parts).records())
        for logged in records:
            self._take(logged)
        if not records:
            for part in parts:
                self._conversation.add_stray(part.line, part.at)
                self._conversation.end_stray()

    def _read(self, line: bytes, at: int) -> bool:
        """Read a line. Return False if it has no record."""
        found = False
        for logged in self._records(line, at):
            found = True
            self._take(logged)
        return found

    def _records(self, line: bytes, at: int) -> list[Logged]:
        bare = line.lstrip()
        if bare.startswith((b"{", b"[{")) or (bare[:1] == b"[" and b'"id_task"' in bare):
            node = read_json(line, at, len(line) - len(bare)).node
            if node is not None and node.kind is JsonKind.OBJECT and (wrapped := wrapped_line(node, line, at)):
                return list(wrapped.records())
            if node is not None:
                self._count += 1
                return json_records(node, line, at, self._count)
        return list(plain_line(line, at).records())

    # Requests.

    def _take(self, logged: Logged) -> None:
        self._note_time(logged)
        literal = logged.prompt or logged.output
        if literal is not None and literal.is_odd:
            number = self._conversation.add_unreadable(logged.span, literal)
            self._record.report(E_PARSE_HEADER, "not-a-message", *logged.span, number)
            return
        if literal is not None and literal.is_object and literal.is_cut:
            self._conversation.add_unreadable(logged.span, literal)
            self._report_cut(literal.segments[-1])
            return
        if logged.replaces:
            self._take_poll(logged)
            return
        if logged.how == "aborted":
            self._conversation.report_run(W_RUN_ERROR, "aborted", logged.span)
            return
        if logged.output is None:
            self._add_request(logged.id, logged)
        else:
            self._take_output(logged)

    def _note_time(self, logged: Logged) -> None:
        """Report a time that is unreadable or earlier than a previous record's. This cannot wait until the requests are
        written, because they are written in a different order."""
        time = logged.time
        for problem in time.problems:
            self._record.report(problem.rule, problem.reason, problem.start, problem.end)
        if time.ms is not None and time.at is not None:
            run = self._times.backwards(0, time.ms, time.at)
            if run is not None:
                self._record.report(I_TIME_BACKWARDS, None, *run)

    def _add_request(self, id: str, logged: Logged) -> None:
        if id in self._pending and self._pending[id].prompt is None:
            self._pending[id].prompt = logged.prompt
            return
        if id in self._pending:
            self._write_pending(id)
        if id.startswith(REQUEST):
            for earlier in [each for each in self._pending if each.startswith(REQUEST) and self._pending[each].outputs]:
                self._write_pending(earlier)
        request = self._pending[id] = _Request(logged.prompt, logged.span, logged.time.ms)
        request.streams = bool(logged.prompt and logged.prompt.is_object and _STREAM.search(logged.prompt.data))
        while len(self._pending) > MOST_PENDING:
            self._write_pending(next(iter(self._pending)))

    def _take_output(self, logged: Logged) -> None:
        assert logged.output is not None
        id, choice = self._request_of(logged)
        if id not in self._pending:
            self._add_request(id, Logged(id, logged.span, prompt=logged.prompt, time=logged.time))
        request = self._pending[id]
        if request.prompt is None and logged.prompt is not None:
            request.prompt = logged.prompt
        output = request.outputs.setdefault(choice, _Output())
        output.is_cut = output.is_cut or logged.output.is_cut
        if logged.how == "delta":
            if output.deltas and logged.output.is_object:
                output.deltas.append(made(b",", logged.output.segments[0].base))
            output.deltas += logged.output.segments
            output.has_objects = output.has_objects or logged.output.is_object
            return
        output.has_objects = logged.output.is_object
        output.whole = logged.output
        self._write(id, choice, logged)

    def _request_of(self, logged: Logged) -> tuple[str, str]:
        """Return the ID of the request to which an output belongs, and the ID of the choice if the output is one of
        several."""
        if logged.id.startswith(REQUEST):
            return self._answered(logged), ""
        if logged.id.endswith("\n"):  # the records have no IDs: use the model's oldest prompt
            own = next((id for id in self._pending if id.startswith(logged.id)), logged.id)
            return own, ""
        base = _CHOICE.sub("", logged.id)
        if logged.id in self._pending or base not in self._pending:
            return logged.id, ""
        return base, logged.id

    def _answered(self, logged: Logged) -> str:
        """Return the ID of the request to which a response without an ID belongs: the oldest one, or the newest one
        that asks for a stream if the response is a chunk."""
        if logged.id in self._pending:
            return logged.id
        is_chunk = logged.how == "delta"
        waiting = [
            id
            for id, request in self._pending.items()
            if id.startswith(REQUEST) and request.prompt is not None and request.streams is is_chunk
        ]
        return waiting[-is_chunk] if waiting else logged.id

    def _take_poll(self, logged: Logged) -> None:
        """Handle the state of a polled task, which replaces an earlier state."""
        assert logged.prompt is not None
        state = logged.prompt.data + b"\0" + (logged.output.data if logged.output else b"")
        known = blake2b(state).digest()
        if self._written.get(logged.id) == known:
            return
        self._pending[logged.id] = request = _Request(logged.prompt, logged.span, logged.time.ms)
        if logged.output is not None:
            request.outputs[""] = _Output(
                whole=logged.output, is_open=logged.how == "open", is_cut=logged.output.is_cut
            )
        if logged.how != "open":
            self._written[logged.id] = known
            self._written.move_to_end(logged.id)
            if len(self._written) > MOST_WRITTEN:
                self._written.popitem(last=False)
            self._write_pending(logged.id)

    # Writing.

    def _write_pending(self, id: str) -> None:
        """Write everything that is known about a request."""
        request = self._pending[id]
        choices = [choice for choice, output in request.outputs.items() if output.whole or output.deltas]
        for choice in choices:
            self._write(id, choice, None)
            request.was_written = True
        if not request.was_written:
            self._write(id, None, None)
        self._pending.pop(id, None)

    def _write(self, id: str, choice: str | None, logged: Logged | None) -> None:
        request = self._pending[id]
        output = request.outputs.get(choice) if choice is not None else None
        segments = self._segments(output)
        outcome = Outcome(
            is_complete=output is not None and output.whole is not None and not output.is_cut and not output.is_open,
            is_cut=output is not None and output.is_cut,
            prompt_time=request.time_ms,
            output_time=logged.time.ms if logged else None,
            is_prompt_cut=request.prompt is not None and request.prompt.is_cut,
            is_alternative=request.was_written,
        )
        if self._are_objects(request, output):
            are_chunks = bool(segments) and output is not None and output.whole is None
            outcome = replace(outcome, is_complete=True)
            asked = request.prompt.segments if request.prompt else []
            reading = read_objects(asked, segments, are_chunks=are_chunks, options=self._options)
            self._conversation.write(reading, request.span, outcome)
        else:
            self._write_texts(request, segments, outcome)
        if request.prompt is not None and request.prompt.is_cut and not request.was_written:
            self._report_cut(request.prompt.segments[-1])
        if outcome.is_cut and segments:
            self._report_cut(segments[-1])
        if logged is not None and logged.finish is not None and logged.finish[0] in _FINISHED:
            rule, reason = _FINISHED[logged.finish[0]]
            self._conversation.report_run(rule, reason, logged.finish[1])
        if choice is not None and logged is not None:
            request.outputs.pop(choice)
            request.was_written = True
            if choice == "":
                self._pending.pop(id)

    @staticmethod
    def _segments(output: _Output | None) -> list[Segment]:
        if output is None:
            return []
        return output.whole.segments if output.whole is not None and output.whole.data else output.deltas

    @staticmethod
    def _are_objects(request: _Request, output: _Output | None) -> bool:
        """True for a request or a response as JSON."""
        asked = request.prompt is not None and request.prompt.is_object
        return asked or (output is not None and output.has_objects)

    def _write_texts(self, request: _Request, output: list[Segment], outcome: Outcome) -> None:
        prompt = request.prompt
        if prompt is None or not prompt.data:
            if any(segment.data for segment in output):
                self._conversation.write_output(read_output(output, self._options), request.span, outcome)
            return
        reading = read_request(prompt.segments, output, is_cut=prompt.is_cut, options=self._options)
        self._conversation.write(reading, request.span, outcome)
        if output and any(segment.data for segment in output) and reading.is_known and not reading.has_output:
            self._conversation.write_output(read_output(output, self._options), request.span, outcome)

    def _report_cut(self, segment: Segment) -> None:
        end = segment.span(0, len(segment.data))[1]
        self._record.start_if_none(end)
        self._record.report(E_STREAM_TRUNCATED, "log", end, end, self._record.last_number or None)


def _read(record: Recorder, options: ReadOptions) -> ServerLogReader:
    return ServerLogReader(record, options)


SERVER_LOG = FormatTraits(name="server-log", reader=_read, shares_spans=True, infers_calls=True, thoughts_first=True)
