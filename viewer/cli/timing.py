"""`ocmlview timing`: report stalls, rates by channel, and retracted text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click
from msgspec import to_builtins

from viewer.cli import options
from viewer.cli.inputs import Inputs, retried
from viewer.cli.moments import arrivals_of, times_option
from viewer.cli.notices import announced, mention
from viewer.cli.output import Cell, Output, table_lines
from viewer.document.document import Document
from viewer.insight.replay.timeline import Timeline
from viewer.insight.replay.timing import Timing, time_transcript
from viewer.model.visibility import Audience, Reveal
from viewer.render.insight.timing import timing_lines
from viewer.render.json_lines import encode
from viewer.render.style import Line, trusted
from viewer.render.title import rule

_RATES = ("channel", "characters", "ms", "per second")


@click.command("timing", short_help="Report stalls, rates, and retracted text.")
@options.reading
@options.audience
@options.printing
@times_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    color: str,
    ascii_only: bool,
    times: str,
    as_json: bool,
) -> int:
    """Report stalls and the characters per second of each channel; with -d, also retracted text and the time to the
    first visible answer. Without -d, measures only shown text."""
    audience = options.audience_of(reveal, debug, strict_safe).of_messages
    inputs = Inputs(options.inputs_of(files), format, options.reading_options(preambles), strict=strict_safe)
    if times and inputs.several:
        raise click.UsageError("With --times, specify exactly one file.", click.get_current_context())
    output = options.output_of(color, ascii_only)
    says = not audience.is_safe and not as_json
    for document in announced(inputs, "DEBUG view: these times include hidden messages." if says else ""):
        timing = retried(document, partial(_timing, document, audience, times), output)
        if as_json:
            fields = {"kind": "timing", **to_builtins(timing)}
            output.write([encode(fields, document.name if inputs.several else None)])
        else:
            if inputs.several:
                name = output.style.name(document.name)
                output.write_styled([rule(name, trusted(""), output.width, output.style, heavy=True)])
            output.write_styled(_lines(timing, output))
        mention(document, audience)
    return inputs.code


def _timing(document: Document, audience: Audience, times: str) -> Timing:
    timeline = Timeline(arrivals_of(document, audience, times), audience)
    return time_transcript(document, audience, timeline, "sidecar" if times else "records")


def _lines(timing: Timing, output: Output) -> Iterator[Line]:
    rows: list[list[Cell]] = [
        [output.style.name(name), rate.characters, rate.ms, round(1000 * rate.characters / rate.ms)]
        for name, rate in timing.rates.items()
    ]
    yield from timing_lines(timing, output.style, table_lines(_RATES, rows, output.width, output.style))
