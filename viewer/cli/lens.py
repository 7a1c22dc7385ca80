"""`ocmlview lens`: show how each text format and version reads a file, and what all of them show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import click
from msgspec import Struct

from viewer.cli import completion, options
from viewer.cli.exits import FINDINGS, FINE, complain, say
from viewer.cli.inputs import Inputs, retried
from viewer.cli.output import Output
from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.insight.lens.readings import LIMIT, READERS, READS, Reading, agreed, readings
from viewer.insight.lens.rows import Rank, RowTable, first_difference, row_table
from viewer.insight.lens.words import SHORT_NAMES
from viewer.model.visibility import END_USER, Audience, Reveal
from viewer.render.insight.lens import lens_objects, lens_sentences, lens_table
from viewer.render.json_lines import encode
from viewer.render.number_format import counted
from viewer.render.style import Line, Part, Printable, StyleRole, trusted
from viewer.render.title import rule
from viewer.render.width import lines_of
from viewer.rules.structure import W_FORMAT_DIFFERS
from viewer.sources.limits import size_text

_RANKS = {None: None, "differ": Rank.LABEL, "visibility": Rank.VISIBILITY}
"""The least serious rank to show, by the value of --only."""


class Comparison(Struct, frozen=True):
    """The readings of a document, one per text format."""

    document: Document
    readings: tuple[Reading, ...]
    is_cut: bool
    """True if only the beginning was compared."""

    @property
    def chosen(self) -> str:
        """The format in which the document is read."""
        return self.document.detection.format

    def only(self, names: Sequence[str]) -> tuple[Reading, ...]:
        """Return only the readings in these formats."""
        return tuple(each for each in self.readings if each.format in names)

    @property
    def last(self) -> int:
        """The number of the last message that was compared completely, or 0 if there is none."""
        (own,) = self.only((self.chosen,))
        whole = (each.number for each in reversed(own.messages) if not self.is_cut or each.end < LIMIT)
        return next(whole, 0)


def compare(document: Document, limit: int | None = LIMIT, *, skips_refused: bool = False) -> Comparison:
    """Read the document in each text format, one after another, and return the readings."""
    steps = readings(document, limit, skips_refused=skips_refused, is_final=True)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return Comparison(document, end.value, limit is not None and document.size > limit)


def add_difference(document: Document) -> None:
    """Add W-FORMAT-DIFFERS to the problems of a document, at the first span whose visibility depends on the format, if
    there is one."""
    if document.detection.format not in READERS:
        return
    comparison = compare(document, skips_refused=True)
    row = first_difference(comparison.readings, comparison.chosen)
    if row is None:
        return
    place = READERS.index(comparison.chosen)
    plausible = [
        each.format for each in comparison.readings if each.format == comparison.chosen or each.verdict == READS
    ]
    cell = row.cells[plausible.index(READERS[place])]
    document.quotes.add(W_FORMAT_DIFFERS, "visibility", row.span, cell.message.number if cell else None)


def _formats(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    if value is None:
        return READERS
    known = {short: name for name, short in SHORT_NAMES.items()} | {name: name for name in READERS}
    names = options.listed(value, known, "format", context, parameter)
    return tuple(dict.fromkeys(known[name] for name in names))


@click.command("lens", short_help="Show how different formats read a file.")
@options.reading
@options.reveal_option
@options.debug_option
@options.printing
@click.option(
    "--as",
    "names",
    metavar="LIST",
    callback=_formats,
    shell_complete=completion.parts_of(SHORT_NAMES.values()),
    help="Formats to compare.",
)
@click.option(
    "--only",
    type=click.Choice(["differ", "visibility"]),
    help="Show only bytes that readers interpret differently, or only those whose visibility differs.",
)
@click.option("--all", "whole", is_flag=True, help=f"Read beyond the first {size_text(LIMIT)}.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per span.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if visibility differs.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    color: str,
    ascii_only: bool,
    names: tuple[str, ...],
    only: str | None,
    whole: bool,
    as_json: bool,
    exit_code: bool,
) -> int:
    """Show how different formats read a file: one program may show an answer that another hides. Prints the messages
    that all readers show in the same way; with --reveal all, how each reader interprets each byte."""
    audience = options.audience_of(reveal, debug, False)
    is_debug = audience.reveals(Reveal.ALL)
    if not audience.is_safe and not is_debug:
        complain("the columns need --reveal all, because a byte may belong to any message")
    inputs = Inputs(options.inputs_of(files), format, options.reading_options(preambles))
    output = options.output_of(color, ascii_only)
    differs = has_said = False
    for document in inputs:
        if document.detection.format not in READERS:
            raise ViewerError(f"{document.name}: lens compares OpenChatML and Harmony text only")
        comparison = retried(document, partial(compare, document, None if whole else LIMIT, skips_refused=not is_debug))
        if is_debug and not as_json and not has_said:
            say("DEBUG view: the columns include hidden messages.")
            has_said = True
        if comparison.is_cut:
            say(f"{document.name}: compared the first {size_text(LIMIT)}; --all compares everything.")
        name = document.name if inputs.several else None
        if is_debug:
            found = row_table(comparison.only(names))
            differs = differs or bool(found.apart)
            if as_json:
                output.write(_json(comparison, comparison.only(names), found, _RANKS[only], name))
            else:
                output.write_styled(_table(comparison, comparison.only(names), found, _RANKS[only], output))
        else:
            same, others = agreed(comparison.readings, comparison.chosen)
            differs = differs or others > 0
            if as_json:
                output.write(_safe_json(comparison, same, others, audience, name))
            else:
                output.write_styled(_safe_text(comparison, same, name, output))
    return inputs.code or (FINDINGS if exit_code and differs else FINE)


class _Shown(Struct, frozen=True, gc=False):
    """A message that an end user sees."""

    number: int
    role: str
    body: str


def _shown_messages(comparison: Comparison) -> Iterator[_Shown]:
    """Yield the messages that an end user sees, up to the last one that was compared."""
    last, roles = comparison.last, dict[int, str]()
    shown = comparison.document.project(END_USER, withholds=False)
    rows = shown.rows()
    for text in shown.texts(rows):
        if text.number > last:
            return
        role = roles.get(text.kind)
        if role is None:
            role = roles[text.kind] = shown.unread(rows, text.row).role
        yield _Shown(text.number, role, text.body)


def _safe_text(comparison: Comparison, same: bytes, name: str | None, output: Output) -> Iterator[Line]:
    """Yield the messages that every reader shows in the same way and, between them, the number of other messages that
    the chosen reader shows."""
    style = output.style
    if name is not None:
        yield rule(style.name(name), trusted(""), output.width, style, heavy=True)
    for is_same, run in groupby(_shown_messages(comparison), lambda message: same[message.number - 1]):
        if not is_same:
            count = sum(1 for _ in run)
            yield (Part(trusted(f"readers differ on {counted(count, 'message')}"), StyleRole.QUIET),)
            yield ()
            continue
        for message in run:
            yield (Part(style.name(message.role.capitalize()), StyleRole.STRONG),)
            yield from ((Part(style.spell(line)),) for line in lines_of(message.body))
            yield ()


def _safe_json(
    comparison: Comparison, same: bytes, others: int, audience: Audience, name: str | None
) -> Iterator[Printable]:
    for message in _shown_messages(comparison):
        if not same[message.number - 1]:
            yield encode({"kind": "lens", "span": None, "rank": Rank.VISIBILITY.word, "message": message.number}, name)
    ranks: dict[str, int | None] = {rank.word: None for rank in Rank}
    yield encode(_summary(comparison, None, ranks | {Rank.VISIBILITY.word: others}), name)


def _summary(
    comparison: Comparison, verdicts: dict[str, str] | None, ranks: dict[str, int | None]
) -> dict[str, object]:
    """Return the object for the last line of JSON. It has no verdicts for end users, because a verdict may depend on
    hidden text."""
    return {"kind": "lens-summary", "chosen": comparison.chosen, "verdicts": verdicts, **ranks}


def _json(
    comparison: Comparison, readings: Sequence[Reading], found: RowTable, rank: Rank | None, name: str | None
) -> Iterator[Printable]:
    yield from lens_objects(found, readings, rank, name)
    verdicts = {each.format: each.verdict for each in readings}
    yield encode(_summary(comparison, verdicts, {**found.counts()}), name)


def _table(
    comparison: Comparison, readings: Sequence[Reading], found: RowTable, rank: Rank | None, output: Output
) -> Iterator[Line]:
    style, document = output.style, comparison.document
    number = len(found.apart)
    yield rule(style.name(document.name), trusted(""), output.width, style, heavy=True)
    detected = "detected" if document.detection.reason != "as requested" else "as requested"
    yield (
        Part(trusted(f"chosen: {comparison.chosen} ({detected}) · {counted(number, 'disagreement')} on visibility")),
    )
    yield ()
    yield from lens_table(found, readings, rank, document.quotes.excerpts, output.width, style)
    yield from lens_sentences(found, readings, style)
