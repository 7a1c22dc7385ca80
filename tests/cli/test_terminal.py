"""Output to a terminal: wrapped lines, colors, and no control sequences."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import CHAT, ROOT
from viewer.render.width import cells

LONG = CHAT.replace("Yes, it is.", "Yes, it is. " * 20 + "\x1b]0;owned\x07 東京は晴れです。" * 5)


def on_terminal(path: Path, *arguments: str, **environment: str) -> str:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "viewer", *arguments, str(path)]
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "40", **environment}
    with subprocess.Popen(command, stdout=slave, stdin=slave, stderr=subprocess.DEVNULL, cwd=ROOT, env=variables):
        os.close(slave)
        written = b""
        try:
            while data := os.read(master, 65536):
                written += data
        except OSError:  # the terminal has closed
            pass
    os.close(master)
    return written.decode().replace("\r\n", "\n")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.ocml"
    path.write_text(LONG)
    return path


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.share(quick=9)
@pytest.mark.parametrize("arguments", [["show"], ["show", "-d"], ["check", "--reveal", "all"], ["stats"]])
def test_lines_fit_and_are_colored(chat: Path, arguments: list[str]) -> None:
    text = on_terminal(chat, *arguments, NO_COLOR="")
    assert "\x1b[" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", plain(text))
    if arguments[0] != "stats":
        assert max(cells(line) for line in plain(text).splitlines() if ".ocml:" not in line) <= 40


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_color_can_be_turned_off(chat: Path, environment: dict[str, str]) -> None:
    assert "\x1b" not in on_terminal(chat, "show", **environment)
    assert "\x1b[" in on_terminal(chat, "show", "--color", "always", **environment)


def test_a_terminal_without_unicode_gets_ascii(chat: Path) -> None:
    assert on_terminal(chat, "show", LC_ALL="en_US.ISO-8859-1").isascii()


def test_converted_text_is_sanitized_on_a_terminal(chat: Path) -> None:
    assert "\x1b" not in on_terminal(chat, "convert", "--to", "openchatml-2.2")
