"""JSON Lines, the machine-readable output, written all at once or while following. Lines of one kind have the same keys
in the same order, except for a few keys that appear only if they apply."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec.structs import asdict

from viewer.document.calls import LineWatch
from viewer.document.document import Finding
from viewer.document.projection import Projection
from viewer.document.tail import Tail
from viewer.document.values import (
    BriefCall,
    HiddenRun,
    ShownCall,
    ShownDiagnostic,
    ShownMessage,
    ShownStray,
    ShownTranscript,
)
from viewer.model.visibility import Audience
from viewer.render.blocks.agents import Agents
from viewer.render.sanitize import sanitize
from viewer.render.style import Printable
from viewer.sources.changes import Reason


def projection_lines(
    projection: Projection, file: str | None = None, *, hidden_runs: bool = False
) -> Iterator[Printable]:
    """Yield the lines of `show --json`: each transcript with its messages and stray text, then the diagnostics, then
    the calls.

    With `hidden_runs`, include the position and size of hidden runs."""
    waiting, agents = projection.transcripts(), Agents(projection)
    listed: list[BriefCall] = []
    for item in projection.items():
        while waiting and waiting[0].number <= item.transcript:
            yield transcript_line(waiting.pop(0), projection.audience, file)
        if isinstance(item, BriefCall):
            listed.append(item)
        elif not isinstance(item, HiddenRun):
            yield item_line(item, file, agent=_agent_of(item, agents))
        elif hidden_runs:
            yield encode({"kind": "hidden", **asdict(item)}, file)
    for transcript in waiting:
        yield transcript_line(transcript, projection.audience, file)
    for diagnostic in projection.diagnostics():
        yield diagnostic_line(diagnostic, file)
    for call in projection.calls():
        if projection.selects(call.call, call.reply):
            yield call_line(call, file)
    for line in listed:
        yield brief_line(line, file)


def transcript_line(transcript: ShownTranscript, audience: Audience, file: str | None = None) -> Printable:
    """Return the line of a transcript, in which `dialect` is the key of the format."""
    name = audience.level.value
    fields = {"dialect" if key == "format" else key: value for key, value in asdict(transcript).items()}
    return encode({"kind": "transcript", **fields, "audience": name}, file)


def item_line(item: ShownMessage | ShownStray, file: str | None = None, *, agent: str = "") -> Printable:
    """Return the line of a message, or of text outside any message. `agent` is the name of the agent that wrote the
    message; empty for the main agent."""
    return encode(_message(item, agent) if isinstance(item, ShownMessage) else {"kind": "stray", **asdict(item)}, file)


def _agent_of(item: ShownMessage | ShownStray, agents: Agents) -> str:
    return agents.of(item.number).name if isinstance(item, ShownMessage) and item.thread else ""


def diagnostic_line(diagnostic: ShownDiagnostic, file: str | None = None) -> Printable:
    """Return the line of a diagnostic, as disclosed to the audience."""
    return encode(_diagnostic(diagnostic), file)


def call_line(call: ShownCall, file: str | None = None) -> Printable:
    """Return the line of a call and its reply."""
    fields = asdict(call)
    del fields["observed_ms"]
    if not call.relinked:
        del fields["relinked"]
    return encode({"kind": "call", **fields}, file)


def brief_line(call: BriefCall, file: str | None = None) -> Printable:
    """Return the line of a call at the brief level. It has the same keys as any other call; those not revealed are
    null."""
    known = {name: getattr(call, name) for name in ("transcript", "tool", "state", "latency_ms")}
    return encode({"kind": "call", **dict.fromkeys(_CALL_KEYS), **known, "call": call.number}, file)


_CALL_KEYS = [name for name in ShownCall.__struct_fields__ if name not in ("observed_ms", "relinked")]


def reset_line(reason: Reason) -> Printable:
    """Return the line for a restart while following: everything printed before is invalid, and numbers begin at 1."""
    return encode({"kind": "reset", "reason": reason.value})


def stalled_line(message: int, seconds: float) -> Printable:
    """Return the line for an open message that has not grown for this many seconds while following."""
    return encode({"kind": "stalled", "message": message, "seconds": round(seconds, 1)})


def finding_line(finding: Finding, file: str | None = None) -> Printable:
    """Return a finding as a line of `check --json`."""
    diagnostic = finding.diagnostic
    return encode(
        {
            "kind": "diagnostic",
            "code": diagnostic.code,
            "reason": diagnostic.reason,
            "severity": diagnostic.rule.severity.value,
            "message": diagnostic.message,
            "span": [diagnostic.start, diagnostic.end],
            "line": finding.line,
            "column": finding.column,
            "count": diagnostic.count,
        },
        file,
    )


def more_line(code: str, count: int, file: str | None = None) -> Printable:
    """Return a line of `check --json` about diagnostics that are counted but not listed."""
    return encode({"kind": "more", "code": code, "count": count}, file)


def summary_line(errors: int, warnings: int, messages: int, transcripts: int) -> Printable:
    """Return the last line of `check --json`."""
    counts = {"errors": errors, "warnings": warnings, "messages": messages, "transcripts": transcripts}
    return encode({"kind": "summary", **counts})


def encode(value: dict[str, object], file: str | None = None, *, indent: int | None = None) -> Printable:
    """Encode a value as JSON that is safe for any terminal: all unsafe characters are escaped."""
    if file is not None:
        value = {**value, "file": file}
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=(",", ": " if indent else ":"))
    if text.isascii():
        return Printable(text.replace("\x7f", "\\u007f"))
    return Printable(_escaped(text))


def _escaped(text: str) -> str:
    """Escape characters that are unsafe to print. They occur only inside strings."""
    shown = sanitize(text)
    if shown == text:
        return text
    return "".join(a if a == b else json.dumps(a)[1:-1] for a, b in zip(text, shown, strict=True))


def _message(message: ShownMessage, agent: str = "") -> dict[str, object]:
    return {
        "kind": "message",
        "transcript": message.transcript,
        "number": message.number,
        "message_kind": message.message_kind,
        "role": message.role,
        "name": message.name,
        "recipient": message.recipient,
        "channel": message.channel,
        "channel_given": message.channel_given,
        "intent": message.intent,
        "call_id": message.call_id,
        "content_type": message.content_type,
        "constrained": message.constrained,
        "ending": message.ending,
        "body": message.body,
        "span": message.span,
        "body_span": message.body_span,
        "line": message.line,
        "time": message.time,
        "visible": message.visible,
        "extra": message.extra,
        **({"thread": message.thread} if message.thread else {}),
        **({"agent": agent} if agent else {}),
        **({"superseded": True} if message.is_superseded else {}),
    }


def _diagnostic(diagnostic: ShownDiagnostic) -> dict[str, object]:
    return {
        "kind": "diagnostic",
        "code": diagnostic.code,
        "reason": diagnostic.reason,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "span": diagnostic.span,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "count": diagnostic.count,
    }


class LiveLines:
    """The lines of one reading of a growing input.

    A message appears when it is closed, followed by its diagnostics. Diagnostics of a hidden message follow the next
    shown message, or come last. A diagnostic appears once, with its count at that time. A call appears when it is no
    longer pending, and again if its state changes."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self._agents = Agents(projection)
        self._tail = Tail(projection)
        self._calls = projection.call_watch()
        self._listed = LineWatch(self._tail.rows.call_lines)
        self._transcripts = 0

    def grow(self) -> Iterator[Printable]:
        """Yield the lines added since the last call."""
        yield from self._settled(ended=False)
        for call in self._calls.changed():
            yield call_line(call)
        yield from map(brief_line, self._listed.changed())

    def end(self) -> Iterator[Printable]:
        """Yield the remaining lines, at the end of the reading."""
        yield from self._settled(ended=True)
        yield from self._begun(len(self._tail.rows.shown_transcripts))
        yield from _diagnostics(self._tail.found_last())
        for call in self._calls.changed(ended=True):
            yield call_line(call)
        yield from map(brief_line, self._listed.changed())

    def _settled(self, *, ended: bool) -> Iterator[Printable]:
        for item in self._tail.settled(ended=ended):
            yield from self._begun(item.transcript)
            if isinstance(item, BriefCall):
                self._listed.add(item)
                yield brief_line(item)
            elif not isinstance(item, HiddenRun):
                yield from self._shown(item)

    def _shown(self, item: ShownMessage | ShownStray) -> Iterator[Printable]:
        yield item_line(item, agent=_agent_of(item, self._agents))
        yield from _diagnostics(self._tail.found())

    def _begun(self, last: int) -> Iterator[Printable]:
        """Yield the lines of the transcripts up to this one."""
        while self._transcripts < last:
            self._transcripts += 1
            yield transcript_line(
                self._projection.boundary(self._tail.rows, self._transcripts, grows=True).transcript,
                self._projection.audience,
            )


def _diagnostics(found: Iterable[ShownDiagnostic]) -> Iterator[Printable]:
    return map(diagnostic_line, found)
