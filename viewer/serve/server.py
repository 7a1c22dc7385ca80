"""The server of the served view: routes, headers, static files, sockets, and sessions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections import deque
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from aiohttp import WSCloseCode, WSMsgType, web
from msgspec import Struct, field

from viewer.serve.child import MOST_BYTES, Child, Sent
from viewer.serve.guard import SOCKET, Asked, Guard, Verdict

MOST_MESSAGES = 1000
"""The maximum number of messages that a page may send per second."""
SECONDS_FOR_A_PLACE = 2.0
"""How many seconds a socket waits for another session to end, such as that of a reloaded page."""
SECONDS_TO_HEAR = 10.0
"""The maximum time in seconds that a child may take to handle a message."""
_OWN = ("page.css", "session.js")
_OF_TEXTUAL = ("css/xterm.css", "js/textual.js", "fonts/RobotoMono-VariableFont_wght.ttf")
_TYPES = {".css": "text/css", ".js": "text/javascript", ".ttf": "font/ttf"}


class ServeOptions(Struct, frozen=True):
    """The serving options from the command line."""

    paths: tuple[str, ...]
    allows_debug: bool = False
    go_to: str = ""
    most_sessions: int = 8
    idle_seconds: float = 1800.0
    hosts: tuple[str, ...] = ()
    """Additional host names for the page."""
    name: str = "127.0.0.1"
    """The host name used in links."""


class Session(Struct, eq=False):
    """The state of one session, which has one socket."""

    number: int
    cookie: str
    sent: deque[float] = field(default_factory=deque)
    """The times of the messages in the last second."""
    heard_at: float = 0.0

    def floods(self, now: float) -> bool:
        """Count a message. Return True if there were too many in a second."""
        self.sent.append(now)
        while self.sent[0] <= now - 1.0:
            self.sent.popleft()
        return len(self.sent) > MOST_MESSAGES


class Server:
    """Serves one page and its sessions. It passes on the names of served files, but never opens these files."""

    def __init__(
        self,
        options: ServeOptions,
        port: int,
        *,
        log: Callable[[str], None],
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`log` receives a line for each event, and `tell` receives each new link."""
        self.options = options
        self.guard = Guard(port, options.hosts)
        self._port = port
        self._log = log
        self._tell = tell
        self._clock = clock
        self._sessions: set[Session] = set()
        self._children: set[Child] = set()
        """The children that have not exited yet."""
        self._count = 0
        self._names: list[str] = []
        """The files that pages have shown. Fragments refer to them by number."""
        self._files = _static_files()
        self._is_closing = False

    @property
    def link(self) -> str:
        """The address that opens the page, valid once."""
        return f"http://{self.options.name}:{self._port}/?token={self.guard.token}"

    def app(self) -> web.Application:
        """Build the application, with the guard in front of every handler."""
        made = web.Application(middlewares=[self._guarded])
        made.on_response_prepare.append(self._add_headers)
        made.on_shutdown.append(self._close)
        return made

    async def run(self, listener: socket.socket, ended: asyncio.Event) -> None:
        """Serve on a listening socket until the event is set."""
        runner = web.AppRunner(self.app(), access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            await ended.wait()
        finally:
            await runner.cleanup()

    # Every request.

    @web.middleware
    async def _guarded(self, request: web.Request, handler: object) -> web.StreamResponse:
        """Ask the guard, and then choose one of three routes: the page, its files, or the socket."""
        asked = Asked(
            request.path,
            request.headers.get("Host"),
            request.headers.get("Origin"),
            request.query.get("token"),
            request.cookies.get(self.guard.cookie_name),
        )
        verdict = self.guard.judge(asked)
        if verdict.is_refused:
            self._log(verdict.value)
            return web.Response(status=403)
        if request.method != "GET":
            return web.Response(status=404)
        if verdict is Verdict.ENTER:
            return self._enter()
        if request.path == "/":
            return self._page(asked.cookie or "")
        if request.path == SOCKET:
            return await self._socket(request, asked.cookie or "")
        found = self._files.get(request.path)
        return web.Response(status=404) if found is None else _file(found)

    def _enter(self) -> web.Response:
        answer = web.Response(status=302, headers={"Location": "/"})
        answer.set_cookie(self.guard.cookie_name, self.guard.enter(), httponly=True, samesite="Strict", path="/")
        self._log(Verdict.ENTER.value)
        self._tell(self.link)
        return answer

    def _page(self, cookie: str) -> web.Response:
        """Return the page unless all sessions are in use. A browser with an open session always gets the page, because
        it may be reloading the page."""
        if len(self._sessions) >= self.options.most_sessions and all(each.cookie != cookie for each in self._sessions):
            self._log("refused: all sessions are in use")
            return _file(_own("full.html"), "text/html", 503)
        return _file(_own("index.html"), "text/html")

    async def _add_headers(self, request: web.Request, answer: web.StreamResponse) -> None:
        host = request.headers.get("Host", "")
        sockets = f" ws://{host}" if host.lower() in self.guard.hosts else ""
        policy = {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data:",
            "font-src": "'self'",
            "connect-src": f"'self'{sockets}",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        answer.headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in policy.items())
        answer.headers["Referrer-Policy"] = "no-referrer"
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Server"] = "ocmlview"

    # Sessions.

    async def _socket(self, request: web.Request, cookie: str) -> web.StreamResponse:
        """Run a session on a socket, or refuse the request if all sessions are in use."""
        if not await self._has_room():
            self._log("refused: all sessions are in use")
            return web.Response(status=503)
        self._count += 1
        session = Session(self._count, cookie, heard_at=self._clock())
        self._sessions.add(session)
        try:
            answer = web.WebSocketResponse(heartbeat=15.0, max_msg_size=MOST_BYTES)
            await answer.prepare(request)
            self._log(f"session {session.number} started")
            why = await self._run(session, answer, request)
            self._log(f"session {session.number} ended: {why}")
            return answer
        finally:
            self._sessions.discard(session)

    async def _has_room(self) -> bool:
        """Wait briefly for a free session, and return whether there is one. While earlier children are still ending,
        there may be up to twice as many children as allowed sessions."""
        end = self._clock() + SECONDS_FOR_A_PLACE
        most = self.options.most_sessions
        while len(self._sessions) >= most or len(self._children) >= 2 * most:
            if self._clock() >= end or self._is_closing:
                return False
            await asyncio.sleep(0.05)
        return not self._is_closing

    async def _run(self, session: Session, answer: web.WebSocketResponse, request: web.Request) -> str:
        """Start a child, pass messages between it and the page, and end it. Return why the session ended."""

        async def send_place(name: str, message: int) -> None:
            await answer.send_str(json.dumps(["place", {"f": self._number_of(name), "m": message}]))

        child = Child(self._arguments(request), Sent(answer.send_bytes, send_place, answer.close))
        self._children.add(child)
        try:
            await child.start(_number(request, "width") or 80, _number(request, "height") or 24)
            return await self._listen(session, answer, child)
        finally:
            ending = asyncio.ensure_future(self._end(child))
            with contextlib.suppress(ConnectionError):
                await answer.close()
            await asyncio.shield(ending)

    async def _listen(self, session: Session, answer: web.WebSocketResponse, child: Child) -> str:
        while True:
            idle = self.options.idle_seconds - (self._clock() - session.heard_at)
            if idle <= 0:  # aiohttp interprets a timeout of 0 as none
                return "idle"
            try:
                message = await answer.receive(timeout=idle)
            except TimeoutError:
                return "idle"
            if message.type is WSMsgType.ERROR:
                return "a message was too large or broken"
            if message.type is not WSMsgType.TEXT:
                if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED):
                    return "the app quit" if child.has_ended else "the page was closed"
                continue
            now = self._clock()
            if session.floods(now):
                await answer.close(code=WSCloseCode.POLICY_VIOLATION)
                return "too many messages"
            if message.data.startswith('["stdin"'):
                session.heard_at = now
            if message.data.startswith('["ping"'):
                continue
            try:
                is_known = await asyncio.wait_for(child.hear(message.data), SECONDS_TO_HEAR)
            except TimeoutError:
                return "the app does not answer"
            if not is_known:
                await answer.close(code=WSCloseCode.POLICY_VIOLATION)
                return "an unexpected message"

    async def _end(self, child: Child) -> None:
        try:
            await child.stop()
        finally:
            self._children.discard(child)
        if child.code:
            self._log(f"a session failed with exit code {child.code}")

    async def _close(self, app: web.Application) -> None:
        """End all children when the server ends."""
        self._is_closing = True
        await asyncio.gather(*(child.stop() for child in [*self._children]))

    def _arguments(self, request: web.Request) -> list[str]:
        """Return the arguments of a child, with the position from the fragment if it has one, or else from the command
        line."""
        options, file, message = self.options, _number(request, "f"), _number(request, "m")
        words = ["--allow-debug"] if options.allows_debug else []
        if file is not None and 1 <= file <= len(self._names):
            words += [f"--file={self._names[file - 1]}", f"--goto={message or 1}"]
        elif options.go_to:
            words += [f"--goto={options.go_to}"]
        return [*words, "--", *options.paths]

    def _number_of(self, name: str) -> int:
        """Return the number of a file for fragments, because addresses never contain file names."""
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name) + 1


def listen(address: str, port: int) -> socket.socket:
    """Open a socket that listens on this address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, backlog=64)


def _number(request: web.Request, key: str) -> int | None:
    value = request.query.get(key, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 15 else None


def _own(name: str) -> Path:
    return Path(str(files("viewer.serve"))) / "static" / name


def _static_files() -> dict[str, Path]:
    """Return all static files by address. Nothing else is served."""
    theirs = Path(str(files("textual_serve"))) / "static"
    own = {f"/static/{name}": _own(name) for name in _OWN}
    return own | {f"/static/{name}": theirs / name for name in _OF_TEXTUAL}


def _file(path: Path, kind: str = "", status: int = 200) -> web.Response:
    content_type = kind or _TYPES[path.suffix]
    charset = None if path.suffix == ".ttf" else "utf-8"
    return web.Response(body=path.read_bytes(), content_type=content_type, charset=charset, status=status)
