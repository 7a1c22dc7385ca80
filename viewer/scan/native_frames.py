"""Frames and headers of a block from the native accelerator, in the same columns that NumPy produces."""

from __future__ import annotations

from viewer.native import Native
from viewer.numeric import np
from viewer.scan.blocks import START_LENGTH, STOP_LENGTHS, Frames, HeaderColumns

ROW = np.dtype(
    [
        *((name, np.int64) for name in ("start", "message", "stop", "id_start")),
        *((name, np.int32) for name in ("id_length", "kind")),
        ("flags", np.uint32),
        *((name, np.uint8) for name in ("ending", "follows")),
        ("unused", np.uint16),
    ]
)
"""A row of `Native.frames`."""
ESCAPED = 1
"""A flag: the body has a mark after a doubled `<`, so its text differs from its bytes."""


def find_native_frames(accelerator: Native, data: bytes, *, escapes: bool) -> Frames:
    """Find all plain frames of a block, and their headers. No `<` ever precedes a block."""
    rows, examples = accelerator.frames(data, 0, escapes)
    table = np.frombuffer(rows, ROW)
    first_of_kind = table[np.frombuffer(examples, np.int64)]
    stops, id_starts, endings = table["stop"].copy(), table["id_start"].copy(), table["ending"].astype(np.int64)
    headers = HeaderColumns(
        table["kind"].astype(np.int64),
        (first_of_kind["start"] + START_LENGTH).tolist(),
        first_of_kind["id_start"].tolist(),
        (first_of_kind["id_start"] + first_of_kind["id_length"]).tolist(),
        first_of_kind["message"].tolist(),
        id_starts,
        id_starts + table["id_length"],
    )
    return Frames(
        starts=table["start"].copy(),
        messages=table["message"].copy(),
        stops=stops,
        ends=stops + STOP_LENGTHS[endings],
        endings=endings,
        follows=table["follows"].astype(bool),
        escaped=(table["flags"] & ESCAPED).astype(bool),
        headers=headers,
    )
