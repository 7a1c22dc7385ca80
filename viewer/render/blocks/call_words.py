"""Words about a call: its state with a symbol, and its line at the brief level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from viewer.document.values import BriefCall, ShownCall, ShownDiagnostic
from viewer.render.number_format import duration
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Glyphs, Line, Part, StyleRole, trusted
from viewer.render.width import between

STATE_ROOM, TIME_ROOM = 10, 6
"""The minimum widths of the columns for state and duration, in cells."""
LONGEST_TOOL = 64
_STATES = {
    "pending": ("running", StyleRole.PENDING),
    "ok": ("ok", StyleRole.OK),
    "failed": ("failed", StyleRole.ERROR),
    "timeout": ("timeout", StyleRole.ERROR),
    "cancelled": ("cancelled", StyleRole.WARNING),
    "unanswered": ("no reply", StyleRole.WARNING),
    "orphan": ("no call", StyleRole.WARNING),
    "duplicate": ("repeated", StyleRole.WARNING),
}
"""The word and the style of each state of a call."""


def tool_words(tool: str) -> SafeText:
    """Return the name of a tool without the prefix `functions.`."""
    return sanitize_line(tool.removeprefix("functions."), LONGEST_TOOL)


def state_words(state: str) -> tuple[str, StyleRole]:
    """Return the word and the style of a state."""
    return _STATES.get(state, (state, StyleRole.WARNING))


def problem_words(notes: Iterable[ShownDiagnostic]) -> str:
    """Return the word that replaces `ok` if the call or its reply has these problems; empty if none of them is an
    error."""
    reasons = [one.reason or "" for one in notes if one.severity == "error"]
    if not reasons:
        return ""
    return "bad JSON" if any(reason.startswith("json-") for reason in reasons) else "problem"


def call_state(call: ShownCall | BriefCall, notes: Sequence[ShownDiagnostic], signs: Glyphs) -> tuple[str, StyleRole]:
    """Return the symbol and word for the state of a call, and their style. A problem replaces `ok`."""
    word, look = state_words(call.state)
    problem = problem_words(notes) if call.state == "ok" else ""
    if problem:
        word, look = problem, StyleRole.ERROR
    sign = {
        StyleRole.OK: signs.ok,
        StyleRole.ERROR: signs.error,
        StyleRole.PENDING: signs.running,
        StyleRole.WARNING: signs.cancelled if word == "cancelled" else "?",
    }[look]
    return f"{sign} {word}".lstrip(), look


def time_words(call: ShownCall | BriefCall) -> str:
    """Return the duration recorded in the transcript, or else the observed one; empty if there is none."""
    return duration(call.taken_ms) if call.taken_ms is not None else ""


def brief_parts(call: BriefCall, width: int, glyphs: Glyphs) -> Line:
    """Return the line of a call at the brief level: tool, state, and duration."""
    state, look = call_state(call, (), glyphs)
    time = time_words(call)
    aside = [
        Part(trusted(f" {state:<{STATE_ROOM}}"), look),
        Part(trusted(f"{time:>{max(TIME_ROOM + 2, len(time) + 1)}}"), StyleRole.QUIET),
    ]
    return between([Part(trusted(f"{glyphs.call} {tool_words(call.tool)}"), StyleRole.TOOL)], aside, width, glyphs)
