"""Export controller: asks for a file name, then writes the view in a background task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePath

from viewer.atomic_file import AtomicFile, OutputExistsError
from viewer.errors import ViewerError
from viewer.model.visibility import Audience, Level
from viewer.render.exports import EXPORTERS, FIRST, Exporter, default_name, exporter_of, misnamed, view_name
from viewer.render.exports.view_words import badge
from viewer.render.number_format import byte_size
from viewer.tui.host import Host, Notice, PromptKind, Task, as_sentence
from viewer.tui.session import Session

SLICE_SECONDS = 0.008
NOTICE_SECONDS = 0.2
"""The minimum number of seconds between progress reports."""
_ENDINGS = ", ".join(exporter.ending for exporter in EXPORTERS.values())


class ExportController:
    """Owns the export task and the state of the open question."""

    def __init__(self, session: Session, host: Host) -> None:
        self._session = session
        self._host = host
        self._task: Task | None = None
        self._replaces = ""
        """The name of an existing file. Entering it again replaces the file."""
        self._asked_for: Audience | None = None
        """The audience when the question was asked. The suggested name contains its level."""
        self._noticed_at = 0.0

    def ask(self) -> None:
        """Ask for a file name, suggesting one that contains the view's level. The extension determines the format."""
        self._replaces = ""
        audience = self._asked_for = self._session.display.audience
        first = default_name(self._session.document.name, audience, FIRST)
        self._ask(first)

    def _ask(self, name: str) -> None:
        """Ask with this initial name. The prompt starts with the level, which remains while the name is edited."""
        audience = self._session.display.audience
        names = [default_name(self._session.document.name, audience, exporter) for exporter in EXPORTERS.values()]
        offers = [each for each in names if each != name]
        self._host.prompt.ask(PromptKind.EXPORT, name, offers, label=f"{badge(audience)} ")

    def repeat_question(self) -> None:
        """If the view changes while the prompt for a file name is open, suggest a name for the new view."""
        if self._host.prompt.is_asking and self._host.prompt.kind is PromptKind.EXPORT:
            self.ask()

    def export_as(self, typed: str) -> None:
        """Write the current view to the named file without asking."""
        self._replaces = ""
        self._asked_for = self._session.display.audience
        self.export_to(typed)

    def export_to(self, typed: str) -> None:
        """Start writing the view to the named file, or show why that is not possible."""
        exporter = exporter_of(typed)
        if not typed.strip():
            return
        audience = self._session.display.audience
        if self._asked_for != audience:
            self.ask()
            self._host.notify("The view has changed. The file name now matches it.", Notice.WARNING)
            return
        if exporter is None:
            self._host.notify(f"Unknown file extension. Use one of: {_ENDINGS}.", Notice.WARNING)
            return
        refusal = misnamed(typed, audience)
        if refusal:
            self._ask(typed)
            self._host.prompt.hint(refusal)
            return
        self.stop()
        overwrite = typed == self._replaces
        self._replaces = ""
        file = AtomicFile(
            Path(typed).expanduser(),
            overwrite=overwrite,
            private=audience.level is not Level.SAFE,
            never=Path(self._session.document.path),
        )
        self._task = self._host.start_worker(partial(self._export, file, exporter, typed), "export")

    async def _export(self, target: AtomicFile, exporter: Exporter, typed: str) -> None:
        """Write in small slices. A cancelled export leaves no file behind."""
        document = self._session.document
        projection = document.project(self._session.projection.audience, withholds=False)
        pieces = exporter.pieces(projection, PurePath(document.name).name)
        so_far = "" if document.is_complete else " It contains only what has been read so far."
        try:
            with target as file:
                while self._write_slice(file, pieces):
                    await asyncio.sleep(0.001)
                await asyncio.to_thread(file.sync)
        except OutputExistsError:
            self._ask_again(typed)
        except ViewerError as refusal:
            self._host.notify(as_sentence(f"Export failed: {refusal}"), Notice.ERROR)
        else:
            self._host.notify(
                f"Exported {typed} ({byte_size(target.size)}, {view_name(projection.audience)} view).{so_far}",
                Notice.DONE,
            )

    def _write_slice(self, file: AtomicFile, pieces: Iterator[str]) -> bool:
        """Write until the time slice is used up. Return True if more remains."""
        started = time.monotonic()
        for piece in pieces:
            file.write(piece)
            now = time.monotonic()
            if now - started > SLICE_SECONDS:
                if now - self._noticed_at > NOTICE_SECONDS:
                    self._noticed_at = now
                    self._host.notify(
                        f"Exporting {file.path.name}: {byte_size(file.size)} written. Press esc to cancel."
                    )
                return True
        return False

    def _ask_again(self, typed: str) -> None:
        """Ask whether to replace an existing file. If another question is open, only report that the file exists."""
        if self._host.prompt.is_asking:
            self._host.notify(f"{typed} already exists and was not changed.", Notice.WARNING)
            return
        self._replaces = typed
        self._ask(typed)
        self._host.prompt.hint("already exists: enter replaces the file, esc cancels")

    def stop(self) -> bool:
        """Stop an export. Return True if one was running."""
        task, self._task = self._task, None
        if task is None or not task.is_running:
            return False
        task.cancel()
        self._host.notify("Export cancelled; nothing was written.", Notice.WARNING)
        return True
