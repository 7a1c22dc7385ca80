"""Following a document that grows: staying at the end or yielding, freezing, and saying how the file is doing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from viewer.document.live import LiveDocument
from viewer.render.number_format import duration
from viewer.sources.changes import SourceCondition
from viewer.tui.bars.title import FollowState
from viewer.tui.display_state import DisplayState
from viewer.tui.main.acting import Acting
from viewer.tui.main.follow_worker import Tailing
from viewer.tui.main.growing import CHECK_SECONDS
from viewer.tui.main.parts import Going
from viewer.tui.panes.problem_lines import Pending

STALLED_AFTER = 10.0
"""Seconds after which an open message that does not go on is said to have stalled."""


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """How a document is followed."""

    follow: bool = False
    """The view begins at the end and stays there."""
    from_start: bool = False
    """It begins at the top all the same."""
    stalled_after: float = STALLED_AFTER
    open_live: Callable[[], LiveDocument | str] = lambda: "this input cannot be followed"
    """The same input as a document that grows, or why that is not possible."""


class Following(Tailing, Acting):
    """The actions of following, and what the title line and the lists say of it."""

    watching: FollowOptions
    _paused_at = 0
    """How many messages there were when the person went elsewhere."""

    def begin(self) -> None:
        """Read the input; what grows is followed."""
        self.parts = len(self.children)
        if isinstance(self.document, LiveDocument):
            self.tail(self.document, at_end=self.watching.follow and not self.watching.from_start)
        else:
            self.work(self.read, "read")
            self.set_interval(CHECK_SECONDS, self.check_for_rewrite)

    def action_follow(self) -> None:
        """On; back to the end after the person went elsewhere; off."""
        if self.is_catching_up:
            self.say("reading up to the end first")
        elif self.is_followed:
            self._resume_or_stop()
        elif isinstance(self.document, LiveDocument):
            self._follow_again(self.document)
        elif not self.document.is_complete:
            self.say(f"still reading; {self.key_of('follow')} again when all has been read")
        else:
            self._follow_file()

    def _resume_or_stop(self) -> None:
        if not self.pin.holds:
            self.pin.put(self.view.rows)
            self.moved()
        elif self.tailed and self.tailed.following.is_stream:
            self.stay_here()
            self.say(f"the end is not shown as it grows; {self.key_of('follow')} goes there again")
        else:
            self.stop_tailing()
            self.draw_all()
            self.moved()
            self.say(f"no longer followed; {self.key_of('follow')} follows again")

    def _follow_again(self, document: LiveDocument) -> None:
        if document.is_complete:
            self.say("this input has ended; nothing more comes")
        else:
            self.tail(document, at_end=None)

    def _follow_file(self) -> None:
        """Read the file again as one that grows; the view stays as it is until that has come as far."""
        live = self.watching.open_live()
        if isinstance(live, str):
            self.say(live)
        else:
            self.tail(live, at_end=None)

    def action_freeze(self) -> None:
        """Draw nothing new until pressed again; reading goes on."""
        self.state = replace(self.state, frozen=not self.state.frozen)
        if not self.state.frozen:
            self.draw_what_waits()
        self.show_title()

    def stay_at_end(self) -> None:
        """Show the end, unless the person has gone elsewhere."""
        if self.is_followed and self.pin.holds:
            self.pin.put(self.view.rows)

    @property
    def stays_at_end(self) -> bool:
        """Whether what comes is shown as it comes."""
        return self.is_followed and self.pin.holds and not self.state.frozen

    def reached_end(self) -> None:
        """Paging to the end is going there."""
        if self.is_followed:
            self.pin.put(self.view.rows)

    def fit(self, *, whole: bool = False) -> None:
        """Another layout is no reason to yield."""
        with self.kept_at_end():
            super().fit(whole=whole)

    def change(self, state: DisplayState) -> None:
        """Nor is another view."""
        with self.kept_at_end():
            super().change(state)

    def moved(self) -> None:
        """The person may have gone elsewhere, or come back."""
        self.notice()
        super().moved()
        if self.is_followed and self.pin.holds:
            for pane in self.sides:
                pane.stick()

    def notice(self) -> None:
        """Yield as soon as the person scrolls up."""
        if self.is_followed and self.pin.look(self.view.rows) and not self.pin.holds:
            self._paused_at = self.message_total

    def judge_place(self) -> None:
        """Stay at the end if that is what the person sees."""
        self.pin.judge(self.view.rows)
        self._paused_at = self.message_total

    def stay_here(self) -> None:
        """Stay at this place, until the person goes elsewhere."""
        self._paused_at = self.message_total
        self.pin.release()
        self.show_title()

    @property
    def message_total(self) -> int:
        """How many messages this audience may know of."""
        return self.view.rows.shown_count if self.state.strict else self.view.rows.reach

    def going(self) -> Going:
        """How the file is doing, else whether the view stays at its end."""
        live = self.tailed
        if self.state.frozen:
            return Going(FollowState.FROZEN)
        if live is None:
            return self._at_rest()
        if live.state.condition is not SourceCondition.OK:
            return Going(FollowState.WAITING, _WORDS[live.state.condition])
        if self.is_catching_up:
            return Going(FollowState.STILL, busy=f"reading {live.progress:.0%}")
        if not self.pin.holds:
            return Going(FollowState.PAUSED, behind=max(0, self.message_total - self._paused_at))
        if live.stalled_for > self.watching.stalled_after:
            return Going(FollowState.STALLED, f"stalled {_length(live.stalled_for)}")
        return Going(FollowState.FOLLOWING)

    def _at_rest(self) -> Going:
        if not isinstance(self.document, LiveDocument):
            return super().going()
        return Going(FollowState.ENDED if self.document.is_complete else FollowState.STILL)

    def lives(self) -> bool:
        """Whether more may come while one watches."""
        return self.is_followed

    def growing(self) -> frozenset[int]:
        """The messages to which more may come."""
        live = self.tailed
        return frozenset(live.open_numbers) if live is self.document and live is not None else frozenset()

    def pending(self) -> Pending | None:
        """The message that is open, where this audience sees it."""
        live = self.tailed
        numbers = sorted(self.growing())
        if live is None or not numbers:
            return None
        number = numbers[-1]
        if self.view.projection.audience.is_safe and not self.view.projection.headline(number).seen:
            return None
        return Pending(number, int(live.quiet_for) * 1000)


_WORDS = {
    SourceCondition.WAITING: "waiting for the file",
    SourceCondition.DENIED: "permission denied",
    SourceCondition.DIRECTORY: "waiting for a file",
    SourceCondition.ERROR: "cannot be read",
    SourceCondition.ENDED: "ended",
    SourceCondition.STOPPED: "stopped",
}


def _length(seconds: float) -> str:
    return f"{int(seconds)} s" if seconds < 60 else duration(int(seconds) * 1000)
