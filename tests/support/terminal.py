"""The real program in a pseudo-terminal: keys in, every byte out, and an emulated screen."""

from __future__ import annotations

import base64
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyte

from tests.support.idle import is_idle

QUIET, BETWEEN_KEYS = 0.15, 0.04
LONGEST = 60.0
"""The longest wait in seconds, even on a busy machine."""
ESCAPE = "\x1b[27u"
"""The escape key as a separate sequence, so the next key is not read as a key with alt."""
KEYS = {"enter": "\r", "escape": "\x1b", "tab": "\t", "ctrl+c": "\x03", "end": "\x1b[F", "space": " ", "ctrl+p": "\x10"}

_SEQUENCE = re.compile(
    rb"\x1b\[([<-?]?)([0-9;:]*)([ -/]*)([@-~])"  # CSI
    rb"|\x1b\](.*?)(?:\x07|\x1b\\)"  # OSC
    rb"|\x1b([PX^_].*?)\x1b\\"  # DCS and similar sequences
    rb"|\x1b([^\[\]PX^_])",  # two bytes
    re.DOTALL,
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*)?\Z")
MODES = {b"25", b"1000", b"1002", b"1003", b"1004", b"1006", b"1015", b"1016", b"1049", b"2004", b"2026", b"2048", b"7"}
CURSOR = b"HABCDGJKdsu"
UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


class Terminal:
    """One run of the program."""

    def __init__(
        self,
        arguments: Sequence[str | Path],
        size: tuple[int, int] = (120, 40),
        script: str = "",
        folder: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.written = bytearray()
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._obeyed = 0
        """The number of bytes that the emulated screen has processed. The others wait, because emulation is slow."""
        self._shown = (-1, "")
        """The text of the screen after this number of bytes."""
        command = [sys.executable, *(["-c", script] if script else ["-m", "viewer"]), *map(str, arguments)]
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "en_US.UTF-8"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "COLORFGBG"):
            environment.pop(name, None)
        environment |= variables or {}
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.chdir(folder or Path(__file__).parents[2])
            os.execve(sys.executable, command, environment)
        self.code: int | None = None

    def wait_for(self, text: str) -> None:
        """Wait until the screen contains this."""
        self.wait_until(lambda: text in self.text())
        self.rest()

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Wait until the output satisfies a condition."""
        end = time.monotonic() + LONGEST
        while not holds():
            assert time.monotonic() < end and self.code is None, self.text()
            self._read(0.05)

    def press(self, *keys: str) -> None:
        """Press keys and wait until nothing more is drawn."""
        for key in keys:
            os.write(self.master, KEYS.get(key, key).encode())
            if self._read(QUIET) or not is_idle(self.pid):
                self.rest(QUIET if key == "escape" else BETWEEN_KEYS)  # a key after escape reads as one with alt
        self.rest()

    def rest(self, quiet: float = QUIET) -> None:
        """Wait until the program is idle and has written nothing for a moment."""
        end = time.monotonic() + LONGEST
        while (self._read(quiet) or not is_idle(self.pid)) and time.monotonic() < end:
            pass

    def end(self, number: int | None = None) -> int:
        """Wait for the end, after sending a signal if one is given. Return the exit code as a shell reports it."""
        if number is not None:
            os.kill(self.pid, number)
        end = time.monotonic() + LONGEST
        while self.code is None and time.monotonic() < end:
            self._read(0.02)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.code = os.waitstatus_to_exitcode(status)
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise AssertionError("it did not end\n" + self.text())
        while self._read(0.05):
            pass
        os.close(self.master)
        return self.code

    def _read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.written += data
        return bool(data)

    @property
    def screen(self) -> pyte.Screen:
        """The emulated screen."""
        data = bytes(self.written[self._obeyed :])
        data = data[: len(data) - len(unfinished(data))]
        self._obeyed += len(data)
        self._stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p", b"", data))
        return self._screen

    def text(self) -> str:
        """Return the text of the screen."""
        screen = self.screen
        if self._shown[0] != self._obeyed:
            self._shown = self._obeyed, "\n".join(line.rstrip() for line in screen.display)
        return self._shown[1]


def unfinished(data: bytes) -> bytes:
    """Return the start of a control sequence at the end of the data if the rest has not been read yet."""
    found = _UNFINISHED.search(data)
    return found[0] if found else b""


def foreign(written: bytes) -> list[str]:
    """Return the control sequences that the program must not send."""
    found: list[str] = []
    at = 0
    for match in _SEQUENCE.finditer(written):
        found += _controls(written[at : match.start()])
        found += [] if _is_known(match) else [repr(match[0][:80])]
        at = match.end()
    return found + list(_controls(written[at:]))


def _controls(plain: bytes) -> Iterator[str]:
    text = plain.decode("utf-8", "surrogateescape")
    yield from (f"U+{ord(match[0]):04X} in {text[max(0, match.start() - 20) : match.end() + 20]!r}"
                for match in UNWANTED.finditer(text))  # fmt: skip
    if "\x1b" in text:
        yield f"a lone ESC in {text[:80]!r}"


def _is_known(match: re.Match[bytes]) -> bool:
    private, numbers, between, final, osc, _, two = match.groups()
    if osc is not None or match[6] is not None:
        return osc is not None and (re.fullmatch(rb"22;[a-z]*", osc) is not None or _is_copy(osc))
    if two is not None:
        return two in (b"7", b"8", b"=", b">")
    if final == b"m":
        return not private and not between
    if private == b"?":
        return (final in b"hl" and not between and set(numbers.split(b";")) <= MODES) or (between, final) == (
            b"$",
            b"p",
        )
    if private in (b">", b"<", b"="):
        return final == b"u"
    return not private and not between and final in CURSOR + b"tcn"


def _is_copy(osc: bytes) -> bool:
    """True if an OSC sequence copies text to the clipboard, and the text has no unwanted characters."""
    if not osc.startswith(b"52;c;"):
        return False
    return not UNWANTED.search(base64.b64decode(osc[5:]).decode("utf-8"))


def left_behind(written: bytes) -> list[str]:
    """Return the terminal states that were not restored."""
    left = []
    for mode, off, on in ((b"1049", b"l", b"h"), (b"1000", b"l", b"h"), (b"1003", b"l", b"h"), (b"25", b"h", b"l"),
                          (b"1006", b"l", b"h"), (b"2004", b"l", b"h"), (b"1004", b"l", b"h")):  # fmt: skip
        last = max(written.rfind(b"\x1b[?" + mode + off), 0)
        if written.rfind(b"\x1b[?" + mode + on) > last:
            left.append(mode.decode())
    return left
