"""Copy controller: copies part of the focused message to the clipboard after the prefix key `y`."""

from __future__ import annotations

from viewer.render.sanitize import sanitize_copy
from viewer.tui.host import Host, Notice
from viewer.tui.keys import after_yank
from viewer.tui.main.navigator import Navigator
from viewer.tui.session import Session
from viewer.tui.terminal.clipboard import What, copy_of


class CopyController:
    """Owns the state after `y`, in which the next key selects what to copy."""

    def __init__(self, session: Session, host: Host, navigator: Navigator) -> None:
        self.pending_yank = False
        self._session = session
        self._host = host
        self._navigator = navigator

    def yank(self) -> None:
        """Copy the text; in the debug view, wait for the key that selects what to copy."""
        if not self._session.display.debug:
            self.copy_text()
            return
        self.pending_yank = True
        choices = "  ".join(f"{key} {each.label.removeprefix('Copy ')}" for key, each in after_yank().items())
        cancel = self._host.key_of("clear")
        self._host.notify(f"{self._host.key_of('yank')} copies: {choices}", aside=f"{cancel} cancels")

    def finish_yank(self, key: str) -> str | None:
        """End the wait for a key, and return the ID of the action that it selects. If it selects none, return None and,
        unless it is escape, show the possible keys."""
        self.pending_yank = False
        action = after_yank().get(key)
        if action is None and key != "escape":
            self._host.notify(f"Press {self._host.key_of('yank')}, then one of: {' '.join(after_yank())}.")
        return action.id if action else None

    def copy_text(self) -> None:
        self._copy(What.TEXT)

    def copy_raw(self) -> None:
        self._copy(What.RAW)

    def copy_json(self) -> None:
        self._copy(What.JSON)

    def copy_header(self) -> None:
        self._copy(What.HEADER)

    def copy_call_id(self) -> None:
        self._copy(What.CALL_ID)

    def copy_link(self) -> None:
        """Copy the file name and the message number, as a link."""
        number, rows = self._navigator.focused_number, self._session.rows
        if not number:
            self._host.notify("Nothing to copy here.")
            return
        label = rows.label(rows.row_of(number))
        self._host.copy(sanitize_copy(f"{self._session.document.name}#{label}"))
        self._host.notify(f"Copied the link to #{label}.", Notice.DONE)

    def _copy(self, what: What) -> None:
        number = self._navigator.focused_number
        rows = self._session.rows
        label = rows.label(rows.row_of(number)) if number else 0
        copied = copy_of(what, self._session.projection, number, label) if number else "Nothing to copy here."
        if isinstance(copied, str):
            self._host.notify(copied)
            return
        self._host.copy(copied.text)
        self._host.notify(copied.notice, Notice.DONE)
