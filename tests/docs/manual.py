"""Generate the man page from the commands, their options and the table of keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import click

from viewer import __version__
from viewer.cli import COMMANDS, exits
from viewer.render.crash import CRASHED
from viewer.tui.keys import ACTIONS, Group

SHARED_BY = 3
"""An option that at least this many commands have is described only once."""
EXITS = {
    exits.FINE: "Success.",
    exits.FINDINGS: "Findings, such as errors (check), differences (diff), or a message that convert could not write.",
    exits.USAGE: "The request could not be fulfilled.",
    CRASHED: "A crash. The report never quotes a transcript.",
    exits.INTERRUPTED: "Interrupted.",
    exits.PIPE_CLOSED: "The reader of the output closed the pipe.",
}
VARIABLES = {
    "NO_COLOR": "Turns colors off, unless --color or --theme asks for them.",
    "VISUAL, EDITOR": "The editor that the v key opens.",
    "XDG_CONFIG_HOME": "The parent directory of ocmlview/, which contains settings and themes; default: ~/.config.",
    "XDG_STATE_HOME": "The parent directory of ocmlview/, which contains marks and positions; default: ~/.local/state.",
}


def manual() -> str:
    """Return the whole page, as troff source."""
    return "\n".join([*_head(), *_commands(), *_shared_options(), *_keys(), *_tail()]) + "\n"


def _head() -> Iterator[str]:
    yield '.\\" Made from the code: `make docs` writes it.'
    yield f'.TH OCMLVIEW 1 "" "ocmlview {__version__}" "User Commands"'
    yield from (".nh", ".ad l")
    yield from _section("NAME")
    yield "ocmlview \\- show transcripts of language models as their end users saw them"
    yield from _section("SYNOPSIS")
    for line in ("[OPTIONS] [FILE...|DIR|-]", "COMMAND [OPTIONS] [FILE...]"):
        yield from (".B ocmlview", _text(line), ".br")
    yield from _section("DESCRIPTION")
    yield _text(
        "Reads transcripts of gpt-oss, vLLM, llama-server, OpenAI, Anthropic, Claude Code, Codex, and many others; "
        "ocmlview formats lists them. Shows the conversation as its end user saw it; analysis, tool calls, and system "
        "messages stay hidden until you reveal them with a key or an option. A word that is not a command is the "
        "name of a file to view; - is standard input. "
        "Data goes to standard output, everything else to standard error."
    )


def _commands() -> Iterator[str]:
    yield from _section("COMMANDS")
    shared = _shared()
    for name in COMMANDS:
        command = loaded(name)
        context = click.Context(command, info_name=name, help_option_names=["-h", "--help"])
        yield f".SS {_text(' '.join([name, *command.collect_usage_pieces(context)]))}"
        yield from _paragraphs(command.help or "")
        also = []
        for option in _options(command):
            if _key(option) in shared:
                also.append(option.opts[-1])
            else:
                yield from _option(option, context)
        if also:
            yield from (".PP", _text(f"Also accepts {', '.join(also)}; see OPTIONS."))


def _shared_options() -> Iterator[str]:
    yield from _section("OPTIONS")
    yield "These options are shared by several commands:"
    for option in _shared().values():
        yield from _option(option, click.Context(loaded("view"), info_name="view", help_option_names=["-h", "--help"]))
    yield from (".TP", ".B \\-h, \\-\\-help", "Show the help of a command.")
    yield from (".TP", ".B \\-\\-version", "Show the version of ocmlview and its dependencies.")


def _keys() -> Iterator[str]:
    yield from _section("KEYS OF THE VIEWER")
    for group in Group:
        yield f".SS {group.value}"
        for action in ACTIONS:
            if action.group is group and action.shown_keys:
                debug = " (debug view)" if action.debug_only else ""
                yield from (
                    ".TP",
                    f".B {_text(' '.join(action.shown_keys))}",
                    _text(action.help.rstrip(".") + debug + "."),
                )


def _tail() -> Iterator[str]:
    yield from _section("EXIT STATUS")
    for code, words in EXITS.items():
        yield from (".TP", f".B {code}", _text(words))
    yield from _section("ENVIRONMENT")
    for name, words in VARIABLES.items():
        yield from (".TP", f".B {name}", _text(words))
    yield _text("No variable and no setting reveals anything.")
    yield from _section("FILES")
    yield from (".TP", ".I ~/.config/ocmlview/config.yaml", "The settings; see ocmlview config.")
    yield from (".TP", ".I ~/.config/ocmlview/themes/", "Your own themes.")


@cache
def loaded(name: str) -> click.Command:
    """Return the command with this name in the list."""
    command: click.Command = import_module(COMMANDS[name].module).command
    return command


@cache
def _shared() -> dict[tuple[str, str | None], click.Option]:
    """Return the options that several commands have, by their names and words."""
    every = [option for name in COMMANDS for option in _options(loaded(name))]
    count = Counter(map(_key, every))
    return {_key(option): option for option in every if count[_key(option)] >= SHARED_BY}


def _key(option: click.Option) -> tuple[str, str | None]:
    return option.opts[-1], option.help


def _options(command: click.Command) -> list[click.Option]:
    """Return the options, without --help, which a command gets when it is run."""
    every = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return [option for option in every if "--help" not in option.opts]


def _option(option: click.Option, context: click.Context) -> Iterator[str]:
    record = option.get_help_record(context)
    assert record is not None
    yield from (".TP", f".B {_text(record[0])}", _text(record[1]))


def _section(title: str) -> Iterator[str]:
    yield f".SH {title}"


def _paragraphs(help: str) -> Iterator[str]:
    for number, paragraph in enumerate(help.split("\n\n")):
        if number:
            yield ".PP"
        yield _text(" ".join(paragraph.split()))


def _text(words: str) -> str:
    """Return the words, escaped so that troff prints them unchanged."""
    return re.sub(
        r"^(?=[.'])",
        r"\\&",
        words.replace("\\", "\\e")
        .replace("-", "\\-")
        .replace("^", "\\(ha")
        .replace("~", "\\(ti")
        .replace("`", "\\(ga"),
    )
