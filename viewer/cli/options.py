"""Options that several commands share, and what they mean."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from viewer.cli.output import Output, standard_output
from viewer.core.dialect import Options
from viewer.core.visibility import Audience, Reveal

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN = "-"

_NAMES = {reveal.value: reveal for reveal in Reveal if reveal is not Reveal.UNCLEAR}
"""What `--reveal` takes; messages that are unclear need everything."""


def reading(command: Command) -> Command:
    """How the input is read: FILE…, --format, --preambles."""
    for option in (
        click.option(
            "--preambles",
            type=click.Choice(["harmony"]),
            help="Commentary of Harmony without a recipient is for the user.",
        ),
        click.option("--format", "dialect", metavar="NAME", help="Read it as this dialect (see `ocmlview formats`)."),
        click.argument("files", nargs=-1, metavar="[FILE...|-]"),
    ):
        command = option(command)
    return command


def audience(command: Command) -> Command:
    """Who looks: --reveal, --debug, --strict-safe. Nothing but these reveals anything."""
    for option in (
        click.option("--strict-safe", is_flag=True, help="Tell not even that something is hidden."),
        click.option("-d", "--debug", is_flag=True, help="Short for --reveal all."),
        reveal_option,
    ):
        command = option(command)
    return command


def printing(command: Command) -> Command:
    """How it is printed: --color, --ascii."""
    for option in (
        click.option("--ascii", "ascii_only", is_flag=True, help="Print nothing but ASCII."),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colours; auto: on a terminal, unless NO_COLOR is set.",
        ),
    ):
        command = option(command)
    return command


def following(command: Command) -> Command:
    """How the viewer follows: --follow, --from-start, --stall-after."""
    for option in (
        click.option(
            "--stall-after",
            metavar="SECONDS",
            type=click.FloatRange(min=0, min_open=True),
            help="Say of an open message that it has stalled when nothing came for so long.",
        ),
        click.option("--from-start", is_flag=True, help="With --follow: begin at the top, not at the end."),
        click.option("-f", "--follow", is_flag=True, help="Wait for the file, and show what comes as it comes."),
    ):
        command = option(command)
    return command


def reveal_option(command: Command) -> Command:
    """--reveal A,B with the names of `Reveal`."""
    names = ", ".join(_NAMES)
    return click.option("--reveal", metavar="WHAT", callback=_revealed, help=f"Show these too, a list of: {names}.")(
        command
    )


def audience_of(reveal: frozenset[Reveal], debug: bool, strict_safe: bool) -> Audience:
    """The audience that was asked for."""
    revealed = reveal | {Reveal.ALL} if debug else reveal
    if revealed and strict_safe:
        raise click.UsageError("--strict-safe and --reveal exclude each other.", click.get_current_context())
    return Audience(revealed, strict_safe)


def reading_options(preambles: str | None) -> Options:
    """What the reader is told."""
    return Options(harmony_preambles=preambles == "harmony")


def inputs_of(files: tuple[str, ...]) -> tuple[str, ...]:
    """The files that were named; without any, what is piped in."""
    if files:
        return files
    if sys.stdin is not None and not sys.stdin.isatty():
        return (STDIN,)
    raise click.UsageError("Name a file, or - for standard input.", click.get_current_context())


def output_of(color: str, ascii_only: bool) -> Output:
    """Standard output as the options want it."""
    return standard_output(color, ascii_only)


def _revealed(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[Reveal]:
    wanted = [word.strip() for word in value.split(",")] if value is not None else []
    known = _NAMES
    for word in wanted:
        if word not in known:
            raise click.BadParameter(f"nothing is called {word!r}; there are {', '.join(known)}.", context, parameter)
    return frozenset(known[word] for word in wanted)
