"""`ocmlview explain`: explain a problem code or reason: meaning, section of the specification, example, and advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
from msgspec.structs import replace

from viewer.cli import completion, options
from viewer.cli.exits import FINE
from viewer.errors import ViewerError
from viewer.model.diagnostic import Rule
from viewer.render.diagnostic import explanation_lines
from viewer.render.style import Line
from viewer.rules import RULES


@click.command("explain", short_help="Explain problem codes.")
@click.argument("codes", nargs=-1, metavar="[CODE[/REASON]...]", shell_complete=completion.codes)
@options.printing
def command(codes: tuple[str, ...], color: str, ascii_only: bool) -> int:
    """Explain problem codes. Without a code, lists all codes with their meaning, section of the
    specification, and fix."""
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
    """Find the rule of a code, ignoring case. If a reason follows the code, keep only that reason."""
    code, _, reason = asked.partition("/")
    code, reason = code.upper(), reason.lower()
    if code not in RULES:
        near = _nearest(code, RULES)
        hint = f". Did you mean {' or '.join(near)}?" if near else ". `ocmlview explain` lists all codes."
        raise ViewerError(f"unknown code {asked}{hint}")
    rule = RULES[code]
    if not reason:
        return rule
    if reason not in rule.reasons:
        near = [f"{code}/{name}" for name in _nearest(reason, rule.reasons)] or [code]
        raise ViewerError(f"{code} has no reason {reason}. Did you mean {' or '.join(near)}?")
    return replace(rule, reasons={reason: rule.reasons[reason]})


def _nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return up to three known words that resemble this one."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(word, known, cutoff=0.5) or [one for one in known if word and word in one]
    return near[:3]
