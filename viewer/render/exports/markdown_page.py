"""Markdown export: headings for turns and messages, and bodies in fences that are longer than any fence in them. All
other text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from viewer.document.projection import Projection
from viewer.document.values import Boundary, BriefCall, HiddenRun, ShownDiagnostic, ShownStray
from viewer.model.visibility import Audience
from viewer.render.blocks.call_words import call_state, time_words, tool_words
from viewer.render.body import laid_out, may_be_json
from viewer.render.diagnostic import described, full_code
from viewer.render.exports.html_message import SIGNS
from viewer.render.exports.steps import PlacedMessage, Step, TurnBegins, steps_of
from viewer.render.exports.view_words import (
    absent_words,
    badge,
    counts_words,
    revealed_names,
    transcript_words,
    view_sentence,
)
from viewer.render.head import HeadLink, MessageHead, clock, head_of
from viewer.render.number_format import duration
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize, sanitize_line
from viewer.render.style import UNICODE
from viewer.render.title import boundary_words, outline

_TICKS = re.compile("`+")
_SPECIAL = re.compile(r"([\\`*_\[\]#|~])")
_WIDTH = 88
_LONGEST = 400


def markdown_page(projection: Projection, title: str) -> Iterator[str]:
    """Yield the page in pieces, about one per message."""
    audience = projection.audience
    revealed = revealed_names(audience)
    reveals = f" (reveals {', '.join(revealed)})" if revealed else ""
    yield f"# {code(title)}\n\n> **{badge(audience)} view**{reveals}: {escaped(view_sentence(audience))}\n"
    yield f"> {counts_words(projection.rows(), audience)}.\n"
    for step in steps_of(projection, projection.diagnostics(), projection.calls()):
        yield from _step(step, projection)


def escaped(words: str) -> str:
    """Escape text so that it is not read as Markdown."""
    plain = words.replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(r"\\\1", plain)


def code(given: str) -> str:
    """Return an external name as a code span without markup."""
    shown = sanitize_line(given)
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}" if shown.strip() else "``  ``"


def fenced(shown: SafeText, kind: str) -> str:
    """Return text in a fence that it cannot close."""
    ticks = "`" * max(3, _longest_run(shown) + 1)
    end = "" if shown.endswith("\n") or not shown else "\n"
    return f"{ticks}{kind}\n{shown}{end}{ticks}\n"


def _longest_run(shown: str) -> int:
    return max((len(run) for run in _TICKS.findall(shown)), default=0)


def _step(step: Step, projection: Projection) -> Iterator[str]:
    if isinstance(step, Boundary):
        yield from _transcript(step)
    elif isinstance(step, TurnBegins):
        time = f" · {clock(step.time)}" if step.time else ""
        yield f"\n## Turn {step.number}{time}\n"
    elif isinstance(step, PlacedMessage):
        yield from _message(step, projection.audience)
    elif isinstance(step, ShownStray):
        yield f"\n### Text outside any message\n\n{fenced(_body(step.body, trim=False), 'text')}"
    elif isinstance(step, HiddenRun):
        yield f"\n*{absent_words(step.count, projection.audience)}*\n"
    elif isinstance(step, BriefCall):
        yield f"\n{_brief_call(step)}\n"
    else:
        yield f"\n{_note(step)}\n"


def _brief_call(call: BriefCall) -> str:
    state = call_state(call, (), UNICODE)[0]
    return f"- Call {' · '.join(filter(None, (code(tool_words(call.tool)), state, time_words(call))))}"


def _transcript(boundary: Boundary) -> Iterator[str]:
    transcript, (number, *rest) = boundary.transcript, boundary_words(boundary)
    words = " · ".join(map(code, rest))
    yield (
        f"\n# {number.capitalize()} · {words}\n"
        if boundary.count > 1
        else f"\n{' · '.join(map(code, transcript_words(transcript)))}\n"
    )
    if transcript.header:
        lines = "\n".join(sanitize_line(line, _LONGEST) for line in outline(transcript.header, 0))
        yield f"\n{fenced(sanitize(lines), 'yaml')}"


def _message(placed: PlacedMessage, audience: Audience) -> Iterator[str]:
    message = placed.message
    head = head_of(message, audience, placed.calls)
    yield f"\n### {_safe_head(head) if head.safe else _head(head)}\n"
    said = [] if head.safe else [*_details(head), *map(_call, head.links)]
    if said:
        yield f"\n{' · '.join(said)}\n"
    shown = _body(message.body, trim=placed.trim)
    laid = laid_out(shown) if not head.safe and may_be_json(message) else None
    if laid is not None:
        shown = laid if len(shown) > _WIDTH else shown
    yield f"\n{fenced(shown, 'json' if laid is not None else 'text')}" if shown else "\n*empty*\n"
    if placed.problems:
        yield "\n" + "".join(f"{line}\n" for line in map(_note, placed.problems))


def _safe_head(head: MessageHead) -> str:
    parts = [_role(head), *([code(head.name)] if head.name else [])]
    if head.is_plan:
        parts.append("plan (preamble, user-visible)")
    if head.cancelled or head.ending == "open":
        parts.append("(cancelled)" if head.cancelled else "(unfinished)")
    return " · ".join(parts)


def _head(head: MessageHead) -> str:
    who = [_role(head), *([code(head.name)] if head.name else [])]
    to = f" → {code(head.recipient)}" if head.recipient else ""
    parts = [f"{head.number}", head.letter.replace("?", "unknown"), " ".join(who) + to, code(head.channel)]
    return " · ".join([*parts, *([code(head.call_id)] if head.call_id else []), *_seen(head)])


def _seen(head: MessageHead) -> list[str]:
    return ["user saw it"] if head.visible else []


def _role(head: MessageHead) -> str:
    plain = head.role.isascii() and head.role.isalpha()
    return head.speaker if plain else code(head.role or head.speaker)


def _details(head: MessageHead) -> Iterable[str]:
    yield from map(code, (*head.details, *([head.time] if head.time else [])))
    if stop := head.stop():
        yield code(stop)


def _call(link: HeadLink) -> str:
    where = f"{'reply' if link.is_call else 'call'} {link.other}, " if link.other else ""
    latency = f", {duration(link.latency_ms)}" if link.latency_ms is not None else ""
    return f"{where}{link.state}{latency}{', inferred' if link.inferred else ''}"


def _body(given: str, *, trim: bool) -> SafeText:
    shown = sanitize(normalize_newlines(given).removesuffix("\n"))
    return SafeText(shown.removeprefix("\n")) if trim else shown


def _note(found: ShownDiagnostic) -> str:
    """Return a problem as a list item."""
    place = f" at {found.line}:{found.column}" if found.line is not None else ""
    number = f"message {found.message}: " if found.message else ""
    count = f" ×{found.count:,}" if found.count and found.count > 1 else ""
    said = f"{number}{escaped(described(found))}"
    return f"- {SIGNS[found.severity]} {said} (`{full_code(found.code, found.reason)}`{place}{count})"
