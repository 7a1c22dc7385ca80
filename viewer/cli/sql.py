"""`ocmlview sql`: query the tables of `ocmlview scan`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from viewer.cli import options
from viewer.cli.exits import FINE, fail, say
from viewer.cli.output import Output, standard_output, table_lines
from viewer.corpus.packages import check_packages
from viewer.errors import ViewerError
from viewer.render.sanitize import SafeText, sanitize, sanitize_line
from viewer.render.style import Printable, trusted

if TYPE_CHECKING:
    from viewer.corpus.tables import Contents
    from viewer.document.filter.tree import Filter

_LONGEST_CELL = 10_000
_OF_FILTER = (
    "select f.path, m.message, m.turn, m.role, m.channel from messages m join files f using (file_key) where {} "
    "order by f.path, m.message"
)


@click.command("sql", short_help="Query the tables of a scan.")
@click.argument("words", nargs=-1, metavar="[QUERY|@NAME] DIR")
@options.where
@click.option("--list", "lists", is_flag=True, help="List the ready-made queries.")
@click.option("-p", "given", multiple=True, metavar="NAME=VALUE", help="Set $NAME in the query; repeatable.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object per row.")
@click.option("--csv", "form", flag_value="csv", help="Print CSV.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="Print at most N rows as a table; default: 1,000.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="Stop the query after SECONDS; default: 60.",
)
@click.option("--memory", default="512MB", metavar="SIZE", help="Use at most this much memory; default: 512MB.")
@click.option("-d", "--debug", is_flag=True, help="Read a .DEBUG directory, which contains revealed data.")
def command(
    words: tuple[str, ...],
    where: Filter | None,
    lists: bool,
    given: tuple[str, ...],
    form: str | None,
    limit: int,
    timeout: float,
    memory: str,
    debug: bool,
) -> int:
    """Query the tables of a scan with DuckDB: the views files, messages, calls, diagnostics, and runs. @NAME runs a
    ready-made query. With --where, lists the messages that match a filter. A query can read only these tables, and
    cannot write anything."""
    output = standard_output()
    if lists:
        return _list(output)
    check_packages("sql")
    query, place = _named(words, where)
    from viewer.corpus.views import open_tables

    tables = open_tables(place, debug=debug)
    if where is not None:
        from viewer.corpus.filter_sql import compile_filter

        condition = compile_filter(where, tables.contents)
        query, parameters = _OF_FILTER.format(condition.sql), condition.parameters
    else:
        query, parameters = _with_parameters(query, _parameters(given), tables.contents)
    from viewer.corpus.sql import QueryError, run_query

    try:
        _print(run_query(tables, query, parameters, timeout=timeout, memory=memory), form, limit, output)
    except QueryError as error:
        code = fail(str(error))
        for line in error.lines:
            say(f"  {line}")
        return code
    return FINE


def _print(pieces: Iterator[list[tuple[Any, ...]]], form: str | None, limit: int, output: Output) -> None:
    """Print the column names, which are the first row, and the rows."""
    columns = [sanitize_line(str(name)) for name in next(pieces)[0]]
    rows = (row for piece in pieces for row in piece)
    if form == "json":
        from viewer.render.json_lines import encode  # also imports the transcript reader

        output.write(encode(dict(zip(columns, map(_plain, row), strict=True))) for row in rows)
    elif form == "csv":
        output.write_parts(_csv([columns]))
        output.write_parts(text for row in rows for text in _csv([[_safe(value) for value in row]]))
    elif output.style.wrapped:
        _table(columns, rows, limit, output)
    else:
        output.write([_tabbed(columns)])
        output.write(_tabbed([_cell(value) for value in row]) for row in rows)


def _named(words: tuple[str, ...], where: Filter | None) -> tuple[str, str]:
    """Return the query (empty with --where) and the directory from the command line."""
    if len(words) != (1 if where is not None else 2):
        usage = "Pass a directory: sql --where FILTER DIR." if where else "Pass a query and a directory: sql QUERY DIR."
        raise click.UsageError(usage, click.get_current_context())
    return ("", words[0]) if where is not None else (words[0], words[1])


def _list(output: Output) -> int:
    from viewer.corpus.ready import ready_queries

    rows = [
        [trusted(f"@{query.name}"), trusted(query.title), trusted(_needs(query.needs, query.parameters))]
        for query in ready_queries().values()
    ]
    output.write_styled(table_lines(["query", "answer", "needs"], rows, output.width, output.style))
    return FINE


def _needs(needs: str, parameters: dict[str, str]) -> str:
    missing = [f"-p {name}=" for name, value in parameters.items() if not value]
    named = {"tool": "--reveal tool,commentary", "all": "--reveal all", "leaks": "--leaks", "content": "--by-content"}
    return ", ".join([*([named[needs]] if needs else []), *missing])


def _parameters(given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            raise ViewerError(f"-p {text}: write NAME=VALUE")
        found[name] = _typed(value)
    return found


def _typed(text: str) -> object:
    """Convert the text to a number, or return it unchanged if it is not a finite number."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def _with_parameters(query: str, given: dict[str, Any], contents: Contents) -> tuple[str, dict[str, Any]]:
    """Return the text of a query and its parameters. The parameters of a ready-made query may have default values."""
    from viewer.corpus.ready import SIGN, find_query

    if not query.startswith(SIGN):
        return query, given
    ready = find_query(query.removeprefix(SIGN), contents)
    unknown = next((name for name in given if name not in ready.parameters), None)
    if unknown is not None:
        known = ", ".join(ready.parameters) or "none"
        raise ViewerError(f"{query} has no parameter {unknown}; its parameters: {known}")
    usual = {name: _typed(value) for name, value in ready.parameters.items() if value}
    missing = next((name for name in ready.parameters if name not in usual | given), None)
    if missing is not None:
        raise ViewerError(f"{query} needs -p {missing}=VALUE")
    return ready.text, usual | given


def _table(columns: list[SafeText], rows: Iterator[tuple[Any, ...]], limit: int, output: Output) -> None:
    kept: list[list[SafeText | int | None]] = []
    count = 0
    for row in rows:
        count += 1
        if count <= limit:
            kept.append([value if type(value) is int else _cell(value) for value in row])
    output.write_styled(table_lines(columns, kept, output.width, output.style))
    if count > limit:
        say(f"{limit:,} of {count:,} rows; --limit N shows more, --csv shows all")


def _cell(value: object) -> SafeText:
    return sanitize_line("" if value is None else str(_plain(value)), _LONGEST_CELL)


def _safe(value: object) -> str:
    return sanitize("" if value is None else str(_plain(value)))


def _plain(value: Any) -> Any:
    """Convert a value from DuckDB to one that JSON can represent."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    from decimal import Decimal

    return float(value) if isinstance(value, Decimal) and value.is_finite() else str(value)


def _tabbed(cells: list[SafeText]) -> Printable:
    return Printable("\t".join(cells))


def _csv(rows: list[list[Any]]) -> Iterator[str]:
    import csv
    import io

    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    yield written.getvalue()
