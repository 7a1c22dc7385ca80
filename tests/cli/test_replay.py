"""`replay`, `timing`, and moments on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.program import CHAT, run
from viewer.cli.interruption import Interruption
from viewer.cli.replay import Pause
from viewer.document.document import open_document
from viewer.insight.replay.arrivals import Arrivals
from viewer.insight.replay.timeline import Timeline, parse_byte, parse_moment
from viewer.model.visibility import EVERYTHING, Audience


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT, "utf-8")
    return path


def test_a_replay_ends_with_what_show_prints(chat: Path) -> None:
    for options in ([], ["--strict-safe"]):
        assert run("replay", "--idle-limit", "0", *options, chat).out == run("show", *options, chat).out


def test_a_moment_shows_what_had_arrived_by_then(chat: Path) -> None:
    assert run("show", "--at", "B5", chat).out.splitlines()[-2:] == ["▌ Is it", "  ┄ unfinished ┄"]
    assert "plums" not in run("show", "--at-event", "1", chat).out
    at = CHAT.index(" about plums")
    assert "A hidden thought\n" in run("show", "-d", "--at", f"B{at}", chat).out
    assert run("show", "--at-event", "9" * 25, chat).out == run("show", "--at", "B" + "9" * 25, chat).out
    end = run("show", "--at", "B99999", chat)
    assert (end.code, end.out) == (0, run("show", chat).out)
    assert end.err == f"ocmlview: {chat} ends before that moment; showing the end instead\n"
    lines = [json.loads(line) for line in run("show", "--json", "--at-event", "2", chat).out.splitlines()]
    assert lines[-1] == {"kind": "moment", "byte": 31, "event": 2, "ms": None}
    assert [line["body"] for line in lines if line["kind"] == "message"] == ["Is it warm in Tokyo?", "Yes, it is."]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["show", "--at", "zz"], "use a number of bytes such as B4096"),
        (["show", "--at-time", "soon"], "use a time such as 12.3s or +1:05"),
        (["show", "--at-time", "3s"], "has no times"),
        (["show", "--at", "B1", "--at-event", "1"], "cannot be used together"),
        (["show", "--at", "B1", "-f"], "omit -f"),
        (["show", "--at", "B1", "other.ocml"], "specify exactly one file"),
        (["show", "--times", "x"], "--times needs"),
        (["show", "--record-times", "x"], "--record-times needs -f"),
        (["timing", "--times", "none"], "none cannot be read"),
        (["timing", "--times", "none", "other.ocml"], "specify exactly one file"),
        (["replay", "other.ocml"], "One file at a time"),
        (["replay", "--speed", "100"], "use a number from 0.5 to 64"),
        (["replay", "--speed", "nan"], "use a number from 0.5 to 64"),
        (["replay", "--idle-limit", "inf"], "use a number of seconds such as 2 or 0.5"),
        (["show", "--at-event", "-1"], "use the number of an event such as 12"),
        (["view", "--at-event", "two"], "use the number of an event such as 12"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(options: list[str], sentence: str, chat: Path) -> None:
    result = run(*options, chat)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err
    assert result.err.count("\n") == 1


def test_moments_are_parsed() -> None:
    assert [parse_byte(text) for text in ("B4096", "12", "b0", "-1", "B")] == [4096, 12, 0, None, None]
    times = {"12.3s": 12_300, "+1:05": 65_000, "90": 90_000, "250ms": 250, "1:00:02.5": 3_602_500, "2m": 120_000}
    assert {text: parse_moment(text) for text in times} == times
    assert [parse_moment(text) for text in ("", "1:60", "1:70:00", "s", "-3s")] == [None] * 5


def test_a_clock_that_never_runs_has_equal_pauses() -> None:
    document = open_document("samples/valid/claude-code/compaction.jsonl")
    strict, whole = (
        Timeline(Arrivals(document, audience), audience) for audience in (Audience(strict=True), EVERYTHING)
    )
    assert (strict.has_times, strict.has_clock, strict.pause_after(0)) == (True, False, 1000)
    assert (whole.has_clock, whole.pause_after(1)) == (True, whole.clock[2] - whole.clock[1])


def test_pauses_are_slept_in_slices_so_that_an_interrupt_is_noticed_soon() -> None:
    slept: list[float] = []
    interruption = Interruption()
    pause = Pause(interruption, 2.0, 1.0, slept.append)
    assert pause.wait(400)
    assert sum(slept) == pytest.approx(0.2)
    assert max(slept) <= 0.05
    slept.clear()
    assert pause.wait(60_000)
    assert sum(slept) == pytest.approx(0.5)
    interruption.heard = True
    assert not pause.wait(400)


@pytest.mark.slow
def test_the_viewer_prints_a_moment_without_a_terminal_and_records_what_it_follows(chat: Path, tmp_path: Path) -> None:
    for moment in (["--at", "B5"], ["--at-event", "1", "-d"]):
        assert run("view", *moment, chat) == run("show", *moment, chat)
    times = tmp_path / "times"
    assert run("-f", "--record-times", times, "-", stdin=chat.read_bytes()).code == 0
    assert f'{{"b":{chat.stat().st_size},' in times.read_text()
    full = run("show", "-f", "--record-times", "/dev/full", "-", stdin=chat.read_bytes())
    assert (full.code, full.out, full.err.count("\n")) == (2, run("show", chat).out, 1)
    for options in (["--at", "B1", "--merge"], ["--at", "B1", "-f"], ["--record-times", "x"], ["--at", "B1", "other"]):
        refused = run("view", *options, chat)
        assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)


@pytest.mark.slow
def test_a_followed_run_can_be_timed(chat: Path, tmp_path: Path) -> None:
    times = tmp_path / "run.times"
    with chat.open("rb") as file:
        data = file.read()
    assert run("show", "-f", "--record-times", times, "-", stdin=data).code == 0
    times.write_text(f'{{"b":{len(data)},"t":5}}\n')
    timing = json.loads(run("timing", "--json", "--times", times, chat).out)
    assert (timing["has_times"], timing["source"], timing["events"]) == (True, "sidecar", 2)
    assert run("timing", "--times", times, chat).out.startswith(
        "2 events that each arrived at once, times from the sidecar\n"
    )
    assert "No times" in run("timing", chat).out
