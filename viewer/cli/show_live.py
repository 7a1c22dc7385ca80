"""`ocmlview show -f`: print the conversation while it is written, as text or as JSON Lines."""

from __future__ import annotations

import time

from viewer.cli.exits import complain
from viewer.cli.output import Output
from viewer.document.live import LiveDocument
from viewer.model.visibility import Audience
from viewer.render.conversation import Conversation
from viewer.render.json_lines import reset_line
from viewer.render.live_json_lines import LiveLines
from viewer.sources.changes import Reason

_SHARE = 9
"""Limits the time for reading an open message to a tenth, however long it is."""


def say_stalled(document: LiveDocument) -> None:
    """Report a stalled message on one line without any of its content: it may be hidden."""
    complain(f"{document.name}: stalled, nothing has come for {document.stalled_for:.0f} s")


class LiveText:
    """Printer of the conversation: message by message, and the open one as it grows."""

    def __init__(self, audience: Audience, output: Output) -> None:
        self._audience = audience
        self._output = output
        self._page: Conversation | None = None
        self._has_printed = False
        self._is_new = False
        """True if the open message may have grown since the last look."""
        self._next_look = 0.0
        self._before: Conversation | None = None
        """The page of the same input from before another format won."""
        self.has_told = False
        self.document: LiveDocument | None = None
        """The document being read."""

    def begin(self, document: LiveDocument) -> None:
        """Begin a reading on the same page."""
        self.document = document
        if self._before:
            complain(f"{document.name}: now read as {document.detection.dialect}")
        elif self._page:
            self._write("".join(self._page.break_off()))
        self._page = Conversation(
            document.project(self._audience),
            self._output.width,
            self._output.style,
            begun=self._has_printed,
            before=self._before,
        )
        self.has_told = self._before is not None
        self._before = None

    def reset(self, name: str, reason: Reason) -> None:
        """Report on standard error: the page is for the conversation."""
        if self._page and reason is Reason.DETECTED:
            self._write("".join(self._page.pause()))
            self._before = self._page
            return
        if self._page:
            self._write("".join(self._page.break_off()))
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """Print settled messages; the open message waits until no more data is available."""
        assert self._page
        self._write("".join(self._page.grow(streams=False)))
        self._is_new = True

    def rest(self) -> None:
        """Print the certain part of the open message."""
        begun = time.monotonic()
        if self._page and self._is_new and begun >= self._next_look:
            self._is_new = False
            self._write("".join(self._page.grow()))
            self._next_look = time.monotonic() + _SHARE * (time.monotonic() - begun)

    def stalled(self, document: LiveDocument) -> None:
        say_stalled(document)

    def end(self) -> None:
        """Print all the rest; for an input without a transcript, a caller prints one sentence."""
        assert self._page
        if self.document and self.document.unknown:
            return
        self._write("".join(self._page.end()))
        self._is_new = False

    def _write(self, text: str) -> None:
        if text:
            self._output.write_parts((text,))
            self._has_printed = self.has_told = True


class LiveJson:
    """Printer of JSON Lines, each when it is settled."""

    def __init__(self, audience: Audience, output: Output) -> None:
        self._audience = audience
        self._output = output
        self._lines: LiveLines | None = None
        self.has_told = False
        self.document: LiveDocument | None = None
        """The document being read."""

    def begin(self, document: LiveDocument) -> None:
        """Begin a reading; numbers begin at 1."""
        self.document = document
        self._lines = LiveLines(document.project(self._audience))
        self.has_told = False

    def reset(self, name: str, reason: Reason) -> None:
        """Print a line among the others, and one on standard error."""
        self._output.write([reset_line(reason)])
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """Print settled lines."""
        assert self._lines
        lines = list(self._lines.grow())
        self._output.write(lines)
        self.has_told = self.has_told or bool(lines)

    def rest(self) -> None:
        """Do nothing: lines are printed whole."""

    def stalled(self, document: LiveDocument) -> None:
        say_stalled(document)

    def end(self) -> None:
        """Print all the rest."""
        assert self._lines
        self._output.write(self._lines.end())
