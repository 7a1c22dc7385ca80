"""`ocmlview completion`: print a completion script, and complete the values of options and arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click
from click import Context, Parameter

from viewer.cli.exits import FINE

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Completions = list[CompletionItem[str]]
    Complete = Callable[[Context, Parameter, str], Completions]


SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_OCMLVIEW_COMPLETE"
"""The environment variable through which the shell requests completions."""


@click.command("completion", short_help="Print a shell completion script.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print a shell completion script. It completes commands, options, files, and values.

    bash: eval "$(ocmlview completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc, after compinit;
    fish: ocmlview completion fish > ~/.config/fish/completions/ocmlview.fish"""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    program = context.find_root()
    lines = completion(program.command, {}, "ocmlview", VARIABLE).source()
    click.echo(_whole_values(lines), nl=False)
    return FINE


def _whole_values(lines: str) -> str:
    """Make the fish script split each completion at its first comma only: a value may contain commas
    (`--reveal analysis,tool`)."""
    return lines.replace('string split "," ', 'string split --max 1 "," ')


def files(context: Context, parameter: Parameter, incomplete: str) -> Completions:
    """Complete items after `FILE:`. Leave files to the shell, which can quote names and expand the home folder."""
    from click.shell_completion import CompletionItem

    typed = _joined(context.params.get("files") or (), incomplete)
    if ":" in typed:
        from viewer.cli.items import named_items  # completing anything else reads no file

        found = named_items(typed)
        if found is not None:
            known = 0 if typed == incomplete else typed.rfind(":") + 1
            return [CompletionItem(name[known:]) for name in found]
    return [CompletionItem(incomplete, type="file")]


def _joined(before: Sequence[str], incomplete: str) -> str:
    """Return the whole word being typed. Bash splits words at colons and passes only the last part."""
    words, typed = [*before], incomplete
    while words and (words[-1] == ":" or typed.startswith(":")):
        typed = words.pop() + typed
    return typed


def filters(context: Context, parameter: Parameter, incomplete: str) -> Completions:
    """Complete the last term of --where."""
    from click.shell_completion import CompletionItem

    from viewer.document.filter.grammar import completions

    return [CompletionItem(text) for text in completions(incomplete)]


def formats(context: Context, parameter: Parameter, incomplete: str) -> Completions:
    """Complete the values of --format."""
    from viewer.formats import FORMATS

    return beginning(incomplete, ((name, FORMATS.title(name)) for name in FORMATS))


def themes(context: Context, parameter: Parameter, incomplete: str) -> Completions:
    """Complete the names of bundled and user themes."""
    from viewer.render.theme import theme_names
    from viewer.tui.settings.places import themes_folder

    return beginning(incomplete, ((name, "") for name in theme_names((themes_folder(),))))


def codes(context: Context, parameter: Parameter, incomplete: str) -> Completions:
    """Complete diagnostic codes, ignoring case."""
    from viewer.model.diagnostic import fill_in
    from viewer.rules import RULES

    return beginning(incomplete.upper(), ((code, fill_in(rule.title)) for code, rule in RULES.items()))


def parts_of(names: Iterable[str]) -> Complete:
    """Return a function that completes the last item of a list such as `analysis,tool` with names that are not in the
    list yet."""
    known = tuple(names)

    def complete(context: Context, parameter: Parameter, incomplete: str) -> Completions:
        from click.shell_completion import CompletionItem

        *said, last = incomplete.split(",")
        before = "".join(f"{word}," for word in said)
        return [CompletionItem(before + name) for name in known if name.startswith(last) and name not in said]

    return complete


def beginning(incomplete: str, entries: Iterable[tuple[str, str]]) -> Completions:
    """Return the entries that begin with the typed text, each with its help."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=help or None) for name, help in entries if name.startswith(incomplete)]
