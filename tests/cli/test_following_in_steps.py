"""`show -f` with a fake clock and a fake watcher: what it prints after each change of the files, one wait at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.cli_following import HEAD, append, said
from tests.support.watching import FakeWatcher
from viewer.cli.following import follow
from viewer.cli.options import Followed
from viewer.cli.output import standard_output
from viewer.cli.show import LiveJson
from viewer.model.visibility import END_USER

WAKES = pytest.mark.parametrize("wakes", [True, False], ids=["events", "polling"])
LONGEST = 200
"""The number of waits without progress after which a script fails: 10 s on the fake clock."""

Printed = Callable[[], list[str]]


class Follower:
    """`show -f --json` on a path, run in this process until the script ends."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._out = self._err = ""
        self._ended = False

    def _read(self) -> None:
        out, err = self._capsys.readouterr()
        self._out += out
        self._err += err

    @property
    def lines(self) -> list[dict[str, object]]:
        self._read()
        return [json.loads(line) for line in self._out.splitlines()]

    @property
    def err(self) -> str:
        self._read()
        return self._err

    @property
    def resets(self) -> list[object]:
        return [line["reason"] for line in self.lines if line["kind"] == "reset"]

    @property
    def bodies(self) -> list[object]:
        """The bodies since the last reset."""
        lines = self.lines
        last = max((place for place, line in enumerate(lines) if line["kind"] == "reset"), default=-1)
        return [line["body"] for line in lines[last + 1 :] if line["kind"] == "message"]

    def printed(self, *bodies: str) -> Iterator[None]:
        """Wait until exactly these bodies are printed."""
        for _ in range(LONGEST):
            if self.bodies == list(bodies):
                return
            yield None
        pytest.fail(f"printed {self.bodies}")

    def run(self, path: Path, script: Iterator[object], *, wakes: bool) -> int:
        def steps() -> Iterator[object]:
            yield from script
            self._ended = True

        watcher = FakeWatcher(script=steps(), wakes=wakes)
        followed = Followed(str(path), is_finished=lambda: self._ended)
        printer = LiveJson(END_USER, standard_output())
        return follow(followed, printer, watch=watcher.watch, clock=watcher.clock)


@pytest.fixture
def follower(capsys: pytest.CaptureFixture[str]) -> Follower:
    return Follower(capsys)


@WAKES
def test_the_newest_transcript_of_a_folder_is_followed_and_then_newer_ones(
    tmp_path: Path, follower: Follower, wakes: bool
) -> None:
    for age, name in enumerate(("new", "old")):
        (tmp_path / f"{name}.ocml").write_text(HEAD + said(name))
        os.utime(tmp_path / f"{name}.ocml", (1000 - age, 1000 - age))
    (tmp_path / "notes.txt").write_text("nothing to see")

    def script() -> Iterator[object]:
        yield from follower.printed("new")
        append(tmp_path / "old.ocml", said("is no newer for that"))
        append(tmp_path / "new.ocml", said("two"))
        yield from follower.printed("new", "two")
        (tmp_path / "newer.ocml").write_text(HEAD + said("newer"))
        yield from follower.printed("newer")

    assert follower.run(tmp_path, script(), wakes=wakes) == 0
    assert follower.resets == ["replaced"]
    followed = [line for line in follower.err.splitlines() if "following the newest" in line]
    assert [Path(line.split(": ")[1]).name for line in followed] == ["new.ocml", "newer.ocml"]


@pytest.mark.share(quick=15)
@WAKES
def test_an_appended_message_is_printed_before_the_next_wait(tmp_path: Path, follower: Follower, wakes: bool) -> None:
    path = tmp_path / "run.ocml"
    path.write_text(HEAD + said("one"))
    bodies = ["one"]

    def script() -> Iterator[object]:
        yield from follower.printed("one")
        for number in range(200):
            append(path, said(f"number {number}"))
            bodies.append(f"number {number}")
            yield None
            assert follower.bodies == bodies

    assert follower.run(path, script(), wakes=wakes) == 0
    assert follower.bodies == bodies
