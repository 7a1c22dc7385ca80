"""`ocmlview [view] FILE`: open the viewer. Without a screen, print the conversation."""

from __future__ import annotations

import gc
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from viewer.cli import completion, is_interactive, options
from viewer.cli.exits import FINE, say
from viewer.cli.inputs import Inputs
from viewer.cli.moments import AskedMoment, asked_moment, moment_options
from viewer.cli.output import Cell, Output, table_lines, take_keyboard, theme_of_terminal
from viewer.errors import ViewerError
from viewer.held_screen import SCREEN
from viewer.model.visibility import Audience, Reveal
from viewer.reading.format import ReadOptions
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Style, trusted
from viewer.signals import interrupt_at_once
from viewer.sources.files import STANDARD_INPUT, check_named, is_directory
from viewer.sources.folder import list_transcripts

if TYPE_CHECKING:
    from viewer.cli.first_page import Taken
    from viewer.insight.replay.timeline import ReplayRequest
    from viewer.tui.settings.settings import Settings
    from viewer.tui.settings.state_file import StateFile


FOLLOWED_SECONDS = 600
"""A session that changed less than this many seconds ago may still be running."""
SECONDS_BETWEEN_LOOKS = 1.0
MOST_MERGED = 26
"""The maximum number of files in a merged view, which names each file by a letter."""


def _known_theme(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Refuse an unknown theme, even if there is no screen."""
    if value and not context.resilient_parsing:
        from viewer.render.theme import theme_names, theme_path
        from viewer.render.yaml_file import did_you_mean
        from viewer.tui.settings.places import themes_folder

        folders = (themes_folder(),)
        if theme_path(value, folders) is None:
            raise ViewerError(f"unknown theme {value}{did_you_mean(value, theme_names(folders))}")
    return value


def known_place(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Refuse a position with invalid syntax."""
    if value and not context.resilient_parsing:
        from viewer.tui.go_to import PLACES, parse

        if isinstance(parse(value), str):
            raise ViewerError(f"invalid position {value}: expected {PLACES}")
    return value


@click.command("view", short_help="Open the viewer.")
@options.reading
@options.audience
@options.sealing
@options.printing
@options.following
@options.recording
@moment_options
@click.option("--from-start", is_flag=True, help="With --follow, start at the top instead of the end.")
@click.option(
    "--theme",
    metavar="NAME",
    default="",
    callback=_known_theme,
    shell_complete=completion.themes,
    help="Color theme; see `ocmlview themes`.",
)
@click.option(
    "--goto",
    "go_to",
    metavar="POSITION",
    default="",
    callback=known_place,
    help="Open at a message (12), turn (t3), transcript (x2), or percentage (50%). With hidden messages revealed, "
    "also at a line (L120) or byte (B4096).",
)
@click.option("--diff", "compares", is_flag=True, help="Compare two transcripts.")
@click.option("--merge", "merges", is_flag=True, help="Show several files as one, ordered by time.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    safe_only: bool,
    color: str,
    ascii_only: bool,
    follow: bool,
    from_start: bool,
    stall_after: float | None,
    theme: str,
    go_to: str,
    compares: bool,
    merges: bool,
    record_times: str,
    at_byte: int | None,
    at_event: int | None,
    at_time: int | None,
    times: str,
) -> int:
    """Open the viewer (default). Without a terminal, prints the conversation instead."""
    audience = options.audience_of(reveal, debug, strict_safe, safe_only=safe_only)
    options.check_recording(follow, record_times)
    asked = asked_moment(at_byte, at_event, at_time, times, files, follow)
    if asked and (compares or merges):
        raise click.UsageError(
            "--at, --at-event, and --at-time cannot be used with --merge or --diff.", click.get_current_context()
        )
    paths = options.inputs_of(()) if asked and not files else files or _session_paths(follow)
    options.check_following(follow, stall_after)
    output = options.output_of(color, ascii_only)
    if compares and (len(files) != 2 or follow):
        raise click.UsageError("--diff needs two files and cannot be used with -f.", click.get_current_context())
    if merges:
        _check_merged(files, compares=compares)
    if not take_keyboard():
        if compares:
            raise ViewerError("--diff needs a terminal; `ocmlview diff` prints the differences")
        if merges:
            raise ViewerError("--merge needs a terminal; `ocmlview show` prints one file after the other")
        from viewer.cli.show import print_live  # the viewer prints nothing

        if options.is_followed(follow, paths, stall_after):
            followed = options.followed_of(files, format, preambles, stall_after, record_times=record_times)
            return print_live(followed, audience, output)
        return _print(paths, audience, output, format, preambles, asked)
    reading = options.reading_options(preambles)
    if len(paths) > 1 and not (compares or follow):
        check_named(paths)
    other = files[1] if compares else ""
    if asked:
        check_can_replay(paths[0])
    if record_times and (len(paths) > 1 or is_directory(paths[0])):
        raise click.UsageError("With --record-times, specify exactly one file.", click.get_current_context())
    wanted = ViewRequest(
        *(audience, output.style, format, reading, color, theme, go_to, follow, from_start, stall_after, other, merges),
        replay=asked.request if asked else None,
        times=times or record_times,
    )
    return open_viewer(paths[:1] if compares else paths, wanted)


def check_can_replay(path: str) -> None:
    """Refuse an input that a replay cannot read again."""
    if path == STANDARD_INPUT or is_directory(path):
        raise ViewerError("a replay in the viewer needs a file, not a folder or standard input")


def _check_merged(files: tuple[str, ...], *, compares: bool) -> None:
    """Refuse inputs that cannot be merged: fewer than two files, the same file twice, more files than there are letters
    to label them, folders, and standard input."""
    context = click.get_current_context()
    if compares or not 2 <= len(set(files)) == len(files) <= MOST_MERGED:
        raise click.UsageError(f"--merge needs 2 to {MOST_MERGED} different files, without --diff.", context)
    if STANDARD_INPUT in files or any(map(is_directory, files)):
        raise click.UsageError("--merge needs files, not folders or standard input.", context)


def _session_paths(follow: bool) -> tuple[str, ...]:
    """Return what to view if no file is named: standard input if it is piped or discovery is off; with `follow`, the
    newest session, after waiting for one if necessary; otherwise nothing, which opens the session list."""
    around = options.surroundings() if is_interactive() else None
    if around is None:
        return options.inputs_of(())
    if not follow:
        return ()
    from viewer.sources.sessions import newest_session

    session = newest_session(around, FOLLOWED_SECONDS)
    if session is None:
        say("Waiting for a session.")
    while session is None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        session = newest_session(around, FOLLOWED_SECONDS)
    say(f"Following {sanitize_line(session.path)}")
    return (session.path,)


class ViewRequest(Struct, frozen=True):
    """Options of the viewer from the command line."""

    audience: Audience
    style: Style
    format: str | None = None
    reading: ReadOptions | None = None
    color: str = "auto"
    theme: str = ""
    go_to: str = ""
    follow: bool = False
    from_start: bool = False
    stall_after: float | None = None
    compared: str = ""
    """The file to compare with the first one."""
    merges: bool = False
    """True if all files are shown as one, ordered by time."""
    replay: ReplayRequest | None = None
    """The replay to open on top of the file."""
    times: str = ""
    """The sidecar to read recorded times from, or to write them to."""


def open_viewer(paths: tuple[str, ...], wanted: ViewRequest) -> int:
    """Show the first page, then load and run the app. Garbage collection stays off until the app draws its first
    frame."""
    gc.disable()
    try:
        with interrupt_at_once():
            return _open_viewer(paths, wanted)
    finally:
        gc.enable()


def _open_viewer(paths: tuple[str, ...], wanted: ViewRequest) -> int:
    from viewer.tui.files.early_proof import EARLY_PROOF
    from viewer.tui.keys import Scope
    from viewer.tui.settings.file import read_settings
    from viewer.tui.settings.places import state_file
    from viewer.tui.settings.settings import theme_in_force
    from viewer.tui.settings.state_file import StateFile

    settings = read_settings()
    if wanted.audience.sealed:
        settings = replace(settings, scope=Scope.SEALED)
    state = StateFile(state_file() if settings.state and not wanted.audience.strict else None)
    theme = theme_in_force(settings, wanted.theme, wanted.color)
    name = theme.value if theme.origin else theme_of_terminal() or theme.value
    if len(paths) == 1 and paths[0] != STANDARD_INPUT and not wanted.follow and wanted.format is None:
        EARLY_PROOF.begin(paths[0])
    with _begun(paths, wanted, name, settings, state) as taken:
        from viewer.tui.app import ViewOptions, run_app

        return run_app(
            paths,
            ViewOptions(
                format=wanted.format,
                reading=wanted.reading,
                revealed=wanted.audience.revealed,
                strict=wanted.audience.strict,
                sealed=wanted.audience.sealed,
                theme=name,
                ascii_only=wanted.style.ascii,
                go_to=wanted.go_to,
                follow=wanted.follow,
                from_start=wanted.from_start,
                stall_after=wanted.stall_after,
                compared=wanted.compared,
                merges=wanted.merges,
                replay=wanted.replay,
                times=wanted.times,
                settings=settings,
            ),
            taken,
            state,
        )


def _begun(
    paths: tuple[str, ...], wanted: ViewRequest, theme: str, settings: Settings, state: StateFile
) -> AbstractContextManager[Taken | None]:
    """Return a context manager that shows the first page if a single file is opened at its start; otherwise, return one
    that does nothing."""
    if len(paths) != 1 or wanted.follow or wanted.go_to or paths[0] == STANDARD_INPUT or state.of(paths[0]).at:
        SCREEN.release()
        return nullcontext()
    from viewer.cli.first_page import FirstPageRequest, first_screen
    from viewer.render.highlight import LEXERS

    LEXERS.postpone()
    return first_screen(
        FirstPageRequest(paths[0], wanted.audience, wanted.style, wanted.format, wanted.reading, theme, settings)
    )


def _print(
    paths: tuple[str, ...],
    audience: Audience,
    output: Output,
    format: str | None,
    preambles: str | None,
    asked: AskedMoment | None,
) -> int:
    """Print the conversation, at the requested moment if there is one, or list a folder. Used without a screen."""
    if asked is None and len(paths) == 1 and is_directory(paths[0]):
        return _list(paths[0], output)
    from viewer.cli.show import print_text

    return print_text(
        Inputs(paths, format, options.reading_options(preambles), strict=audience.strict),
        audience,
        output,
        asked=asked,
    )


def _list(folder: str, output: Output) -> int:
    """List the transcripts in a folder. Used if there is no screen on which to choose one."""
    name = output.style.name
    rows: list[list[Cell]] = [
        [name(found.name), trusted(found.format or ""), found.size, name(found.reason)]
        for found in list_transcripts(folder)
    ]
    output.write_styled(table_lines(("file", "format", "bytes", ""), rows, output.width, output.style))
    return FINE
