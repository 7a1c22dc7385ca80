"""`ocmlview convert`: write the shown content in another format; report losses on standard error."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.exits import FINDINGS, complain, say
from viewer.cli.inputs import refuse_if_unknown, report_damage, say_what_is_outside, say_what_is_withheld
from viewer.cli.output import write_text
from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.errors import ViewerError
from viewer.formats import WRITERS
from viewer.formats.leak_check import count_leaks
from viewer.formats.text.quoted_marks import refuse_quoted_marks
from viewer.model.visibility import Reveal


@click.command("convert", short_help="Convert to another format.")
@click.option("--to", "target", required=True, type=click.Choice(list(WRITERS)), help="Format to write.")
@options.reading
@options.audience
def command(
    target: str,
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
) -> int:
    """Convert to another format. Anything dropped is listed on stderr."""
    audience = options.audience_of(reveal, debug, strict_safe)
    inputs = options.inputs_of(files)
    if len(inputs) > 1:
        raise click.UsageError("One file at a time.", click.get_current_context())
    document = open_document(inputs[0], format=format, options=options.reading_options(preambles))
    refuse_if_unknown(document, strict=strict_safe)
    return _convert(document, document.project(audience), target)


def _convert(document: Document, projection: Projection, target: str) -> int:
    messages = list(projection.writable())
    try:
        if target != "openchatml-2.2":
            refuse_quoted_marks(messages, target)
        text, losses = WRITERS[target](projection.transcripts(), messages)
    except ViewerError as refusal:
        complain(str(refusal))
        return FINDINGS
    write_text(text)
    hidden = projection.hidden_count
    if hidden:
        say(f"{hidden:,} of {document.message_count:,} messages are hidden and left out; see --reveal.")
    say_what_is_outside(projection)
    say_what_is_withheld(projection)
    for loss in losses:
        say(loss)
    _say_what_opens(projection, messages, text, target)
    return report_damage(document)


def _say_what_opens(projection: Projection, messages: list[ShownMessage], text: str, target: str) -> None:
    """Report how many revealed messages the target format cannot keep hidden."""
    count = 0 if projection.audience.is_safe else count_leaks(text, target, messages, projection.transcripts())
    if count:
        say(f"{count:,} {'message' if count == 1 else 'messages'} hidden here would be shown in {target}.")
