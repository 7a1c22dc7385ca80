"""Writing what the view shows to a file: the question where, and the work in small steps beside everything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePath

from textual.worker import Worker

from viewer.atomic_file import AtomicFile, OutputExistsError
from viewer.errors import ViewerError
from viewer.model.visibility import Audience
from viewer.render.exports import EXPORTERS, FIRST, Exporter, default_name, exporter_of
from viewer.render.number_format import byte_size
from viewer.tui.bars.prompt import PromptKind
from viewer.tui.bars.status import Notice
from viewer.tui.main.parts import Parts

_STEP_SECONDS = 0.008
_TELL_SECONDS = 0.2
_ENDINGS = ", ".join(exporter.ending for exporter in EXPORTERS.values())


class Exporting(Parts):
    """The action that exports."""

    _worker: Worker[None] | None = None
    _asked_twice = ""
    """The name of a file that is there: when it is given once more, the file is replaced."""

    _asked_for: Audience | None = None
    """Who looked when the question was asked: the name that it offers says so."""

    def action_export(self) -> None:
        """Ask for a file; its ending says the form, its name which view it is."""
        self._asked_twice = ""
        audience = self._asked_for = self.state.audience
        names = [default_name(self.document.name, audience, exporter) for exporter in EXPORTERS.values()]
        offers = [name for name in names if name != default_name(self.document.name, audience, FIRST)]
        self.prompt.ask(PromptKind.EXPORT, default_name(self.document.name, audience, FIRST), offers)
        self.prompt.note("up, down: other forms")

    def repeat_question(self) -> None:
        """The view has changed: a question that is open offers the names for what it shows now."""
        if self.prompt.is_asking and self.prompt.kind is PromptKind.EXPORT:
            self.action_export()

    def export_to(self, typed: str) -> None:
        """Write what the view shows to the file that was named."""
        exporter = exporter_of(typed)
        if not typed.strip():
            return
        if self._asked_for != self.state.audience:
            self.action_export()
            self.say("the view has changed since: this is the name for what it shows now", Notice.WARNING)
            return
        if exporter is None:
            self.say(f"the ending says the form: {_ENDINGS}", Notice.WARNING)
            return
        self.stop_export()
        overwrite = typed == self._asked_twice
        self._asked_twice = ""
        file = AtomicFile(
            Path(typed).expanduser(),
            overwrite=overwrite,
            private=not self.state.audience.is_safe,
            never=Path(self.document.name),
        )
        self._worker = self.work(partial(self._export, file, exporter, typed), "export")

    async def _export(self, target: AtomicFile, exporter: Exporter, typed: str) -> None:
        """The file, in steps so small that no key ever waits; when it is stopped, nothing is left of it."""
        projection = self.document.project(self.view.projection.audience, withholds=False)
        pieces = exporter.pieces(projection, PurePath(self.document.name).name)
        so_far = "" if self.document.is_complete else ", as far as it has been read"
        try:
            with target as file:
                while self._write_some(file, pieces):
                    await asyncio.sleep(0.001)
                await asyncio.to_thread(file.sync)
        except OutputExistsError:
            self._ask_again(typed)
        except ViewerError as refusal:
            self.say(str(refusal), Notice.ERROR)
        else:
            self.say(f"wrote {typed} ({byte_size(target.size)}{so_far})", Notice.DONE)

    _told = 0.0

    def _write_some(self, file: AtomicFile, pieces: Iterator[str]) -> bool:
        """As much as fits in one step; whether there is more."""
        began = time.monotonic()
        for piece in pieces:
            file.write(piece)
            now = time.monotonic()
            if now - began > _STEP_SECONDS:
                if now - self._told > _TELL_SECONDS:
                    self._told = now
                    self.say(f"exporting to {file.path.name}: {byte_size(file.size)} written; esc stops")
                return True
        return False

    def _ask_again(self, typed: str) -> None:
        """There is a file of this name: the same name once more replaces it."""
        if self.prompt.is_asking:
            self.say(f"{typed} is there already; it was left as it is", Notice.WARNING)
            return
        self._asked_twice = typed
        self.prompt.ask(PromptKind.EXPORT, typed, [])
        self.prompt.note("is there already: enter replaces it, esc leaves it")

    def stop_export(self) -> bool:
        """Stop writing a file; whether one was being written."""
        worker, self._worker = self._worker, None
        if worker is None or not worker.is_running:
            return False
        worker.cancel()
        self.say("the export was stopped; nothing was written", Notice.WARNING)
        return True
