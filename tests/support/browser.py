"""A headless Chromium, driven over a pipe: open pages, list their requests, and read their content."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.live_program import LONGEST_WAIT

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip


def found() -> str | None:
    """Return the browser on this machine, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass
class Seen:
    """The result of loading one page."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    text: str = ""
    dom: str = ""


class Browser:
    """One browser with one tab."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out = to_browser
        self._in = from_browser
        self._buffer = b""
        self._last = 0
        self._session = ""
        self._seen = Seen()
        self._loaded = False
        self.frames: list[str] = []
        """The data that the sockets of the page received since it was opened, in Base64."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def open(self, page: Path) -> Seen:
        """Load a page and wait until it has loaded."""
        return self.visit(page.resolve().as_uri())

    def visit(self, address: str, *, reloads: bool = False) -> Seen:
        """Load an address, or reload the page that is open."""
        self._seen, self._loaded = Seen(), False
        self.frames.clear()
        if reloads:
            self.ask("Page.reload")
        else:
            self.ask("Page.navigate", url=address)
        end = time.monotonic() + LONGEST_WAIT
        while not self._loaded:
            self._take(end)
        self._seen.text = str(self.value("document.body.textContent"))
        self._seen.dom = str(self.value("document.documentElement.outerHTML"))
        return self._seen

    def value(self, expression: str, *, waits: bool = False) -> Any:
        """Return the value of an expression in the page, or of the promise that it returns."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=waits)
        return answer["result"].get("value")

    def wait_until(self, is_done: Callable[[], bool], why: str) -> None:
        """Handle events until this is true."""
        end = time.monotonic() + LONGEST_WAIT
        while not is_done():
            assert time.monotonic() < end, why
            self.value("new Promise((done) => setTimeout(done, 50))", waits=True)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + LONGEST_WAIT
        while True:
            answer = self._take(end)
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _take(self, end: float) -> dict[str, Any]:
        """Return the next message that is not an event. Events are recorded."""
        while b"\0" not in self._buffer:
            ready = select.select([self._in], [], [], max(0, end - time.monotonic()))[0]
            assert ready, "the browser does not answer"
            data = os.read(self._in, 1 << 20)
            assert data, "the browser has exited"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, said: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self._seen.requests.append(said["request"]["url"])
        elif method == "Network.webSocketFrameReceived" and said["response"]["opcode"] == 2:
            self.frames.append(said["response"]["payloadData"])
        elif method == "Log.entryAdded":
            self._seen.complaints.append(said["entry"]["text"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening"):
            self._seen.complaints.append(method)


@contextmanager
def browser(path: str) -> Iterator[Browser]:
    """Run a browser with a temporary profile until the end of the block."""
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (theirs_in, theirs_out)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads from descriptor 3 and writes to 4.
        actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        dups = [(os.POSIX_SPAWN_DUP2, end, fd) for end, fd in zip(high, (3, 4), strict=True)]
        words = [path, *FLAGS, f"--user-data-dir={profile}"]
        process = os.posix_spawn(path, words, os.environ, file_actions=[*actions, *dups])
        for end in (theirs_in, theirs_out, *high):
            os.close(end)
        try:
            yield Browser(ours_out, ours_in)
        finally:
            os.close(ours_out)
            os.close(ours_in)
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
