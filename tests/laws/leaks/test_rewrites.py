"""A file that is rewritten while it is read leaks no hidden part of its old or new content."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.support.leaks.rewriting import COMMANDS, LATEST_IN_VIEWER, LIVE, NEWEST, Schedule, outcome_of, viewed
from viewer.sources import followed_file as held_file
from viewer.sources import guarded_file
from viewer.sources.file_source import FileSource

SCHEDULES = int(os.environ.get("OCML_LAB_REWRITES", "1000"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
SHARES = 4
LATEST_LIVE = 120
"""The maximum number of follow steps before the file is rewritten."""


def schedule_of(seed: int) -> Schedule:
    every = [*COMMANDS, *(LIVE * 3)]
    return Schedule(seed, every[seed % len(every)])


def try_schedule(seed: int) -> bool:
    """Run a random schedule. Return True if the file was rewritten while it was read."""
    schedule, chance = schedule_of(seed), Random(seed)
    live = "-f" in schedule.command
    steps = LATEST_LIVE if live else max(1, outcome_of(schedule, -1).steps)
    outcome = outcome_of(schedule, chance.randrange(steps))
    assert outcome.leaks == [], str(schedule)
    assert "Traceback" not in outcome.result.err, str(schedule)
    assert outcome.result.code in (0, 1, 2), str(schedule)
    if live and schedule.command[0] == "show" and schedule.shows_end and outcome.was_rewritten:
        assert NEWEST in outcome.result.out.replace("\n", " "), str(schedule)
    return outcome.was_rewritten


@pytest.mark.share(test=2)
@pytest.mark.parametrize("share", range(4))
def test_a_rewritten_file_leaks_nothing(share: int) -> None:
    assert sum(try_schedule(seed) for seed in range(share, 28, 4)) > 3


@pytest.mark.lab
@pytest.mark.parametrize("share", range(SHARES))
def test_a_thousand_rewritten_files_leak_nothing(share: int) -> None:
    done = [try_schedule(SEED * SCHEDULES + seed) for seed in range(share, SCHEDULES, SHARES)]
    assert sum(done) > len(done) / 2


async def view_schedule(seed: int, folder: Path) -> None:
    follow, chance = bool(seed % 2), Random(seed)
    schedule = Schedule(seed, ["view", "-f"] if follow else ["view"])
    escaped, shown = await viewed(schedule, folder, chance.randrange(LATEST_IN_VIEWER), follow=follow)
    assert escaped == [], str(schedule)
    if follow and shown and schedule.shows_end:
        assert NEWEST in shown, str(schedule)


@pytest.mark.share(test=3)
@pytest.mark.parametrize("seed", range(4))
async def test_a_rewritten_file_leaks_nothing_on_the_screen(seed: int, tmp_path: Path) -> None:
    await view_schedule(seed, tmp_path)


@pytest.mark.lab
@pytest.mark.parametrize("share", range(SHARES))
async def test_many_sessions_with_rewritten_files_leak_nothing(share: int, tmp_path: Path) -> None:
    for seed in range(share, SCHEDULES // 5, SHARES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        await view_schedule(SEED * SCHEDULES + seed, folder)


def unguarded(patched: pytest.MonkeyPatch) -> None:
    """Let reads return whatever is in the file now, without any check."""
    guarded = guarded_file.GuardedFile

    def read(self: guarded_file.GuardedFile, start: int, end: int, *, trusts_stamp: bool = True) -> bytes:
        return self.pread(start, end)

    patched.setattr(guarded, "read", read)
    patched.setattr(guarded, "has_moved", False)
    patched.setattr(guarded, "is_shorter", False)
    patched.setattr(FileSource, "rewritten", lambda self: AssertionError("never"))
    patched.setattr(held_file.FollowedFile, "_changed", lambda self: None)


@pytest.mark.slow
@pytest.mark.parametrize("command", [["show"], ["show", "--json"], ["export", "--to", "html", "-o", "-"]], ids=" ".join)
def test_without_the_guard_the_campaign_finds_leaks(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    unguarded(monkeypatch)
    schedules = (Schedule(seed, command, "openchatml-2.2") for seed in range(12))
    assert any(outcome_of(each, outcome_of(each, -1).steps // 2).leaks for each in schedules)
