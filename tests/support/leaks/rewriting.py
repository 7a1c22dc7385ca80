"""Rewrite a file while a command or the viewer reads it, at the n-th step of reading, in one of many ways."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.leaks.acting import act_of
from tests.support.leaks.finder import Leak
from tests.support.leaks.frames import Frames
from tests.support.leaks.laboratory import Escaped, Recorded, Session
from tests.support.leaks.planted import KINDS, Part, Planted, made_of
from tests.support.program import Result, run
from tests.support.running import settled
from viewer.cli import following, output
from viewer.cli.options import Followed
from viewer.cli.show import LiveJson, LiveText
from viewer.document import document, one_reading
from viewer.document.values import ShownMessage
from viewer.formats import WRITERS
from viewer.index.findings import MOST_PER_CODE
from viewer.model.visibility import END_USER
from viewer.render.exports import EXPORTERS
from viewer.sources import checksums, file_source, follow, guarded_file, stamp
from viewer.sources import followed_file as held_file
from viewer.sources import revision as generation
from viewer.tui.app import ViewOptions
from viewer.tui.main.screen import MainScreen

UNKNOWABLE = "only the end of a think block"
FORMS = list(EXPORTERS)
COMMANDS: list[list[str]] = [
    ["show"],
    ["show", "--json"],
    ["show", "--strict-safe"],
    ["check"],
    ["check", "--json"],
    ["check", "--sarif"],
    ["check", "--github"],
    ["stats"],
    ["stats", "--json"],
    *(["export", "--to", form, "-o", "-"] for form in FORMS),
    *(["export", "--force", "--to", form, "-o", "OUT"] for form in FORMS),
    *(["convert", "--to", name] for name in WRITERS),
]
LIVE: list[list[str]] = [["show", "-f"], ["show", "-f", "--json"], ["check", "-f"]]
WAYS = ("other", "same length", "order", "truncate", "replace", "grow")
NEWEST = "Umbrellas are at the end of the other."
END = "Umbrellas are at the end {}."
_LASTS = {
    "openchatml-0.1": "<|im_start|>assistant\n{}<|im_end|>\n",
    "json": '{{"role":"assistant","content":"{}"}}',
    "chatml-json": '{{"token":"<|start|>"}},"assistant",{{"token":"<|message|>"}},"{}",{{"token":"<|end_message|>"}}',
    "events": '{{"type":"response.delta","message_id":"last","delta":"{}"}}\n'
    '{{"type":"response.done","message_id":"last"}}\n',
}
_LAST = "<|start|>assistant<|message|>{}<|end|>\n"


@dataclass
class Schedule:
    """One rewrite of one file under one reader. The same seed always gives the same schedule."""

    seed: int
    command: list[str]
    format: str = ""
    way: str = ""
    restores: bool = False
    """True if the modification time is restored."""
    trusts: bool = False
    """True if stamps are old enough to be trusted."""
    small: bool = False
    """True if blocks and steps are small, so a short file has many of them and the scanner reads it."""
    old: Planted = field(init=False)
    new: Planted = field(init=False)

    def __post_init__(self) -> None:
        chance = self.chance = Random(f"rewrite {self.seed}")
        self.format = self.format or chance.choice(list(KINDS))
        self.way = self.way or chance.choice(WAYS)
        self.restores, self.trusts, self.small = (chance.random() < 0.5 for _ in range(3))
        parts = _parts(self.format, chance)
        first = chance.choice(KINDS[self.format].first)
        self.old = made_of(self.format, [first, *parts, self._end("of the first")], chance.getrandbits(32))
        self.new = self._other(parts, first)

    def _end(self, word: str) -> Part:
        return "the end", _LASTS.get(self.format, _LAST).format(END.format(word))

    def _other(self, parts: list[Part], first: Part) -> Planted:
        chance = self.chance
        if self.way == "order":  # usually the same parts in a different order
            mixed = parts[:]
            chance.shuffle(mixed)
            return made_of(self.format, [first, *mixed, self._end("of the other")], chance.getrandbits(32))
        head = chance.choice(KINDS[self.format].first)
        others = _parts(self.format, chance)
        made = made_of(self.format, [head, *others, self._end("of the other")], chance.getrandbits(32))
        if self.way == "grow":
            return replace(made, text=self.old.text + "".join(made.text.split("\n", 1)[1:]))
        return made

    @property
    def canaries(self) -> Planted:
        """The canaries of both contents."""
        return Planted(self.format, "", (*self.old.places, *self.new.places))

    @property
    def new_data(self) -> bytes:
        """The new content of the file."""
        data, size = self.new.data, len(self.old.data)
        if self.way != "same length":
            return data
        return data[:size] if len(data) >= size else data + b"\n" * (size - len(data))

    @property
    def shows_end(self) -> bool:
        """True if a fresh reading shows the end of the new content."""
        return self.format != "harmony-tokens" and self.way != "grow" and self.new_data.startswith(self.new.data)

    def rewrite(self, path: Path) -> None:
        """Rewrite the file now."""
        status = path.stat()
        data = self.new_data
        if self.way == "replace":
            beside = path.with_name("beside")
            beside.write_bytes(data)
            beside.replace(path)
        elif self.way == "grow":
            with path.open("ab", buffering=0) as file:
                file.write(data[len(self.old.data) :])
        elif self.way == "truncate":
            os.truncate(path, 0)
            path.write_bytes(data)
        elif len(data) >= status.st_size:
            with path.open("r+b", buffering=0) as file:
                file.write(data)
        else:
            path.write_bytes(data)
        if self.restores:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def __str__(self) -> str:
        way = f"{self.way}{', restored' * self.restores}{', trusted' * self.trusts}{', small' * self.small}"
        return f"{self.seed}: {' '.join(self.command)} {self.format} {way}"


def _parts(format: str, chance: Random) -> list[Part]:
    kind = KINDS[format]
    hidden = [part for part in kind.hidden if part[0] != UNKNOWABLE]
    parts = [
        chance.choice(hidden) if chance.random() < 0.5 else ("shown", chance.choice(kind.shown)) for _ in range(40)
    ]
    return [("shown", kind.shown[0]), *parts[: chance.choice((8, 20, 40))]]


class Steps:
    """Counts the reading steps, and runs an action at one of them."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self.count = 0
        self.is_done = False
        self._at = at
        self._act = act

    def step(self) -> None:
        """Count a step."""
        if self.count == self._at:
            self.act()
        self.count += 1

    def act(self) -> None:
        """Run the action now, unless it has already run."""
        if not self.is_done:
            self.is_done = True
            self._act()


@contextmanager
def rewritten(schedule: Schedule, path: Path, at: int) -> Iterator[Steps]:
    """Rewrite the file at this step within the block."""
    path.write_bytes(schedule.old.data)
    tick(path.parent)

    def act() -> None:
        tick(path.parent)
        schedule.rewrite(path)
        tick(path.parent)

    steps, pread, stamped = Steps(at, act), guarded_file.GuardedFile.pread, stamp.stamp_of

    def counted(self: guarded_file.GuardedFile, start: int, end: int) -> bytes:
        steps.step()
        data = pread(self, start, end)
        steps.step()
        return data

    def stamp_counted(descriptor: int) -> stamp.Stamp:
        found = stamped(descriptor)
        steps.step()
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(guarded_file.GuardedFile, "pread", counted)
        for module in (guarded_file, held_file):
            patched.setattr(module, "stamp_of", stamp_counted)
        if schedule.trusts:
            patched.setattr(stamp, "YOUNGEST_NS", 0)
        patched.setattr(output, "_BLOCK", 400)
        patched.setattr(generation, "RECENT", 300)
        if schedule.small:
            _make_small(patched)
        yield steps


def _make_small(patched: pytest.MonkeyPatch) -> None:
    for module in (checksums, guarded_file, document):
        patched.setattr(module, "BLOCK", 512)
    for module in (guarded_file, held_file, file_source):
        patched.setattr(module, "COMPARED_AT_ONCE", 2048)
    patched.setattr(held_file, "COMPARED_IDLY", 3)
    patched.setattr(one_reading, "BIG", 2048)
    patched.setattr(one_reading, "WORTH_SCANNING", 512)
    patched.setattr(document, "LARGEST_STEP", 2048)
    patched.setattr(follow, "TURN", 2048)


class _Awake:
    """A watcher that never waits."""

    def __init__(self, path: str) -> None:
        pass

    def wait(self, timeout: float) -> bool:
        return True

    async def wait_async(self, timeout: float) -> bool:
        await asyncio.sleep(0.002)
        return True

    def close(self) -> None:
        pass


ACTS = 10
LATEST_IN_VIEWER = 500


async def viewed(schedule: Schedule, folder: Path, at: int, *, follow: bool) -> tuple[list[Escaped], str]:
    """Return the leaks of a session in the viewer, and the text shown at its end."""
    path = folder / "input" / "chat.ocml"
    path.parent.mkdir()
    chance, shown = Random(f"viewer {schedule.seed}"), ""
    with rewritten(schedule, path, at) as steps, pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        app = Recorded(["input/chat.ocml"], ViewOptions(format=schedule.format, follow=follow), watch=_Awake)
        frames = Frames()
        frames.draw_instead(patched)
        async with app.run_test(size=(110, 34)) as pilot:
            session = Session(schedule.canaries, pilot, folder, frames)
            for number in range(ACTS):
                session.look("waiting")
                await session.do(act_of(chance.getrandbits(40), ["Umbrellas"]))
                if number == ACTS // 2:
                    steps.act()
            for _ in range(30):
                await asyncio.sleep(0.002)
                session.look("the end")
            await settled(pilot)
            session.look("the end")
            for _ in range(20_000):
                shown = _shown_of_followed(app)
                if NEWEST in shown or not shown:
                    break
                await asyncio.sleep(0.002)
                session.look("reading on")
        session.files()
    return session.escaped, shown


def _shown_of_followed(app: Recorded) -> str:
    """Return the safe view if the file is still followed. An action may have stopped that."""
    main = next((each for each in app.screen_stack if isinstance(each, MainScreen)), None)
    if main is None or main.follow.live is None:
        return ""
    items = main.session.document.project(END_USER).items()
    return " ".join(item.body for item in items if isinstance(item, ShownMessage))


def tick(folder: Path) -> None:
    """Wait until the clock of the file system has advanced, which takes a few milliseconds at most."""
    file = folder / "clock"
    file.write_bytes(b"")
    first = file.stat().st_ctime_ns
    while file.stat().st_ctime_ns == first:
        file.touch()


@dataclass(frozen=True)
class Outcome:
    """The result of a schedule."""

    leaks: list[Leak]
    was_rewritten: bool
    result: Result
    steps: int


def outcome_of(schedule: Schedule, at: int) -> Outcome:
    """Run the command, rewriting the file at this step."""
    folder = Path(tempfile.mkdtemp(prefix="ocmlview-rewrite-"))
    try:
        path, out = folder / "chat.txt", folder / "out"
        with rewritten(schedule, path, at) as steps:
            words = [str(out) if word == "OUT" else word for word in schedule.command]
            if "-f" in words:
                result = _followed(words, path, schedule.format, steps)
            else:
                result = run(*words, "--format", schedule.format, path)
        written = out.read_bytes() if out.exists() else b""
        leaks = schedule.canaries.finder.leaks(result.out.encode() + b"\n" + result.err.encode() + b"\n" + written)
        return Outcome(leaks, steps.is_done, result, steps.count)
    finally:
        shutil.rmtree(folder)


def _followed(words: list[str], path: Path, format: str, steps: Steps) -> Result:
    """Follow with `-f` until everything has been read after the rewrite."""
    turns = iter(range(400))

    def is_finished() -> bool:
        return steps.is_done and next(turns, 400) >= 40

    def act(*given: Any, **more: Any) -> int:
        followed = Followed(str(path), format, None, None, is_finished)
        style = output.standard_output("never")
        if words[0] == "check":
            from viewer.cli.check import LiveReport

            report = LiveReport(style, None, False, MOST_PER_CODE)
            following.follow(followed, report, watch=_Awake)
            report.sum_up()
            return 0
        printer = LiveJson(END_USER, style) if "--json" in words else LiveText(END_USER, style)
        return following.follow(followed, printer, watch=_Awake)

    with pytest.MonkeyPatch.context() as patched:
        import viewer.cli

        patched.setattr(viewer.cli, "run", lambda arguments: _ended(act))
        return run(*words, path)


def _ended(act: Callable[[], int]) -> int:
    from viewer.cli.exits import ended

    return ended(act)
