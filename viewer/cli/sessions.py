"""`ocmlview sessions`: list the agent sessions of this machine."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from viewer.cli import options
from viewer.cli.exits import FINE, say
from viewer.cli.output import Cell, Output, table_lines, write_text
from viewer.document.session_head import SessionHead, read_head
from viewer.formats.places import PLACES
from viewer.render.blocks.inline import without_marks
from viewer.render.number_format import ago, byte_size
from viewer.render.sanitize import SafeText
from viewer.render.style import Style, trusted
from viewer.render.width import cut
from viewer.sources.sessions import Session, Surroundings, find_sessions, group_of, places

DEFAULT_LIMIT = 50
_AGE = re.compile(r"([0-9]{1,6})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LONGEST_TITLE = 60


def _seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Convert an age such as 7d to seconds. Return None if no age was given."""
    if value is None:
        return None
    found = _AGE.fullmatch(value)
    if not found:
        raise click.BadParameter("use an age such as 30m, 12h, 7d, or 4w.", context, parameter)
    return int(found[1]) * _SECONDS[found[2]]


@click.command("sessions", short_help="List agent sessions on this machine.")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice([place.agent for place in PLACES]),
    metavar="NAME",
    help="Only sessions of this agent; repeatable.",
)
@click.option("--since", metavar="AGE", callback=_seconds, help="Only sessions newer than AGE, such as 7d.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=DEFAULT_LIMIT,
    metavar="N",
    help=f"List at most N sessions; default: {DEFAULT_LIMIT}.",
)
@click.option("--all", "archived", is_flag=True, help="Include archived sessions.")
@click.option("--places", "shows_places", is_flag=True, help="List the folders searched.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per session.")
@options.printing
def command(
    agents: tuple[str, ...],
    since: float | None,
    limit: int,
    archived: bool,
    shows_places: bool,
    as_json: bool,
    color: str,
    ascii_only: bool,
) -> int:
    """List agent sessions on this machine. Searches the folders of known agents, and reads only what the list shows."""
    output = options.output_of(color, ascii_only)
    around = options.surroundings()
    if around is None:
        say("Session discovery is turned off in the settings (discovery: false).")
        return FINE
    if shows_places:
        _list_places(around, output)
        return FINE
    now = time.time()
    found = find_sessions(around, frozenset(agents), archived=archived)
    recent = [session for session in found if since is None or now - session.modified <= since]
    shown = recent[:limit]
    if as_json:
        for session in shown:
            write_text(json_line(session, read_head(session), now) + "\n")
        return FINE
    if not shown:
        say("No sessions found. See `ocmlview sessions --places` for the folders searched.")
        return FINE
    _print(shown, around, output, now)
    if len(recent) > len(shown):
        say(f"{len(recent) - len(shown):,} more; see --limit.")
    return FINE


def json_line(session: Session, head: SessionHead, now: float) -> str:
    """Return the JSON line for a session."""
    line = {
        "kind": "session",
        "agent": session.agent,
        "path": session.path,
        "cwd": session.directory,
        "started": head.started,
        "modified": datetime.fromtimestamp(session.modified, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "bytes": session.size,
        "turns": head.turns,
        "title": head.title,
        "live": session.is_live(now),
    }
    return json.dumps(line, separators=(",", ":"))


def _print(sessions: list[Session], around: Surroundings, output: Output, now: float) -> None:
    style = output.style
    rows: list[list[Cell]] = []
    group: int | None = None
    has_groups = any(group_of(session, around) == 0 for session in sessions)
    for session in sessions:
        here = group_of(session, around)
        if has_groups and here != group and (group is None or 0 in (here, group)):
            name = "this directory" if here == 0 else "other"
            rows.append([trusted(f"{style.signs.rule * 2} {name}"), trusted(""), trusted(""), trusted(""), trusted("")])
        group = here
        rows.append(_row(session, read_head(session), style, now))
    output.write_styled(table_lines(("title", "agent", "turns", "size", "changed"), rows, output.width, style))


def _row(session: Session, head: SessionHead, style: Style, now: float) -> list[Cell]:
    live = f"{style.signs.live} " if session.is_live(now) else "  "
    title = without_marks(style.name(head.title))
    name = cut(title, _LONGEST_TITLE, trusted("…")) if title else style.name(Path(session.path).name)
    return [
        SafeText(live + name),
        trusted(session.agent),
        trusted(f"{head.turns:,}" if head.turns is not None else ""),
        trusted(byte_size(session.size) if session.size else ""),
        trusted(ago(now - session.modified)),
    ]


def _list_places(around: Surroundings, output: Output) -> None:
    rows: list[list[Cell]] = [
        [trusted(found.agent), output.style.name(found.folder), trusted("yes" if found.exists else "")]
        for found in places(around)
    ]
    output.write_styled(table_lines(("agent", "folder", "exists"), rows, output.width, output.style))
