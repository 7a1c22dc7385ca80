"""`ocmlview stats`: count messages, bytes, tokens, and calls by role, channel, and tool."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from viewer.cli import options
from viewer.cli.inputs import Inputs, retried
from viewer.cli.notices import announced, mention
from viewer.cli.output import Cell, Output, table_lines
from viewer.document.document import Document
from viewer.document.stats import Stats, count
from viewer.model.messages import Usage
from viewer.model.prices import NO_PRICES, Prices
from viewer.model.visibility import Audience, Reveal
from viewer.render.json_lines import encode
from viewer.render.number_format import counted, money
from viewer.render.style import Line, Part, Printable, Style, StyleRole, trusted
from viewer.render.title import rule

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter

_SUMS = ("role", "channel", "messages", "bytes", "calls")
_USAGE = ("tokens", "input", "cached", "output", "reasoning", "total", "cost")
_TOOLS = ("tool", "calls", "replies", "failed", "unanswered")


@click.command("stats", short_help="Count messages, bytes, tokens, and calls.")
@options.reading
@options.audience
@options.where
@options.printing
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    where: Filter | None,
    color: str,
    ascii_only: bool,
    as_json: bool,
) -> int:
    """Count messages, bytes, and calls; with -d, also tokens and cost. Hidden messages are counted without their
    sizes."""
    audience = options.audience_of(reveal, debug, strict_safe)
    options.check_where(where, audience)
    inputs = Inputs(options.inputs_of(files), format, options.reading_options(preambles), strict=strict_safe)
    output = options.output_of(color, ascii_only)
    if as_json:
        output.write(_json(inputs, audience, where))
    else:
        _print_tables(inputs, audience, output, where)
    return inputs.code


def _json(inputs: Inputs, audience: Audience, where: Filter | None) -> Iterator[Printable]:
    prices = _prices(audience)
    for document in inputs:
        stats = retried(document, partial(count, document, audience, where, prices))
        name = document.name if inputs.several else None
        yield encode(
            {"kind": "stats", "transcripts": _transcripts(document, audience, where), **to_builtins(stats)}, name
        )
        mention(document, audience)


def _transcripts(document: Document, audience: Audience, where: Filter | None) -> int:
    """Return the number of transcripts that this audience may know about; with a filter, count only those with a
    match."""
    if not audience.strict and where is None:
        return document.tally.transcripts
    return len(document.project(audience, where=where).transcripts())


def _print_tables(inputs: Inputs, audience: Audience, output: Output, where: Filter | None) -> None:
    sentence = "" if audience.is_safe else "DEBUG view: these numbers include hidden messages."
    style = output.style
    prices = _prices(audience)
    for document in announced(inputs, sentence):
        stats = retried(document, partial(count, document, audience, where, prices))
        if inputs.several:
            output.write_styled([rule(style.name(document.name), trusted(""), output.width, style, heavy=True)])
        output.write_styled(_tables(stats, output))
        mention(document, audience)


def _tables(stats: Stats, output: Output) -> Iterator[Line]:
    style = output.style
    rows: list[list[Cell]] = [
        [style.name(row.role or "(none)"), style.name(row.channel or "(none)"), row.messages, row.bytes, row.calls]
        for row in stats.messages
    ]
    rows.append([trusted("shown"), trusted(""), *_totals(stats)])
    yield from table_lines(_SUMS, rows, output.width, style)
    if stats.hidden:
        yield (Part(trusted(counted(stats.hidden, "hidden message")), StyleRole.QUIET),)
    if stats.tools:
        yield ()
        has_tokens = any(row.tokens is not None for row in stats.tools)
        heads = (*_TOOLS, "tokens", "cost") if has_tokens else _TOOLS
        yield from table_lines(heads, _tool_rows(stats, style, has_tokens=has_tokens), output.width, style)
    if stats.usage:
        yield ()
        yield from table_lines(_USAGE, _usage_rows(stats, stats.usage, style), output.width, style)


def _prices(audience: Audience) -> Prices:
    """Return the prices from the settings, or no prices if this audience does not see token usage."""
    if not audience.sees_usage:
        return NO_PRICES
    from viewer.tui.settings.file import configured_prices

    return configured_prices()


def _usage_rows(stats: Stats, usage: Usage, style: Style) -> list[list[Cell]]:
    """Return a row for each model, and one with the totals."""
    rows = [[style.name(row.model or "(no model)"), *_usage_cells(row.usage, row.cost)] for row in stats.models]
    return [*rows, [trusted("all models"), *_usage_cells(usage, stats.cost)]]


def _usage_cells(usage: Usage, cost: float | None) -> list[Cell]:
    numbers = (usage.input, usage.cached, usage.output, usage.reasoning, usage.total)
    return [*numbers, trusted(money(cost) if cost is not None else "")]


def _totals(stats: Stats) -> list[Cell]:
    return [
        sum(row.messages for row in stats.messages),
        sum(row.bytes for row in stats.messages),
        sum(row.calls for row in stats.messages),
    ]


def _tool_rows(stats: Stats, style: Style, *, has_tokens: bool) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for row in stats.tools:
        cells: list[Cell] = [style.name(row.tool), row.calls, row.replies, row.failed, row.unanswered]
        if has_tokens:
            cells += [row.tokens, trusted(money(row.cost) if row.cost is not None else "")]
        rows.append(cells)
    return rows
