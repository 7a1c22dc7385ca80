"""Header fields of a shown message that safe output contains; all others are withheld."""

from __future__ import annotations

from dataclasses import replace

from viewer.model.messages import Header
from viewer.reading.grammar import CHECKED_TYPES
from viewer.syntax.names import plain_name

LONGEST_NAME = 64
_RECIPIENTS = frozenset({"user", "assistant"})


def safe_header(header: Header) -> Header:
    """The header as the end user may see it."""
    name = header.name
    if name is not None:
        name = plain_name(name, LONGEST_NAME) or None
    if name == header.name and not withheld_count(header):
        return header
    return replace(
        header,
        name=name,
        recipient=header.recipient if header.recipient in _RECIPIENTS else None,
        intent=_safe_intent(header),
        call_id=None,
        content_type=_safe_type(header),
        extra=(),
    )


def without_unlisted(header: Header) -> Header:
    """The header of a revealed message for an audience that did not ask for unknown content."""
    return replace(header, extra=()) if header.extra else header


def withheld_count(header: Header) -> int:
    """How many fields and attributes the end user does not see."""
    withheld = (
        header.recipient is not None and header.recipient not in _RECIPIENTS,
        header.intent != _safe_intent(header),
        header.call_id is not None,
        header.content_type is not None and _safe_type(header) is None,
    )
    return len(header.extra) + sum(withheld)


def _safe_intent(header: Header) -> str | None:
    return header.intent if header.intent == "preamble" else None


def _safe_type(header: Header) -> str | None:
    given = (header.content_type or "").lower()
    return given if given in CHECKED_TYPES else None
