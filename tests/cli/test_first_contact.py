"""First contact: what a new user sees, on any terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import CHAT, ROOT, run
from tests.support.terminal import Terminal
from viewer.render.theme import find_theme

SMALL = (80, 24)
NO_TRANSCRIPTS = {
    "package.json": json.dumps({"name": "a-package", "version": "1.0.0"}),
    "numbers.json": json.dumps([1, 2, {"three": 3}]),
    "notes.txt": "Dear diary,\nnothing happened today.\n",
    "empty.ocml": "",
}
OTHER_WRITING = CHAT.replace("Yes, it is.", "Да. 東京は晴れ。 café ☀️ \u20ac")
COLOR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")
ASK = "from viewer.cli.output import *; print(color_count(), repr(theme_of_terminal()))"
MANY_COLORS = re.compile(rb"[34]8;[25];")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.ocml"
    path.write_text(OTHER_WRITING, "utf-8")
    return path


def opened(path: Path, *keys: str, **variables: str) -> Terminal:
    """Run the viewer on a terminal that these variables describe, press these keys and `q`, and return the terminal."""
    terminal = Terminal([path], SMALL, variables=variables)
    terminal.wait_for("Tokyo?")
    assert "\n  User" in terminal.text() or "\n▌ User" in terminal.text()
    terminal.press(*keys)
    terminal.press("q")
    assert terminal.end() == 0
    return terminal


class TestWithoutATranscript:
    def test_help_fits_on_one_screen(self) -> None:
        terminal = Terminal(["--help"], (80, 40))
        assert terminal.end() == 0
        assert terminal.text().startswith("Usage: ocmlview")
        assert "Open the bundled tour." in terminal.text()

    @pytest.mark.slow
    def test_no_arguments_list_the_sessions_of_agents(self, tmp_path: Path) -> None:
        terminal = Terminal([], SMALL, variables={"HOME": str(tmp_path)})
        terminal.wait_for("No sessions found")
        terminal.press("escape")
        terminal.wait_for("Press q to quit.")
        terminal.press("q")
        assert terminal.end() == 0

    def test_no_arguments_on_a_terminal_without_a_screen_give_help(self) -> None:
        terminal = Terminal([], SMALL, variables={"TERM": "dumb"})
        assert terminal.end() == 2
        assert "Open the bundled tour." in terminal.text()

    @pytest.mark.share(test=2)
    @pytest.mark.parametrize("name", ["nowhere.ocml", "no/folder/chat.ocml"])
    def test_a_missing_file_is_reported_in_one_sentence_on_the_normal_screen(self, name: str) -> None:
        terminal = Terminal([name], SMALL)
        assert terminal.end() == 2
        assert terminal.text().split("\n")[0] == f"ocmlview: no such file: {name}"
        assert b"\x1b" not in terminal.written

    @pytest.mark.parametrize("name", NO_TRANSCRIPTS)
    @pytest.mark.parametrize("command", ["show", "check", "view"])
    def test_a_file_that_is_not_a_transcript_is_reported_as_such(self, name: str, command: str, tmp_path: Path) -> None:
        path = tmp_path / name
        path.write_text(NO_TRANSCRIPTS[name])
        result = run(command, path)
        is_read = name == "empty.ocml"
        sentence = (
            "no messages found. `ocmlview formats` lists the known formats.\n"
            if is_read
            else "Try --format, or see `ocmlview formats`.\n"
        )
        assert result.err.endswith(sentence)
        assert "a-package" not in result.out + result.err

    def test_check_counts_no_message_and_says_so(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.ocml"
        path.write_text("")
        assert (run("check", path).code, run("check", path).out) == (0, "No problems in 0 messages.\n")

    @pytest.mark.slow
    def test_the_viewer_opens_it_and_says_what_to_do(self, tmp_path: Path) -> None:
        path = tmp_path / "package.json"
        path.write_text(NO_TRANSCRIPTS["package.json"])
        terminal = Terminal([path], SMALL)
        terminal.wait_for("is not a transcript that ocmlview recognizes.")
        assert "`ocmlview formats` lists the names." in terminal.text()
        assert "a-package" not in terminal.text()
        terminal.press("q")
        assert terminal.end() == 0


class TestOldTerminals:
    @pytest.mark.share(test=2)
    @pytest.mark.parametrize("name", ["dumb", "unknown", ""])
    def test_a_terminal_without_a_screen_gets_printed_output(self, chat: Path, name: str) -> None:
        terminal = Terminal([chat], SMALL, variables={"TERM": name or "dumb", "COLORTERM": ""})
        assert terminal.end() == 0
        assert "Assistant" in terminal.text()
        assert b"\x1b" not in terminal.written

    @pytest.mark.share(test=2)
    @pytest.mark.parametrize("variables", [{"TERM": "vt100", "COLORTERM": ""}, {"NO_COLOR": "1"}])
    def test_a_terminal_without_colors_gets_none(self, chat: Path, variables: dict[str, str]) -> None:
        assert not COLOR.search(opened(chat, "d", **variables).written)

    @pytest.mark.slow
    def test_a_terminal_with_16_colors_gets_its_own(self, chat: Path) -> None:
        written = opened(chat, "d", TERM="xterm", COLORTERM="").written
        assert COLOR.search(written)
        assert not MANY_COLORS.search(written)

    @pytest.mark.slow
    def test_a_chosen_theme_is_used_anyway(self, chat: Path) -> None:
        terminal = Terminal(["--theme", "dark", chat], SMALL, variables={"TERM": "vt100", "COLORTERM": ""})
        terminal.wait_for("Tokyo?")
        terminal.press("q")
        terminal.end()
        assert COLOR.search(terminal.written)

    @pytest.mark.share(test=3)
    @pytest.mark.parametrize(
        "variables", [{"LC_ALL": "C"}, {"LC_ALL": "en_US.ISO-8859-1"}, {"LANG": "C"}], ids=lambda named: str(named)
    )
    def test_a_terminal_without_unicode_gets_ascii_only(self, chat: Path, variables: dict[str, str]) -> None:
        """In Latin-1, the bytes of UTF-8 are control characters."""
        terminal = opened(chat, "d", "T", "?", "escape", "ctrl+p", "escape", "q", **variables)  # closes the outline
        assert bytes(terminal.written).isascii()
        assert b"Outline -----" in re.sub(rb"\x1b\[[0-9;]*m", b"", terminal.written)


@pytest.mark.share(quick=3, test=2)
@pytest.mark.parametrize(
    ("variables", "count", "theme"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, 256, ""),
        ({"TERM": "xterm-256color"}, 256, ""),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, 256, "light"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;default;7"}, 256, "light"),
        ({"TERM": "xterm-256color", "COLORFGBG": "15;0"}, 256, ""),
        ({"TERM": "xterm-256color", "COLORFGBG": "default"}, 256, ""),
        ({"TERM": "xterm"}, 16, "ansi"),
        ({"TERM": "a-terminal-that-nobody-knows"}, 16, "ansi"),
        ({"TERM": "vt100"}, 0, "plain"),
        ({"TERM": "dumb"}, 0, "plain"),
        ({}, 0, "plain"),
    ],
    ids=str,
)
def test_the_default_theme_suits_the_terminal(variables: dict[str, str], count: int, theme: str) -> None:
    """Run in a separate process, because a process opens the terminal database only once."""
    others = {name: value for name, value in os.environ.items() if name not in ("TERM", "COLORTERM", "COLORFGBG")}
    done = subprocess.run([sys.executable, "-c", ASK], cwd=ROOT, env=others | variables, capture_output=True, text=True)
    assert done.stdout.split() == [str(count), repr(theme)], done.stderr


@pytest.mark.slow
def test_a_light_background_gets_the_light_theme(chat: Path) -> None:
    page = {name: find_theme(name).colors["background"] for name in ("dark", "light")}
    for told, name in (("15;0", "dark"), ("0;15", "light")):
        red, green, blue = bytes.fromhex(page[name].removeprefix("#"))
        assert f"48;2;{red};{green};{blue}".encode() in opened(chat, COLORFGBG=told).written
