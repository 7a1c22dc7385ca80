"""Notices that commands print on standard error about unknown formats, empty input, and hidden content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.cli.exits import FINDINGS, FINE, complain, say
from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.formats.detect import plain_keys
from viewer.model.visibility import Audience, Level, Reveal
from viewer.render.number_format import byte_size, counted
from viewer.rules.errors import E_STREAM_TRUNCATED

if TYPE_CHECKING:
    from viewer.document.projection import Projection

_HINT = "Try --format, or see `ocmlview formats`."
_LOG_HINT = "Try --format server-log."
_NOT_READ = "ocmlview does not read it yet."


_LEVELS = {
    Level.SAFE: "",
    Level.BRIEF: "BRIEF view: includes one line per call.",
    Level.DEBUG: "DEBUG view: includes hidden messages. Messages marked * were visible to the user.",
}
"""The notice about a printed conversation that reveals something, by level."""


class Unread(Struct, frozen=True):
    """A common kind of file that ocmlview cannot read."""

    title: str
    keys: tuple[str, ...] = ()
    """The top-level keys by which the JSON is recognized."""
    name: str = ""
    """The file name by which the file is recognized."""


UNREAD = (
    Unread("a Cursor database export", keys=("composerId", "bubbles")),
    Unread("a Cursor database", name="state.vscdb"),
    Unread("a prompt log of Aider", name=".aider.llm.history"),
)


def mention(document: Document, audience: Audience) -> None:
    """Report why nothing was printed, or how many records of unknown type are hidden.

    A strict audience gets no notice, because a notice would reveal whether something is hidden."""
    if audience.strict:
        return
    mention_if_empty(document)
    count = document.tally.unknown_records
    if count and not document.unknown and not audience.sees_unlisted:
        found = document.detection
        records = (
            "1 record of unknown type is hidden" if count == 1 else f"{count:,} records of unknown type are hidden"
        )
        complain(f"{document.name}: read as {found.format} ({found.confidence:.2f}: {found.reason}); {records}.")
    if audience.thread is not None and audience.reveals(Reveal.ALL) and document.message_count:
        hidden = document.project(audience).rows().hidden_count
        if hidden == document.message_count:
            complain(f"{document.name}: {_elsewhere_sentence(hidden, audience.thread)}")


def _elsewhere_sentence(count: int, thread: int) -> str:
    messages = "the only message is" if count == 1 else f"all {count:,} messages are"
    threads = f"threads other than {thread}" if thread else "threads of sub-agents"
    return f"{messages} in {threads}; add --threads all to show {'it' if count == 1 else 'them'}."


def mention_if_empty(document: Document) -> None:
    """Print a notice if no transcript was recognized, or if the transcript has no messages."""
    if document.unknown:
        complain(unknown_sentence(document))
    elif not document.message_count:
        complain(f"{document.name}: {_empty_sentence(document)}")


def _empty_sentence(document: Document) -> str:
    count = document.tally.metadata
    if not count:
        return "no messages found. `ocmlview formats` lists the known formats."
    return f"no messages; {counted(count, 'metadata record')}."


def refuse_if_unknown(document: Document, *, strict: bool) -> None:
    """Raise an error if no transcript was recognized."""
    if document.unknown:
        raise ViewerError(unknown_sentence(document, strict=strict))


def unknown_sentence(document: Document, *, strict: bool = False) -> str:
    """Describe an input in which no transcript was recognized. With `strict`, do not quote its keys."""
    from pathlib import PurePath  # slow to load, and rarely needed

    keys = document.detection.keys
    for unread in UNREAD:
        if unread.name == PurePath(document.name).name or (unread.keys and set(unread.keys) <= {*keys}):
            named = _with_keys(unread.keys, "keys", strict=strict)
            return f"{document.name}: looks like {unread.title}{f' ({named})' if named else ''}; {_NOT_READ}"
    if document.unknown == "json":
        named = _with_keys(keys, "with the keys", strict=strict)
        return f"{document.name}: JSON{named and f' {named}'} is not a known transcript format. {_HINT}"
    if keys and not document.name.endswith(".log"):
        named = _with_keys(keys, " with the keys", strict=strict)
        return f"{document.name}: YAML{named} is not a known transcript format. {_HINT}"
    is_log = document.unknown == "text" and document.name.endswith(".log")
    data = "binary data" if document.unknown == "binary" else "text"
    hint = _LOG_HINT if is_log else _HINT
    return f"{document.name}: no transcript was recognized in {byte_size(document.size)} of {data}. {hint}"


def _with_keys(keys: tuple[str, ...], lead: str, *, strict: bool) -> str:
    """Return `lead` followed by the plain keys in quotes, or an empty string if there are none or `strict` is set."""
    plain = plain_keys(keys)
    named = ", ".join(f'"{key}"' for key in plain)
    return f"{lead} {named}" if plain and not strict else ""


def report_damage(document: Document) -> int:
    """If a compressed input is damaged, truncated, or too large, report it. Return the exit code."""
    if not document.damage:
        return FINE
    complain(f"{document.name}: {E_STREAM_TRUNCATED.reasons[document.damage]}")
    return FINDINGS


def announced(documents: Iterable[Document], sentence: str) -> Iterator[Document]:
    """Yield the documents. Before the first one, print a sentence about the output."""
    for document in documents:
        if sentence:
            say(sentence)
            sentence = ""
        yield document


def say_level(audience: Audience) -> None:
    """If the printed conversation reveals something, report it."""
    if sentence := level_sentence(audience):
        say(sentence)


def level_sentence(audience: Audience) -> str:
    """Return the notice for an audience that sees more than the end user; empty for the safe view."""
    return _LEVELS[audience.level]


def say_what_is_withheld(projection: Projection) -> None:
    """Report, on standard error, the fields and header values that were dropped."""
    count = projection.omissions.fields
    if count:
        fields, them = ("field", "it") if count == 1 else ("fields", "them")
        say(f"dropped {count:,} unlisted {fields}; add --reveal all to keep {them}")
    if projection.omissions.has_header_values:
        say("dropped the document header except its version and model; add --reveal all to keep it")


def say_what_is_outside(projection: Projection) -> None:
    """Report how many runs of text outside any message were omitted. No conversion writes them."""
    count = projection.omissions.strays
    if count:
        say(f"{count:,} {'run' if count == 1 else 'runs'} of text outside any message omitted.")
