"""Lines of the calls table: the id, the tool, both messages, and the state of each call."""

from __future__ import annotations

from viewer.document.calls import CallView
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.tui.panes.columns import fitted, length
from viewer.tui.panes.link_lines import arrow, deadline_words, is_late, latency_words, state_part

_WIDEST_ID = 12
_LOOKED_AT = 1000
"""Measure the ids of this many calls at most."""
_STATE = 12
_LATENCY = 9
_DEADLINE = 10
_BAD = frozenset({"failed", "timeout", "orphan", "duplicate", "unanswered"})


class CallLines:
    """One row per call, in input order."""

    def __init__(self, calls: CallView, style: Style) -> None:
        self.calls = calls
        self._style = style
        ids = [len(call.call_id or "") for call in calls] if len(calls) <= _LOOKED_AT else [_WIDEST_ID]
        self._ids = max(2, min(_WIDEST_ID, max(ids, default=0)))
        self._digits = len(str(calls.largest)) + 1
        self._ends = self._digits + 5 + max(self._digits, len("reply")) + 2

    def __len__(self) -> int:
        return len(self.calls)

    def number(self, row: int) -> int | None:
        """The message of a row: the call, or a reply without a call."""
        call = self.calls[row]
        return call.call if call.call is not None else call.reply

    def row_of(self, number: int) -> int:
        """The row of a call of this message; -1 if there is none."""
        return self.calls.row_of(number)

    def head(self, width: int) -> list[Line]:
        """The counts, and the column titles."""
        waiting, bad = self.calls.open, sum(self.calls.states[state] for state in _BAD)
        said = [counted(len(self.calls), "call"), f"{waiting:,} open"] + ([f"{bad:,} went wrong"] if bad else [])
        title = (
            Part(trusted(" CALLS  "), StyleRole.TITLE),
            Part(self._style.words(" · ".join(said)), StyleRole.QUIET),
        )
        tool = self._tool_width(width)
        names = f" {'id':<{self._ids}}  {'tool':<{tool}}  {'call':<{self._digits + 4}} reply"
        heads = f"{names:<{self._before_state(tool)}}{'state':<{_STATE}}{'latency':>{_LATENCY}}"
        line = _with((Part(trusted(heads), StyleRole.STRONG),), Part(trusted("  deadline"), StyleRole.STRONG), width)
        return [title, line]

    def line(self, row: int, width: int) -> Line:
        """One call; its arrow is dotted if it is inferred."""
        call, style = self.calls[row], self._style
        tool = self._tool_width(width)
        name = style.name(call.call_id) if call.call_id else style.words("—")
        state = state_part(call, style)
        latency = latency_words(call)
        ends = fitted(trusted(arrow(call, self._digits, style)), self._ends, style)
        line: Line = (
            Part(SafeText(f" {fitted(name, self._ids, style)}  "), StyleRole.STRONG),
            Part(SafeText(fitted(style.name(_tool_name(call.tool, tool)), tool, style) + "  ")),
            Part(trusted(ends), StyleRole.QUIET if call.inferred else StyleRole.PLAIN),
            Part(fitted(state.text, _STATE, style), state.look),
            Part(trusted(f"{latency:>{_LATENCY}}"), StyleRole.PLAIN),
        )
        if call.deadline_ms is not None:
            deadline = trusted(f"  {deadline_words(call)}")
            line = _with(line, Part(deadline, StyleRole.ERROR if is_late(call) else StyleRole.QUIET), width)
        return _with(line, Part(trusted("  inferred"), StyleRole.QUIET), width) if call.inferred else line

    def _tool_width(self, width: int) -> int:
        """The width that other columns leave for the name of the tool."""
        return max(8, min(36, width - self._ids - self._ends - _STATE - _LATENCY - _DEADLINE - 6))

    def _before_state(self, tool: int) -> int:
        return self._ids + tool + 5 + self._ends


def _with(line: Line, part: Part, width: int) -> Line:
    """Add a part if all of it fits."""
    return (*line, part) if length((*line, part)) <= width else line


def _tool_name(tool: str, room: int) -> str:
    """The name, without the common namespace if room is short."""
    return tool if len(tool) <= room else tool.removeprefix("functions.")
