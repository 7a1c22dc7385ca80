"""`ocmlview serve`: the viewer in a browser on this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import re
import signal
import socket
import sys
import webbrowser
from typing import TYPE_CHECKING

import click

from viewer.cli import completion
from viewer.cli.exits import FINE, complain
from viewer.cli.view import known_place
from viewer.errors import ViewerError
from viewer.render.number_format import counted
from viewer.sources.files import STANDARD_INPUT, check_named, is_directory
from viewer.sources.folder import count_files

if TYPE_CHECKING:
    from viewer.serve.server import Server

MISSING = 'serve needs the extra "serve": pip install "ocmlview[serve]"'
_DURATION = re.compile(r"([0-9]{1,6})(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9a-fA-F:.]{2,45}\](:[0-9]{1,5})?")


def _duration(context: click.Context, parameter: click.Parameter, value: str) -> float:
    found = _DURATION.fullmatch(value)
    if found is None or not int(found[1]):
        raise click.BadParameter("use a duration such as 30m, 90s, or 2h.", context, parameter)
    return float(int(found[1]) * _SECONDS[found[2]])


def _address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise click.BadParameter("use an IP address such as 127.0.0.1.", context, parameter) from None


def _hosts(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for name in value:
        if not _HOST.fullmatch(name):
            raise click.BadParameter("use a host name such as notes.example.", context, parameter)
    return value


@click.command("serve", short_help="Serve the viewer to a browser on this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Listen on port N; default: 0, any free port."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@click.option("--safe-only", is_flag=True, help="Show the safe view only (default).")
@click.option("--allow-debug", is_flag=True, help="Let the page open the debug view, which shows hidden messages.")
@click.option("--goto", "go_to", metavar="POSITION", default="", callback=known_place, help="Open at this position.")
@click.option(
    "--max-sessions",
    type=click.IntRange(1, 100),
    default=8,
    metavar="N",
    help="Allow N sessions at a time; default: 8.",
)
@click.option(
    "--idle",
    metavar="TIME",
    default="30m",
    callback=_duration,
    help="End a session after TIME without a key press, such as 90s or 2h; default: 30m.",
)
@click.option(
    "--bind", metavar="ADDRESS", default="127.0.0.1", callback=_address, help="Listen on ADDRESS; default: 127.0.0.1."
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    callback=_hosts,
    help="Also accept NAME in the Host header; repeatable.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE|DIR...", shell_complete=completion.files)
def command(
    files: tuple[str, ...],
    port: int,
    opens: bool,
    safe_only: bool,
    allow_debug: bool,
    go_to: str,
    max_sessions: int,
    idle: float,
    bind: str,
    hosts: tuple[str, ...],
) -> int:
    """Serve the viewer to a browser on this machine. The page shows the safe view, and each link works once."""
    is_local = ipaddress.ip_address(bind).is_loopback
    _check(safe_only, allow_debug, is_local, bind, hosts)
    if STANDARD_INPUT in files:
        raise ViewerError("standard input cannot be served; save it to a file first")
    check_named(files)
    try:
        from viewer.serve.server import ServeOptions, Server, listen
    except ImportError:
        raise ViewerError(MISSING) from None
    name = _in_an_address(bind) if is_local else hosts[0]
    options = ServeOptions(
        files,
        allows_debug=allow_debug,
        go_to=go_to,
        most_sessions=max_sessions,
        idle_seconds=idle,
        hosts=(name, *hosts),
        name=name,
    )
    try:
        listener = listen(bind, port)
    except OSError as error:
        raise ViewerError(f"cannot listen on {bind}, port {port}: {os.strerror(error.errno or 0).lower()}") from None
    with listener:
        server = Server(options, listener.getsockname()[1], log=complain, tell=lambda link: _say(f"Next link: {link}"))
        asyncio.run(_run(server, listener, is_local=is_local, opens=opens))
    return FINE


def _check(safe_only: bool, allow_debug: bool, is_local: bool, bind: str, hosts: tuple[str, ...]) -> None:
    """Reject options that cannot be combined."""
    context = click.get_current_context()
    if allow_debug and safe_only:
        raise click.UsageError("--allow-debug and --safe-only cannot be used together.", context)
    if not is_local and allow_debug:
        raise click.UsageError("--allow-debug needs a loopback address.", context)
    if not is_local and not hosts:
        raise click.UsageError(f"--bind {bind} needs --allow-host NAME.", context)
    if allow_debug and not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise ViewerError("--allow-debug needs an interactive terminal")


def _announce(server: Server, *, is_local: bool) -> None:
    """Print the link, and what it allows."""
    options = server.options
    count = sum(count_files(path) if is_directory(path) else 1 for path in options.paths)
    view = "debug view allowed" if options.allows_debug else "safe view only"
    _say(f"Serving {counted(count, 'file')} ({view}) at {server.link}   Ctrl-C stops")
    if options.allows_debug:
        _say("Anyone with this link can open the debug view.")
    if not is_local:
        _say("Traffic is not encrypted. To encrypt it, serve on 127.0.0.1 and connect with `ssh -L`.")


async def _run(server: Server, listener: socket.socket, *, is_local: bool, opens: bool) -> None:
    """Serve until Ctrl-C, SIGTERM, or SIGHUP."""
    for name in ("aiohttp", "asyncio", "textual-serve"):  # their log messages quote requests
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    _announce(server, is_local=is_local)
    if opens:
        webbrowser.open(server.link)
    await server.run(listener, ended)


def _say(sentence: str) -> None:
    click.echo(sentence)
    sys.stdout.flush()


def _in_an_address(address: str) -> str:
    return f"[{address}]" if ":" in address else address
