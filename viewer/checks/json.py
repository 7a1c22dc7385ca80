"""Checks of JSON bodies: the constraint in the header, and duplicate keys."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.checks.check import AnyOf, Check, Contains, HeaderIs, Scope
from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.model.diagnostic import Diagnostic
from viewer.model.messages import Coding, Ending, Message
from viewer.reading.header import is_tool
from viewer.rules.errors import E_BODY_CONSTRAINT_VIOLATION
from viewer.rules.structure import W_JSON_DUPLICATE_KEY
from viewer.syntax.json_text import duplicate_keys


def check_json(case: CheckContext) -> Iterator[Diagnostic]:
    """E-BODY-CONSTRAINT-VIOLATION: a closed body is not the JSON that its header requires. W-JSON-DUPLICATE-KEY: an
    object in a closed body repeats a key."""
    if case.message.ending is Ending.OPEN:
        return
    if _is_constrained_json(case) and case.json_fault:
        fault = case.json_fault
        yield case.diagnose_body(E_BODY_CONSTRAINT_VIOLATION, fault.reason, fault.offset, fault.end)
    if _may_be_json(case) and b'"' in case.json and _may_repeat_a_key(case):
        for one in duplicate_keys(case.json, case.json_start, case.glance.survey):
            yield case.diagnose_body(W_JSON_DUPLICATE_KEY, None, one.start, one.end, one.count)


def _may_repeat_a_key(case: CheckContext) -> bool:
    return case.glance.repeats if case.glance.valid else case.json_fault is None


def _is_constrained_json(case: CheckContext) -> bool:
    return case.message.header.constrained and _is_typed_json(case.message) and not _is_unspelled(case)


def _is_unspelled(case: CheckContext) -> bool:
    """True if the body consists of token IDs that could not be decoded for lack of a vocabulary."""
    by_ids = any(piece.coding is Coding.TOKEN_IDS for piece in case.message.pieces)
    return by_ids and "⟨".encode() in case.body.data


def _may_be_json(case: CheckContext) -> bool:
    header = case.message.header
    by_role = header.role == "tool" or is_tool(header.recipient) or case.json_start > 0
    return _is_typed_json(case.message) or (by_role and case.begins_object)


def _may_have_json(message: Message, _: TranscriptFacts) -> bool:
    """True if the header allows a JSON body."""
    header = message.header
    return _is_typed_json(message) or header.role == "tool" or is_tool(header.recipient)


def _is_typed_json(message: Message) -> bool:
    return (message.header.content_type or "").lower() == "json"


JSON_BODY = Check(
    (
        E_BODY_CONSTRAINT_VIOLATION,
        W_JSON_DUPLICATE_KEY,
    ),
    Scope.MESSAGE,
    AnyOf(HeaderIs(_may_have_json), Contains(b"<|constrain|>")),
    check_json,
)
