"""Words about a call: its state and duration, and its line at the brief level."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.document.values import BriefCall, ShownDiagnostic
from viewer.render.number_format import duration
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Glyphs, Line, Part, StyleRole, trusted
from viewer.render.width import between

LONGEST_TOOL = 64
_STATE_ROOM, _TIME_ROOM = 10, 6
"""The least cells of the columns at the right edge."""
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
    """The name of a tool without the namespace of functions."""
    return sanitize_line(tool.removeprefix("functions."), LONGEST_TOOL)


def state_words(state: str) -> tuple[str, StyleRole]:
    """The word and the style of a state."""
    return _STATES.get(state, (state, StyleRole.WARNING))


def problem_words(notes: Iterable[ShownDiagnostic]) -> str:
    """The word that replaces `ok` because of these problems of the call or its reply; empty for none."""
    errors = [one for one in notes if one.severity == "error"]
    if not errors:
        return ""
    return "bad JSON" if any((one.reason or "").startswith("json-") for one in errors) else "problem"


def state_part(word: str, look: StyleRole, glyphs: Glyphs) -> Part:
    """A state with its mark, in a column."""
    mark = {
        StyleRole.OK: glyphs.ok,
        StyleRole.ERROR: glyphs.error,
        StyleRole.PENDING: glyphs.running,
        StyleRole.WARNING: glyphs.cancelled if word == "cancelled" else "?",
    }[look]
    words = f"{mark} {word}".lstrip()
    return Part(trusted(f" {words:<{_STATE_ROOM}}"), look)


def time_words(latency_ms: int | None, observed_ms: int | None, room: int = _TIME_ROOM) -> str:
    """The duration in a column; the one in the transcript, or else the one that was observed."""
    time = latency_ms if latency_ms is not None else observed_ms
    words = duration(time) if time is not None else ""
    return f"{words:>{max(room, len(words) + 1)}}"


def brief_parts(call: BriefCall, width: int, glyphs: Glyphs) -> Line:
    """The line of a call at the brief level: tool, state and duration."""
    word, look = state_words(call.state)
    time = Part(trusted(time_words(call.latency_ms, call.observed_ms, _TIME_ROOM + 2)), StyleRole.QUIET)
    aside = [state_part(word, look, glyphs), time]
    return between([Part(trusted(f"{glyphs.call} {tool_words(call.tool)}"), StyleRole.TOOL)], aside, width, glyphs)
