"""`ocmlview tap`: forward requests of model clients to a server, log the conversations, and show them live."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from viewer.cli import is_interactive
from viewer.cli.exits import FINE, complain, say
from viewer.errors import ViewerError
from viewer.render.number_format import counted
from viewer.signals import RESTORE

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command("tap", short_help="Log and show the requests of a model client.")
@click.option("--to", "url", required=True, metavar="URL", help="The server to forward to, such as https://HOST/v1.")
@click.option(
    "--listen", default="127.0.0.1:8899", show_default=True, metavar="ADDRESS:PORT", help="Listen on this address."
)
@click.option("-o", "--output", metavar="FILE", help="The log file; default: tap-DATE-TIME.jsonl in this folder.")
@click.option("--quiet", is_flag=True, help="Do not open the viewer; print only errors.")
@click.option("--expose", is_flag=True, help="Allow --listen on an address that other computers can reach.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME", help="Also accept NAME in the Host header; repeatable."
)
def command(url: str, listen: str, output: str | None, quiet: bool, expose: bool, hosts: tuple[str, ...]) -> int:
    """Forward the requests of a model client to a server, unchanged, and log the conversations as JSON Lines. In a
    terminal, opens the viewer on the log. API keys, cookies, and other headers are never written. Press Ctrl-C to
    stop."""
    from viewer.tap.address import parse_listen, parse_upstream  # imported lazily so that --help is fast

    upstream, address = parse_upstream(url), parse_listen(listen, exposed=expose)
    path = Path(output) if output is not None else Path(time.strftime("tap-%Y%m%d-%H%M%S.jsonl"))
    with _opened(path) as descriptor:
        from viewer.tap.log import Log

        talk = _Talk(quiet=quiet)
        log = Log(talk.report)
        pipes = log.start(descriptor)
    from viewer.tap.proxy import Proxy

    async def run() -> int:
        proxy = Proxy(upstream, frozenset(name.lower() for name in hosts), log)
        ended = asyncio.Event()
        for number in _ENDING:
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await log.connect(*pipes)
        try:
            try:
                bound = await proxy.start(address)
            except OSError as error:
                raise ViewerError(f"cannot listen on {address.shown}: {error.strerror}") from None
            if await proxy.dialer.reaches_proxy(upstream):
                raise ViewerError("--to and --listen are the same address: the proxy would call itself")
            talk.say(f"Listening on http://{bound.shown}; requests go to {upstream.shown}.")
            talk.say(f"The log is {path}. It contains whole conversations, including what users do not see.")
            if not quiet and is_interactive():
                await _show(path, talk, ended)
            if not ended.is_set():
                talk.say("Press Ctrl-C to stop.")
            await ended.wait()
        finally:
            await proxy.close()
            await log.close()
        return FINE

    code = asyncio.run(run())
    talk.say(f"Logged {counted(log.written, 'exchange')} in {path}.")
    if log.lost:
        complain(f"{counted(log.lost, 'record')} could not be logged")
    return code


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open the log for appending. A new log is readable only by its owner."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ViewerError(f"{path}: {error.strerror}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Talk:
    """Prints messages. While the viewer owns the terminal, they are queued."""

    def __init__(self, *, quiet: bool) -> None:
        self._is_quiet = quiet
        self._waiting: list[Callable[[], None]] | None = None

    def say(self, sentence: str) -> None:
        """Print a sentence, unless `--quiet` was given."""
        if not self._is_quiet:
            self._print(lambda: say(sentence))

    def report(self, sentence: str) -> None:
        self._print(lambda: complain(sentence))

    def hold(self) -> None:
        """Queue messages until `release` is called."""
        self._waiting = []

    def release(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for each in waiting:
            each()

    def _print(self, act: Callable[[], None]) -> None:
        if self._waiting is None:
            act()
        else:
            self._waiting.append(act)


async def _show(path: Path, talk: _Talk, ended: asyncio.Event) -> None:
    """Show the growing log until the viewer exits or a signal ends the command. The proxy keeps running meanwhile."""
    attributes = None
    with suppress(termios.error):
        attributes = termios.tcgetattr(0)
    talk.hold()
    viewer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "viewer", "view", "-f", "--format", "tap", "--", str(path)
    )
    waiting = asyncio.ensure_future(viewer.wait())
    ending = asyncio.ensure_future(ended.wait())
    await asyncio.wait([waiting, ending], return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if viewer.returncode is None:
        with suppress(ProcessLookupError):
            viewer.terminate()
    code = await waiting
    if code < 0:  # killed: nobody restored the terminal
        with suppress(OSError):
            os.write(2, RESTORE.encode("ascii"))
        if attributes is not None:
            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, attributes)
    talk.release()
    talk.say("The viewer has exited; requests are still forwarded.")
