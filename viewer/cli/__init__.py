"""The command line: `COMMANDS`, the list of all commands, and `main`, which runs one of them."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

_COLLECTOR = (100_000, 10, 10)
"""Garbage collector thresholds, high enough that the collector does not run in a short command: imports create many
objects but little garbage."""
gc.set_threshold(*_COLLECTOR)  # set before click is imported, which takes a third of a short command's time

import click  # noqa: E402

from viewer.cli.exits import FINE, USAGE, PipeClosed, ended, say_which_plugins_failed  # noqa: E402
from viewer.core_dumps import disable_core_dumps  # noqa: E402
from viewer.errors import ViewerError  # noqa: E402
from viewer.held_screen import SCREEN  # noqa: E402
from viewer.plugged import PLUGGED  # noqa: E402

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from viewer.formats.tables.model import RecordFormat
    from viewer.plugins.loading import Plugins
    from viewer.sources.limits import Limits


class Entry:
    """A command. Its module is imported on first use.

    This is a plain class because `--help`, `--version`, and `completion` do not need msgspec, which is slow to load."""

    def __init__(self, module: str, help: str, *, reads_input: bool = True) -> None:
        self.module = module
        """The module that defines the click command as `command`."""
        self.help = help
        self.reads_input = reads_input
        """True if the command may read a transcript: the settings then limit spooled and decompressed bytes."""


COMMANDS = {
    "view": Entry("viewer.cli.view", "Open the viewer (default)."),
    "show": Entry("viewer.cli.show", "Print the conversation."),
    "check": Entry("viewer.cli.check", "Report problems with exact locations."),
    "explain": Entry("viewer.cli.explain", "Explain problem codes.", reads_input=False),
    "export": Entry("viewer.cli.export", "Write the conversation as HTML, Markdown, text, JSON, or SVG."),
    "convert": Entry("viewer.cli.convert", "Convert to another format."),
    "stats": Entry("viewer.cli.stats", "Count messages, bytes, tokens, and calls."),
    "diff": Entry("viewer.cli.diff", "Compare two transcripts."),
    "leaks": Entry("viewer.cli.leaks", "Find hidden text that reached the user."),
    "replay": Entry("viewer.cli.replay", "Play a transcript as it was written."),
    "timing": Entry("viewer.cli.timing", "Report stalls, rates, and retracted text."),
    "serve": Entry("viewer.cli.serve", "Serve the viewer to a browser on this machine."),
    "scan": Entry("viewer.cli.scan", "Scan many transcripts into tables."),
    "sql": Entry("viewer.cli.sql", "Query the tables of a scan.", reads_input=False),
    "browse": Entry("viewer.cli.browse", "Browse the tables of a scan.", reads_input=False),
    "sessions": Entry("viewer.cli.sessions", "List agent sessions on this machine."),
    "tap": Entry("viewer.cli.tap", "Log and show the requests of a model client.", reads_input=False),
    "next": Entry("viewer.cli.next", "Show the prompt that the model receives next."),
    "lens": Entry("viewer.cli.lens", "Show how different formats read a file."),
    "formats": Entry("viewer.cli.formats", "List formats and how they are detected.", reads_input=False),
    "themes": Entry("viewer.cli.themes", "List themes.", reads_input=False),
    "config": Entry("viewer.cli.config", "Show effective settings and where each comes from."),
    "demo": Entry("viewer.cli.demo", "Open the bundled tour."),
    "completion": Entry("viewer.cli.completion", "Print a shell completion script.", reads_input=False),
}

_HIDDEN = {"serve-session": Entry("viewer.cli.serve_session", "Run one session of `serve`.")}
"""Commands that only the program itself runs."""

NEEDED = (
    *("textual", "rich", "click", "numpy", "watchfiles", "google-re2", "jsonschema-rs", "msgspec", "PyYAML"),
    *("Pygments", "markdown-it-py"),
)
"""Required packages, which `--version` always lists."""
EXTRAS = ("zstandard", "tiktoken", "pyperclip", "pyarrow", "textual-serve")
"""Optional packages, which `--version` lists if they are installed."""
_OWN_OPTIONS = ("--help", "-h", "--version")
_EPILOG = "Exit codes: 0 success, 1 problems found, 2 usage or input error."


def main() -> NoReturn:
    """Run the `ocmlview` command and exit. This is the entry point."""
    disable_core_dumps()
    _occupy_standard_descriptors()
    code = run(sys.argv[1:])
    if "_duckdb" not in sys.modules:  # DuckDB reports objects that are never freed
        gc.freeze()
    if _has_nothing_left_to_do():
        os._exit(code)
    sys.exit(code)


def _has_nothing_left_to_do() -> bool:
    """True if the process can end immediately. Otherwise, it frees all objects, which takes as long as reading a small
    file. All output is flushed, or fails as it would at the end."""
    from threading import active_count

    callback_count = getattr(atexit, "_ncallbacks", None)  # a private name of Python, so it may be missing
    if sys.getprofile() or sys.gettrace() or active_count() > 1 or callback_count is None or callback_count():
        return False
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def _occupy_standard_descriptors() -> None:
    """Open the null device on closed standard descriptors so that no file gets their numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def is_interactive() -> bool:
    """True if standard input and output are terminals, and TERM names a terminal with a screen."""
    has_screen = os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    return has_screen and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code."""
    return ended(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        return int(_program.main(arguments, "ocmlview", standalone_mode=False) or FINE)
    finally:
        SCREEN.release()  # before anything is printed about an error


def _help_option() -> click.Option:
    """Return the help option. Click's own option looks for a translation of its text, which takes a millisecond."""
    return click.Option(
        ["-h", "--help"], is_flag=True, is_eager=True, expose_value=False, help="Show this help.", callback=_show_help
    )


def _show_help(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(context.get_help(), color=context.color)
        context.exit()


class _Program(click.Group):
    """The listed commands, each loaded on demand. Any other first argument is a file to view."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if not args and not is_interactive() and (sys.stdin is None or sys.stdin.isatty()):
            click.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        if not args or (args[0] not in COMMANDS and args[0] not in _HIDDEN and args[0] not in _OWN_OPTIONS):
            if not ctx.resilient_parsing:
                _suggest_command(args)
            args = ["view", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name) or _HIDDEN.get(cmd_name)
        if entry is None:
            return None
        from viewer.signals import interrupt_at_once

        with interrupt_at_once():
            if entry.reads_input:
                _load_msgspec()
            command: click.Command = import_module(entry.module).command
        if command.add_help_option:
            command.add_help_option = False
            command.params.append(_help_option())
        if entry.reads_input:
            from viewer.sources.limits import load_limits_with

            load_limits_with(_configured_limits)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete the first word: a command, an option of the program or of the viewer, or a file to view."""
        from click.shell_completion import CompletionItem

        from viewer.cli.completion import beginning

        if not incomplete.startswith("-"):
            commands = beginning(incomplete, ((name, entry.help) for name, entry in COMMANDS.items()))
            return commands or [CompletionItem(incomplete, type="file")]
        view = self.get_command(ctx, "view")
        assert view is not None
        with view.make_context("view", [], parent=ctx, resilient_parsing=True) as inner:
            offered = [*super().shell_complete(ctx, incomplete), *view.shell_complete(inner, incomplete)]
        return list({item.value: item for item in offered}.values())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        PLUGGED.connect(_plugin_table, _plugin_tables)
        ctx.call_on_close(say_which_plugins_failed)
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise PipeClosed from error


_program = _Program(
    "ocmlview",
    help="Read, check, and follow LLM transcripts. Shows what the end user saw.",
    epilog=_EPILOG,
    subcommand_metavar="[COMMAND] [OPTIONS] [FILE...]",
    options_metavar="",
    add_help_option=False,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help="Show the version of ocmlview and its dependencies.",
            callback=lambda ctx, _, wanted: _say_version(ctx) if wanted and not ctx.resilient_parsing else None,
        ),
        _help_option(),
    ],
)


def _configured_limits() -> Limits:
    from viewer.tui.settings.file import configured_limits  # only a spooled input needs the settings

    return configured_limits()


def plugins() -> Plugins:
    """Return the registry of format plug-ins, and connect it to the settings on first use. Call this only if an input
    needs or names a plug-in."""
    from viewer.plugins.loading import PLUGINS
    from viewer.tui.settings.file import read_settings

    if not PLUGINS.is_connected:
        PLUGINS.connect(lambda: read_settings().plugins)
    return PLUGINS


def _load_msgspec() -> None:
    """Load msgspec without `typing_extensions`, which it imports if installed. From Python 3.11 on, it finds the same
    values in `typing`. The import takes a twentieth of a short command."""
    name = "typing_extensions"
    if name in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # importing it fails, as if it were not installed
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def _plugin_table(name: str) -> RecordFormat | None:
    return plugins().table(name)


def _plugin_tables() -> list[RecordFormat]:
    return plugins().tables()


def _suggest_command(arguments: list[str]) -> None:
    """Raise an error with a suggestion if the first argument is not a file, but is `help` or resembles a command."""
    if not arguments or arguments[0].startswith("-") or ":" in arguments[0]:
        return
    if os.path.exists(arguments[0]):  # noqa: PTH110 (never raises)
        return
    if arguments[0] == "help":
        raise ViewerError("no such file or command: help. Try 'ocmlview --help' or 'ocmlview COMMAND --help'.")
    from difflib import get_close_matches

    near = get_close_matches(arguments[0], COMMANDS, 1, 0.7)
    if near:
        raise ViewerError(f"no such file or command: {arguments[0]}. Did you mean {near[0]}?")


def _say_version(context: click.Context) -> NoReturn:
    click.echo("\n".join(_version_lines()))
    context.exit(FINE)


def _version_lines() -> Iterator[str]:
    """Yield lines with the versions that belong in a bug report: program, Python, operating system, and packages."""
    import platform

    from viewer import __version__

    yield f"ocmlview {__version__}"
    yield f"{platform.python_implementation()} {platform.python_version()} on {platform.platform()}"
    yield ", ".join(f"{name} {_version(name) or 'missing'}" for name in NEEDED)
    extras = [f"{name} {found}" for name in EXTRAS if (found := _version(name))]
    if extras:
        yield ", ".join(extras)


def _version(package: str) -> str | None:
    """Return the version of a package without importing it; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
