"""The vault: the only reader of bodies. It gives each audience what that audience may see, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import TYPE_CHECKING

from viewer.core.bodies import Body, read_body
from viewer.core.index import MessageIndex
from viewer.core.meant import all_characters_of
from viewer.core.messages import Message, Span
from viewer.core.thoughts import text_so_far, without_thoughts, without_thoughts_so_far
from viewer.core.visibility import Audience, is_user_safe
from viewer.errors import FileRewrittenError, UnprovenError
from viewer.formats import body_of_ids
from viewer.sources.blocks import BLOCK, body_blocks, size_of
from viewer.sources.bytes import Source
from viewer.sources.file_source import FileSource
from viewer.sources.rows import Rows
from viewer.sources.sight import Sight

if TYPE_CHECKING:
    from viewer.core.needle import Needle
    from viewer.sources.skim import Skimmer


class HiddenError(Exception):
    """The program asked for a body that its audience may not see: a fault of the program."""


WHOLE_SPAN = 64 * 1024
"""A message of up to so many bytes is read with its header and its stop."""

Judge = Callable[[Message, bytes], bool]


class Vault:
    """Reads bodies from a source, for an audience; of messages that still grow as much as is certain.

    If the source no longer holds what was indexed, no body comes out. `on_rewritten` is then called, for the screen,
    and the text is empty; without it FileRewrittenError is raised."""

    def __init__(
        self,
        source: Source,
        unsettled: Container[int] = frozenset(),
        judge: Judge | None = None,
        on_rewritten: Callable[[], None] | None = None,
    ) -> None:
        self._source = source
        self._unsettled = unsettled
        self._judge = judge
        self._on_rewritten = on_rewritten

    def body_for(self, audience: Audience, message: Message) -> str:
        """The text of a message that this audience may see, without what is cut out for it."""
        if not audience.sees(message):
            raise HiddenError
        try:
            return self._text(audience, message)
        except FileRewrittenError:
            self._withhold()
            return ""

    def _text(self, audience: Audience, message: Message) -> str:
        body = self._body(message)
        grows = message.number in self._unsettled
        if _cuts_thoughts(audience, message):
            return without_thoughts_so_far(body) if grows else without_thoughts(body)
        return text_so_far(body) if grows else body.text

    def blocks_for(self, audience: Audience, message: Message) -> Iterator[str]:
        """The same text in blocks of about a megabyte; see `body_blocks`."""
        if not audience.sees(message):
            raise HiddenError
        if size_of(message) <= BLOCK or message.number in self._unsettled or not self._is_proven(message):
            return iter((self.body_for(audience, message),))
        return self._blocks(audience, message)

    def _blocks(self, audience: Audience, message: Message) -> Iterator[str]:
        cuts = _cuts_thoughts(audience, message)
        try:
            yield from body_blocks(message, self._source.read, lambda: self._text(audience, message), cuts)
        except FileRewrittenError:
            self._withhold()

    def _is_proven(self, message: Message) -> bool:
        """True unless only a second judgement can show that the source still holds this message."""
        start, end = message.span
        try:
            self._source.read(start, start + 1)
            self._source.read(end - 1, end)
        except UnprovenError:
            return False
        except FileRewrittenError:
            pass  # reading the body says so
        return True

    def _withhold(self) -> None:
        """Called while FileRewrittenError is handled."""
        if self._on_rewritten is None:
            raise
        self._on_rewritten()

    def skimmer_for(self, audience: Audience, index: MessageIndex, rows: Rows, needle: Needle) -> Skimmer:
        """What looks for a text in many of these rows at once, and only in what this audience sees."""
        from viewer.sources.skim import Ground, Skimmer

        cuts = Sight(index, lambda message: _cuts_thoughts(audience, message))
        return Skimmer(Ground(index, rows, self._read_proven, Sight(index, audience.sees), cuts), needle)

    def _read_proven(self, start: int, end: int) -> bytes:
        """The bytes between two offsets; none if they must be judged again, message by message."""
        try:
            return self._source.read(start, end)
        except FileRewrittenError:
            return b""

    def places_for(self, audience: Audience, message: Message, spans: list[Span]) -> list[Span | None]:
        """Where spans of the input stand in the body's text, for a developer who sees all of it."""
        if audience.is_safe or not audience.sees(message):
            raise HiddenError
        if _cuts_thoughts(audience, message):
            return [None] * len(spans)
        try:
            return list(all_characters_of(self._body(message), spans))
        except FileRewrittenError:
            self._withhold()
            return [None] * len(spans)

    def raw_for(self, audience: Audience, message: Message) -> bytes:
        """The bytes of a message with its header, for a developer who sees it."""
        if audience.is_safe or not audience.sees(message):
            raise HiddenError
        try:
            return self._again(*message.span)
        except UnprovenError:
            return self._judged(message)
        except FileRewrittenError:
            self._withhold()
            return b""

    def stray_for(self, audience: Audience, start: int, end: int) -> str:
        """Text outside any message, for an audience that asked for it."""
        if not audience.sees_stray:
            raise HiddenError
        try:
            return self._again(start, end).decode("utf-8", "replace")
        except FileRewrittenError:
            self._withhold()
            return ""

    def _body(self, message: Message) -> Body:
        start, end = message.span
        is_one = all(start <= piece.start and piece.end <= end for piece in message.pieces)
        try:
            if not is_one or end - start > WHOLE_SPAN:
                self._again(start, min(end, start + WHOLE_SPAN))  # the header is still there, too
                return read_body(message.pieces, self._again, body_of_ids)
            frame = self._again(start, end)
        except UnprovenError:
            frame = self._judged(message)
        return read_body(message.pieces, lambda first, after: frame[first - start : after - start], body_of_ids)

    @property
    def _again(self) -> Callable[[int, int], bytes]:
        """The screen trusts no stamp; it reads little."""
        return self._source.read if self._on_rewritten is None else self._source.read_again

    def _judged(self, message: Message) -> bytes:
        """The bytes of a message that was judged again."""
        if self._judge is None or not isinstance(self._source, FileSource):
            raise FileRewrittenError(self._source.name)
        frame = self._source.read_unproven(*message.span)
        if not self._judge(message, frame):
            raise self._source.rewritten()
        return frame


def _cuts_thoughts(audience: Audience, message: Message) -> bool:
    return is_user_safe(message) and not audience.sees_thoughts and message.header.role == "assistant"
