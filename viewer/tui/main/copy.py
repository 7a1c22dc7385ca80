"""Copying of the focused message: `y`, then what of it."""

from __future__ import annotations

from viewer.tui.bars.status import Notice
from viewer.tui.keys import after_yank
from viewer.tui.main.showing import Showing
from viewer.tui.terminal.clipboard import What, copy, copy_of


class Copying(Showing):
    """Actions that copy."""

    def action_yank(self) -> None:
        """The next key says what is copied."""
        self.yanking = True
        choices = [(key, action.label.removeprefix("Copy "), action.id) for key, action in after_yank().items()]
        self.footer.show_prefix("copy", choices)

    def end_yank(self, key: str) -> None:
        """The key after `y`."""
        self.yanking = False
        self.footer.show(self.state.debug)
        action = after_yank().get(key)
        if action:
            getattr(self, f"action_{action.id}")()
        elif key != "escape":
            self.say(f"{self.key_of('yank')} is followed by one of " + " ".join(after_yank()))

    def action_copy_text(self) -> None:
        self._copy(What.TEXT)

    def action_copy_raw(self) -> None:
        self._copy(What.RAW)

    def action_copy_json(self) -> None:
        self._copy(What.JSON)

    def action_copy_header(self) -> None:
        self._copy(What.HEADER)

    def action_copy_call_id(self) -> None:
        self._copy(What.CALL_ID)

    def _copy(self, what: What) -> None:
        number = self.focused_number
        copied = copy_of(what, self.view.projection, number) if number else "Nothing to copy here."
        if isinstance(copied, str):
            self.say(copied)
            return
        copy(self.app, copied.text)
        self.say(copied.notice, Notice.DONE)
