"""Endings of the served view: however a page or the server ends, no session remains."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar

from tests.support.live_program import LONGEST_WAIT
from tests.support.running import TOUR

pytestmark = pytest.mark.slow


def sessions_of(folder: Path) -> list[int]:
    """Return the processes that serve a file of this folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"serve-session" in words and os.fsencode(str(folder / "chat.ocml")) in words:
            found.append(int(place.name))
    return found


async def proof(folder: Path, sockets: int, ending: signal.Signals) -> None:
    """Open sockets, close half of them at the same time, and end the server in this way."""
    (folder / "chat.ocml").write_bytes(Path(TOUR).read_bytes())
    words = (sys.executable, "-m", "viewer", "serve", f"--max-sessions={sockets}", str(folder / "chat.ocml"))
    server = await asyncio.create_subprocess_exec(*words, stdout=-1, stderr=-3)
    assert server.stdout is not None
    link = re.findall(rb"http://\S+", await server.stdout.readline())[0].decode()
    base = link.partition("/?")[0]
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as page, asyncio.timeout(LONGEST_WAIT):
        async with page.get(link) as answer:
            assert answer.status == 200
        address = base.replace("http", "ws") + "/ws"
        opened = [await page.ws_connect(address, headers={"Origin": base}) for _ in range(sockets)]
        while len(sessions_of(folder)) < sockets:
            await asyncio.sleep(0.01)
        await asyncio.gather(*(each.close() for each in opened[: sockets // 2]))
        server.send_signal(ending)
        assert await server.wait() == (-ending if ending is signal.SIGKILL else 0)
    async with asyncio.timeout(LONGEST_WAIT):
        while sessions_of(folder):
            await asyncio.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="lists processes by /proc")
@pytest.mark.share(test=1)
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
async def test_no_session_survives_its_server(ending: signal.Signals, tmp_path: Path) -> None:
    await proof(tmp_path, 2, ending)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="lists processes by /proc")
@pytest.mark.lab
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
async def test_none_of_twenty_sessions_survives(ending: signal.Signals, tmp_path: Path) -> None:
    await proof(tmp_path, 20, ending)
