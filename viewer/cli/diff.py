"""`ocmlview diff`: compare two transcripts or two folders, by message and call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import click

from viewer.cli import completion, options
from viewer.cli.exits import FINDINGS, FINE, say
from viewer.cli.inputs import read_again
from viewer.cli.notices import refuse_if_unknown
from viewer.cli.options import STDIN
from viewer.cli.output import Output, table_lines
from viewer.document.document import Document, open_document
from viewer.errors import FileRewrittenError, ViewerError
from viewer.insight.align import Row
from viewer.insight.compared import CHANNELS, Spelling
from viewer.insight.comparison import Comparison, RowKind
from viewer.model.visibility import Audience, Reveal
from viewer.reading.format import ReadOptions
from viewer.render.insight.diff import (
    LEAST_FOR_SIDES,
    STAT_HEADS,
    drawing_of,
    json_lines,
    renamed_words,
    side_lines,
    stat_rows,
    summary_words,
    unified_lines,
    with_context,
)
from viewer.render.number_format import counted
from viewer.render.style import Line, Part, StyleRole
from viewer.render.title import rule
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.sources.files import is_directory

_GIT_FILES = {7: (1, 4), 9: (1, 4)}
"""The positions of the old and new files among the arguments that Git passes to an external diff program, by their
number."""
_ONLY = ("changed", "calls", "arguments")
_SIDE_WIDTH = 120
"""The total width of two columns if the output is a file or pipe."""


class Request:
    """How to read and compare the inputs, and how to print the result."""

    def __init__(
        self,
        audience: Audience,
        spelling: Spelling,
        channels: frozenset[str],
        formats: tuple[str | None, str | None],
        reading: ReadOptions,
        *,
        only: str | None,
        layout: str,
    ) -> None:
        self.audience = audience
        self.spelling = spelling
        self.channels = channels
        self.formats = formats
        self.reading = reading
        self.only = only
        self.layout = layout
        """`unified`, `side`, `stat`, or `json`."""


def _channels(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[str]:
    return frozenset(options.listed(value, CHANNELS, "channel", context, parameter))


def _format_option(side: str) -> Callable[[options.Command], options.Command]:
    return click.option(
        f"--format-{side.lower()}",
        metavar="NAME",
        callback=options.known_format,
        shell_complete=completion.formats,
        help=f"Read {side} as this format.",
    )


@click.command("diff", short_help="Compare two transcripts.")
@partial(options.reading, files="A B")
@options.audience
@options.printing
@click.option("--only", type=click.Choice(_ONLY), metavar="KIND", help="Show only KIND: changed, calls, or arguments.")
@click.option(
    "--channel",
    "channels",
    metavar="LIST",
    callback=_channels,
    shell_complete=completion.parts_of(dict.fromkeys(CHANNELS)),
    help="Compare these channels only.",
)
@click.option("--unified", "layout", flag_value="unified", default=True, help="Print one column.")
@click.option(
    "--side", "layout", flag_value="side", help=f"Print A and B side by side; needs a width of {LEAST_FOR_SIDES}."
)
@click.option("--stat", "layout", flag_value="stat", help="Print totals only.")
@click.option("--json", "layout", flag_value="json", help="Print one JSON object per change.")
@click.option("--strict", is_flag=True, help="Also report differences between equivalent notations.")
@click.option("--strict-json", is_flag=True, help="Also report differences in key order and number notation.")
@_format_option("A")
@_format_option("B")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if they differ.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    color: str,
    ascii_only: bool,
    only: str | None,
    channels: frozenset[str],
    layout: str,
    strict: bool,
    strict_json: bool,
    exit_zero: bool,
    format_a: str | None,
    format_b: str | None,
) -> int:
    """Compare two transcripts, or the transcripts of two folders. Exits with 1 if the transcripts differ."""
    a, b, is_git = _pair(files)
    audience = options.audience_of(reveal, debug, strict_safe)
    request = Request(
        audience if not audience.is_safe else Audience(strict=True),
        Spelling(strict, strict_json),
        channels,
        (format_a or format, format_b or format),
        options.reading_options(preambles),
        only=only,
        layout=layout,
    )
    output = options.output_of(color, ascii_only)
    if layout == "side" and output.style.wrapped and output.width < LEAST_FOR_SIDES:
        raise ViewerError(f"--side needs {LEAST_FOR_SIDES} columns; this terminal has {output.width}")
    if is_directory(a) and is_directory(b):
        differ = _compare_folders(a, b, request, output)
    else:
        differ = _compare(a, b, request, output)
    return FINE if exit_zero or is_git or not differ else FINDINGS


def _pair(files: tuple[str, ...]) -> tuple[str, str, bool]:
    """Return the two inputs, and whether Git runs the comparison: to Git, exit code 1 means a crash."""
    is_git = len(files) in _GIT_FILES
    chosen = [files[place] for place in _GIT_FILES[len(files)]] if is_git else files
    if len(chosen) != 2:
        raise click.UsageError("Specify two files or two folders.", click.get_current_context())
    a, b = chosen
    if a == b == STDIN:
        raise click.UsageError("Only one side can be standard input.", click.get_current_context())
    if is_directory(a) != is_directory(b) and os.devnull not in (a, b):
        raise click.UsageError("Compare two files, or two folders.", click.get_current_context())
    options.inputs_of((a, b))
    return a, b, is_git


def _compare_folders(a: str, b: str, request: Request, output: Output) -> bool:
    """Compare files with the same relative path, and list the files that only one folder contains. Return True if
    anything differs."""
    differ = False
    names = [_names(folder) for folder in (a, b)]
    _say_level(request)
    for name in sorted({*names[0], *names[1]}):
        if name in names[0] and name in names[1]:
            differ |= _compare(names[0][name], names[1][name], request, output, name)
            continue
        side = "a" if name in names[0] else "b"
        differ = True
        if request.layout == "json":
            from viewer.render.json_lines import encode

            output.write([encode({"kind": "only-file", "side": side}, name)])
        else:
            output.write_styled(
                [(Part(output.style.words(f"Only in {side.upper()}: ")), Part(output.style.name(name)))]
            )
    return differ


def _say_level(request: Request) -> None:
    """Warn that the output includes hidden messages, unless it is the safe view or JSON."""
    if not request.audience.is_safe and request.layout != "json":
        say("DEBUG view: the comparison includes hidden messages.")


def _names(folder: str) -> dict[str, str]:
    """Return the paths of the transcripts in a folder, by relative path."""
    from viewer.sources.folder import find_transcripts  # only needed for folders

    found: dict[str, str] = {}
    for each in find_transcripts(folder):
        if each.reason:
            raise ViewerError(f"{each.path} cannot be read: {each.reason}")
        found[os.path.relpath(each.path, folder)] = each.path
    if not found:
        raise ViewerError(f"no transcripts found in {folder}")
    return found


def _compare(a: str, b: str, request: Request, output: Output, name: str | None = None) -> bool:
    """Compare two files and print the result. Return True if they differ."""
    documents = [_open(path, format, request) for path, format in zip((a, b), request.formats, strict=True)]
    if name is None:
        _say_level(request)
    while True:
        written = output.written
        try:
            return _print(documents, request, output, name)
        except FileRewrittenError:
            if output.written != written:
                raise
            for document in documents:
                if document is not None and document.stored.is_rewritten():
                    read_again(document)


def _open(path: str, format: str | None, request: Request) -> Document | None:
    """Open one side. Return None for the null device, which Git passes in place of a missing file."""
    if path == os.devnull:
        return None
    document = open_document(path, format=format, options=request.reading)
    refuse_if_unknown(document, strict=request.audience.strict)
    if document.damage:
        raise ViewerError(f"{document.name}: {E_STREAM_TRUNCATED.reasons[document.damage]}")
    return document


def _print(documents: Sequence[Document | None], request: Request, output: Output, name: str | None) -> bool:
    a, b = (None if document is None else document.project(request.audience, withholds=False) for document in documents)
    comparison = Comparison(a, b, request.spelling, request.channels)
    totals = comparison.totals()
    rows = [*_chosen(comparison, request.only)]
    if request.layout == "json":
        output.write(json_lines(comparison, rows, name))
    elif request.layout == "stat":
        output.write_styled(_title(documents, comparison, output, name))
        output.write_styled(table_lines(STAT_HEADS, stat_rows(comparison), output.width, output.style))
    elif totals.differ:
        output.write_styled(_title(documents, comparison, output, name))
        output.write_styled(_lines(comparison, rows, request, output))
        words = output.style.words(summary_words(totals))
        output.write_styled([(Part(words, StyleRole.STRONG),)])
    return totals.differ


def _chosen(comparison: Comparison, only: str | None) -> Iterator[Row]:
    for row in comparison.rows:
        kind = comparison.kind(row)
        is_chosen = {
            None: True,
            "calls": comparison.is_call(row),
            "changed": kind is not RowKind.SAME,
            "arguments": kind is RowKind.CHANGED,
        }[only]
        if is_chosen and (only != "arguments" or comparison.change(row).paths):
            yield row


def _title(
    documents: Sequence[Document | None], comparison: Comparison, output: Output, name: str | None
) -> Iterator[Line]:
    style = output.style
    if name is not None:
        yield rule(style.name(name), style.words(""), output.width, style, heavy=True)
    for sign, document, side in zip(("--- A ", "+++ B "), documents, comparison.sides, strict=True):
        file = style.name(document.name) if document else style.words("(no file)")
        yield (
            Part(style.words(sign), StyleRole.STRONG),
            Part(file, StyleRole.STRONG),
            Part(style.words(f"  {counted(len(side), 'message')}"), StyleRole.QUIET),
        )


def _lines(comparison: Comparison, rows: Sequence[Row], request: Request, output: Output) -> Iterable[Line]:
    is_side = request.layout == "side"
    wraps = is_side or output.style.wrapped
    width = output.width if output.style.wrapped or not is_side else max(output.width, _SIDE_WIDTH)
    drawing = drawing_of(comparison, output.style, width, wraps=wraps)
    for a, b, fields in comparison.transcript_changes:
        changed = ", ".join(f"{field.name} {field.old} → {field.new}" for field in fields)
        yield (Part(output.style.words(f"~ transcript {a}|{b}  ")), Part(output.style.name(changed)))
    shown = with_context(comparison, rows) if request.only is None else rows
    yield from (side_lines if is_side else unified_lines)(comparison, shown, drawing)
    if comparison.renamed_ids:
        yield (
            Part(output.style.words("  call IDs: "), StyleRole.QUIET),
            Part(output.style.name(renamed_words(comparison.renamed_ids)), StyleRole.QUIET),
        )
