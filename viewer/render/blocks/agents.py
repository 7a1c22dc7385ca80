"""Names of sub-agents, and the calls that started them, limited to the calls that a view shows."""

from __future__ import annotations

import re

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.syntax.json_text import JsonKind, read_json

FARTHEST = 64
"""How far back from a sub-agent's first message to search for the call that started it, in messages."""
_READ = 2000
"""How many characters of a call's arguments to read."""
_LONGEST = 40
_NAMES = ("subagent_type", "agent_type", "agent_name", "agent", "name", "role")
"""The arguments that may name the sub-agent, best first."""
_WORDS = lazy_regex(r"(?!(?:sub-?)?agent|main\b|session|user\b)[A-Za-z][A-Za-z _.-]{1,39}", re.IGNORECASE)
"""An ID that looks like a name. Other IDs contain digits or are too generic."""


class AgentFacts(Struct, frozen=True):
    """The facts about a sub-agent that a view may show."""

    call: int = 0
    """The message of the call that started it; 0 if it is unknown or hidden."""
    name: str = ""
    """The name, not sanitized yet; empty if unknown."""


class Agents:
    """Looks up sub-agents in one projection, with a cache."""

    def __init__(self, projection: Projection, calls: CallView | None = None) -> None:
        self._projection = projection
        self._calls = calls
        self._known: dict[tuple[int, int], AgentFacts] = {}

    def of(self, number: int) -> AgentFacts:
        """Return the facts about the sub-agent that wrote a message; for the main agent, empty facts."""
        projection = self._projection
        thread = projection.thread_of(number)
        if not thread:
            return AgentFacts()
        key = projection.transcript_number(number), thread
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(number)
        return known

    def _find(self, number: int) -> AgentFacts:
        start = self._projection.agent_start(number)
        if start is None:
            return AgentFacts()
        call = self._call_before(start.first, start.id)
        name = _name_in(self._projection.beginning(call, _READ)) if call else ""
        if not name and _WORDS.fullmatch(start.id):
            name = start.id
        return AgentFacts(call, name[:_LONGEST])

    def _call_before(self, first: int, id: str) -> int:
        """Return the call with the sub-agent's ID, or else the only call that had no reply yet; 0 if there is none."""
        projection = self._projection
        if self._calls is None:
            self._calls = projection.calls()
        waiting = []
        transcript = projection.transcript_number(first)
        for number in range(first, max(0, first - FARTHEST), -1):
            if projection.transcript_number(number) != transcript:
                break
            if projection.thread_of(number):
                continue
            for call in self._calls.of(number):
                if call.call != number or (call.reply is not None and call.reply <= first):
                    continue
                if id and call.call_id == id:
                    return number
                waiting.append(number)
        return waiting[0] if len(waiting) == 1 else 0


def _name_in(arguments: str) -> str:
    """Return the agent's name from a call's arguments, which may be cut off at the end, or an empty string."""
    node = read_json(arguments.encode("utf-8", "replace")).node if arguments.lstrip().startswith("{") else None
    if node is None or node.kind is not JsonKind.OBJECT:
        return ""
    values = (node.get(name) for name in _NAMES)
    return next((" ".join(value.text.split()) for value in values if value and value.kind is JsonKind.STRING), "")
