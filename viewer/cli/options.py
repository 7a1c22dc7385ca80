"""Options that commands share, and the values derived from them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from viewer.cli import completion
from viewer.cli.exits import complain
from viewer.cli.output import Output, standard_output
from viewer.errors import ViewerError
from viewer.model.visibility import Audience, Level, Reveal

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter
    from viewer.document.redaction.redactor import Redactor
    from viewer.reading.format import ReadOptions
    from viewer.sources.sessions import Surroundings

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN = "-"

_NAMES = {reveal.value: reveal for reveal in Reveal}
"""The values that `--reveal` accepts."""
_LEVELS: dict[str, frozenset[Reveal]] = {
    Level.SAFE.value: frozenset(),
    Level.BRIEF.value: frozenset({Reveal.BRIEF}),
    Level.DEBUG.value: frozenset({Reveal.ALL}),
}
"""The kinds that each value of `--level` reveals."""
_LEVEL = "viewer.level"
"""The key in click's `Context.meta` that stores the value of `--level`."""


def reading(command: Command, files: str = "[FILE...|-]") -> Command:
    """Add the options that select the input and its format: FILE…, --format, --preambles, --no-plugins. `files` is how
    the help names the input."""
    for option in (
        click.option(
            "--no-plugins",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_without_plugins,
            help="Do not load format plug-ins.",
        ),
        click.option(
            "--preambles",
            type=click.Choice(["harmony"]),
            help="Treat Harmony commentary with no recipient as visible to the user.",
        ),
        click.option(
            "--format",
            metavar="NAME",
            callback=known_format,
            shell_complete=completion.formats,
            help="Read the input as this format (see `ocmlview formats`).",
        ),
        click.argument("files", nargs=-1, metavar=files, shell_complete=completion.files),
    ):
        command = option(command)
    return command


def audience(command: Command) -> Command:
    """Add the options for the audience: --reveal, --level, --debug, --strict-safe. No other option reveals anything."""
    for option in (
        click.option("--strict-safe", is_flag=True, help="Do not reveal that anything is hidden."),
        debug_option,
        reveal_option,
    ):
        command = option(command)
    return command


def sealing(command: Command) -> Command:
    """Add the option --safe-only."""
    return click.option(
        "--safe-only",
        is_flag=True,
        help="Lock the safe view until the program exits: no key or command can reveal anything.",
    )(command)


def threads(command: Command) -> Command:
    """Add the option --threads, which selects messages but reveals none."""
    return click.option(
        "--threads",
        metavar="main|all|N",
        default="main",
        callback=_thread,
        help="Select the thread of the main agent (default), all threads, or the thread of agent N.",
    )(command)


def _thread(context: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """Return the number of a thread; 0 for the main thread, None for all threads."""
    if value in ("main", "all"):
        return 0 if value == "main" else None
    if value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    raise click.BadParameter("use main, all, or the number of a thread.", context, parameter)


def where(command: Command) -> Command:
    """Add the option --where, which selects messages but reveals none."""
    return _where(command, "Only messages that match FILTER, such as 'role:user turn:3..5'.")


def where_problems(command: Command) -> Command:
    """Add the option --where, which selects problems but reveals none."""
    return _where(command, "Only problems that match FILTER, such as 'code:E-TOOL* severity:error'.")


def _where(command: Command, help: str) -> Command:
    return click.option("--where", metavar="FILTER", callback=_filter, shell_complete=completion.filters, help=help)(
        command
    )


def _filter(context: click.Context, parameter: click.Parameter, value: str | None) -> Filter | None:
    if value is None or not value.strip() or context.resilient_parsing:
        return None
    from viewer.document.filter.grammar import parse  # few command lines have one

    return parse(value)


def check_where(where: Filter | None, audience: Audience, follow: bool = False, *, of_problems: bool = False) -> None:
    """Refuse a filter that is combined with -f or that this audience may not use, before the input is read."""
    if where is None:
        return
    if follow:
        raise click.UsageError("--where needs the whole input; omit -f.", click.get_current_context())
    refused = where.refusal(audience, of_problems=of_problems)
    if refused is not None:
        raise refused


def redaction(command: Command) -> Command:
    """Add the option --redact."""
    return click.option(
        "--redact",
        is_flag=True,
        help="Mask secrets, email addresses, home directories, and the patterns in your settings.",
    )(command)


def redactor_of(redact: bool) -> Redactor | None:
    """Return a redactor with the patterns of the settings file; None without this option. Raises ViewerError if a
    pattern is invalid."""
    if not redact:
        return None
    from viewer.document.redaction.redactor import Redactor
    from viewer.tui.settings.file import read_settings

    return Redactor(read_settings().redact)


def printing(command: Command) -> Command:
    """Add the options for printing: --color, --ascii."""
    for option in (
        click.option("--ascii", "ascii_only", is_flag=True, help="Use ASCII characters only."),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            metavar="WHEN",
            help="Use colors: auto (default), always, or never. With auto, NO_COLOR turns them off.",
        ),
    ):
        command = option(command)
    return command


def following(command: Command) -> Command:
    """Add the options for following: --follow, --stall-after."""
    for option in (
        click.option(
            "--stall-after",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="With -f, report a stall when an unfinished message gets no data for SECONDS; default: 10.",
        ),
        click.option(
            "-f",
            "--follow",
            is_flag=True,
            help="Follow the input as it grows: a file (waits for it to appear), the newest transcript in a folder, or "
            "a pipe until EOF.",
        ),
    ):
        command = option(command)
    return command


def recording(command: Command) -> Command:
    """Add the option --record-times."""
    return click.option(
        "--record-times",
        metavar="PATH",
        default="",
        help="With -f, append the arrival time of each part to PATH, for `replay` and `timing`.",
    )(command)


def debug_option(command: Command) -> Command:
    """Add the option --debug."""
    return click.option("-d", "--debug", is_flag=True, help="Short for --reveal all.")(command)


def reveal_option(command: Command) -> Command:
    """Add the options --reveal, with the names of `Reveal`, and --level."""
    names = ", ".join(_NAMES).replace(Reveal.BRIEF.value, f"{Reveal.BRIEF.value} (one line per call)")
    command = click.option(
        "--level",
        type=click.Choice(list(_LEVELS)),
        metavar="LEVEL",
        expose_value=False,
        callback=_keep_level,
        help="safe (default), brief (--reveal brief), or debug (--reveal all).",
    )(command)
    return click.option(
        "--reveal",
        metavar="LIST",
        callback=_revealed,
        shell_complete=completion.parts_of(_NAMES),
        help=f"Also show these: {names}.",
    )(command)


def audience_of(
    reveal: frozenset[Reveal], debug: bool, strict_safe: bool, thread: int | None = None, *, safe_only: bool = False
) -> Audience:
    """Return the requested audience. The brief level shows no hidden messages, so it cannot be combined with options
    that show them."""
    context = click.get_current_context()
    revealed = reveal | {Reveal.ALL} if debug else reveal
    level = context.meta.get(_LEVEL)
    if level is not None and revealed:
        raise click.UsageError("--level and --reveal cannot be used together.", context)
    revealed = revealed if level is None else _LEVELS[level]
    if revealed and strict_safe:
        raise click.UsageError("--strict-safe and --reveal cannot be used together.", context)
    if revealed and safe_only:
        raise click.UsageError("--safe-only cannot be used with --reveal, --debug, or --level.", context)
    if Reveal.BRIEF in revealed and len(revealed) > 1:
        raise click.UsageError("--reveal brief cannot be combined with other kinds.", context)
    return Audience(revealed, strict_safe, thread, safe_only)


def _keep_level(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[_LEVEL] = value


def reading_options(preambles: str | None, *, row_order: bool = False) -> ReadOptions:
    """Return the options of the reader."""
    from viewer.reading.format import ReadOptions  # some commands read no transcript

    return ReadOptions(harmony_preambles=preambles == "harmony", row_order=row_order)


def surroundings() -> Surroundings | None:
    """Return where to look for sessions; None if the settings turn that off."""
    from viewer.sources.sessions import Surroundings
    from viewer.tui.settings.file import read_settings

    settings = read_settings()
    return Surroundings(more=settings.places) if settings.discovery else None


def inputs_of(files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named files, or standard input if there are none. Raise UsageError if that is a terminal."""
    if STDIN in files:
        from viewer.sources.files import check_standard_input

        check_standard_input()
    if files:
        return files
    if sys.stdin is not None and not sys.stdin.isatty():
        return (STDIN,)
    raise click.UsageError("Specify a file, or - for standard input.", click.get_current_context())


def folder_of(inputs: tuple[str, ...], output: str | None) -> str | None:
    """Return the input if it is a folder, or None if it is a file. Raise UsageError if a folder has no output
    folder."""
    if len(inputs) > 1:
        raise click.UsageError("One file or folder at a time.", click.get_current_context())
    from viewer.sources.files import is_directory

    if not is_directory(inputs[0]):
        return None
    if output in (None, STDIN):
        raise click.UsageError("A folder needs an output folder: -o DIR.", click.get_current_context())
    return inputs[0]


def followed_of(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    stall_after: float | None,
    *,
    row_order: bool = False,
    record_times: str = "",
) -> Followed:
    """Return the input to follow and how to read it. Raise UsageError if there are several."""
    names = inputs_of(files)
    if len(names) > 1:
        raise click.UsageError("With -f, specify one file or one folder.", click.get_current_context())
    reading = reading_options(preambles, row_order=row_order)
    return Followed(names[0], format, reading, stall_after, record_times=record_times)


def is_followed(follow: bool, files: tuple[str, ...], stall_after: float | None) -> bool:
    """True if the input is followed. Compressed files and containers are read once, because they do not grow at the
    end."""
    check_following(follow, stall_after)
    from viewer.sources.files import why_read_once

    why = why_read_once(files[0]) if follow and len(files) == 1 else ""
    if why:
        complain(f"{files[0]} {why}: reading it once instead of following it")
        return False
    return follow


def check_recording(follow: bool, record_times: str) -> None:
    """Refuse to record times of an input that is not followed."""
    if not follow and record_times:
        raise click.UsageError("--record-times needs -f.", click.get_current_context())


def check_following(follow: bool, stall_after: float | None) -> None:
    """Refuse an option that has no effect without -f."""
    if not follow and stall_after is not None:
        raise click.UsageError("--stall-after needs -f.", click.get_current_context())


def output_of(color: str, ascii_only: bool) -> Output:
    """Return standard output with the requested colors and characters."""
    return standard_output(color, ascii_only)


def _without_plugins(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from viewer.plugins.loading import PLUGINS

        PLUGINS.turn_off()
        context.call_on_close(PLUGINS.turn_on)


def known_format(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the name of a format, or None if none was given. Raises ViewerError if there is no such format."""
    if value is None or context.resilient_parsing:
        return value
    from viewer.formats import FORMATS

    if value not in FORMATS:
        raise ViewerError(f"unknown format {value}; known formats: {', '.join(FORMATS)}")
    return value


def _revealed(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[Reveal]:
    return frozenset(_NAMES[word] for word in listed(value, _NAMES, "kind", context, parameter))


def listed(
    value: str | None, known: Collection[str], what: str, context: click.Context, parameter: click.Parameter
) -> list[str]:
    """Return the names in a list such as `analysis,tool`. `what` names them in an error."""
    words = [word.strip() for word in value.split(",")] if value is not None else []
    for word in words:
        if word not in known:
            raise click.BadParameter(f"unknown {what} {word!r}; known {what}s: {', '.join(known)}.", context, parameter)
    return words


class Followed(Struct, frozen=True):
    """The followed input and how to read it."""

    path: str
    """A file, a folder (to follow its newest transcript), or `-`."""
    format: str | None = None
    options: ReadOptions | None = None
    stall_after: float | None = None
    """Seconds without data before an open message is reported as stalled."""
    is_finished: Callable[[], bool] | None = None
    """Returns True if no more data will be written. If this is None, only a pipe can end."""
    record_times: str = ""
    """The path of the sidecar that records when bytes arrive, or an empty string."""
