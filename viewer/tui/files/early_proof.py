"""Early proof: begin to prove the end of a big file while the app is still being imported."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from threading import Thread

from viewer import native
from viewer.scan.end_proof import EndProof
from viewer.sources.guarded_file import GuardedFile

LEAST = 128 * 1024 * 1024
"""The minimum number of unread bytes for which to prove the end. A smaller file is read before its end can be
proven."""


POLL_SECONDS = 0.005


class EarlyProof:
    """The proof of at most one file. It begins before the format of the file is known, so it may turn out to be
    useless."""

    def __init__(self) -> None:
        self._file: GuardedFile | None = None
        self._proof: EndProof | None = None
        self._thread: Thread | None = None
        self._is_wanted = False

    def begin(self, path: str) -> None:
        """Begin to prove the end of a big file as OpenChatML text, in a thread. Without the accelerator, do nothing,
        because the proof would slow down the imports."""
        self._file = _opened(path) if native.load() is not None else None
        if self._file is None:
            return
        self._is_wanted = True
        self._proof = EndProof(self._file.pread, self._file.size, is_harmony=False)
        self._thread = Thread(target=self._prove, name="early proof", daemon=True)
        self._thread.start()

    def take(self, file: GuardedFile, can_wait: Callable[[], bool]) -> EndProof | None:
        """Return the proof if it is about this very file, and the file has not changed since. Before that, wait until
        it is complete, while the caller can wait: a second thread would slow down the app."""
        began, thread = self._file, self._thread
        if began is None or thread is None:
            return None
        is_same = began.is_same(file)
        while is_same and thread.is_alive() and can_wait():
            thread.join(POLL_SECONDS)
        self._is_wanted = False
        thread.join()
        proof = self._proof if is_same else None
        self._file = self._proof = self._thread = None
        return proof

    def _prove(self) -> None:
        proof = self._proof
        try:
            while proof is not None and self._is_wanted and not proof.is_complete:
                proof.step()
        except OSError:
            self._proof = None  # the app reports the fault when it reads the file


EARLY_PROOF = EarlyProof()


def _opened(path: str) -> GuardedFile | None:
    try:
        if not _is_big(os.stat(path)):  # noqa: PTH116 (raises less)
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    file = GuardedFile(descriptor)
    return file if _is_big(os.fstat(descriptor)) else None


def _is_big(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_size >= LEAST
