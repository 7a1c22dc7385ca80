"""`ocmlview completion SHELL`: print the shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from viewer.cli.exits import FINE

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_OCMLVIEW_COMPLETE"
"""Through this variable the shell requests completions."""


@click.command("completion", short_help="Teach a shell to complete.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print the lines that make a shell complete commands, options, files, and the names that options take.

    bash: eval "$(ocmlview completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc, after compinit;
    fish: ocmlview completion fish > ~/.config/fish/completions/ocmlview.fish"""
    completion = get_completion_class(shell)
    assert completion is not None
    program = context.find_root()
    lines = completion(program.command, {}, "ocmlview", VARIABLE).source()
    click.echo(_whole_values(lines), nl=False)
    return FINE


def _whole_values(lines: str) -> str:
    """Split fish completions at the first comma only: values may contain commas (`--reveal analysis,tool`)."""
    return lines.replace('string split "," ', 'string split --max 1 "," ')
