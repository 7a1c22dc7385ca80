"""`ocmlview leaks`: find hidden text that reached the user, across all inputs."""

from __future__ import annotations

from functools import partial

import click
from msgspec.structs import replace

from viewer.cli import completion, options
from viewer.cli.exits import FINDINGS, FINE, fail_without_reveal, say
from viewer.cli.inputs import Inputs, retried
from viewer.cli.notices import mention_if_empty
from viewer.document.document import Document
from viewer.insight.leaks import LEAST_WORDS, SOURCES, USUAL_SOURCES, Answers, find_leaks, mark_boilerplate
from viewer.model.visibility import END_USER, EVERYTHING, Reveal
from viewer.render.insight.leaks import LeakPlaces, leak_lines, leak_object, places_of, summary_line, summary_object
from viewer.rules import RULES


def _sources(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[str]:
    if value is None:
        return USUAL_SOURCES
    return frozenset(options.listed(value, SOURCES, "source", context, parameter))


@click.command("leaks", short_help="Find hidden text that reached the user.")
@options.reading
@options.reveal_option
@options.debug_option
@options.printing
@click.option(
    "--min-words",
    type=click.IntRange(min=6),
    default=LEAST_WORDS,
    metavar="N",
    help=f"Report copied passages of at least N words; default: {LEAST_WORDS}.",
)
@click.option(
    "--from",
    "sources",
    metavar="LIST",
    callback=_sources,
    shell_complete=completion.parts_of(dict.fromkeys(SOURCES)),
    help=f"Sources to search: {', '.join(SOURCES)}; default: all but tool.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per leak.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there is a W-LEAK.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    color: str,
    ascii_only: bool,
    min_words: int,
    sources: frozenset[str],
    as_json: bool,
    exit_code: bool,
) -> int:
    """Find hidden text that reached the user: rare strings, copied passages, and phrases typical of
    reasoning. Paraphrases are not found. Requires --reveal all, because the report quotes hidden text."""
    if not options.audience_of(reveal, debug, False).reveals(Reveal.ALL):
        return fail_without_reveal("leaks")
    inputs = Inputs(options.inputs_of(files), format, options.reading_options(preambles))
    output = options.output_of(color, ascii_only)
    names: list[str] = []
    found: list[Answers] = []
    places: list[dict[int, LeakPlaces]] = []
    for document in inputs:
        answers, placed = retried(document, partial(_search, document, sources, min_words))
        names.append(document.name)
        found.append(answers)
        places.append(placed)
        mention_if_empty(document)
    marked = mark_boilerplate(found)
    leaks = [
        (name, replace(placed[leak.message], leak=leak))
        for name, placed, answers in zip(names, places, marked, strict=True)
        for leak in answers.leaks
    ]
    if as_json:
        output.write(leak_object(leak, name if inputs.several else None) for name, leak in leaks)
        if names:
            output.write([summary_object(marked)])
    else:
        if names:
            say("DEBUG view: the output quotes hidden messages.")
        for name, leak in leaks:
            output.write_styled(leak_lines(leak, name, output.width, output.style))
        if names:
            output.write_styled([summary_line(marked, output.style)])
    has_warning = any(leak.leak.code == "W-LEAK" for _, leak in leaks)
    return inputs.code or (FINDINGS if exit_code and has_warning else FINE)


def _search(document: Document, sources: frozenset[str], least_words: int) -> tuple[Answers, dict[int, LeakPlaces]]:
    everything, shown = (document.project(each, withholds=False) for each in (EVERYTHING, END_USER))
    answers = find_leaks(everything, shown, sources, least_words)
    return answers, {leak.message: places_of(everything, shown, leak) for leak in answers.leaks}


def add_leaks(document: Document) -> None:
    """Add the leaks of a document to its problems, at their positions in the answers."""
    everything, shown = (document.project(each, withholds=False) for each in (EVERYTHING, END_USER))
    (answers,) = mark_boilerplate([find_leaks(everything, shown)])
    for leak in answers.leaks:
        if leak.code is None:
            continue
        reason = leak.kinds[0]
        places = places_of(everything, shown, leak).shown
        chosen = leak.counted if reason == "copied" else [span for span in leak.spans if span.kind == reason]
        place = places[leak.spans.index(max(chosen, key=lambda span: span.words))]
        document.quotes.add(RULES[leak.code], reason, place or document.index.span(leak.message), leak.message)
