"""`ocmlview explain`: what a code means, where the rule stands, an example, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

import click

from viewer.cli import completing, options
from viewer.cli.exits import FINE
from viewer.core.diagnostics import RULES, Rule
from viewer.errors import ViewerError
from viewer.render.explanation import explanation_lines
from viewer.render.style import Line


@click.command("explain", short_help="Say what a code means.")
@click.argument("codes", nargs=-1, metavar="[CODE...]", shell_complete=completing.codes)
@options.printing
def command(codes: tuple[str, ...], color: str, ascii_only: bool) -> int:
    """Say what codes mean, where the rule stands and what to do; without a code, all of them."""
    rules = [_rule(code) for code in codes] or list(RULES.values())
    output = options.output_of(color, ascii_only)

    def lines() -> Iterator[Line]:
        for number, rule in enumerate(rules):
            if number:
                yield ()
            yield from explanation_lines(rule, output.width, output.style)

    output.write_styled(lines())
    return FINE


def _rule(asked: str) -> Rule:
    """The rule of a code in any case of letters, with or without its reason."""
    code = asked.upper().partition("/")[0]
    if code in RULES:
        return RULES[code]
    from difflib import get_close_matches

    near = get_close_matches(code, RULES, cutoff=0.5) or [known for known in RULES if code and code in known]
    hint = f"; did you mean {' or '.join(near[:3])}?" if near else "; `ocmlview explain` lists all codes"
    raise ViewerError(f"no code is called {asked}{hint}")
