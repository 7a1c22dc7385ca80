"""Batches of regular messages from the scanner: each has one plain body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from viewer.reading.grammar import TextGrammar


@frozen
class MessageBatch:
    """Regular messages of one transcript as columns."""

    transcript: int
    grammar: TextGrammar
    starts: NDArray[np.int64]
    body_starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    ends: NDArray[np.int64]
    headers: NDArray[np.int64]
    """Numbers from `MessageIndex.header_number`."""
    endings: NDArray[np.int64]
    """Numbers from `ending_number`."""
    users: NDArray[np.bool_]
    """True for messages of the user."""
    id_rows: NDArray[np.int64]
    """The positions in the batch that have a call id."""
    id_ends: NDArray[np.int64]
    """The end of each call id in the text."""
    id_text: bytes
    noted: NDArray[np.int64]
    """The positions of messages with something to report about the header or stop."""

    def __len__(self) -> int:
        return len(self.starts)
