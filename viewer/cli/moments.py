"""Options that select a moment (--at, --at-event, --at-time, --times), and the view at that moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from viewer.cli.exits import complain
from viewer.model.visibility import Audience

if TYPE_CHECKING:
    from viewer.document.document import Document
    from viewer.document.filter.tree import Filter
    from viewer.document.projection import Projection
    from viewer.insight.replay.arrivals import Arrivals
    from viewer.insight.replay.player import Moment
    from viewer.insight.replay.timeline import At, ReplayRequest

MOST_DIGITS = 30
"""The maximum number of digits in an event number."""
Command = TypeVar("Command", bound=Callable[..., Any])


class AskedMoment(Struct, frozen=True):
    """The moment that the options select."""

    at: At
    times: str
    """The path of the sidecar with recorded times, or an empty string."""

    @property
    def request(self) -> ReplayRequest:
        """The replay request for this moment."""
        from viewer.insight.replay.timeline import ReplayRequest

        return ReplayRequest(self.at, self.times)


def times_option(command: Command) -> Command:
    """Add the option --times."""
    return click.option(
        "--times",
        metavar="PATH",
        default="",
        help="Use the times recorded with --record-times instead of the times in the records.",
    )(command)


def moment_options(command: Command) -> Command:
    """Add the options --at, --at-event, --at-time, and --times."""
    command = times_option(command)
    for option in (
        click.option(
            "--at-time",
            metavar="TIME",
            callback=_ms,
            help="Show what was visible at this playback time, such as 12.3s or +1:05.",
        ),
        click.option(
            "--at-event",
            metavar="N",
            callback=_event,
            help="Show what was visible after event N. An event is one piece of a message, as it arrived.",
        ),
        click.option(
            "--at",
            "at_byte",
            metavar="BYTE",
            callback=_byte,
            help="Show what was visible after this many bytes (such as B4096) of shown text or, with -d, of the file.",
        ),
    ):
        command = option(command)
    return command


def asked_moment(
    at_byte: int | None, at_event: int | None, at_time: int | None, times: str, files: tuple[str, ...], follow: bool
) -> AskedMoment | None:
    """Return the moment that the options select, or None if they select none."""
    given = [option for option in (at_byte, at_event, at_time) if option is not None]
    context = click.get_current_context()
    if len(given) > 1:
        raise click.UsageError("--at, --at-event, and --at-time cannot be used together.", context)
    if not given:
        if times:
            raise click.UsageError("--times needs --at-time, --at, or --at-event.", context)
        return None
    if follow:
        raise click.UsageError("--at, --at-event, and --at-time need the whole input; omit -f.", context)
    if len(files) > 1:
        raise click.UsageError("With --at, --at-event, or --at-time, specify exactly one file.", context)
    from viewer.insight.replay.timeline import At

    return AskedMoment(At(at_byte, at_event, at_time), times)


def arrivals_of(document: Document, audience: Audience, times: str) -> Arrivals:
    """Return the arrivals of a document, with the times from the sidecar if there is one."""
    from viewer.insight.replay.arrivals import Arrivals
    from viewer.sources.replay.recorded_times import read_recorded_times

    return Arrivals(document, audience, read_recorded_times(times, document.size) if times else None)


def view_at(
    document: Document, audience: Audience, asked: AskedMoment, where: Filter | None
) -> tuple[Projection, Moment]:
    """Return what the audience saw at the requested moment, and that moment. If the moment is past the end, report
    that, and return what the audience sees at the end."""
    from viewer.insight.replay.player import Player, go_to
    from viewer.insight.replay.timeline import Timeline

    player = Player(document, audience)
    timeline = Timeline(arrivals_of(document, audience, asked.times), audience)
    moment = go_to(player, timeline, asked.at)
    if moment.is_past_end:
        complain(f"{document.name} ends before that moment; showing the end instead")
        return document.project(audience, withholds=False, where=where), moment
    return player.view(where), moment


def _byte(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None or context.resilient_parsing:
        return None
    from viewer.insight.replay.timeline import parse_byte

    byte = parse_byte(value)
    if byte is None:
        raise click.BadParameter("use a number of bytes such as B4096.", context, parameter)
    return byte


def _event(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None or context.resilient_parsing:
        return None
    if not (value.strip().isascii() and value.strip().isdigit() and len(value) <= MOST_DIGITS):
        raise click.BadParameter("use the number of an event such as 12.", context, parameter)
    return int(value)


def _ms(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None or context.resilient_parsing:
        return None
    from viewer.insight.replay.timeline import parse_moment

    ms = parse_moment(value)
    if ms is None:
        raise click.BadParameter("use a time such as 12.3s or +1:05.", context, parameter)
    return ms
