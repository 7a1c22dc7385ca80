"""Captions of the merged view, and data about the row under the cursor: title, status, position in its file, copied
text."""

from __future__ import annotations

from pathlib import PurePath

from viewer.document.rows import RowKind
from viewer.render.blocks.merged import LETTERS
from viewer.render.title import FollowState, TitleFacts
from viewer.tui.bars.status_lines import StatusFacts
from viewer.tui.cursor import Cursor
from viewer.tui.display_state import DisplayState
from viewer.tui.merged.sources import MergedSources
from viewer.tui.terminal.clipboard import Copied, What, copy_of


def title_facts(sources: MergedSources, state: DisplayState, *, at_end: bool, is_busy: bool) -> TitleFacts:
    """Return the number of files, how many are live, and the level."""
    live = sources.live_count
    follow = FollowState.STILL if not live else FollowState.LIVE if at_end else FollowState.PAUSED
    return TitleFacts(
        name=f"{len(sources.sources)} files by time",
        level=state.level,
        follow=follow,
        words=f"{live} live" if at_end else f"paused, {live} live",
        busy="reading…" if is_busy and not live else "",
    )


def status_facts(sources: MergedSources, cursor: Cursor) -> StatusFacts:
    """Return the file and position of the row under the cursor, and which files cannot be read."""
    rows = sources.rows
    faults = [f"{LETTERS[at]}: {each.failure}" for at, each in enumerate(sources.sources) if each.failure]
    row = cursor.row(rows)
    if row is None:
        return StatusFacts(name="; ".join(faults))
    source = sources.sources[rows.place(row).source]
    is_message = rows.kind(row) is RowKind.MESSAGE
    label = source.rows.label(rows.place(row).row) if is_message else 0
    name = f"{LETTERS[rows.place(row).source]}  {PurePath(source.path).name}" + (f"  #{label}" if label else "")
    return StatusFacts(name="; ".join([name, *faults]), place=f"{row + 1:,} of {len(rows):,}")


def place_at(sources: MergedSources, cursor: Cursor) -> tuple[str, str]:
    """Return the path of the file under the cursor, and the printed number of the message there."""
    place, number = sources.rows.message_of(cursor.number)
    rows = sources.sources[place].rows
    row = rows.row_of(number)
    label = rows.label(row) if rows.kind(row) is RowKind.MESSAGE else number
    return sources.sources[place].path, str(label)


def copy_at(sources: MergedSources, cursor: Cursor) -> Copied | str:
    """Return a copy of a message's text, or a sentence that explains why there is none."""
    if not cursor.message or not len(sources.rows):
        return "Nothing to copy here."
    place, number = sources.rows.message_of(cursor.message)
    source = sources.sources[place]
    return copy_of(What.TEXT, source.projection, number, source.rows.label(source.rows.row_of(number)))
