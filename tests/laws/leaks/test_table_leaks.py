"""No table of a safe scan contains or depends on hidden text. The same holds for everything that a scan or query
prints."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.leaks.finder import Finder
from tests.support.leaks.planted import KINDS, Planted, everything
from tests.support.program import run
from viewer.corpus.ready import ready_queries
from viewer.corpus.rows import FileRows, rows_of
from viewer.model.visibility import END_USER, EVERYTHING, Audience

STRICT = Audience(strict=True)
PLACES = ("start", "end", "line", "column")


_STRINGS = re.compile(rb"[ -~]{4,}")
"""Matches text in binary data. Single letters in times and sizes might spell parts of canaries by chance."""


def contents(directory: Path) -> str:
    """Return everything in a directory of tables: names, strings, decoded rows, and metadata."""
    import pyarrow.parquet as pq  # slow to import

    found = []
    for path in sorted(directory.rglob("*")):
        found.append(path.name)
        if path.suffix == ".parquet":
            found.append(json.dumps(pq.read_table(path).to_pylist()))
            found.append(repr(pq.read_schema(path).metadata))
            found.append(repr(pq.read_metadata(path)))
        if path.is_file():
            found += [run.decode() for run in _STRINGS.findall(path.read_bytes())]
    return "\n".join(found)


def write_all(folder: Path, formats: Sequence[str]) -> list[Planted]:
    """Write one file of each format, with canaries in every hidden place."""
    folder.mkdir()
    planted = [everything(format) for format in formats]
    for number, each in enumerate(planted):
        (folder / f"{number}.ocml").write_bytes(each.data)
    return planted


SAFE = [("safe", []), ("strict", ["--strict-safe"]), ("text", ["--text"])]


@pytest.mark.parametrize(
    ("formats", "scans"),
    [
        pytest.param(["openchatml-2.2", "json"], SAFE[:1], marks=pytest.mark.slow),
        pytest.param(list(KINDS), SAFE, marks=pytest.mark.lab),
    ],
    ids=["two formats", "all formats"],
)
def test_no_table_and_no_output_holds_what_is_hidden(
    formats: list[str], scans: list[tuple[str, list[str]]], tmp_path: Path
) -> None:
    planted = write_all(tmp_path / "runs", formats)
    finder = Finder([word for each in planted for word in each.canaries])
    for name, options in scans:
        target = tmp_path / name
        first = run("scan", tmp_path / "runs", "--to", target, "--jobs", "1", "--json", *options)
        again = run("scan", tmp_path / "runs", "--to", target, "--jobs", "1", "--again", *options)
        run("scan", "--compact", "--to", target, *options)
        printed = [first.out, first.err, again.out, again.err, contents(target)]
        if name == "safe":
            for query in ready_queries() if len(formats) > 2 else ("overview", "longest"):
                answer = run("sql", f"@{query}", target, "--json")
                printed += [answer.out, answer.err]
            estimate = run("scan", "--estimate", tmp_path / "runs")
            printed += [estimate.out, estimate.err]
        assert [finder.leaks(each) for each in printed if finder.leaks(each)] == [], name
    revealed = run("scan", tmp_path / "runs", "--to", tmp_path / "a.DEBUG", "--reveal", "all", "--text", "--quiet")
    assert revealed.code in (0, 1)
    assert finder.leaks(contents(tmp_path / "a.DEBUG"))  # the search finds them where they are


def values(rows: FileRows) -> str:
    return json.dumps([rows.file, rows.messages, rows.calls, rows.diagnostics, rows.codes])


@pytest.mark.share(quick=20, test=4)
@pytest.mark.parametrize("format", KINDS)
def test_no_row_holds_what_is_hidden(format: str, tmp_path: Path) -> None:
    for seed in range(3):
        planted = everything(format, seed)
        path = tmp_path / f"{seed}.ocml"
        path.write_bytes(planted.data)
        for audience in (END_USER, STRICT):
            assert planted.finder.leaks(values(rows_of(str(path), audience, text=True))) == []
    assert planted.finder.leaks(values(rows_of(str(path), EVERYTHING, text=True)))


def comparable(rows: FileRows, *, is_strict: bool) -> dict[str, Any]:
    """Return the rows of a file without its run time. Positions of problems are also removed, unless `is_strict` is
    set."""
    diagnostics = rows.diagnostics
    if not is_strict:
        diagnostics = [{name: row[name] for name in row if name not in PLACES} for row in diagnostics]
    file = {name: value for name, value in rows.file.items() if name != "seconds"}
    return {"file": file, "messages": rows.messages, "calls": rows.calls, "diagnostics": diagnostics}


@pytest.mark.share(quick=0, test=4)
@pytest.mark.parametrize("format", KINDS)
def test_no_row_depends_on_hidden_text(format: str, tmp_path: Path) -> None:
    chance = random.Random(format)
    planted = everything(format)
    paths = [tmp_path / "one.ocml", tmp_path / "two.ocml"]
    for path, each in zip(paths, (planted, planted.with_other_words(chance)), strict=True):
        path.write_bytes(each.data)
    for audience in (END_USER, STRICT):
        one, two = (comparable(rows_of(str(path), audience, text=True), is_strict=audience.strict) for path in paths)
        assert one == two
    one, two = (comparable(rows_of(str(path), EVERYTHING, text=True), is_strict=True) for path in paths)
    assert one != two
