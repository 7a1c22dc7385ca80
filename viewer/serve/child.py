"""One session: the child process that runs the app, the packets it exchanges, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

SECONDS_BEFORE_TERM, SECONDS_BEFORE_KILL = 2.0, 5.0
"""Seconds until a child that was asked to quit receives SIGTERM, and then SIGKILL."""
MOST_BYTES = 64 * 1024
"""The maximum size of a packet to the child, in bytes."""
LARGEST_PACKET = 64 * 1024 * 1024
"""The maximum size of a packet from the child, in bytes. A child that announces a larger one is broken."""
_SIZES = {"width": (1, 500), "height": (1, 300)}


class Sent(Struct, frozen=True):
    """The receivers of a child's output."""

    write_bytes: Callable[[bytes], Awaitable[None]]
    place: Callable[[str, int], Awaitable[None]]
    """A function that receives the file name and the number of the focused message."""
    close: Callable[[], Awaitable[object]]


class Child(AppService):
    """The app of one session, started without a shell.

    The base class provides only the framing of packets. Output is passed on unchanged. Of the other packets, only those
    that report the position are handled: the child cannot open links or offer downloads."""

    def __init__(self, arguments: Sequence[str], sent: Sent) -> None:
        super().__init__(
            "",
            write_bytes=sent.write_bytes,
            write_str=_unused,
            close=sent.close,  # type: ignore[arg-type]
            download_manager=DownloadManager(),
        )
        self._arguments = tuple(arguments)
        self._sent = sent
        self._ending: asyncio.Task[None] | None = None
        self.has_ended = False
        """True if the child ended without being asked to."""

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return environment(os.environ, width, height)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "viewer", "serve-session", *self._arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process

    @property
    def code(self) -> int | None:
        """The exit code of the child, or None while it runs."""
        return self._process.returncode if self._process is not None else None

    async def run(self) -> None:
        """Pass on packets until the child ends."""
        assert self._process is not None and self._process.stdout is not None
        read = self._process.stdout.readexactly
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
            await self._process.stdout.readuntil(b"__GANGLION__\n")
            while True:
                kind = await read(1)
                size = int.from_bytes(await read(4), "big")
                if size > LARGEST_PACKET:
                    break
                payload = await read(size)
                if kind == b"D":
                    await self.on_data(payload)
                elif kind == b"M":
                    await self.on_meta(payload)
        self.has_ended = self._ending is None
        with contextlib.suppress(ConnectionError):
            await self._sent.close()

    async def on_meta(self, data: bytes) -> None:
        """Pass on the reported position, and ignore everything else."""
        said = json.loads(data)
        if said.get("type") == "place":
            await self._sent.place(str(said["file"]), int(said["message"]))

    async def on_packed(self, payload: bytes) -> None:
        """Ignore pieces of downloads."""

    async def hear(self, text: str) -> bool:
        """Handle one message from the page and return True. Return False for a message that the page would never
        send."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return False
        match message:
            case ["stdin", str(typed)]:
                data = typed.encode("utf-8", "replace")
                for start in range(0, len(data), MOST_BYTES):
                    await self.send_bytes(data[start : start + MOST_BYTES])
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(_within("width", width), _within("height", height))
            case ["focus"]:
                await self.focus()
            case ["blur"]:
                await self.blur()
            case _:
                return False
        return True

    async def stop(self) -> None:
        """End the child, by force if it does not quit. Concurrent calls all wait until the child has ended."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await asyncio.wait_for(self.send_meta({"type": "quit"}), SECONDS_BEFORE_TERM)
            if process.stdin is not None:
                process.stdin.close()
        steps = ((SECONDS_BEFORE_TERM, signal.SIGTERM), (SECONDS_BEFORE_KILL - SECONDS_BEFORE_TERM, signal.SIGKILL))
        for seconds, number in steps:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), seconds)
                break
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)
        await process.wait()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


def environment(given: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """Return the environment of a child: the server's environment, without Textual's variables, for a terminal of this
    size."""
    kept = {name: value for name, value in given.items() if not name.startswith("TEXTUAL")}
    return {
        **kept,
        "COLUMNS": str(_within("width", width)),
        "ROWS": str(_within("height", height)),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        # Libraries reserve address space for each processor, and the address space of a child is limited.
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }


def _within(name: str, size: int) -> int:
    least, most = _SIZES[name]
    return max(least, min(size, most))


async def _unused(text: str) -> None:
    """Ignore a text message, because a child never sends one to the page."""
