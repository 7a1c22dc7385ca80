"""What a writer of any dialect is given: a message that may be shown, with its body as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol


class Writable(Protocol):
    """A message as a view has it; nothing hidden can be reached from it."""

    @property
    def transcript(self) -> int:
        """The number of its transcript."""

    @property
    def number(self) -> int:
        """Its own number, through the whole input."""

    @property
    def role(self) -> str:
        """As given."""

    @property
    def name(self) -> str | None:
        """`name=`."""

    @property
    def recipient(self) -> str | None:
        """`to=`."""

    @property
    def channel(self) -> str | None:
        """The effective channel; None where it is unknown."""

    @property
    def channel_given(self) -> str | None:
        """As written; None where none was."""

    @property
    def intent(self) -> str | None:
        """`intent=`."""

    @property
    def call_id(self) -> str | None:
        """`call_id=`."""

    @property
    def content_type(self) -> str | None:
        """The type of the body."""

    @property
    def constrained(self) -> bool:
        """Whether the type was demanded rather than hinted at."""

    @property
    def ending(self) -> str:
        """`end`, `return`, `call`, `open` or `implied`."""

    @property
    def body(self) -> str:
        """What the author meant."""

    @property
    def message_kind(self) -> str:
        """`said`, `thought`, `call`, `reply`, `instruction`, or `unknown`."""

    @property
    def is_value(self) -> bool:
        """True if the body is the source text of JSON values that are not strings."""

    @property
    def extra(self) -> Mapping[str, str]:
        """Attributes that no dialect defines."""

    @property
    def source_text(self) -> str | None:
        """The body as OpenChatML 2.2 writes it, with escapes and literal blocks; None if it comes from elsewhere."""

    @property
    def visible(self) -> bool:
        """What the safe view would do."""


class WritableTranscript(Protocol):
    """One transcript as a writer sees it."""

    @property
    def number(self) -> int:
        """1-based, through the whole input."""

    @property
    def dialect(self) -> str:
        """The format that it was read as."""

    @property
    def version(self) -> str | None:
        """Of the format, as its header says."""

    @property
    def model(self) -> str | None:
        """The model that its header names."""

    @property
    def header(self) -> dict[str, object] | None:
        """The whole document header, for an audience that may see it."""


Writer = Callable[[Sequence[WritableTranscript], Iterable[Writable]], tuple[str, list[str]]]
"""Gives the text, and a sentence for each thing that it cannot say."""


def without_headers(write: Callable[[Iterable[Writable]], tuple[str, list[str]]]) -> Writer:
    """A writer whose format has no document header."""

    def write_all(transcripts: Sequence[WritableTranscript], messages: Iterable[Writable]) -> tuple[str, list[str]]:
        text, losses = write(messages)
        if any(transcript.header for transcript in transcripts):
            losses = [*losses, "the document header cannot be said"]
        return text, losses

    return write_all
