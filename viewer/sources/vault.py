"""The vault: the only reader of bodies. It gives each audience what that audience may see, and nothing else."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from viewer.core.bodies import Body, read_body
from viewer.core.diagnostics import Diagnostic
from viewer.core.hidden_spans import ALL_KINDS, BlockKind, shown_so_far, shown_text
from viewer.core.index import MessageIndex
from viewer.core.meant import all_characters_of
from viewer.core.messages import Coding, Message, Span, Transcript
from viewer.core.offending import offending_value
from viewer.core.open_bodies import hold_back
from viewer.core.thoughts import text_so_far
from viewer.core.visibility import Audience, Reveal, is_user_safe
from viewer.formats import DIALECTS, body_of_ids
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

    def __init__(
        self, source: Source, unsettled: Container[int] = frozenset(), transcripts: Sequence[Transcript] = ()
    ) -> None:
        self._source = source
        self._unsettled = unsettled
        self._transcripts = transcripts

    def body_for(self, audience: Audience, message: Message) -> str:
        """The text of a message that this audience may see, without what is cut out for it."""
        if not audience.sees(message):
            raise HiddenError
        body = self._body(message)
        grows = message.number in self._unsettled
        if grows:
            hold_back(body, self._unsettled)
        kinds = _cut_kinds(audience, message)
        if kinds:
            shown = shown_so_far if grows else shown_text
            return shown(body, message.header.role, kinds, in_json=self._is_json(message))
        return text_so_far(body) if grows else body.text

    def source_text_for(self, audience: Audience, message: Message) -> str | None:
        """The same text with its escapes and literal blocks, where the format has them."""
        if not audience.sees(message):
            raise HiddenError
        is_escaped = len(message.pieces) == 1 and message.pieces[0].coding is Coding.ESCAPED
        if not is_escaped or message.number in self._unsettled:
            return None
        if self.body_for(audience, message) != self._body(message).text:
            return None  # part of the body is hidden, and what is left is escaped again
        piece = message.pieces[0]
        return self._source.read(piece.start, piece.end).decode("utf-8", "replace")

    def blocks_for(self, audience: Audience, message: Message) -> Iterator[str]:
        """The same text in blocks of about a megabyte; see `body_blocks`."""
        if not audience.sees(message):
            raise HiddenError
        if size_of(message) <= BLOCK or message.number in self._unsettled:
            return iter((self.body_for(audience, message),))
        cuts = bool(_cut_kinds(audience, message))
        return body_blocks(message, self._source.read, lambda: self.body_for(audience, message), cuts)

    def skimmer_for(self, audience: Audience, index: MessageIndex, rows: Rows, needle: Needle) -> Skimmer:
        """What looks for a text in many of these rows at once, and only in what this audience sees."""
        from viewer.sources.skim import Ground, Skimmer

        cuts = Sight(index, lambda message: bool(_cut_kinds(audience, message)))
        return Skimmer(Ground(index, rows, self._source.read, Sight(index, audience.sees), cuts), needle)

    def places_for(self, audience: Audience, message: Message, spans: list[Span]) -> list[Span | None]:
        """Where spans of the input stand in the body's text, for a developer who sees all of it."""
        if audience.is_safe or not audience.sees(message):
            raise HiddenError
        body = self._body(message)
        if _cut_kinds(audience, message):
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

    def value_for(self, audience: Audience, diagnostic: Diagnostic) -> str | None:
        """The offending value of a diagnostic, for an audience that sees everything."""
        return offending_value(diagnostic, self._source.read) if audience.reveals(Reveal.ALL) else None

    def _body(self, message: Message) -> Body:
        return read_body(message.pieces, self._source.read, body_of_ids)

    def _is_json(self, message: Message) -> bool:
        """True if control tokens in the body have no meaning of their own in the format."""
        if not 0 < message.transcript <= len(self._transcripts):
            return False
        return DIALECTS[self._transcripts[message.transcript - 1].dialect].json_content


_REVEALED_BY = {
    BlockKind.THOUGHT: Reveal.ANALYSIS,
    BlockKind.CALL: Reveal.COMMENTARY,
    BlockKind.REPLY: Reveal.TOOL,
    BlockKind.TOKENS: Reveal.UNCLEAR,
}


def _cut_kinds(audience: Audience, message: Message) -> frozenset[BlockKind]:
    """The kinds of blocks that are cut out of a body for this audience."""
    if not is_user_safe(message):
        return frozenset()
    return _kinds_of(audience)


@lru_cache(maxsize=64)
def _kinds_of(audience: Audience) -> frozenset[BlockKind]:
    return frozenset(kind for kind in ALL_KINDS if not audience.reveals(_REVEALED_BY[kind]))
