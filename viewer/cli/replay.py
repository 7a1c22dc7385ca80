"""`ocmlview replay`: play a transcript as it was written."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from viewer.cli import options
from viewer.cli.exits import FINE, INTERRUPTED, PipeClosed
from viewer.cli.inputs import Inputs
from viewer.cli.interruption import Interruption
from viewer.cli.moments import arrivals_of, times_option
from viewer.cli.notices import mention, say_level
from viewer.cli.output import Output, has_reader, take_keyboard
from viewer.cli.show import LiveText
from viewer.document.document import Document
from viewer.insight.replay.player import Player, go_to_event
from viewer.insight.replay.timeline import (
    FASTEST,
    SLOWEST,
    USUAL_IDLE_LIMIT_MS,
    USUAL_SPEED,
    ReplayRequest,
    Timeline,
)
from viewer.model.visibility import Audience, Reveal
from viewer.sources.changes import Reason
from viewer.sources.files import STANDARD_INPUT

if TYPE_CHECKING:
    from viewer.reading.format import ReadOptions

_LONGEST = 1e9
"""The longest pause, in seconds, that --idle-limit accepts."""
_SLICE = 0.05
"""The longest single sleep, in seconds. Ctrl-C ends a pause within this time."""


def _number(text: str) -> float:
    """Return the number in the text, or -1 if it is not a number or not in the allowed range."""
    try:
        number = float(text)
    except ValueError:
        return -1.0
    return number if 0 <= number <= _LONGEST else -1.0


def _speed(context: click.Context, parameter: click.Parameter, value: str) -> float:
    speed = _number(value)
    if not SLOWEST <= speed <= FASTEST and not context.resilient_parsing:
        raise click.BadParameter(f"use a number from {SLOWEST:g} to {FASTEST:g}.", context, parameter)
    return speed


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    seconds = _number(value)
    if seconds < 0 and not context.resilient_parsing:
        raise click.BadParameter("use a number of seconds such as 2 or 0.5.", context, parameter)
    return seconds


@click.command("replay", short_help="Play a transcript as it was written.")
@options.reading
@options.audience
@options.printing
@times_option
@click.option(
    "--speed",
    callback=_speed,
    default=f"{USUAL_SPEED:g}",
    metavar="N",
    help=f"Playback speed, {SLOWEST:g} to {FASTEST:g}; default: {USUAL_SPEED:g}.",
)
@click.option(
    "--idle-limit",
    callback=_seconds,
    default=f"{USUAL_IDLE_LIMIT_MS / 1000:g}",
    metavar="SECONDS",
    help=f"Shorten longer pauses to SECONDS; default: {USUAL_IDLE_LIMIT_MS / 1000:g}.",
)
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    color: str,
    ascii_only: bool,
    times: str,
    speed: float,
    idle_limit: float,
) -> int:
    """Play a transcript as it was written, in the viewer or, without a terminal, as text. In the safe view, a
    pause in which hidden text arrived takes no time. Without times, events play at equal intervals."""
    audience = options.audience_of(reveal, debug, strict_safe).of_messages
    names = options.inputs_of(files)
    if len(names) > 1:
        raise click.UsageError("One file at a time.", click.get_current_context())
    output = options.output_of(color, ascii_only)
    if names[0] != STANDARD_INPUT and take_keyboard():
        request = ReplayRequest(times=times, speed=speed, idle_limit_ms=round(1000 * idle_limit), plays=True)
        return _open(names[0], audience, output, format, options.reading_options(preambles), color, request)
    inputs = Inputs(names, format, options.reading_options(preambles), strict=strict_safe)
    for document in inputs:
        say_level(audience)
        timeline = Timeline(arrivals_of(document, audience, times), audience)
        with Interruption() as interruption:
            play(document, audience, timeline, output, Pause(interruption, speed, idle_limit))
        if interruption.heard:
            return INTERRUPTED
        mention(document, audience)
    return inputs.code or FINE


def _open(
    path: str,
    audience: Audience,
    output: Output,
    format: str | None,
    reading: ReadOptions,
    color: str,
    request: ReplayRequest,
) -> int:
    """Play in the viewer. When the user leaves the replay, the viewer shows the transcript."""
    from viewer.cli.view import ViewRequest, check_can_replay, open_viewer

    check_can_replay(path)
    wanted = ViewRequest(audience, output.style, format, reading, color, replay=request, times=request.times)
    return open_viewer((path,), wanted)


class Pause:
    """Waits for the recorded pauses between events."""

    def __init__(
        self, interruption: Interruption, speed: float, idle_limit: float, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._interruption = interruption
        self._speed = speed
        self._idle_limit = idle_limit
        self._sleep = sleep

    def wait(self, ms: int) -> bool:
        """Wait for `ms` of recorded time, up to the idle limit, at the playback speed. Return False after Ctrl-C."""
        left = min(ms / 1000, self._idle_limit) / self._speed
        while left > 0 and not self._interruption.heard:
            now = min(left, _SLICE)
            self._interruption.wait(lambda: self._sleep(now))  # noqa: B023 (called immediately)
            left -= now
            if not has_reader():
                raise PipeClosed
        return not self._interruption.heard


def play(document: Document, audience: Audience, timeline: Timeline, output: Output, pause: Pause) -> None:
    """Print each event when it is due."""
    player = Player(document, audience)
    printer = LiveText(audience, output)
    reading = 0
    for event in range(len(timeline)):
        if event and not pause.wait(timeline.pause_after(event - 1)):
            break
        go_to_event(player, timeline, event)
        if player.readings != reading:
            if reading:
                printer.reset(document.name, Reason.DETECTED)
            reading = player.readings
            printer.begin(player.document)
        printer.grow()
        printer.rest()
    else:
        player.seek(document.size)
        player.document.close()
    if reading:
        printer.end()
