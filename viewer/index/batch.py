"""Whole messages of one plain body each, as the scanner finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from viewer.reading.grammar import TextGrammar


@frozen
class MessageBatch:
    """Such messages as columns; all of one transcript."""

    transcript: int
    grammar: TextGrammar
    starts: NDArray[np.int64]
    body_starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    ends: NDArray[np.int64]
    headers: NDArray[np.int64]
    """Numbers that `MessageIndex.header_number` gave."""
    endings: NDArray[np.int64]
    """Numbers that `ending_number` gave."""
    users: NDArray[np.bool_]
    """Whether the user speaks."""
    id_rows: NDArray[np.int64]
    """The positions in the run that have a call id."""
    id_ends: NDArray[np.int64]
    """Where each of them ends in the text."""
    id_text: bytes
    noted: NDArray[np.int64]
    """The positions of those of whose header or stop there is something to report."""

    def __len__(self) -> int:
        return len(self.starts)
