"""Hide what was said in logged model calls that make no answer for the user: calls whose names say so, and calls of an
agent to which another call delegated a task."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

from viewer.cache import lazy_regex
from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.engine.paths import path
from viewer.formats.side_calls import is_side_call
from viewer.formats.tables.model import Asides
from viewer.model.messages import Kind
from viewer.syntax.json_lines import LazyNode, whole_tree
from viewer.syntax.json_text import JsonKind, JsonNode

MOST_PENDING = 1024
"""The maximum number of calls that may wait for their replies."""
MOST_OPENINGS = 65_536
"""The maximum number of conversations to remember."""
_MOST_TASKS = 64
"""The maximum number of texts in the arguments of a call."""
_LONGEST = 1_000_000
_TASK_WORDS, _PHRASE_WORDS = 2, 5
"""The minimum number of words in a task that is a whole prompt, and in one that is part of a prompt."""
_STRING = lazy_regex(r'"(?:[^"\\]|\\.)*"')
_TASK = Kind.SUBAGENT
K = TypeVar("K")
V = TypeVar("V")


class AsideCalls:
    """Remembers the calls that wait for a reply. A request that asks what such a call says is one of another agent."""

    def __init__(self, table: Asides) -> None:
        self._table = table
        self._pending: OrderedDict[object, list[str]] = OrderedDict()
        """The texts in the arguments of each call that has no reply yet."""
        self._own: OrderedDict[object, None] = OrderedDict()
        """The calls of conversations with the user."""
        self._openings: OrderedDict[tuple[int, int], bool] = OrderedDict()
        """Whether the conversation that begins with these instructions and this prompt is one of another agent."""
        self._tasks: OrderedDict[int, None] = OrderedDict()
        """The prompts of other agents."""

    def hide(self, node: JsonNode, reading: RecordReading) -> bool:
        """Hide what was said in such calls of a record. Return True if all of its calls are hidden."""
        node = whole_tree(node) if type(node) is LazyNode else node
        calls = path(self._table.each).all(node) if self._table.each else [node]
        hidden = [kind for call in calls if (kind := self._take(call, reading)) is not None]
        return len(hidden) == len(calls) > 0

    def _take(self, call: JsonNode, reading: RecordReading) -> Kind | None:
        drafts = [draft for draft in reading.drafts if call.start <= draft.span[0] < call.end]
        steps = [step for step in reading.steps if call.start <= step.span[0] < call.end]
        if not drafts and not steps:
            return None
        asked = path(self._table.asked).first(call)
        kind = _TASK if self._is_delegated(drafts) else None
        if is_side_call(call) or (asked is not None and asked.kind is JsonKind.OBJECT and is_side_call(asked)):
            kind = Kind.REPLAYED
        streamed: dict[tuple[str, str], list[Draft]] = {}
        for step in steps:
            streamed.setdefault((step.scope, step.block), []).extend(step.drafts)
        blocks = [*([draft] for draft in drafts), *streamed.values()]
        self._note(blocks, is_own=kind is None)
        if kind is not None:
            for draft in (each for block in blocks for each in block):
                draft.kind = kind if draft.kind is Kind.SAID else draft.kind
        return kind

    def _is_delegated(self, drafts: list[Draft]) -> bool:
        prompt = next((draft for draft in drafts if draft.role == "user" and draft.kind is Kind.SAID), None)
        if prompt is None:
            return False
        text = "\n".join(prompt.texts) if prompt.texts else prompt.text
        instructions = "\0".join(draft.text for draft in drafts if draft.kind is Kind.INSTRUCTION)
        opening = hash(instructions), hash(text.strip())
        known = self._openings.get(opening)
        if known is None:
            known = self._is_task(text, prompt, drafts)
            _remember(self._openings, opening, known, MOST_OPENINGS)
            if known:
                _remember(self._tasks, opening[1], None, MOST_OPENINGS)
        return known

    def _is_task(self, text: str, prompt: Draft, drafts: list[Draft]) -> bool:
        """True if a call that has no reply yet says what the prompt asks, and does not belong to the conversation."""
        if any(_identity(draft) in self._own for draft in drafts if draft.kind is Kind.CALL):
            return False
        if hash(text.strip()) in self._tasks:
            return True
        parts = {each.strip() for each in (text, *prompt.texts)}
        head = text[:_LONGEST]
        for task in (each for tasks in self._pending.values() for each in tasks):
            words = len(task.split(None, _PHRASE_WORDS - 1))
            if words >= _TASK_WORDS and (task in parts or (words >= _PHRASE_WORDS and task in head)):
                return True
        return False

    def _note(self, blocks: list[list[Draft]], *, is_own: bool) -> None:
        """Note the calls and replies of a request and its response."""
        for block in blocks:
            first = block[0] if block else None
            if first is None or first.kind not in (Kind.CALL, Kind.REPLY):
                continue
            if first.kind is Kind.REPLY:
                self._pending.pop(first.call_id, None)
                continue
            identity = _identity(first)
            if identity not in self._own:
                text = "".join(draft.text for draft in block)
                _remember(self._pending, identity, _tasks_in(text), MOST_PENDING)
            if is_own:
                _remember(self._own, identity, None, MOST_OPENINGS)


def _identity(draft: Draft) -> object:
    return draft.call_id or (draft.name, draft.text)


def _remember(found: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    found[key] = value
    if len(found) > most:
        found.popitem(last=False)


def _tasks_in(arguments: str) -> list[str]:
    """Return the texts in the arguments of a call, which may be incomplete JSON."""
    if len(arguments) > _LONGEST:
        return []
    tasks = [arguments.strip()]
    for text in _strings(arguments):
        tasks += [text.strip(), *(each.strip() for each in _strings(text) if text.startswith(("{", "[")))]
        if len(tasks) > _MOST_TASKS:
            break
    return [task for task in tasks if task]


def _strings(text: str) -> Iterator[str]:
    for found in _STRING.finditer(text):
        with suppress(ValueError):
            yield json.loads(found[0])
