"""`ocmlview tap` as a process: the log, its faults, and the viewer on it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.logged import chunk, sse
from tests.support.program import ROOT, run
from tests.support.terminal import Terminal

pytestmark = pytest.mark.slow

REQUEST = json.dumps(
    {"model": "m", "messages": [{"role": "system", "content": "SECRET"}, {"role": "user", "content": "Question"}]}
).encode()
ANSWER = sse(chunk(reasoning_content="SECRET"), chunk(content="An answer"), chunk(finish="stop"))
KEYS = (b"Authorization: Bearer KEY", b"Cookie: a=KEY", b"X-Api-Key: KEY")
ENDED = "logging has stopped because the log writer exited; requests are still forwarded"


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server that always gives the same answer."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                while stream.readline() not in (b"\r\n", b""):
                    pass
                stream.read(len(REQUEST))
                stream.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nSet-Cookie: KEY\r\n\r\n" + ANSWER)

    threading.Thread(target=serve, daemon=True).start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def ask(port: int) -> bytes:
    """Send a request and return the body of the answer."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        fields = (
            b"POST /v1/chat/completions?key=KEY HTTP/1.1",
            b"Host: localhost",
            b"Content-Length: %d" % len(REQUEST),
        )
        connection.sendall(b"\r\n".join((*fields, *KEYS, b"", REQUEST)))
        connection.shutdown(socket.SHUT_WR)
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    return data.partition(b"\r\n\r\n")[2]


@contextmanager
def tap(server: int, log: Path | str, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a proxy and yield it with its port. At the end, press Ctrl-C."""
    words = ("tap", "--to", f"http://127.0.0.1:{server}", "--listen", "127.0.0.1:0", "-o", str(log), *options)
    command = [sys.executable, "-m", "viewer", *words]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r":(\d+);", process.stderr.readline())
        assert found
        try:
            yield process, int(found[1])
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)


def rest(process: subprocess.Popen[str]) -> str:
    """Stop a proxy and return what it printed."""
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert process.stderr is not None
    return process.stderr.read()


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    return [int(word) for word in text.split()]


def test_the_log_holds_the_conversation_without_keys_and_opens_in_the_safe_view(server: int, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with tap(server, log) as (process, port):
        assert ask(port) == ANSWER
        assert "Logged 1 exchange in" in rest(process)
    assert log.stat().st_mode & 0o777 == 0o600
    assert "KEY" not in log.read_text("utf-8")
    assert "SECRET" in log.read_text("utf-8")
    shown = run("show", log)
    assert "Question" in shown.out
    assert "An answer" in shown.out
    assert "SECRET" not in shown.out + shown.err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_and_a_killed_writer_do_not_reach_the_client(server: int, tmp_path: Path) -> None:
    with tap(server, "/dev/full") as (process, port):
        assert [ask(port) for _ in range(3)] == [ANSWER] * 3
        said = rest(process)
    assert said.count("the log is incomplete: No space left on device; requests are still forwarded") == 1
    assert "records could not be logged" in said
    with tap(server, tmp_path / "log.jsonl") as (process, port):
        assert ask(port) == ANSWER
        [writer] = children(process.pid)
        os.kill(writer, signal.SIGKILL)
        assert [ask(port) for _ in range(3)] == [ANSWER] * 3
        assert ENDED in rest(process)
    with tap(server, tmp_path / "other.jsonl") as (process, port):
        [writer] = children(process.pid)
        os.kill(writer, signal.SIGSTOP)
        assert ask(port) == ANSWER
        process.send_signal(signal.SIGINT)
        with suppress(ConnectionRefusedError):  # once the proxy ends, it only waits for the writer
            while True:
                socket.create_connection(("127.0.0.1", port)).close()
        os.kill(writer, signal.SIGKILL)
        assert process.wait() == 0
        assert process.stderr is not None
        assert ENDED in process.stderr.read()


def test_mistakes_are_reported_in_one_sentence(tmp_path: Path) -> None:
    to = ("tap", "--to", "http://127.0.0.1:9", "-o", str(tmp_path / "log.jsonl"))
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        for words, sentence in (
            (("tap", "--to", "http://u:SECRET@h"), "--to must not contain a user name or password"),
            ((*to, "--listen", "0.0.0.0:1"), "add --expose"),
            (("tap", "--to", "http://127.0.0.1:9", "-o", str(tmp_path)), "Is a directory"),
            ((*to, "--listen", f"127.0.0.1:{port}"), "cannot listen on"),
        ):
            done = run(*words)
            assert (done.code, done.out) == (2, "")
            assert sentence in done.err
            assert "SECRET" not in done.err
            assert done.err.count("\n") == 1
    done = run("tap", "--to", f"http://localhost:{port}", "--listen", f"127.0.0.1:{port}", "-o", to[-1])
    assert "the proxy would call itself" in done.err


@pytest.mark.slow
def test_the_viewer_shows_the_log_live_and_its_death_does_not_reach_the_client(server: int, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("tap", "--to", f"http://127.0.0.1:{server}", "--listen", f"127.0.0.1:{port}", "-o", tmp_path / "log.jsonl")
    terminal = Terminal(words, (80, 24))
    terminal.wait_for("● live")
    assert ask(port) == ANSWER
    terminal.wait_for("An answer")
    assert "SECRET" not in terminal.text()
    [viewer] = [
        child for child in children(terminal.pid) if b"view" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
    ]
    os.kill(viewer, signal.SIGKILL)
    terminal.wait_for("Press Ctrl-C to stop.")
    assert ask(port) == ANSWER
    assert terminal.end(signal.SIGINT) == 0
    assert "Logged 2 exchanges" in terminal.text()
