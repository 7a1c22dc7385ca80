"""`demo --live`: the transcript that it plays, its pace, and no leftover files."""

from __future__ import annotations

import re
import signal
import stat
from pathlib import Path

import pytest

from tests.support.live_program import Live
from tests.support.program import run
from viewer.cli.demo import LATE, SECONDS, moments, played, script
from viewer.document.document import open_document
from viewer.model.diagnostic import Severity
from viewer.resources import bundled

TOUR = bundled("samples", "tour.ocml").read_text("utf-8")
QUICK = "from viewer.cli import demo as player\nplayer.moments.__defaults__ = (0.3, 2.2)\n"
"""Plays at full speed, except for the tool that is late."""


class TestScript:
    def test_the_demo_has_a_broken_message_a_late_tool_and_a_cancelled_one(self, tmp_path: Path) -> None:
        path = tmp_path / "played.ocml"
        path.write_bytes(b"".join(moment.data for moment in moments(script(TOUR))))
        document = open_document(str(path))
        found = {
            finding.diagnostic.code
            for finding in document.findings()
            if finding.diagnostic.rule.severity is Severity.ERROR
        }
        assert {"E-BODY-CONSTRAINT-VIOLATION", "E-TOOL-TIMEOUT", "E-TOOL-CANCELLED"} <= found
        assert "E-STREAM-TRUNCATED" not in found
        assert {link.state.value for link in document.tally.links} >= {"ok", "timeout", "cancelled"}

    def test_it_ends_within_25_seconds_and_shows_something_in_the_first(self) -> None:
        told = moments(script(TOUR))
        assert SECONDS < sum(moment.pause for moment in told) < 25
        assert max(moment.pause for moment in told) > LATE
        passed, text = 0.0, b""
        for moment in told:
            passed += moment.pause
            text += moment.data
            if passed > 1:
                break
        assert b"<|start|>user<|message|>What" in text

    def test_pieces_end_inside_messages_tokens_and_characters(self) -> None:
        ends = [moment.data for moment in moments(script(TOUR))]
        assert any(re.search(rb"<\|?\w*$", data) for data in ends)
        assert any(data.decode("utf-8", "ignore").encode() != data for data in ends)


class TestPlayer:
    def test_the_file_is_readable_by_its_owner_only_and_is_removed(self) -> None:
        with played(moments("<|start|>user<|message|>Hi<|end|>\n", 0.01)) as (name, player):
            path = Path(name)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            player.join(10)
            assert player.is_finished()
            assert path.read_text() == "<|start|>user<|message|>Hi<|end|>\n"
        assert not path.exists()

    def test_the_demo_can_be_stopped(self) -> None:
        with played(moments(script(TOUR), 600)) as (name, player):
            assert not player.is_finished()
        assert player.is_finished()
        assert not Path(name).exists()


@pytest.mark.slow
class TestCommand:
    def test_the_demo_is_printed_while_it_is_played(self) -> None:
        with Live("demo", "--live", prelude=QUICK) as live:
            live.until(lambda live: "What's the weather" in live.out)
            assert "Dotonbori bridge" not in live.out
            result = live.ended()
        assert (result.code, result.err) == (0, "")
        played_text = result.out.splitlines()
        assert [line for line in run("demo").out.splitlines() if line.startswith("▌")][:-1] == [
            line for line in played_text if line.startswith("▌")
        ][:-1]
        assert "▌ Dotonbori bridge: seven minutes on foot."[2:] in result.out
        assert "(E-TOOL-TIMEOUT)" in result.out
        assert "(E-TOOL-CANCELLED)" in result.out

    @pytest.mark.share(test=2)
    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 129)]
    )
    def test_a_signal_leaves_nothing_behind(self, tmp_path: Path, number: int, code: int) -> None:
        with Live("demo", "--live", TMPDIR=str(tmp_path)) as live:
            live.until(lambda live: "User" in live.out)
            assert [path.name.startswith("ocmlview-tour-") for path in tmp_path.iterdir()] == [True]
            live.process.send_signal(number)
            assert live.ended().code == code
        assert list(tmp_path.iterdir()) == []
