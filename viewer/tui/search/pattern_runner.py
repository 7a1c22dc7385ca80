"""Regular expressions in a process of their own, under a time limit: the screen never waits for a match."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from viewer.tui.search.matches import Found, MatchRequest, cut_at_line
from viewer.tui.search.pattern_process import read_message, write_message

SECONDS = 2.0
"""How long the texts of one question may take."""
SECONDS_TO_START = 20.0

TOO_SLOW = "the pattern takes too long: make it simpler"
NOT_RUNNING = "regular expressions cannot be searched here: their process ended"


class PatternRunner:
    """One pattern; a thread talks with the process, the caller looks in from time to time."""

    def __init__(self, pattern: str, ignores_case: bool, seconds: float = SECONDS) -> None:
        self.fault: str | None = None
        self._setup = [pattern, ignores_case]
        self._seconds = seconds
        self._questions: SimpleQueue[list[MatchRequest] | None] = SimpleQueue()
        self._answers: SimpleQueue[list[Found] | str] = SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._deadline = 0.0
        self._thread: Thread | None = None

    def cut(self, text: str) -> tuple[str, int]:
        """At the end of a line."""
        return cut_at_line(text)

    def ask(self, asked: list[MatchRequest]) -> None:
        """Begin with these texts."""
        self._questions.put(asked)
        if self._thread is None:
            self._deadline = time.monotonic() + SECONDS_TO_START
            self._thread = Thread(target=self._talk, name="patterns", daemon=True)
            self._thread.start()

    def answer(self, seconds: float) -> list[Found] | None:
        """The matches, if they are there by then."""
        try:
            answer = self._answers.get(timeout=max(0.0, seconds))
        except Empty:
            if time.monotonic() > self._deadline:
                self.fault = TOO_SLOW
                self.close()
            return None
        if isinstance(answer, str):
            self.fault = answer
            self.close()
            return None
        return answer

    def close(self) -> None:
        """End the process."""
        self._closed = True
        self._questions.put(None)
        if self._process is not None:
            self._process.kill()

    def _talk(self) -> None:
        """In the thread: one question after the other."""
        try:
            self._answers.put(self._serve())
        except (OSError, ValueError):
            self._answers.put(NOT_RUNNING)
        finally:
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _serve(self) -> str:
        """Answer until there is no more to ask, or something is wrong; returns what."""
        program = str(Path(__file__).with_name("pattern_process.py"))
        with subprocess.Popen(
            [sys.executable, "-I", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            self._process = process
            assert process.stdin is not None and process.stdout is not None
            if self._closed:
                process.kill()
            write_message(process.stdin, self._setup)
            place = read_message(process.stdout)
            if place is not None:
                return f"this is no regular expression (character {place + 1})"
            while (asked := self._questions.get()) is not None:
                self._deadline = time.monotonic() + self._seconds
                write_message(process.stdin, asked)
                found = read_message(process.stdout)
                if found is None:
                    return NOT_RUNNING
                self._answers.put(found)
            process.kill()
        return NOT_RUNNING
