"""`ocmlview serve` on the command line: what it refuses, and what it prints."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import CHAT, run

pytestmark = pytest.mark.slow


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    file = tmp_path / "chat.ocml"
    file.write_text(CHAT, "utf-8")
    return file


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--bind", "0.0.0.0"], "--bind 0.0.0.0 needs --allow-host NAME."),
        (["--bind", "0.0.0.0", "--allow-host", "x", "--allow-debug"], "--allow-debug needs a loopback address."),
        (["--bind", "localhost"], "use an IP address such as 127.0.0.1."),
        (["--allow-host", "x/y"], "use a host name such as notes.example."),
        (["--allow-debug", "--safe-only"], "--allow-debug and --safe-only cannot be used together."),
        (["--allow-debug"], "--allow-debug needs an interactive terminal"),
        (["--idle", "0m"], "use a duration such as 30m, 90s, or 2h."),
        (["--idle", "soon"], "use a duration such as 30m, 90s, or 2h."),
        (["--goto", "nowhere"], "invalid position nowhere"),
        (["-"], "standard input cannot be served"),
        (["missing.ocml"], "missing.ocml"),
        (["-d"], "No such option"),
        (["--reveal", "all"], "No such option"),
        (["--level", "debug"], "No such option"),
    ],
)
def test_what_it_refuses(options: list[str], sentence: str, chat: Path) -> None:
    result = run("serve", *options, chat)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err
    assert result.err.count("\n") == 1


def test_a_port_in_use_is_reported_in_one_sentence(chat: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run("serve", "--port", str(port), chat)
    assert (result.code, result.err) == (
        2, f"ocmlview: cannot listen on 127.0.0.1, port {port}: address already in use\n",
    )  # fmt: skip


def test_the_command_of_a_session_is_not_offered(chat: Path) -> None:
    assert "serve-session" not in run("--help").out
    with subprocess.Popen(
        [sys.executable, "-m", "viewer", "serve-session", str(chat)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        error = process.communicate()[1]
    assert (process.returncode, error) == (2, b"ocmlview: serve-session is started by `ocmlview serve`\n")


def test_it_prints_the_link_and_ends_with_ctrl_c(chat: Path) -> None:
    (chat.parent / "below").mkdir()
    for name in ("other.ocml", "below/third.ocml", "notes.md", ".hidden"):
        (chat.parent / name).write_text(CHAT, "utf-8")
    words = [sys.executable, "-m", "viewer", "serve", str(chat.parent)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        assert process.stdout.read() + process.stderr.read() == ""
    form = r"Serving 3 files \(safe view only\) at http://127\.0\.0\.1:\d+/\?token=[\w-]{32}   Ctrl-C stops\n"
    assert re.fullmatch(form, line)
