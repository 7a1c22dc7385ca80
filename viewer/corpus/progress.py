"""Report the progress of a scan to a terminal, a log, or a program, and summarize the scan at the end."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from shutil import get_terminal_size

from viewer.corpus.scan import Totals
from viewer.corpus.tables import FileState

OFTEN, SELDOM, EACH_SECOND = 0.2, 30.0, 1.0
"""The minimum number of seconds between reports: on a terminal, in a log, and for a program."""
AVERAGED = 60.0
"""Seconds over which the rate is averaged."""
_BAR, _SHORTEST_BAR = 29, 4
_MOST_CODES = 10
_SHORT_STATES = {FileState.NOT_A_TRANSCRIPT.value: "not a transcript"}


class Rate:
    """Measures bytes per second over the last minute."""

    def __init__(self, now: float) -> None:
        self._points = deque([(now, 0)])

    def add(self, now: float, size: int) -> float:
        """Record the total number of bytes read at this time, and return the rate."""
        self._points.append((now, size))
        while len(self._points) > 2 and now - self._points[0][0] > AVERAGED:
            self._points.popleft()
        (first, before), (last, after) = self._points[0], self._points[-1]
        return (after - before) / (last - first) if last > first else 0.0


class Reporter:
    """Reports the totals of a scan, no more often than the kind of output allows."""

    def __init__(self, write: Callable[[str], None], every: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._every = every
        self._clock = clock
        self._rate = Rate(clock())
        self._last = clock()

    def __call__(self, totals: Totals) -> None:
        """Report the totals if enough time has passed since the last report."""
        now = self._clock()
        if now - self._last >= self._every:
            self._last = now
            self._write(self.line(totals, self._rate.add(now, totals.done_bytes)))

    def line(self, totals: Totals, rate: float) -> str:
        """Format one report."""
        return log_line(totals, rate)


class JsonReporter(Reporter):
    """Reports the totals as JSON objects, one per line."""

    def line(self, totals: Totals, rate: float) -> str:
        eta = _eta(totals, rate)
        return json.dumps(
            {
                "kind": "progress",
                "done": totals.done,
                "listed": totals.listed,
                "listing": totals.is_listing,
                "bytes": totals.done_bytes,
                "mb_per_s": round(rate / 1e6, 1),
                "eta_s": round(eta) if eta is not None else None,
                "errors": totals.errors,
                "warnings": totals.warnings,
                "failed": totals.failed,
            },
            separators=(",", ":"),
        )


class TerminalReporter(Reporter):
    """Draws two lines on a terminal, and redraws them for each report."""

    _has_drawn = False

    def line(self, totals: Totals, rate: float) -> str:
        up = "\x1b[2A" if self._has_drawn else ""
        self._has_drawn = True
        lines = bar_lines(totals, rate, get_terminal_size().columns - 1)  # a full line would wrap in some terminals
        return "".join(f"{up if not at else ''}\r\x1b[2K{line}\n" for at, line in enumerate(lines))


def _eta(totals: Totals, rate: float) -> float | None:
    return (totals.listed_bytes - totals.done_bytes) / rate if rate > 0 else None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def bar_lines(totals: Totals, rate: float, width: int = 120) -> tuple[str, str]:
    """Return the two lines for a terminal of this width: the progress of the scan, and the problems found."""
    sign = "≥" if totals.is_listing else ""
    eta = _eta(totals, rate)
    counts = (
        f"{totals.done:,} / {sign}{totals.listed - totals.known:,} files   "
        f"{totals.done_bytes / 1e6:,.0f} / {sign}{totals.listed_bytes / 1e6:,.0f} MB   {rate / 1e6:.1f} MB/s"
    ) + (f"   ETA {_clock(eta)}" if eta is not None else "")
    share = totals.done_bytes / totals.listed_bytes if totals.listed_bytes else float(not totals.is_listing)
    length = min(_BAR, width - len(f" Scanning    {counts}"))
    full = min(length, int(share * length))
    bar = f"{'━' * full}{'─' * (length - full)}  " if length >= _SHORTEST_BAR else ""
    return f" Scanning  {bar}{counts}"[:width], f" problems  {problems_text(totals)}"[:width]


def problems_text(totals: Totals) -> str:
    """List the most frequent codes, and count the files that failed or are not transcripts."""
    common = Counter(totals.codes).most_common(2)
    parts = [f"{code} {count:,}" for code, count in common]
    if len(totals.codes) > len(common):
        parts.append(f"{len(totals.codes) - len(common)} more codes")
    noise = totals.states[FileState.NOT_A_TRANSCRIPT.value]
    return f"{' · '.join(parts) or 'none'}     failed {totals.failed:,} · not a transcript {noise:,}"


def log_line(totals: Totals, rate: float) -> str:
    """Format one line for a log."""
    sign = "≥" if totals.is_listing else ""
    return (
        f"{totals.done:,} of {sign}{totals.listed - totals.known:,} files, {totals.done_bytes / 1e6:,.1f} MB, "
        f"{rate / 1e6:.1f} MB/s, {totals.errors:,} errors, {totals.warnings:,} warnings, {totals.failed:,} failed\n"
    )


def summary_lines(totals: Totals, seconds: float, run_id: str, following: str) -> Iterator[str]:
    """Format the final report. `following` is the command to run next."""
    rate = totals.done_bytes / max(seconds, 1e-9) / 1e6
    yield f"{_files(totals.done)} scanned in {seconds:,.1f} s ({rate:,.1f} MB/s)"
    if totals.known:
        yield f"{_files(totals.known)} already known"
    if totals.skipped:
        yield f"{_files(totals.skipped)} skipped: not named like transcripts"
    states = Counter(totals.states)
    states.update(totals.known_states)
    for state, count in sorted(states.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count:>9,}  {_SHORT_STATES.get(state, state)}"
    if totals.codes:
        yield f"{totals.errors:,} errors, {totals.warnings:,} warnings"
        for code, count in Counter(totals.codes).most_common(_MOST_CODES):
            yield f"  {count:>9,}  {code}"
    yield f"run {run_id}"
    yield f"next: {following}"


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"


def summary_json(totals: Totals, seconds: float, run_id: str) -> str:
    """Format the last line of `--json`."""
    states = Counter(totals.states)
    states.update(totals.known_states)
    return json.dumps(
        {
            "kind": "summary",
            "run_id": run_id,
            "done": totals.done,
            "known": totals.known,
            "listed": totals.listed,
            "skipped": totals.skipped,
            "bytes": totals.done_bytes,
            "seconds": round(seconds, 3),
            "cpu_seconds": round(totals.seconds, 3),
            "errors": totals.errors,
            "warnings": totals.warnings,
            "failed": totals.failed,
            "by_state": dict(sorted(states.items())),
            "by_code": dict(Counter(totals.codes).most_common()),
        },
        separators=(",", ":"),
    )


def stopped_sentence(totals: Totals) -> str:
    """Describe the state of the scan after Ctrl-C."""
    total = f"{'at least ' if totals.is_listing else ''}{totals.listed:,}"
    return f"stopped: {totals.done + totals.known:,} of {total} files done; run the same command to continue"
