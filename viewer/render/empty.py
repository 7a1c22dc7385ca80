"""Sentences of a view without messages: why it is empty, and which key shows more."""

from __future__ import annotations

from msgspec import Struct

from viewer.rules.errors import E_FORMAT_UNKNOWN


class EmptyFacts(Struct, frozen=True):
    """What is known about an input of which nothing is shown."""

    messages: int
    transcripts: int
    metadata: int = 0
    """The number of records without a message."""
    is_unknown: bool = False
    """True if no format was recognized."""
    strict: bool = False
    debug: bool = False


def empty_sentences(facts: EmptyFacts) -> list[str]:
    """One sentence per line."""
    if facts.messages:
        return _of_hidden(facts)
    is_empty = not facts.transcripts
    reason = "This file is empty." if is_empty else "This file has a document header or other text, but no messages."
    if facts.metadata:
        reason = f"No messages; {facts.metadata:,} {'record' if facts.metadata == 1 else 'records'} of metadata."
    if facts.is_unknown:
        reason = E_FORMAT_UNKNOWN.safe
    hint = "" if is_empty else "Select a format with --format NAME. `ocmlview formats` lists them."
    more = "" if is_empty or facts.debug else "Press d for the debug view, which shows text outside messages."
    return [sentence for sentence in (reason, hint, more) if sentence]


def _of_hidden(facts: EmptyFacts) -> list[str]:
    if facts.debug:
        return ["All messages are switched off.", "Press a, c, t or s to show channels."]
    hidden = "1 message is hidden." if facts.messages == 1 else f"All {facts.messages:,} messages are hidden."
    more = [] if facts.strict else [f"{hidden} Press d for the debug view."]
    return ["Nothing to show in the safe view.", *more]
