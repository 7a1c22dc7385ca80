"""The replay screen: it plays on its own clock, and shows nothing that depends on hidden text."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from textual.pilot import Pilot

from tests.support.leaks.planted import everything
from tests.support.running import ROOMY, SMALL, drawn, press, running, until, view
from viewer.insight.replay.timeline import At, ReplayRequest
from viewer.model.visibility import Reveal
from viewer.tui.app import ViewOptions
from viewer.tui.insight.replay import ReplayScreen
from viewer.tui.insight.timing import TimingScreen

STREAM = "".join(
    f'{{"type":"response.delta","message_id":"{channel}","channel":"{channel}","delta":"{text}","ts":{1e9 + second}}}\n'
    for second, channel, text in (
        (0, "analysis", "A plum, "),
        (40, "analysis", "or two."),
        (50, "final", "It is "),
        (52, "final", "open"),
        (59, "final", " today."),
    )
)


class Clock:
    """A clock that tests advance."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


async def opened(pilot: Pilot[int]) -> ReplayScreen:
    await press(pilot, "at")
    screen = pilot.app.screen
    assert isinstance(screen, ReplayScreen)
    await rest(pilot, screen)
    return screen


async def rest(pilot: Pilot[int], screen: ReplayScreen) -> str:
    await until(lambda: not screen.is_working)
    await press(pilot)
    return drawn(pilot)


@pytest.mark.slow
async def test_it_plays_on_its_clock_and_skips_hidden_pauses(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(STREAM, "utf-8")
    async with running(path, size=SMALL) as pilot:
        screen, clock = await opened(pilot), Clock()
        screen._clock = clock
        assert "❚❚ 10× 9.0 s of 9.0 s  [SAFE]" in await rest(pilot, screen)
        await press(pilot, "0")
        assert "0.0 s of 9.0 s" in await rest(pilot, screen)
        assert "It is open" not in drawn(pilot)
        await press(pilot, "space")
        clock.now += 0.2  # two seconds of the replay
        await until(lambda: screen._event == 1)
        assert "It is open" in await rest(pilot, screen)
        clock.now += 0.2  # the pause of seven seconds is shortened to two
        await until(lambda: not screen.is_playing)
        text = await rest(pilot, screen)
        assert "It is open today." in text
        assert "plum" not in text
        await press(pilot, "less_than_sign", "i")
        assert "❚❚ 5× 9.0 s of 9.0 s all pauses" in drawn(pilot)
        for key, event in (("left", 1), ("left", 0), ("right", 1), ("full_stop", 2), ("left_square_bracket", 0)):
            await press(pilot, key)
            await rest(pilot, screen)
            assert screen._event == event, key
        await press(pilot, "at")
        assert view(pilot).host.is_current
    async with running(path, size=ROOMY, options=ViewOptions(revealed=frozenset({Reveal.ALL}))) as pilot:
        screen = await opened(pilot)
        await press(pilot, "0")
        text = await rest(pilot, screen)
        assert "0.0 s of 59.0 s" in text
        assert "A plum," in text


@pytest.mark.slow
async def test_the_command_line_opens_it_at_a_moment_or_playing(tmp_path: Path) -> None:
    path, times = tmp_path / "run.jsonl", tmp_path / "run.times"
    path.write_text(STREAM, "utf-8")
    times.write_text(json.dumps({"b": path.stat().st_size, "t": 5}) + "\n")
    at_three = ReplayRequest(At(ms=3000), speed=3.0)
    async with running(path, size=SMALL, options=ViewOptions(replay=at_three)) as pilot:
        await until(lambda: isinstance(pilot.app.screen, ReplayScreen))
        screen = pilot.app.screen
        assert isinstance(screen, ReplayScreen)
        text = await rest(pilot, screen)
        assert "❚❚ 3× 2.0 s of 9.0 s" in text
        assert "It is open" in text
        assert "today" not in text
        await press(pilot, "greater_than_sign")
        assert "❚❚ 6×" in drawn(pilot)
        await press(pilot, "at")
        assert view(pilot).host.is_current
    playing = ViewOptions(replay=ReplayRequest(plays=True, idle_limit_ms=0))
    async with running(path, size=SMALL, options=playing) as pilot:
        await until(lambda: isinstance(pilot.app.screen, ReplayScreen) and "It is open today." in drawn(pilot))
    past_end = ViewOptions(replay=ReplayRequest(At(event=99)))
    async with running(path, size=SMALL, options=past_end) as pilot:
        await until(lambda: "This is the end." in drawn(pilot))
    without_clock = ViewOptions(replay=ReplayRequest(At(ms=5), str(times)), times=str(times))
    async with running(path, size=SMALL, options=without_clock) as pilot:
        await until(lambda: "event 3 of 3" in drawn(pilot))
    times.write_text('{"b":1,"t":5}\n{"b":9999,"t":6}\n')
    async with running(path, size=SMALL, options=without_clock) as pilot:
        await until(lambda: pilot.app.return_value == 2)


@pytest.mark.slow
async def test_other_hidden_words_do_not_change_it(tmp_path: Path) -> None:
    planted = everything("openchatml-2.2")
    path = tmp_path / "chat.ocml"
    seen = []
    for each in (planted, planted.with_other_words(Random(3))):
        path.write_bytes(each.data)
        async with running(path, size=ROOMY) as pilot:
            screen = await opened(pilot)
            for key in ("0", "full_stop", "full_stop", "5", "comma", "9"):
                await press(pilot, key)
                text = await rest(pilot, screen)
                assert each.finder.plain(text) == []
                seen.append(text)
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


@pytest.mark.slow
async def test_it_renders_markdown_unless_the_view_shows_the_source() -> None:
    async with running(size=SMALL) as pilot:
        await opened(pilot)
        assert "walk north to the" in drawn(pilot) and "Take the Midosuji line" in drawn(pilot)
        await press(pilot, "at", "M")
        await opened(pilot)
        assert "Take the **Midosuji line**" in drawn(pilot)


@pytest.mark.slow
async def test_the_timing_screen_has_the_facts_of_the_command_line_and_no_hidden_time(tmp_path: Path) -> None:
    path, seen = tmp_path / "run.jsonl", []
    for thought, later in (("A plum, ", 0), ("A very long thought about plums, ", 3)):
        path.write_text(STREAM.replace("A plum, ", thought).replace("1000000040", f"100000004{later}"), "utf-8")
        async with running(path, size=SMALL) as pilot:
            seen.append(await timed(pilot))
    assert seen[0] == seen[1]
    assert "final: 11 characters in 9.0 s, 1 per second." in seen[0]
    assert "Stall" not in seen[0]
    assert "analysis" not in seen[0]
    async with running(path, size=SMALL, options=ViewOptions(revealed=frozenset({Reveal.ALL}))) as pilot:
        text = await timed(pilot)
        assert "First visible answer after 50.0 s." in text
        assert "analysis" in text


async def timed(pilot: Pilot[int]) -> str:
    await press(pilot, "colon", *"timing", "enter")
    await until(lambda: isinstance(pilot.app.screen, TimingScreen) and not pilot.app.screen.is_working)
    await press(pilot)
    return drawn(pilot)
