"""What differs between the formats, as data, and what a reader of one must do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from viewer.reading.recorder import Recorder
from viewer.values import frozen


class Reader(Protocol):
    """Bytes in, calls on a `Record` out. How the bytes were cut must never show in what is recorded."""

    def feed(self, data: bytes) -> None:
        """The next bytes of the input."""

    def close(self) -> None:
        """The input has ended."""


@frozen
class Options:
    """What the person may choose about reading."""

    harmony_preambles: bool = False
    """Harmony's own rule: commentary without a recipient is a preamble for the user."""


@frozen
class FormatTraits:
    """One row of the table of formats."""

    name: str
    """As in `--format` and in machine output."""
    reader: Callable[[Recorder, Options], Reader]
    json_content: bool = False
    """Bodies are content of JSON: control tokens in them are a server's fault."""
    shares_spans: bool = False
    """Several messages may stand in the same bytes: parts of one JSON object or frame, streams that interleave."""
    escapes: bool = False
    """`<<|` escapes and literal blocks mean something (OpenChatML 2.2)."""
    call_ids: bool = False
    """Calls and replies must carry a `call_id`."""
    infers_calls: bool = False
    """There are no call ids at all: pairing by tool and order is worth a note."""
    channel_required: bool = False
    """An assistant message must name its channel."""
    document_header: bool = False
    """A transcript must begin with a YAML header."""
    closed_by_call: bool = False
    """A call must end with `<|call|>`."""
    thoughts_first: bool = False
    """A thought block before any shown text of an answer is normal: models of chat templates begin with one."""
    display_trim: bool = False
    """One newline at either end of a body is layout, trimmed only for display."""
