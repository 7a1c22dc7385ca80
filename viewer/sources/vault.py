"""The vault: the only reader of bodies. It gives each audience what that audience may see, and nothing else."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from viewer.core.bodies import Body, read_body
from viewer.core.index import MessageIndex
from viewer.core.meant import all_characters_of
from viewer.core.messages import Message, Span
from viewer.core.open_bodies import hold_back
from viewer.core.thoughts import text_so_far, without_thoughts, without_thoughts_so_far
from viewer.core.visibility import Audience, is_user_safe
from viewer.formats import body_of_ids
from viewer.sources.blocks import BLOCK, body_blocks, size_of
from viewer.sources.bytes import Source
from viewer.sources.rows import Rows
from viewer.sources.sight import Sight

if TYPE_CHECKING:
    from viewer.core.needle import Needle
    from viewer.sources.skim import Skimmer


class HiddenError(Exception):
    """The program asked for a body that its audience may not see: a fault of the program."""


class Vault:
    """Reads bodies from a source, for an audience; of messages that still grow as much as is certain."""

    def __init__(self, source: Source, unsettled: Container[int] = frozenset()) -> None:
        self._source = source
        self._unsettled = unsettled

    def body_for(self, audience: Audience, message: Message) -> str:
        """The text of a message that this audience may see, without what is cut out for it."""
        if not audience.sees(message):
            raise HiddenError
        body = self._body(message)
        grows = message.number in self._unsettled
        if grows:
            hold_back(body, self._unsettled)
        if _cuts_thoughts(audience, message):
            return without_thoughts_so_far(body) if grows else without_thoughts(body)
        return text_so_far(body) if grows else body.text

    def blocks_for(self, audience: Audience, message: Message) -> Iterator[str]:
        """The same text in blocks of about a megabyte; see `body_blocks`."""
        if not audience.sees(message):
            raise HiddenError
        if size_of(message) <= BLOCK or message.number in self._unsettled:
            return iter((self.body_for(audience, message),))
        cuts = _cuts_thoughts(audience, message)
        return body_blocks(message, self._source.read, lambda: self.body_for(audience, message), cuts)

    def skimmer_for(self, audience: Audience, index: MessageIndex, rows: Rows, needle: Needle) -> Skimmer:
        """What looks for a text in many of these rows at once, and only in what this audience sees."""
        from viewer.sources.skim import Ground, Skimmer

        cuts = Sight(index, lambda message: _cuts_thoughts(audience, message))
        return Skimmer(Ground(index, rows, self._source.read, Sight(index, audience.sees), cuts), needle)

    def places_for(self, audience: Audience, message: Message, spans: list[Span]) -> list[Span | None]:
        """Where spans of the input stand in the body's text, for a developer who sees all of it."""
        if audience.is_safe or not audience.sees(message):
            raise HiddenError
        body = self._body(message)
        if _cuts_thoughts(audience, message):
            return [None] * len(spans)
        return list(all_characters_of(body, spans))

    def raw_for(self, audience: Audience, message: Message) -> bytes:
        """The bytes of a message with its header, for a developer who sees it."""
        if audience.is_safe or not audience.sees(message):
            raise HiddenError
        return self._source.read(*message.span)

    def stray_for(self, audience: Audience, start: int, end: int) -> str:
        """Text outside any message, for an audience that asked for it."""
        if not audience.sees_stray:
            raise HiddenError
        return self._source.read(start, end).decode("utf-8", "replace")

    def _body(self, message: Message) -> Body:
        return read_body(message.pieces, self._source.read, body_of_ids)


def _cuts_thoughts(audience: Audience, message: Message) -> bool:
    return is_user_safe(message) and not audience.sees_thoughts and message.header.role == "assistant"
