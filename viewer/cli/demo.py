"""`ocmlview demo`: open the bundled tour, or play it live into a temporary file."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import click
from msgspec import Struct

from viewer.cli import options
from viewer.cli.inputs import Inputs
from viewer.cli.interruption import ended_tidily
from viewer.cli.options import Followed
from viewer.cli.output import Output, take_keyboard
from viewer.cli.show import print_live, print_text
from viewer.cli.view import ViewRequest, open_viewer
from viewer.model.visibility import Audience, Reveal
from viewer.resources import bundled


@click.command("demo", short_help="Open the bundled tour.")
@options.audience
@options.printing
@click.option("--live", is_flag=True, help="Write the tour to a temporary file as if live, and follow it.")
def command(reveal: frozenset[Reveal], debug: bool, strict_safe: bool, color: str, ascii_only: bool, live: bool) -> int:
    """Open the bundled tour. The tour contains every kind of message, and some problems."""
    audience = options.audience_of(reveal, debug, strict_safe)
    output = options.output_of(color, ascii_only)
    if live:
        return _play(audience, output, color)
    tour = str(bundled("samples", "tour.ocml"))
    if not take_keyboard():
        return print_text(Inputs((tour,), None, options.reading_options(None)), audience, output)
    return open_viewer((tour,), ViewRequest(audience, output.style, color=color))


def _play(audience: Audience, output: Output, color: str) -> int:
    pieces = moments(script(bundled("samples", "tour.ocml").read_text("utf-8")))
    with played(pieces) as (path, player):
        if not take_keyboard():
            return print_live(Followed(path, is_finished=player.is_finished), audience, output)
        return open_viewer((path,), ViewRequest(audience, output.style, color=color, follow=True))


SECONDS = 19.0
"""The playback time in seconds, not counting the wait for the late tool."""
LATE = 2.6
"""How many seconds the tool with a two-second deadline takes to reply."""

_LATE_REPLY = "<|start|>tool name=functions.find_tables call_id=t1 "
_BEFORE_CANCELLED = "<|start|>assistant to=functions.find_tables call_id=t2<"
_CANCELLED = """\
<|start|>assistant to=functions.get_rain_chance call_id=rain2<|channel|>commentary<|constrain|>json<|message|>\
{"location":"Osaka","day":"today"}<|call|>
{"type":"tool.cancel","call_id":"rain2","reason":"dinner is indoors"}
"""
_ENDING = " Dotonbori bridge: seven minutes on foot.<|return|>\n"
"""The rest of the last message, which the tour file leaves open."""

_SAID = re.compile(r"<\|start\|>(user|assistant<\|channel\|>final)")
_BEGINNING = re.compile(r"^(?=<\|start\|>)", re.MULTILINE)
_SIZES = (5, 3, 8, 4, 6, 2)
"""The sizes, in bytes, of the pieces of shown text. A piece may end inside a token or a character."""
_HIDDEN_SIZE = 40
_HEAD_SIZE = 600
_BETWEEN = 12
"""The pause between messages, as a multiple of the pause between pieces."""


class Moment(Struct, frozen=True, gc=False):
    """One piece to write, and the pause before it, in seconds."""

    pause: float
    data: bytes


def script(tour: str) -> str:
    """Return the tour with a cancelled call inserted and its last message completed."""
    return tour.replace(_BEFORE_CANCELLED, _CANCELLED + _BEFORE_CANCELLED) + _ENDING


def moments(text: str, seconds: float = SECONDS, late: float = LATE) -> list[Moment]:
    """Return the pieces to play. The document header and the instructions arrive all at once, and hidden text arrives
    quickly."""
    pieces: list[Moment] = []
    waits: dict[int, float] = {}
    for message in _messages(text):
        if message.startswith(_LATE_REPLY):
            waits[len(pieces)] = late
        pieces += _message(message)
    pace = seconds / sum(moment.pause for moment in pieces)
    return [Moment(moment.pause * pace + waits.get(at, 0), moment.data) for at, moment in enumerate(pieces)]


def _messages(text: str) -> list[str]:
    first = text.index("<|start|>user")
    return [text[:first], *filter(None, _BEGINNING.split(text[first:]))]


def _message(message: str) -> Iterator[Moment]:
    data, at = message.encode(), 0
    sizes: Iterable[int] = cycle(_SIZES if _SAID.match(message) else (_HIDDEN_SIZE,))
    if not message.startswith("<|start|>"):
        sizes = cycle((_HEAD_SIZE,))
    for size in sizes:
        yield Moment(1 if at else _BETWEEN, data[at : at + size])
        at += size
        if at >= len(data):
            return


class Player(threading.Thread):
    """A thread that writes each piece when it is due."""

    def __init__(self, path: Path, pieces: Iterable[Moment]) -> None:
        super().__init__(name="player", daemon=True)
        self._path = path
        self._moments = pieces
        self._stopped = threading.Event()

    def run(self) -> None:
        """Write the pieces until all are written or the player is stopped."""
        with self._path.open("ab", buffering=0) as file:
            for moment in self._moments:
                if self._stopped.wait(moment.pause):
                    return
                file.write(moment.data)

    def stop(self) -> None:
        """Stop writing, and wait for the thread to end."""
        self._stopped.set()
        self.join()

    def is_finished(self) -> bool:
        """True if the thread is not running: everything has been written, or the player was stopped."""
        return not self.is_alive()


@contextmanager
def played(pieces: Iterable[Moment]) -> Iterator[tuple[str, Player]]:
    """Context manager that plays a transcript into a private temporary file. The file is removed at the end, even if a
    signal ends the program."""
    import tempfile  # slow to import

    descriptor, name = tempfile.mkstemp(prefix="ocmlview-tour-", suffix=".ocml")
    os.close(descriptor)
    player = Player(Path(name), pieces)
    with ended_tidily():
        try:
            player.start()
            yield name, player
        finally:
            player.stop()
            Path(name).unlink(missing_ok=True)
