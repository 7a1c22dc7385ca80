"""New transcripts in a folder, noticed while one of them is on the screen."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.sources.folder import Found
from viewer.tui.dialogs.file_table import FileTable

BUDGET_SECONDS = 0.005


class FolderWatch:
    """Looks through the folder in small steps, again and again."""

    def __init__(self, table: FileTable, known: Iterable[str] | None) -> None:
        """`known`: the files that are not new. None takes the first complete listing for that."""
        self._table = table
        self._known = None if known is None else set(known)

    def step(self) -> list[Found]:
        """Look for a moment; the files that were not there before, the newest last."""
        if self._table.list_some(BUDGET_SECONDS):
            return []
        known = self._known if self._known is not None else {file.path for file in self.files}
        new = [file for file in self.files if file.path not in known]
        self._known = known | {file.path for file in new}
        self._table.look_again()
        return sorted(new, key=lambda file: file.modified)

    @property
    def is_listed(self) -> bool:
        """True if the folder has been listed completely at least once."""
        return self._table.is_listed

    @property
    def files(self) -> list[Found]:
        """The transcripts that can be read, in the order of the list."""
        return [file for file in self._table.files if not file.reason]
