"""`ocmlview sql`: ready-made queries, output, and what a query cannot do."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.corpora import write_corpus
from tests.support.program import BROKEN, ROOT, Result, run
from viewer.corpus.ready import ready_queries
from viewer.corpus.sql import QueryError, execute, run_query
from viewer.corpus.views import connect, open_tables

MAY_BE_EMPTY = ("unreadable", "failing-tools", "slowest-tools", "unanswered")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two directories of tables: `safe` and `all.DEBUG`."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / "runs", 6, turns=3)
    (folder / "runs" / "broken.ocml").write_text(BROKEN)
    (folder / "runs" / "again.ocml").write_text(BROKEN)
    options = ["--quiet", "--jobs", "1", "--exit-zero"]
    assert run("scan", folder / "runs", "--to", folder / "safe", *options).code == 0
    revealed = ["--reveal", "all", "--leaks", "--by-content", "--text"]
    assert run("scan", folder / "runs", "--to", folder / "all.DEBUG", *options, *revealed).code == 0
    return folder


def sql(tables: Path, query: str, *options: str, name: str = "safe") -> Result:
    return run("sql", query, tables / name, *options, *(["-d"] if name.endswith(".DEBUG") else []))


@pytest.mark.slow
def test_every_ready_query_has_an_answer(tables: Path) -> None:
    (run_id,) = sql(tables, "select run_id from runs").out.splitlines()[1:]
    listed = run("sql", "--list").out
    for name, query in ready_queries().items():
        assert f"@{name} " in listed and query.title in listed
        options = [f"-p{each}={run_id}" for each, value in query.parameters.items() if not value]
        answer = sql(tables, f"@{name}", *options, name="all.DEBUG" if query.needs else "safe")
        assert (answer.code, answer.err) == (0, ""), name
        assert len(answer.out.splitlines()) > (0 if name in MAY_BE_EMPTY else 1), name
        if query.needs:
            refused = sql(tables, f"@{name}", *options)
            assert (refused.code, refused.out) == (2, "")
            assert f"@{name} needs " in refused.err
    lines = sql(tables, "@failing-tools", "-p", "minimum=1", name="all.DEBUG").out.splitlines()
    assert sum(int(line.split("\t")[1]) for line in lines[1:]) == 18
    assert sql(tables, "@top-diagnostics").out.splitlines()[1].split("\t")[0].startswith(("W-", "E-"))
    errors = sql(tables, "@new-errors", "-p", f"run={run_id}").out
    assert "again.ocml" in errors and "broken.ocml" in errors


@pytest.mark.slow
def test_a_failing_tool_leads_to_its_first_failure(tmp_path: Path) -> None:
    call = '<|start|>assistant<|channel|>commentary call_id="c{0}" to=functions.t<|message|>{{}}<|call|>\n'
    for name, time in (("later", 2000), ("first", 1000), ("fine", 500)):
        text = "version: 2.2\n<|start|>user<|message|>Hi<|end|>\n" + call.format(1)
        if name == "fine":
            text += '<|start|>tool name=functions.t call_id="c1" to=assistant<|channel|>commentary<|message|>1<|end|>\n'
        path = tmp_path / "runs" / f"{name}.ocml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "<|start|>user<|message|>Well?<|end|>\n")
        os.utime(path, (time, time))
    options: list[str | Path] = [
        "--to",
        tmp_path / "out.DEBUG",
        "--reveal",
        "tool,commentary",
        "--quiet",
        "--exit-zero",
    ]
    assert run("scan", tmp_path / "runs", *options).code == 0
    answer = sql(tmp_path, "@failing-tools", "-p", "minimum=1", name="out.DEBUG").out.splitlines()[1].split("\t")
    assert (answer[:2], answer[6:]) == (["functions.t", "3"], ["66.7", "2", str(tmp_path / "runs" / "first.ocml")])


@pytest.mark.slow
def test_the_output_has_four_forms(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select path, 1.5 as half, null as nothing, [1, 2] as list, 'a\tb' as text from files order by path limit 2"
    lines = sql(tables, query).out.splitlines()
    assert lines[0] == "path\thalf\tnothing\tlist\ttext"
    assert lines[1].split("\t")[1:] == ["1.5", "", "[1, 2]", "a␉b"]
    row = json.loads(sql(tables, query, "--json").out.splitlines()[0])
    assert (row["half"], row["nothing"], row["list"], row["text"]) == (1.5, None, [1, 2], "a\tb")
    assert len(list(csv.reader(sql(tables, query, "--csv").out.splitlines()))) == 3
    monkeypatch.setattr("viewer.cli.output._is_terminal", lambda: True)
    shown = sql(tables, "select message from messages", "--limit", "3")
    assert (len(shown.out.splitlines()), shown.err) == (
        4, "3 of 38 rows; --limit N shows more, --csv shows all\n",
    )  # fmt: skip


@pytest.mark.slow
def test_a_mistake_is_explained(tables: Path) -> None:
    wrong = sql(tables, "select 1 frm x")
    assert (wrong.code, wrong.err) == (
        2, 'ocmlview: Parser Error: syntax error at or near "x"\n  LINE 1: select 1 frm x\n                       ^\n',
    )  # fmt: skip
    for query, options, sentence in (
        ("@overvew", [], "there is no query @overvew; did you mean @overview?"),
        ("@overview", ["-p", "a=1"], "@overview has no parameter a; its parameters: none"),
        ("@new-errors", [], "@new-errors needs -p run=VALUE"),
        ("select 1", ["-p", "a"], "-p a: write NAME=VALUE"),
        ("select 1", ["--memory", "much"], "--memory: much is not a size"),
    ):
        result = sql(tables, query, *options)
        assert (result.code, result.out) == (2, "")
        assert sentence in result.err
    assert "contains no `ocmlview scan` tables" in run("sql", "select 1", tables).err
    assert "does not exist" in run("sql", "select 1", tables / "nowhere").err
    refused = run("sql", "select 1", tables / "all.DEBUG")
    assert (refused.code, "add -d to read it" in refused.err) == (2, True)


@pytest.mark.slow
def test_a_query_ends_at_its_time_limit(tables: Path) -> None:
    endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"
    with pytest.raises(QueryError, match=r"took longer than 0.5 s"):
        list(run_query(open_tables(str(tables / "safe")), endless, timeout=0.5))


ATTACKS = """
select * from read_text('{secret}')
select * from read_blob('{secret}')
select * from read_csv('{secret}')
select * from read_csv_auto('{secret}')
select * from read_json('{secret}')
select * from read_json_auto('{secret}')
select * from read_ndjson('{secret}')
select * from read_parquet('{inside}')
select * from parquet_scan('{inside}')
select * from parquet_metadata('{inside}')
select * from parquet_schema('{inside}')
select * from parquet_file_metadata('{inside}')
select * from sniff_csv('{secret}')
select * from glob('{folder}/*')
select * from '{secret}'
select * from '{inside}'
select * from "{secret}"
copy files to '{folder}/out.csv'
copy (select 1) to '{folder}/out.parquet'
copy files from '{secret}'
explain analyze copy (select 1) to '{folder}/out.csv'
explain copy (select 1) to '{folder}/out.csv'
export database '{folder}/out'
import database '{folder}/out'
attach '{folder}/out.db'
attach ':memory:' as other
detach memory
use memory
install httpfs
load httpfs
load '{secret}'
set enable_external_access=true
set lock_configuration=false
set temp_directory='{folder}'
reset memory_limit
pragma database_list
pragma enable_profiling
create table t (a int)
create table t as select * from files
create temp table t as select 1
create view v as select 1
create macro m(a) as a
create secret s (type s3)
insert into files_parts select * from files_parts
update files_parts set path = ''
delete from files_parts
drop view files
alter view files rename to g
call pragma_version()
begin transaction
checkpoint
vacuum
prepare p as select 1
execute p
select 1; select 2
select 1; copy (select 1) to '{folder}/out.csv'
select * from tables
select * from secret
select * from Path
select getenv('HOME')
select * from enable_logging(storage='file', storage_path='{folder}')
select * from duckdb_settings()
select * from parquet_kv_metadata('{inside}')
select * from read_single_parquet_file('{inside}')
select * from query_table(['files'])
select * from main.read_parquet('{inside}')
select (select count(*) from READ_PARQUET('{inside}'))
summarize '{inside}'
select * from json_execute_serialized_sql(json_serialize_sql('select 1'))
select * from sqlite_scan('{secret}', 't')
select * from postgres_scan('{secret}', 't', 'u')
select * from read_text('https://localhost/')
select * from query('copy (select 1) to ''{folder}/out.csv''')
select * from query_table('{secret}')
select * from duckdb_secrets() union all select * from read_text('{secret}')
with a as (select * from read_text('{secret}')) select * from a
values ((select content from read_text('{secret}')))
from read_text('{secret}')
summarize select * from read_text('{secret}')
describe select * from read_text('{secret}')
explain analyze select * from read_text('{secret}')

;
"""


@pytest.mark.slow
def test_tables_open_without_pyarrow_wherever_they_are(tables: Path) -> None:
    """A directory whose name is a pattern is the exception, because DuckDB would expand it."""
    program = """
import sys
from viewer.corpus.sql import execute
from viewer.corpus.views import connect, open_tables
with connect(open_tables(sys.argv[1])) as database:
    print(execute(database, "select count(*), (select count(*) from calls) from files").fetchall())
print(*(name for name in ("pyarrow", "numpy", "rich", "textual", "viewer.formats") if name in sys.modules))
"""
    for name, modules in (("day=1", ""), ("with 'quotes' and ü", ""), ("sa*", "pyarrow numpy")):
        (tables / name).symlink_to(tables / "safe")
        arguments = [sys.executable, "-c", program, str(tables / name)]
        done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
        assert done.stdout.splitlines() == ["[(8, 0)]", modules]
        (tables / name).unlink()


def test_a_query_cannot_leave_its_tables(tables: Path) -> None:
    import duckdb  # slow to import

    secret = tables / "secret.txt"
    secret.write_text("plums")
    (inside, *_) = sorted((tables / "safe" / "files").iterdir())
    attacks = [line.format(secret=secret, folder=tables, inside=inside) for line in ATTACKS.strip("\n").split("\n")]
    assert len(attacks) >= 40
    before = {path: path.read_bytes() for path in tables.rglob("*") if path.is_file()}
    with connect(open_tables(str(tables / "safe"))) as database:
        for attack in attacks:
            with pytest.raises((QueryError, duckdb.Error)) as refused:
                execute(database, attack).fetchall()
            assert "plums" not in str(refused.value)
        assert execute(database, "explain select 1").fetchall()
        assert execute(database, "-- why\nexplain analyze select 1").fetchall()
    assert {path: path.read_bytes() for path in tables.rglob("*") if path.is_file()} == before
    with pytest.raises(QueryError, match="only one SELECT"):
        list(run_query(open_tables(str(tables / "safe")), attacks[20]))
