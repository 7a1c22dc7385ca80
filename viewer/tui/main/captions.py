"""Captions around the conversation: data for the title, status row, and footer, and the text of an empty view."""

from __future__ import annotations

from pathlib import PurePath

from msgspec.structs import replace

from viewer.document.live import LiveDocument
from viewer.document.values import ShownDiagnostic
from viewer.render.blocks.agents import Agents
from viewer.render.blocks.block import RowProblems
from viewer.render.blocks.call_words import tool_words
from viewer.render.blocks.empty import empty_facts, empty_sentences
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Glyphs, trusted
from viewer.render.title import FollowState, TitleFacts
from viewer.sources.changes import SourceCondition
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.bars.place_facts import place_facts
from viewer.tui.bars.status_lines import NamedProblem, StatusFacts
from viewer.tui.control.panes import PaneController
from viewer.tui.cursor import Cursor
from viewer.tui.main.follow import SOURCE_WORDS, FollowTitle
from viewer.tui.panes.panel import BottomTab, Panel
from viewer.tui.session import Session

_MOST_CALLS = 1000
"""How many calls to search for a tool's name."""
_LONGEST_FILTER = 60
"""How many characters of a filter to quote if nothing matches it."""


def title_facts(session: Session, cursor: Cursor, follow: FollowTitle) -> TitleFacts:
    """Return the facts of the title line. Problems are counted only after the checks have ended."""
    document, rows = session.document, session.rows
    severities = session.diagnostics.severities
    debug = session.display.debug
    is_checked = document.is_checked or isinstance(document, LiveDocument)
    is_checking = document.is_read and not is_checked
    calls = session.calls
    spent = session.usages.total() if session.usages is not None else None
    return replace(
        place_facts(document, session.projection, rows, cursor.row(rows), cursor.number, everything=session.all_rows),
        level=session.display.level,
        agent=_agent(session) if session.agent else "",
        errors=severities["error"] if is_checked else 0,
        warnings=severities["warning"] if is_checked else 0,
        calls=len(calls) if debug else 0,
        failed=sum(calls.states[state] for state in ("failed", "timeout")) if debug else 0,
        tokens=(spent.tokens or 0) if spent is not None else 0,
        size=document.size if debug and document.is_complete else 0,
        follow=follow.state,
        words=follow.words,
        sources=follow.sources,
        busy="checking…" if is_checking else follow.busy,
        is_reading=bool(follow.busy) and not is_checking,
    )


def _agent(session: Session) -> str:
    """Return the number of the call that started the open sub-agent, and the agent's name or number."""
    found = Agents(session.projection, session.calls).of(session.agent)
    name = found.name or f"sub-agent {session.projection.thread_of(session.agent)}"
    return f"#{found.call} {name}" if found.call else name


def status_facts(
    session: Session, cursor: Cursor, chosen: ShownDiagnostic | None, new: int, keys: tuple[str, str, str]
) -> StatusFacts:
    """Return the facts of the status row: the problem at the cursor, how many new messages there are below, or, in the
    safe view, how many hidden steps have problems. `keys` are those that go to the next problem, explain it, and go to
    the end."""
    rows, diagnostics, safe = session.rows, session.diagnostics, not session.display.debug
    row = cursor.row(rows)
    shown = chosen
    if shown is None and row is not None and not safe and session.document.is_checked:
        shown = next((one for one in RowProblems(rows, diagnostics).of(row) if one.severity != "info"), None)
    place = diagnostics.place_of(shown) if shown is not None else -1
    is_checked = session.document.is_checked or isinstance(session.document, LiveDocument)
    hidden = session.hidden_steps if safe and session.document.is_checked else 0
    total, number = session.message_total, _label(session, cursor)
    return StatusFacts(
        safe=safe,
        problem=NamedProblem(shown, place + 1, len(diagnostics) if is_checked else 0)
        if shown is not None and place >= 0
        else None,
        hidden_steps=hidden,
        problem_key=keys[0],
        open_key=keys[1],
        new_messages=new,
        end_key=keys[2],
        place=f"{number:,} of {total:,}" if number and total else "",
        source=session.document.note,
    )


def _label(session: Session, cursor: Cursor) -> int:
    """Return the printed number of the message under the cursor. If there is none, return the cursor's own number."""
    row = cursor.row(session.rows)
    label = session.rows.label(row) if row is not None and cursor.message else 0
    return label or cursor.number


_FOOTERS = {
    BottomTab.PROBLEMS: FooterView.PROBLEMS,
    BottomTab.CALLS: FooterView.CALLS,
    BottomTab.TIMELINE: FooterView.TIMELINE,
}


def footer_view(session: Session, panes: PaneController) -> FooterView:
    """Return the view or pane whose keys the footer shows."""
    if panes.focused is Panel.BOTTOM:
        has_nothing = panes.tab is BottomTab.PROBLEMS and not len(session.diagnostics)
        return FooterView.LIST if has_nothing else _FOOTERS[panes.tab]
    if panes.focused in (Panel.OUTLINE, Panel.INSPECTOR):
        return FooterView.LIST
    return FooterView(session.display.level)


def _is_tool(session: Session, words: str) -> bool:
    """True if the words are the name of a tool among the first calls that this view shows."""
    calls = session.calls[:_MOST_CALLS]
    return any(tool_words(call.tool).casefold() == words.casefold() for call in calls)


def empty_notes(session: Session, follow: FollowTitle, signs: Glyphs, keys: tuple[str, str]) -> list[SafeText]:
    """Explain an empty view: why it is empty, and which key shows more. `keys` are those that edit and clear the
    filter."""
    if session.filtered_by:
        words = sanitize_line(session.filtered_by, _LONGEST_FILTER)
        hint = [SafeText(f"tool:{words} finds the calls to this tool.")] if _is_tool(session, words) else []
        return [
            SafeText(f"No message matches & {words}."),
            *hint,
            trusted(f"Press {keys[0]} to edit the filter, or {keys[1]} to clear it."),
        ]
    document, display = session.document, session.display
    if follow.state in (FollowState.WAITING, FollowState.LOST):
        name = sanitize_line(PurePath(document.name).name, 60)
        if follow.words == SOURCE_WORDS[SourceCondition.WAITING]:
            return [SafeText(f"Waiting for {name}."), trusted("It opens as soon as it exists. Press q to close.")]
        first = SafeText(f"{signs.error} Cannot read {name}: {trusted(follow.words)}.")
        return [first, trusted("Retrying. Press q to close.")]
    if not document.is_complete:
        return [trusted(follow.words or "reading")]
    facts = empty_facts(document, strict=display.strict, debug=display.debug, sealed=display.sealed)
    return empty_sentences(facts, signs)
