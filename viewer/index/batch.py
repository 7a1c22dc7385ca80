"""`MessageBatch`: regular messages from the scanner as columns. Each has one plain body."""

from __future__ import annotations

from msgspec import Struct

from viewer.columns.api import Column
from viewer.reading.grammar import TextGrammar


class MessageBatch(Struct, frozen=True):
    """Regular messages of one transcript as columns."""

    transcript: int
    grammar: TextGrammar
    starts: Column
    ends: Column
    leads: Column
    """The distance from the start of each message to its body."""
    tails: Column
    """The length of each stop token."""
    kinds: Column
    """Kinds from `MessageIndex.kind_for`."""
    users: bytearray
    """A mask of the user messages."""
    id_rows: Column
    """The positions in the batch of the messages with a call ID."""
    id_ends: Column
    """The end of each call ID in `id_text`."""
    id_text: bytes
    noted: Column
    """The positions of messages with a header or stop token that needs a diagnostic."""
    escaped: Column
    """The positions of messages with text that differs from the bytes of the body."""

    def __len__(self) -> int:
        return len(self.starts)
