"""OpenAssistant: messages, threads, and message trees from its data sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from viewer.formats.tables.model import (
    Branches,
    Container,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    When,
    has,
    is_,
    lacks,
    only,
)
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_TIME: dict[str, Any] = {"time": "created_date"}
_ROLES = frozenset({"prompter", "assistant"})
_NOT_ACCEPTED = (JsonKind.FALSE, JsonKind.STRING, JsonKind.NUMBER, JsonKind.ARRAY, JsonKind.OBJECT)
_IS_GENERATED = (
    is_("role", "assistant"),
    When("synthetic", kind=JsonKind.TRUE),
    only(
        *("message_id", "parent_id", "message_tree_id", "user_id", "created_date", "text", "role", "lang"),
        *("review_count", "review_result", "deleted", "rank", "synthetic", "model_name", "emojis", "replies"),
        *("labels", "events", "tree_state", "detoxify"),
    ),
)
"""The conditions for an answer that a model wrote. In other formats, `synthetic` would hide the answer."""
_MESSAGE = (
    *(
        RecordRule((When("review_result", kind=kind), has("text")), Kind.UNKNOWN, "@role", "text", **_TIME)
        for kind in _NOT_ACCEPTED
    ),
    *(
        rule
        for is_kept in (lacks("deleted"), When("deleted", kind=JsonKind.FALSE))
        for rule in (
            RecordRule((*_IS_GENERATED, is_kept), Kind.SAID, "assistant", "text", of_conversation=True, **_TIME),
            RecordRule((is_("role", "prompter"), is_kept), Kind.SAID, "user", "text", **_TIME),
            RecordRule((is_("role", "assistant"), is_kept), Kind.SAID, "assistant", "text", **_TIME),
        )
    ),
    RecordRule((has("text"),), Kind.UNKNOWN, "@role", "text", **_TIME),
)
"""The rules for a message. Messages that reviewers deleted, or rejected as spam, are unknown."""

_TREE = RecordRule(
    (has("prompt.message_id"),),
    each="prompt.+replies",
    rules=_MESSAGE,
    branches=Branches("message_id", "parent_id", "newest_id"),
    starts=True,
    session="message_tree_id",
)
_THREAD = RecordRule((has("thread[0].message_id"),), each="thread[]", rules=_MESSAGE, starts=True, session="thread_id")
_IS_REFUSED = (
    *(When("review_result", kind=kind) for kind in _NOT_ACCEPTED),
    *(
        When(flag, kind=kind)
        for flag in ("deleted", "spam")
        for kind in (JsonKind.TRUE, JsonKind.STRING, JsonKind.NUMBER, JsonKind.ARRAY, JsonKind.OBJECT)
    ),
)
"""Conditions, any one of which shows that reviewers deleted or rejected a tree or a thread."""


def _conversations() -> Iterator[RecordRule]:
    """Yield the rules for trees and threads."""
    for rule in (_TREE, _THREAD):
        for is_refused in _IS_REFUSED:
            yield replace(rule, when=(*rule.when, is_refused), unused=True)
            yield RecordRule((*rule.when, is_refused), None)
        yield rule


OASST = RecordFormat(
    name="oasst",
    title="OpenAssistant messages",
    container=Container.LINES,
    signatures=(
        Signature(94, ("message_tree_id", "prompt.message_id", "prompt.text")),
        Signature(94, ("thread_id", "thread[].message_id", "thread[].text")),
        Signature(94, ("message_id", "text"), {"role": _ROLES}, ("type", "content")),
    ),
    records=(
        *_conversations(),
        RecordRule(
            (has("message_id"), has("message_tree_id")), None, starts=True, session="message_tree_id", goes_on=True
        ),
        *_MESSAGE,
    ),
    threads=Threads("message_id", "parent_id"),
)
"""The table of OpenAssistant. A message that replies to a message before the previous one starts another branch."""
