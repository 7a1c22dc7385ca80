"""Drawing what grows: by frames, with the place and the search of the person kept, also when it all begins anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from viewer.document.live import LiveDocument
from viewer.sources.changes import Reason
from viewer.tui.bars.status import Notice
from viewer.tui.main.filter import Filtering
from viewer.tui.main.parts import ViewRestarted
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.main.throttle import FrameLimiter

MOST_UNFOLDED = 128 * 1024
"""A message of fewer bytes stays unfolded when it has been seen growing."""

REWRITTEN = "the file was rewritten"
CHECK_SECONDS = 1.0
"""Between two checks whether a file that is not followed was rewritten."""


class Growing(Filtering):
    """What a worker that reads on has drawn."""

    tailed: LiveDocument | None = None
    """The document that is being read on; it is not shown before it has been read up to the end once."""
    is_catching_up = False
    grew = False
    """Text came that is not drawn yet."""
    is_other = False
    """The document begins anew, and what is shown is of the reading before."""
    why: Reason | None = None
    """It begins anew for this reason."""
    drawn: tuple[int, ...] = ()
    """The pulse of the document when everything was drawn."""

    @cached_property
    def pin(self) -> StickToEnd:
        """Whether the view stays at the end."""
        return StickToEnd(self.transcript)

    @cached_property
    def pace(self) -> FrameLimiter:
        """When there is drawn."""
        return FrameLimiter()

    @property
    def is_followed(self) -> bool:
        """Whether what is shown grows."""
        return self.tailed is not None and self.tailed is self.document and not self.is_catching_up

    def draw_growth(self) -> None:
        """The rows that are new or have grown."""
        if not self.is_followed or self.state.frozen:
            super().draw_growth()
            return
        with self.pace.frame():
            self.notice()
            self.grew = False
            self.facts.growing = self.growing()
            self._keep_unfolded()
            changed = self.extend()
            self.transcript.changed_from(changed)
            self.grow_panes(changed)
            self.stay_at_end()
            self.show_title()

    def draw_all(self) -> None:
        """The rows, and what is known of all of them."""
        if not isinstance(self.document, LiveDocument) or self.state.frozen:
            super().draw_all()
            return
        with self.pace.look():
            self.notice()
            self.grew, self.drawn = False, self.document.version
            self._keep_unfolded()
            super().draw_all()

    def look_again(self) -> None:
        """The view of a document that is another one, or has been read another time."""
        assert isinstance(self.document, LiveDocument)
        with self.pace.look():
            self.grew, self.drawn = False, self.document.version
            self.view = self.look()
            self.repeat_search()
            self.repeat_filter()
            self.show_view()

    def restart_view(self) -> None:
        """A new reading: the person's search and layout stay, and one line says why."""
        reason, self.why, self.is_other = self.why, None, False
        at_end = self.pin.holds
        self.facts.folds.clear()
        self._layouts = None
        self.state = replace(self.state, marks=frozenset())
        if reason is not None and not at_end:
            self.transcript.go_back()
        self.look_again()
        if at_end:
            self.pin.put(self.view.rows)
        else:
            self.judge_place()
        self.moved()
        if reason is not None:
            self.say(reason.sentence, Notice.WARNING)
            self.post_message(ViewRestarted())

    _must_read_again = False

    def check_for_rewrite(self) -> None:
        """Read a file again that was rewritten, even if nothing is drawn. A file that is followed checks itself."""
        rests = self.is_current and self.document.is_complete and not isinstance(self.document, LiveDocument)
        if rests and self.document.is_rewritten():
            self.notice_rewrite()

    def notice_rewrite(self) -> None:
        self._must_read_again = True
        self.call_later(self._read_again)

    def _read_again(self) -> None:
        """A file that is followed is read again by the next turn of its source."""
        must, self._must_read_again = self._must_read_again, False
        if not must or not self.is_whole:
            return
        if not isinstance(self.document, LiveDocument):
            self.document.begin_again()
            self._show_if_revised()
            self.work(self.read, "read", exclusive=True)
        elif self.tailed is None:
            self.say(f"{REWRITTEN}; {self.key_of('follow')} reads it again", Notice.WARNING)

    def show_revision(self) -> None:
        self.facts.folds.clear()
        self.state = replace(self.state, marks=frozenset())
        self.transcript.go_back()
        self.view = self.look()
        self.repeat_search()
        self.repeat_filter()
        self.show_view()
        self.say(REWRITTEN, Notice.WARNING)
        self.post_message(ViewRestarted())

    def _keep_unfolded(self) -> None:
        """What was seen growing does not fold when it ends, but for what is very long."""
        for number in self.growing():
            headline = self.view.projection.headline(number)
            if headline.seen and headline.body_bytes < MOST_UNFOLDED:
                self.facts.folds.setdefault(number, True)

    @contextmanager
    def kept_at_end(self) -> Iterator[None]:
        """Whatever is done inside, a view that stays at the end does so after it."""
        holds = self.is_followed and self.pin.holds
        yield
        if holds:
            self.pin.put(self.view.rows)
            self.moved()

    def judge_place(self) -> None:
        """Stay at the end if that is what the person sees."""
        raise NotImplementedError

    def stay_here(self) -> None:
        """Stay at this place."""
        raise NotImplementedError

    def notice(self) -> None:
        """Yield to the person."""
        raise NotImplementedError
