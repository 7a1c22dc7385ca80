"""Batches of regular messages from the scanner: each has one plain body."""

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
    """From the start of each message to its body."""
    tails: Column
    """The length of each stop."""
    kinds: Column
    """Kinds from `MessageIndex.kind_for`."""
    users: bytearray
    """A mask of the messages of the user."""
    id_rows: Column
    """The positions in the batch that have a call id."""
    id_ends: Column
    """The end of each call id in the text."""
    id_text: bytes
    noted: Column
    """The positions of messages with something to report about the header or stop."""
    escaped: Column
    """The positions of messages whose text is not the bytes of the body."""

    def __len__(self) -> int:
        return len(self.starts)
