"""Leak check: re-read the converted text, and compare its safe view with the safe view of the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from viewer.formats import FORMATS, detect
from viewer.formats.text.quoted_marks import live_body, read_source_text
from viewer.formats.tokens.reader import body_of_ids
from viewer.formats.writing import Writable, WritableTranscript
from viewer.model.events import Closed
from viewer.model.messages import Message
from viewer.model.visibility import is_user_safe
from viewer.reading.bodies import read_body
from viewer.reading.embedded_turn import TEMPLATE_TOKEN
from viewer.reading.hidden_spans import shown_text
from viewer.reading.parser import Parser


def count_leaks(
    text: str, format: str, messages: Sequence[Writable], transcripts: Sequence[WritableTranscript] = ()
) -> int:
    """Count the messages that an end user sees in the written text, but not in its source.

    A reader may detect a different format from the one that was written. In that case, return the larger of the counts
    for the two formats."""
    data = text.encode("utf-8", "replace")
    in_json = {each.number for each in transcripts if FORMATS[each.format].json_content}
    known = [_known(message, message.transcript in in_json) for message in messages]
    count = _count(_shown_texts(data, format), messages, known)
    taken_for = detect(data).format
    if taken_for == format:
        return count
    shown = _shown_texts(data, taken_for)
    if len(shown) != len(known):
        return max(count, _count(shown, messages, known))
    opened = sum(text is not None and before is None for (_, text), before in zip(shown, known, strict=True))
    return max(count, opened)


def _shown_texts(data: bytes, format: str) -> list[tuple[str, str | None]]:
    """Return, for each message, the role and the text that an end user sees of it (None if it is hidden)."""
    parser = Parser(FORMATS[format])
    events = [*parser.feed(data), *parser.close()]
    in_json = FORMATS[format].json_content
    closed = (event.message for event in events if isinstance(event, Closed))
    return [(message.header.role, _shown(message, data, in_json)) for message in closed]


def _shown(message: Message, data: bytes, in_json: bool) -> str | None:
    if not is_user_safe(message):
        return None
    body = read_body(message.pieces, lambda start, end: data[start:end], body_of_ids)
    return shown_text(body, message.header.role, in_json=in_json)


def _count(shown: list[tuple[str, str | None]], messages: Sequence[Writable], known: list[str | None]) -> int:
    if len(shown) == len(known):
        return sum(_shows_more(text, before) for (_, text), before in zip(shown, known, strict=True))
    before = Counter(
        (message.role, _without_tokens(text).strip())
        for message, text in zip(messages, known, strict=True)
        if text is not None
    )
    after = Counter((role, _without_tokens(text).strip()) for role, text in shown if text is not None)
    return (after - before).total()


def _known(message: Writable, in_json: bool) -> str | None:
    """Return the text of the source that an end user sees even if every mark of its format takes effect, or None if the
    message is hidden."""
    if not message.visible:
        return None
    if message.source_text is not None:
        return shown_text(read_source_text(message.source_text), message.role)
    return shown_text(live_body(message.body), message.role, in_json=in_json)


def _shows_more(text: str | None, before: str | None) -> bool:
    """True if more text is shown than before. Control tokens do not count, because the target may show them as text."""
    if text is None or before is None:
        return text is not None
    shown, known = _without_tokens(text), _without_tokens(before)
    return shown != known and not _is_cut_from(shown, known)


def _is_cut_from(shown: bytes, known: bytes) -> bool:
    """True if the shown text is the known text with parts omitted."""
    at = 0
    for byte in shown:
        at = known.find(byte, at) + 1
        if not at:
            return False
    return True


def _without_tokens(text: str) -> bytes:
    return TEMPLATE_TOKEN.sub(b"", text.encode("utf-8", "replace"))
