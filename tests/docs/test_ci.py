"""The problem matcher of `docs/ci.md` captures every line that `check` prints."""

from __future__ import annotations

import json
import re

import pytest

from tests.docs.written import DOCS
from tests.support.program import run
from tests.support.samples import samples

SUMMARY = re.compile(r"(?:No problems|[\d,]+ (?:error|warning)s?.*) in [\d,]+ messages?\.")


@pytest.mark.slow
def test_the_problem_matcher_captures_every_line_of_check() -> None:
    block = re.search(r"```json\n(.*?)```", (DOCS / "ci.md").read_text("utf-8"), re.DOTALL)
    assert block
    pattern = json.loads(block[1])["problemMatcher"][0]["pattern"][0]
    regexp = re.compile(pattern["regexp"])
    paths = [str(sample.path) for sample in samples("broken")]
    lines = run("check", *paths).out.splitlines()
    found = run("check", "--json", *paths).out.splitlines()
    diagnostics = [one for one in map(json.loads, found) if one["kind"] == "diagnostic"]
    assert SUMMARY.fullmatch(lines.pop())
    for line, one in zip(lines, diagnostics, strict=True):
        match = regexp.fullmatch(line)
        assert match, line
        code = one["code"] + (f"/{one['reason']}" if one["reason"] else "")
        named = {name: match[pattern[name]] for name in ("file", "line", "column", "severity", "code")}
        assert named == {
            "file": one["file"],
            "line": str(one["line"]),
            "column": str(one["column"]),
            "severity": one["severity"],
            "code": code,
        }
        assert match[pattern["message"]]
