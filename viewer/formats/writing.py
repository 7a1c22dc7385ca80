"""Input and output types of writers: messages that may be shown, with their bodies as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from viewer.model.messages import Span, Usage


class Writable(Protocol):
    """A message as a view presents it. It provides no access to hidden content."""

    @property
    def transcript(self) -> int:
        """The number of the transcript that contains the message."""

    @property
    def number(self) -> int:
        """The number of the message across the whole input."""

    @property
    def span(self) -> Span | None:
        """Where the source of the message begins and ends, if the audience may know. The messages of one record share
        this span."""

    @property
    def role(self) -> str:
        """The role as given."""

    @property
    def name(self) -> str | None:
        """`name=`."""

    @property
    def recipient(self) -> str | None:
        """`to=`."""

    @property
    def channel(self) -> str | None:
        """The effective channel; None if it is unknown."""

    @property
    def channel_given(self) -> str | None:
        """The channel as written; None if not given."""

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
        """True if the type was required rather than a hint."""

    @property
    def usage(self) -> Usage | None:
        """The token usage of the reply, as reported in the input."""

    @property
    def ending(self) -> str:
        """`end`, `return`, `call`, `open`, or `implied`."""

    @property
    def body(self) -> str:
        """The decoded text."""

    @property
    def message_kind(self) -> str:
        """`said`, `thought`, `call`, `reply`, `instruction`, or `unknown`."""

    @property
    def is_value(self) -> bool:
        """True if the body is the source text of JSON values that are not strings."""

    @property
    def time(self) -> str | None:
        """The time in UTC, if the input contains one."""

    @property
    def thread(self) -> int:
        """The thread number of another agent; 0 for the main agent."""

    @property
    def extra(self) -> Mapping[str, str]:
        """Attributes that no format defines."""

    @property
    def source_text(self) -> str | None:
        """The body as OpenChatML 2.2 writes it, with escapes and literal blocks; None if the source is another
        format."""

    @property
    def visible(self) -> bool:
        """True if the safe view shows the message."""


class WritableTranscript(Protocol):
    """One transcript for a writer."""

    @property
    def number(self) -> int:
        """The number of the transcript, counted from 1 across the whole input."""

    @property
    def format(self) -> str:
        """The format of the transcript."""

    @property
    def version(self) -> str | None:
        """The version of the format in the document header."""

    @property
    def model(self) -> str | None:
        """The model in the document header."""

    @property
    def header(self) -> dict[str, object] | None:
        """The whole document header, for an audience that may see it."""


Writer = Callable[[Sequence[WritableTranscript], Iterable[Writable]], tuple[str, list[str]]]
"""A function that returns the text, and a sentence for each loss."""


def without_headers(write: Callable[[Iterable[Writable]], tuple[str, list[str]]]) -> Writer:
    """Wrap the writer of a format without document headers."""

    def write_all(transcripts: Sequence[WritableTranscript], messages: Iterable[Writable]) -> tuple[str, list[str]]:
        text, losses = write(messages)
        if any(transcript.header for transcript in transcripts):
            losses = [*losses, "the document header has no equivalent"]
        return text, losses

    return write_all
