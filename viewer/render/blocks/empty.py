"""The text of a view without messages: why it is empty, and which key shows more."""

from __future__ import annotations

from pathlib import PurePath

from msgspec import Struct

from viewer.document.document import Document
from viewer.formats.detect import plain_keys
from viewer.render.number_format import byte_size, counted
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import UNICODE, Glyphs, trusted

_LONGEST_NAME = 60
_DATA = {"text": "text", "binary": "binary data"}


class EmptyFacts(Struct, frozen=True):
    """Facts about an input with an empty view."""

    messages: int
    transcripts: int
    size: int = 0
    """The size of the input in bytes."""
    metadata: int = 0
    """The number of records that contain no message."""
    name: str = ""
    unknown: str = ""
    """`json`, `text`, or `binary` if no format was recognized."""
    keys: tuple[str, ...] = ()
    """The top-level keys of unknown JSON, if they are plain words."""
    strict: bool = False
    debug: bool = False
    sealed: bool = False
    """True if no key can show more."""


def empty_facts(document: Document, *, strict: bool, debug: bool, sealed: bool) -> EmptyFacts:
    """Return the facts about a document."""
    is_json = document.unknown == "json" and not strict
    return EmptyFacts(
        messages=document.message_count,
        transcripts=document.tally.transcripts,
        size=document.size,
        metadata=document.tally.metadata,
        name=PurePath(document.name).name,
        unknown=document.unknown or "",
        keys=plain_keys(document.detection.keys) if is_json else (),
        strict=strict,
        debug=debug,
        sealed=sealed,
    )


def empty_sentences(facts: EmptyFacts, signs: Glyphs = UNICODE) -> list[SafeText]:
    """Explain why a view is empty and which key shows more, one sentence per line."""
    if facts.messages:
        return _of_hidden(facts)
    is_empty = not facts.transcripts
    if is_empty and not facts.unknown and not facts.metadata:
        return [
            trusted("This transcript has no messages yet."),
            trusted(f"The file is {counted(facts.size, 'byte')}. Press F to follow it, or q to close."),
        ]
    if facts.metadata and not facts.strict:
        return [trusted(f"No messages; {counted(facts.metadata, 'metadata record')}.")]
    if facts.unknown:
        return _of_unknown(facts, signs)
    sentences = ["This file has a document header or other text, but no messages."]
    if not is_empty:
        sentences.append("Try :format NAME. `ocmlview formats` lists the names.")
        if not facts.debug and not facts.sealed:
            sentences.append("Press d for the debug view, which shows text outside messages.")
    return [trusted(sentence) for sentence in sentences]


def _of_unknown(facts: EmptyFacts, signs: Glyphs) -> list[SafeText]:
    name = sanitize_line(facts.name, _LONGEST_NAME) or trusted("This")
    sentences = [SafeText(f"{signs.error} {name} is not a transcript that ocmlview recognizes.")]
    if facts.unknown != "json":
        sentences.append(trusted(f"It is {byte_size(facts.size)} of {_DATA.get(facts.unknown, 'data')}."))
    elif facts.keys:
        keys = sanitize_line(", ".join(facts.keys))
        sentences.append(SafeText(f"It is JSON with the top-level key{'s' * (len(facts.keys) > 1)}: {keys}."))
    else:
        sentences.append(trusted("It is JSON."))
    hint = "" if facts.debug or facts.sealed or facts.strict else ", or d for its text"
    return [*sentences, trusted(f"Try :format NAME{hint}. `ocmlview formats` lists the names.")]


def _of_hidden(facts: EmptyFacts) -> list[SafeText]:
    if facts.debug:
        return [trusted("All messages are switched off."), trusted("Press a, c, t, or s to show channels.")]
    hidden = "1 message is hidden." if facts.messages == 1 else f"All {facts.messages:,} messages are hidden."
    more = [] if facts.strict else [hidden if facts.sealed else f"{hidden} Press d for the debug view."]
    return [trusted("Nothing to show in the safe view."), *map(trusted, more)]
