"""A filter selects the same messages in SQL over tables as in a projection."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.chance_documents import chance_document
from tests.support.program import run
from tests.unit.document.test_filter import CASES, document
from viewer.corpus.filter_sql import compile_filter
from viewer.corpus.listing import Batch, Entry, Keyed
from viewer.corpus.part import Job, write_parts
from viewer.corpus.rows import FileRows, rows_of
from viewer.corpus.scan import Directory
from viewer.corpus.tables import Contents, contents_of
from viewer.corpus.views import connect, open_tables
from viewer.document.document import Document, open_document
from viewer.document.filter.grammar import parse
from viewer.document.filter.predicate import matching
from viewer.document.filter.tree import FilterError
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal

__all__ = ["document"]

TOOLS = Audience(frozenset({Reveal.TOOL, Reveal.COMMENTARY}))
VALUES = {
    "role": ["user", "assistant", "tool", "a*"],
    "channel": ["final", "analysis", "commentary", "*"],
    "is": ["shown", "hidden", "open", "preamble", "error", "warning", "inferred", "pending", "failed", "ok", "orphan"],
    "has": ["problem", "time", "json", "call", "reply"],
    "code": ["E-*", "W-*", "*"],
    "severity": ["error", "warning", "info"],
    "to": ["functions.*", "*", "user"],
    "from": ["*", "user", "functions.*"],
    "name": ["*"],
    "intent": ["*", "preamble"],
    "tool": ["*", "get_*", "functions.*"],
    "call": ["*", "c*"],
    "state": ["pending", "unanswered", "orphan", "ok"],
    "msg": ["1..3", "2", "4.."],
    "turn": ["1", "2..", "..1"],
    "transcript": ["1", "2.."],
    "bytes": ["..10", "5..1kb"],
    "line": ["1..4", "6.."],
    "latency": ["..1h"],
    "file": ["*.ocml", "other"],
    "model": ["*"],
    "format": ["open*", "harmony"],
}
WORDS = ["the", '"a"', "e", "/[a-f]+e", "/x*", "-o"]


def tables_of(place: Path, files: list[Path], audience: Audience) -> Contents:
    """Write the tables of these files."""
    contents = contents_of(audience, text=True)
    with Directory(str(place), contents):
        job = Job(str(place), contents, "run", 10**9)
        keyed = tuple(Keyed(entry, entry.key(contents)) for entry in (Entry(str(f), str(f), 1, "1") for f in files))
        write_parts(Batch(keyed), job, [_rows(each, audience) for each in files])
    return contents


def _rows(path: Path, audience: Audience) -> FileRows:
    return rows_of(str(path), audience, text=True)


def selected(place: Path, contents: Contents, sources: list[str]) -> list[list[tuple[str, int]]]:
    with connect(open_tables(str(place), debug=True)) as database:
        found = []
        for source in sources:
            condition = compile_filter(parse(source), contents)
            query = "select f.path, m.message from messages m join files f using (file_key) where "
            found.append(database.execute(query + condition.sql, condition.parameters or None).fetchall())
    return [sorted(rows) for rows in found]


def expected(documents: list[Document], source: str, audience: Audience) -> list[tuple[str, int]]:
    where = parse(source)
    return sorted(
        (each.name, number) for each in documents for number in matching(where, each.project(audience), each.name)
    )


def assert_equal(place: Path, files: list[Path], sources: list[str], audience: Audience) -> None:
    contents = tables_of(place, files, audience)
    documents = [open_document(str(path)) for path in files]
    for source, rows in zip(sources, selected(place, contents, sources), strict=True):
        assert rows == expected(documents, source, audience), source


@pytest.mark.slow
def test_every_field_and_operator_selects_the_same(document: Document, tmp_path: Path) -> None:
    sources = [source for source in CASES if source != "is:marked"]
    assert_equal(tmp_path / "all.DEBUG", [Path(document.name)], sources, EVERYTHING)


def chance_filter(chance: random.Random, audience: Audience) -> str:
    """Return a filter that this audience may use."""
    while True:
        terms = []
        for _ in range(chance.randint(1, 3)):
            name = chance.choice(sorted(VALUES))
            values = ",".join(chance.sample(VALUES[name], chance.randint(1, min(2, len(VALUES[name])))))
            terms.append(f"{chance.choice(('', '', '-'))}{name}:{values}")
        if chance.random() < 0.2:
            terms = [chance.choice(WORDS)]
        source = " ".join(terms)
        if parse(source).refusal(audience) is None:
            return source


@pytest.mark.slow
@pytest.mark.share(quick=20, test=24)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("audience", [END_USER, TOOLS, EVERYTHING], ids=["safe", "tools", "all"])
def test_random_filters_select_the_same_in_random_documents(audience: Audience, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files = []
    for number in range(12):
        path = tmp_path / f"{number}.ocml"
        path.write_bytes(chance_document(chance)[0])
        files.append(path)
    sources = [chance_filter(chance, audience) for _ in range(12)]
    assert_equal(tmp_path / "out.DEBUG", files, sources, audience)


def test_a_filter_that_the_tables_cannot_answer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chat.ocml").write_text("version: 2.2\n<|start|>user<|message|>Hi<|end|>\n")
    assert run("scan", tmp_path / "chat.ocml", "--to", tmp_path / "out", "--quiet").code == 0
    listed = run("sql", "--where", "role:user", tmp_path / "out")
    assert listed.out == f"path\tmessage\tturn\trole\tchannel\n{tmp_path}/chat.ocml\t1\t1\tuser\tfinal\n"
    for source, sentence in (
        ("tool:x", '"tool" needs --reveal tool'),
        ("hello", "these tables contain no text; scan again with --text"),
        ("/hello", "these tables contain no text; scan again with --text"),
        ("rolle:x", 'unknown field "rolle"; did you mean "role"?'),
    ):
        refused = run("sql", "--where", source, tmp_path / "out")
        assert (refused.code, refused.out) == (2, "")
        assert sentence in refused.err
    with pytest.raises(FilterError):
        compile_filter(parse("is:hidden"), Contents())
