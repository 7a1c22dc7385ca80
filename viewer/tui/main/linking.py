"""From one end of a call to the other, and from mark to mark."""

from __future__ import annotations

from dataclasses import replace

from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.main.parts import Parts
from viewer.tui.marks import next_mark, previous_mark


class Linking(Parts):
    """Actions that follow calls and marks."""

    def action_partner(self) -> None:
        """From a call to its reply and back."""
        self._in_call(wrap=True, step=1)

    def action_next_in_call(self) -> None:
        self._in_call(wrap=False, step=1)

    def action_previous_in_call(self) -> None:
        self._in_call(wrap=False, step=-1)

    def _in_call(self, *, wrap: bool, step: int) -> None:
        if not self.state.debug:
            self.say(DEBUG_ONLY)
            return
        number = self.focused_number
        ends = sorted({end for call in self.facts.calls.of(number) for end in (call.call, call.reply) if end})
        others = [end for end in ends if end != number]
        beyond = [end for end in others if (end - number) * step > 0]
        count = self.take_count()
        if not (others if wrap else beyond):
            self.say("this message belongs to no call" if not ends else "there is no other message of this call")
            return
        places = (beyond or others)[:: 1 if step > 0 else -1]
        self.focus_message(places[min(count, len(places)) - 1])
        self.moved()

    def action_mark(self) -> None:
        """Mark the focused message, or take its mark away."""
        number = self.focused_number
        if number:
            self.state = replace(self.state, marks=self.state.marks ^ {number})
            self.transcript.marks = self.state.marks
            self.show_minimap()
            self.transcript.refresh()

    def action_next_mark(self) -> None:
        self._mark(1)

    def action_previous_mark(self) -> None:
        self._mark(-1)

    def _mark(self, step: int) -> None:
        number, is_wrapped = self.cursor.number, False
        for _ in range(min(self.take_count(), max(1, len(self.state.marks)))):
            find = next_mark if step > 0 else previous_mark
            found = find(self.state.marks, number, self.view.rows)
            if found is None:
                self.say("no marks")
                return
            is_wrapped = is_wrapped or (found - number) * step <= 0
            number = found
        self.focus_message(number)
        self.moved()
        if is_wrapped:
            self.say_wrapped(step)
