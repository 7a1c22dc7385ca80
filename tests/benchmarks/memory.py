"""Memory of the whole app after reading and checking everything, compared with other programs on the same file."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.figures import Bound, Figure, Row, Unit
from tests.benchmarks.inputs import FIRST, MEGABYTE, generated
from tests.benchmarks.peers import MINIMAL, PAGERS, minimal_app, pager, shown_first
from tests.benchmarks.scale import Report, Scale, megabytes
from tests.benchmarks.terminal import TooSlowError, opened
from tests.benchmarks.timing import OURS

CHAT = "chat"
MOST_BYTES_A_MESSAGE = 64
MOST_OF_THE_FILE = 0.3


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group."""
    for kind in (CHAT, "agent-0"):
        file = generated(kind, scale.large)
        name = f"{kind} {megabytes(scale.large)}"
        ours = _held([*OURS, str(file.path)], scale.box_seconds / 3)
        minimal = _held(minimal_app(file.path), scale.box_seconds / 3)
        peers = _peers(file.path, scale.box_seconds / 8) if kind == CHAT else ()
        work = f"memory of the app, {name}, {file.messages:,} messages"
        report(Row(work, ours, (*peers, (MINIMAL, minimal)), (), kind == CHAT))
        over = (ours.value - minimal.value) * MEGABYTE if ours and minimal else None
        share = Figure(over / file.size, Unit.TIMES_THE_FILE) if over is not None else None
        report(Row(f"the same, minus the {MINIMAL}", share, (), (Bound(MOST_OF_THE_FILE),)))
        if kind == CHAT:
            each = Figure(over / file.messages, Unit.BYTES) if over is not None else None
            report(Row(f"the same, per message, {name}", each, (), (Bound(MOST_BYTES_A_MESSAGE),), True))


def _peers(path: Path, longest: float) -> tuple[tuple[str, Figure | None], ...]:
    commands = {name: pager(name, path) for name in PAGERS}
    return tuple(
        (name, _held(command, longest, shown_first(name)) if command else None) for name, command in commands.items()
    )


def _held(command: list[str], longest: float, word: str = FIRST) -> Figure | None:
    """Return the memory at rest, or None if the program never rests, or the system does not report it."""
    try:
        with opened(command, word) as terminal:
            terminal.work_off(longest)
            held = terminal.anonymous_megabytes()
    except TooSlowError:
        return None
    return None if held is None else Figure(held, Unit.MEGABYTES)
