"""The guard of the served view, tested as values and over sockets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, WSServerHandshakeError
from msgspec.structs import replace

from tests.support.running import TOUR
from tests.support.serving import Serving, received, serving
from viewer.serve.guard import Asked, Guard, Verdict

HEADERS = {
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


def test_the_guard_asks_for_host_origin_token_and_cookie_in_this_order() -> None:
    guard = Guard(81, ["notes.example", "other.example:8080"])
    token = guard.token
    page = Asked("/", "127.0.0.1:81", None, token)
    assert guard.judge(page) is Verdict.ENTER
    cookie = guard.enter()
    assert guard.judge(page) is Verdict.TOKEN, "a token works once"
    assert guard.judge(replace(page, token=guard.token)) is Verdict.ENTER
    assert len({token, guard.token, cookie}) == 3 and min(map(len, (token, cookie))) == 32
    known = Asked("/static/x", "localhost:81", "http://localhost:81", None, cookie)
    assert guard.judge(known) is Verdict.PASS
    assert guard.judge(replace(known, path="/ws")) is Verdict.PASS
    for host in ("[::1]:81", "notes.example:81", "NOTES.example:81", "other.example:8080"):
        assert guard.judge(replace(known, host=host)) is Verdict.PASS
    assert guard.judge(replace(known, host=None)) is Verdict.HOST
    for host in ("", "127.0.0.1", "127.0.0.1:82", "evil.example", "evil.example:81", "127.0.0.1:81.evil.example"):
        assert guard.judge(replace(known, host=host)) is Verdict.HOST
    for origin in ("", "null", "https://localhost:81", "http://evil.example", "http://localhost:82", "localhost:81"):
        assert guard.judge(replace(known, origin=origin)) is Verdict.ORIGIN
    assert guard.judge(replace(known, origin=None)) is Verdict.PASS
    assert guard.judge(replace(known, origin=None, path="/ws")) is Verdict.NO_ORIGIN
    assert guard.judge(replace(known, cookie=None)) is Verdict.COOKIE
    for wrong in ("", "x", cookie[:-1], cookie + "x", "\udc80"):
        assert guard.judge(replace(known, cookie=wrong)) is Verdict.COOKIE
    for used in ("", "x", token, "\udc80"):
        assert guard.judge(replace(page, token=used, cookie=cookie)) is Verdict.TOKEN
    assert guard.judge(replace(known, token=guard.token, cookie=None)) is Verdict.COOKIE, "a token opens the page only"


async def status(client: ClientSession, address: str, **headers: str) -> int:
    async with client.get(address, headers=headers, allow_redirects=False) as answer:
        if answer.status == 403:
            assert await answer.read() == b""
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src")
        assert "evil" not in policy
        return answer.status


async def upgraded(run: Serving, client: ClientSession, **headers: str) -> int:
    try:
        async with client.ws_connect(run.base.replace("http", "ws") + "/ws", headers=headers) as opened:
            await opened.close()
            return 101
    except WSServerHandshakeError as error:
        return error.status


@pytest.mark.slow
async def test_every_request_meets_the_guard() -> None:
    async with serving(TOUR) as run, run.page(enters=False) as stranger, run.page(enters=False) as page:
        base, link = run.base, run.server.link
        assert await status(stranger, f"{base}/") == 403
        assert await status(stranger, f"{base}/?token=x") == 403
        assert await status(stranger, f"{base}/static/js/textual.js") == 403
        assert await status(stranger, f"{base}/nothing") == 403
        assert await status(stranger, link, Host="evil.example") == 403
        assert await status(stranger, link, Origin="http://evil.example") == 403
        async with page.get(link, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (302, "/")
            name = f"ocmlview_{base.rpartition(':')[2]}"
            cookie = answer.headers["Set-Cookie"]
            assert cookie.startswith(f"{name}=") and run.server.guard.token not in cookie
            assert {"HttpOnly", "Path=/", "SameSite=Strict"} <= set(cookie.split("; "))
        assert run.links == [run.server.link] and link not in run.links
        assert await status(stranger, link) == 403
        assert await status(page, f"{base}/") == 200
        assert await status(page, f"{base}/", Host="evil.example") == 403
        for found in ("page.css", "session.js", "css/xterm.css", "js/textual.js"):
            assert await status(page, f"{base}/static/{found}") == 200
        assert await status(page, f"{base}/static/fonts/RobotoMono-VariableFont_wght.ttf") == 200
        absent = ["static/", "static", "static/css/", "static/../server.py", "static/%2e%2e/server.py", "download/x"]
        for path in [*absent, "static/images/background.png", "ws/", "index.html", "serve-session"]:
            assert await status(page, f"{base}/{path}") == 404, path
        for method in ("POST", "PUT", "HEAD", "OPTIONS", "DELETE"):
            async with page.request(method, f"{base}/") as answer:
                assert answer.status == 404, method
        assert await upgraded(run, page, Origin="http://evil.example") == 403
        assert await upgraded(run, page, Origin="null") == 403
        assert await upgraded(run, page) == 403
        assert await upgraded(run, stranger, Origin=base) == 403
        assert run.lines.count("refused: no cookie") == 4
        assert set(run.lines) == {verdict.value for verdict in Verdict if verdict is not Verdict.PASS}
        assert await upgraded(run, page, Origin=base) == 101
    assert run.lines[-1] == "session 1 ended: the page was closed"
    said = "\n".join(run.lines)
    assert "token" not in said and run.server.guard.token not in said and TOUR not in said


@pytest.mark.slow
async def test_a_page_sees_keeps_and_ends_its_sessions(tmp_path: Path) -> None:
    other = shutil.copy(TOUR, tmp_path / "other.ocml")
    async with serving(TOUR, other, most_sessions=1) as run, run.page() as page:
        async with run.socket(page) as opened:
            data = await received(opened, lambda data, _: b"tour.ocml" in data)
            assert b"tour.ocml" in data
            async with run.page(enters=False) as stranger:
                async with stranger.get(run.server.link) as answer:
                    assert answer.status == 503
                    assert "All sessions are in use." in await answer.text()
                assert await upgraded(run, stranger, Origin=run.base) == 503
            async with page.get(run.base) as answer:
                assert answer.status == 200, "a page that is reloaded still has its session"
            await opened.send_str('["stdin","\\r"]')
            places: list[Any] = []
            await received(opened, lambda _, texts: bool(texts), places)
            number = places[-1][1]["m"]
            assert places[-1] == ["place", {"f": 1, "m": number}]
            await opened.send_str(json.dumps(["stdin", "}"]))
            await received(opened, lambda _, texts: any(text[1]["m"] > number for text in texts))
        async with run.socket(page, "&f=1&m=17") as again:
            await received(again, lambda _, texts: ["place", {"f": 1, "m": 17}] in texts)
            await again.send_str('["stdin","q"]')
            await received(again, lambda data, _: b"named files" in data)
            await again.send_str('["stdin","q"]')
            await received(again, lambda *_: again.closed)
    assert "session 2 ended: the app quit" in run.lines


@pytest.mark.share(test=3)
@pytest.mark.parametrize(
    ("message", "why"),
    [
        ('["stdin"]', "an unexpected message"),
        ("[" * 5000, "an unexpected message"),
        ('["deliver_chunk_request","x"]', "an unexpected message"),
        ('["stdin","' + "x" * 64 * 1024 + '"]', "a message was too large or broken"),
        ('["focus"]', "too many messages"),
        ("", "idle"),
    ],
)
async def test_a_socket_that_misbehaves_is_closed(message: str, why: str) -> None:
    idle = 0.0 if why == "idle" else 1800.0
    async with serving(TOUR, idle_seconds=idle) as run, run.page() as page, run.socket(page) as opened:
        for _ in range(1500 if why == "too many messages" else 1 if message else 0):
            if not opened.closed:
                await opened.send_str(message)
        await received(opened, lambda *_: False)
    assert f"session 1 ended: {why}" in run.lines
