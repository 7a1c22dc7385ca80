"""The visibility table: every row is checked on every surface that prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.printing import SAFE_SURFACES, SURFACES, some
from tests.support.program import Result, run
from tests.support.visibility_rows import ROWS, SECRET, Row

NOT_IN_A_BODY = {"delta after a cancel", "header cut off"}
"""In every format, cancelled text belongs to no message, and words of a truncated header to no body."""
NEVER_TEXT = {"check", "stats"}


def printed(row: Row, file: Path, command: list[str]) -> Result:
    extra = ["--preambles", "harmony"] if row.preambles else []
    return run(*command, "--format", row.format, *extra, file)


@pytest.mark.surfaces
@each("row", ROWS, ids=lambda row: f"{row.format}: {row.name}", quick=120, test=16)
def test_each_row_of_the_table_holds_on_every_surface(row: Row, tmp_path: Path) -> None:
    file = tmp_path / "sample"
    file.write_text(row.text, encoding="utf-8")
    for command in some(SURFACES, row.name):
        result = printed(row, file, command)
        out = result.out
        assert "--where" not in command or result.code != 2, result.err  # a refused filter prints nothing
        assert SECRET not in result.err, command
        if command[0] in NEVER_TEXT or not row.shown:
            assert SECRET not in out, command
        elif command[0] in ("show", "view", "export"):
            assert SECRET in out, command


@each("row", ROWS, ids=lambda row: f"{row.format}: {row.name}", quick=12)
def test_everything_is_shown_when_revealed(row: Row, tmp_path: Path) -> None:
    file = tmp_path / "sample"
    file.write_text(row.text, encoding="utf-8")
    out = printed(row, file, ["show", "--json", "--reveal", "all"]).out
    lines = [json.loads(line) for line in out.splitlines()]
    holders = [line for line in lines if SECRET in line.get("body", "")]
    if row.name not in NOT_IN_A_BODY:
        assert holders
    is_cut = "cot-in-final" in out or (row.format != "json" and "<think>" in row.text)  # JSON splits the message
    assert any(line.get("visible") for line in holders) == (row.shown or is_cut)


LONGER = "quagga-and-much-more-9c"


@pytest.mark.surfaces
@each("row", [row for row in ROWS if not row.shown], ids=lambda row: f"{row.format}: {row.name}", quick=0, test=36)
def test_hidden_bodies_do_not_change_the_safe_output(row: Row, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "sample", tmp_path / "b" / "sample"
    for file, word in ((first, SECRET), (second, LONGER)):
        file.parent.mkdir()
        file.write_text(row.text.replace(SECRET, word), encoding="utf-8")
    for command in some(SAFE_SURFACES, row.name):
        one, other = printed(row, first, command), printed(row, second, command)
        assert one.code == other.code
        assert one.out.replace(str(first), "") == other.out.replace(str(second), ""), command
        assert one.err.replace(str(first), "") == other.err.replace(str(second), ""), command


@each("row", [row for row in ROWS if not row.shown], ids=lambda row: f"{row.format}: {row.name}", quick=60, test=12)
def test_check_prints_the_same_for_hidden_bodies_of_equal_length(row: Row, tmp_path: Path) -> None:
    file = tmp_path / "sample"
    outputs = []
    for word in (SECRET, "marmot-84e"):
        file.write_text(row.text.replace(SECRET, word), encoding="utf-8")
        outputs.append([printed(row, file, command) for command in SURFACES if command[0] == "check"])
    assert outputs[0] == outputs[1]
