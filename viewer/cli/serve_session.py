"""`ocmlview serve-session`: a hidden command that `serve` starts with pipes, once per browser session."""

from __future__ import annotations

import os
import stat

import click
from msgspec.structs import replace

from viewer.errors import ViewerError


@click.command("serve-session", hidden=True)
@click.option("--allow-debug", "allows_debug", is_flag=True)
@click.option("--file", default="")
@click.option("--goto", "go_to", default="")
@click.argument("files", nargs=-1, required=True)
def command(files: tuple[str, ...], allows_debug: bool, file: str, go_to: str) -> int:
    """Run the viewer with the packets of a browser session as input and output."""
    if not all(_is_pipe(descriptor) for descriptor in (0, 1)):
        raise ViewerError("serve-session is started by `ocmlview serve`")
    from viewer.serve.session import end_with_the_server, limit_memory, run_session
    from viewer.tui.settings.file import read_settings

    end_with_the_server()
    limit_memory()
    settings = replace(read_settings(), problems_found=())
    return run_session(files, settings, allows_debug=allows_debug, file=file, go_to=go_to)


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
