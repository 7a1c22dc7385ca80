"""`ocmlview show -f`: the conversation while it is written, as text or as JSON lines."""

from __future__ import annotations

import time

from viewer.cli.exits import complain
from viewer.cli.output import Output
from viewer.document.live import LiveDocument
from viewer.model.visibility import Audience
from viewer.render.json_lines import reset_line
from viewer.render.live_conversation import LiveConversation
from viewer.render.live_json_lines import LiveLines
from viewer.sources.changes import Reason

_SHARE = 9
"""Looking through an open message takes a tenth of the time at most, however long it is."""


def say_stalled(document: LiveDocument) -> None:
    """One line about an open message, which may be a hidden one: nothing of it is told."""
    complain(f"{document.name}: stalled, nothing has come for {document.stalled_for:.0f} s")


class LiveText:
    """Prints the conversation: message by message, and the open one as it grows."""

    def __init__(self, audience: Audience, output: Output) -> None:
        self._audience = audience
        self._output = output
        self._page: LiveConversation | None = None
        self._has_printed = False
        self._is_new = False
        """An open message may have grown since it was looked at."""
        self._next_look = 0.0
        self._before: LiveConversation | None = None
        """The page of the same input, until another format won."""
        self.has_told = False
        self.document: LiveDocument | None = None
        """What is being read."""

    def begin(self, document: LiveDocument) -> None:
        """A reading begins, on the same page."""
        self.document = document
        if self._before:
            complain(f"{document.name}: now read as {document.detection.dialect}")
        elif self._page:
            self._write("".join(self._page.break_off()))
        self._page = LiveConversation(
            document.project(self._audience),
            self._output.width,
            self._output.style,
            begun=self._has_printed,
            before=self._before,
        )
        self.has_told = self._before is not None
        self._before = None

    def reset(self, name: str, reason: Reason) -> None:
        """Said on standard error: the page is for the conversation."""
        if self._page and reason is Reason.DETECTED:
            self._write("".join(self._page.pause()))
            self._before = self._page
            return
        if self._page:
            self._write("".join(self._page.break_off()))
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """What is settled is printed; the open message waits until nothing more is there."""
        assert self._page
        self._write("".join(self._page.grow(streams=False)))
        self._is_new = True

    def rest(self) -> None:
        """What is certain of the open message is printed."""
        begun = time.monotonic()
        if self._page and self._is_new and begun >= self._next_look:
            self._is_new = False
            self._write("".join(self._page.grow()))
            self._next_look = time.monotonic() + _SHARE * (time.monotonic() - begun)

    def stalled(self, document: LiveDocument) -> None:
        """An open message does not go on."""
        say_stalled(document)

    def end(self) -> None:
        """All the rest; of an input without a transcript there is nothing but one sentence to print."""
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
    """Prints lines, each when it is settled."""

    def __init__(self, audience: Audience, output: Output) -> None:
        self._audience = audience
        self._output = output
        self._lines: LiveLines | None = None
        self.has_told = False
        self.document: LiveDocument | None = None
        """What is being read."""

    def begin(self, document: LiveDocument) -> None:
        """A reading begins; numbers begin at 1."""
        self.document = document
        self._lines = LiveLines(document.project(self._audience))
        self.has_told = False

    def reset(self, name: str, reason: Reason) -> None:
        """A line among the others, and one on standard error."""
        self._output.write([reset_line(reason)])
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """What is settled is printed."""
        assert self._lines
        lines = list(self._lines.grow())
        self._output.write(lines)
        self.has_told = self.has_told or bool(lines)

    def rest(self) -> None:
        """Lines are printed whole."""

    def stalled(self, document: LiveDocument) -> None:
        """An open message does not go on."""
        say_stalled(document)

    def end(self) -> None:
        """All the rest."""
        assert self._lines
        self._output.write(self._lines.end())
