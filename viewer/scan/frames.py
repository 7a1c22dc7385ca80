"""Choose the frame scanner: the native accelerator, or NumPy without it. No other code makes this choice."""

from __future__ import annotations

from viewer import native
from viewer.scan.blocks import Frames, find_frames
from viewer.scan.native_frames import find_native_frames


def scan_frames(data: bytes, *, escapes: bool) -> Frames:
    """Find all plain frames of a block. With `escapes`, a mark after `<` is text."""
    accelerator = native.load()
    return find_native_frames(accelerator, data, escapes=escapes) if accelerator else find_frames(data, escapes=escapes)
