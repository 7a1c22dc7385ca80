"""State keeper: restores a screen's state from the state file, and saves it there."""

from __future__ import annotations

from viewer.document.live import LiveDocument
from viewer.tui.control.panes import PaneController
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.read_worker import ReadWorker
from viewer.tui.panes.panel import Panel
from viewer.tui.session import Session
from viewer.tui.settings.settings import Settings
from viewer.tui.settings.state_file import FileState, PaneName, StateFile

_PANES: dict[Panel, PaneName] = {
    Panel.OUTLINE: "outline", Panel.INSPECTOR: "inspector", Panel.BOTTOM: "problems",
}  # fmt: skip


class StateKeeper:
    """Restores and saves marks, the position, and pane sizes. It has no state of its own."""

    def __init__(
        self,
        state: StateFile,
        session: Session,
        settings: Settings,
        navigator: Navigator,
        panes: PaneController,
        reader: ReadWorker,
    ) -> None:
        self._state = state
        self._session = session
        self._settings = settings
        self._navigator = navigator
        self._panes = panes
        self._reader = reader

    def restore_sizes(self) -> None:
        """Restore the last pane sizes, except those that the settings define."""
        for panel, name in _PANES.items():
            size = self._state.panes.get(name)
            if size is not None and not getattr(self._settings, name).size:
                self._panes.resize(panel, size)

    def leave(self) -> None:
        """Save the marks, the position, and the pane sizes for the next start."""
        document = self._session.document
        count = document.message_count
        marks = sorted(mark for mark in self._session.marks if mark <= count or not document.is_read)
        at = self._reader.resume_at or self._navigator.left_at
        if isinstance(document, LiveDocument):  # a followed file opens at its end
            at = self._state.of(document.name).at
        self._state.closed(document.name, FileState(at, tuple(marks)))
        for panel, size in self._panes.sizes.items():
            self._state.resized(_PANES[panel], size)
