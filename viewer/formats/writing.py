"""Input and output types of writers: messages that may be shown, with their bodies as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from viewer.model.messages import Span, Usage


class Writable(Protocol):
    """A message as a view presents it, without access to hidden content."""

    @property
    def transcript(self) -> int:
        """The number of the transcript that contains the message."""

    @property
    def number(self) -> int:
        """The number of the message across the whole input."""

    @property
    def span(self) -> Span | None:
        """Where the source of the message begins and ends, or None if the audience must not know. The messages of one
        record share this span."""

    @property
    def role(self) -> str:
        """The role as given."""

    @property
    def name(self) -> str | None:
        """The `name=` attribute, if given."""

    @property
    def recipient(self) -> str | None:
        """The `to=` attribute, if given."""

    @property
    def channel(self) -> str | None:
        """The effective channel; None if it is unknown."""

    @property
    def channel_given(self) -> str | None:
        """The channel as written; None if not given."""

    @property
    def intent(self) -> str | None:
        """The `intent=` attribute, if given."""

    @property
    def call_id(self) -> str | None:
        """The `call_id=` attribute, if given."""

    @property
    def content_type(self) -> str | None:
        """The type of the body, if given."""

    @property
    def constrained(self) -> bool:
        """True if the body must have this type; False if the type is only a hint."""

    @property
    def usage(self) -> Usage | None:
        """The token usage of the reply, or None if the input does not report it."""

    @property
    def ending(self) -> str:
        """How the message ended: `end`, `return`, `call`, `open`, or `implied`."""

    @property
    def body(self) -> str:
        """The decoded text."""

    @property
    def message_kind(self) -> str:
        """The kind of content, for machine-readable output: a value of `Kind`, such as `said` or `thought`."""

    @property
    def is_value(self) -> bool:
        """True if the body is the source text of JSON values that are not strings."""

    @property
    def time(self) -> str | None:
        """The time in UTC, or None if the input contains none."""

    @property
    def thread(self) -> int:
        """The thread number of the agent; 0 for the main agent."""

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
    """A transcript as a writer receives it."""

    @property
    def number(self) -> int:
        """The number of the transcript, counted from 1 across the whole input."""

    @property
    def format(self) -> str:
        """The format of the transcript."""

    @property
    def version(self) -> str | None:
        """The version of the format in the document header, if given."""

    @property
    def model(self) -> str | None:
        """The model in the document header, if given."""

    @property
    def header(self) -> dict[str, object] | None:
        """The whole document header, or None if the audience may not see it."""


Writer = Callable[[Sequence[WritableTranscript], Iterable[Writable]], tuple[str, list[str]]]
"""A function that returns the text, and a sentence for each loss."""


def without_headers(write: Callable[[Iterable[Writable]], tuple[str, list[str]]]) -> Writer:
    """Wrap the writer of a format without document headers, so that it reports each dropped header as a loss."""

    def write_all(transcripts: Sequence[WritableTranscript], messages: Iterable[Writable]) -> tuple[str, list[str]]:
        text, losses = write(messages)
        if any(transcript.header for transcript in transcripts):
            losses = [*losses, "the document header has no equivalent"]
        return text, losses

    return write_all
