"""The CI kit: the problem matcher captures every line of `check`, and both the hook and the action run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs.written import DOCS
from tests.support.program import CHAT, ROOT, run
from tests.support.samples import samples

MATCHER = ROOT / ".github" / "ocmlview.json"
SUMMARY = re.compile(r"(?:No problems|[\d,]+ (?:error|warning)s?.*) in [\d,]+ messages?\.")


@pytest.mark.slow
def test_the_problem_matcher_captures_every_line_of_check() -> None:
    pattern = json.loads(MATCHER.read_text("utf-8"))["problemMatcher"][0]["pattern"][0]
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


def test_the_page_shows_the_problem_matcher() -> None:
    block = re.search(r"```json\n(.*?)```", (DOCS / "ci.md").read_text("utf-8"), re.DOTALL)
    assert block
    assert block[1] == MATCHER.read_text("utf-8")


def test_the_pre_commit_hook_runs(tmp_path: Path) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT)
    program, *words = hook["entry"].split()
    assert program == "ocmlview"
    assert run(*words, str(path)).code == 0
    path.write_text(CHAT.replace("analysis", "anaylsis"))
    assert run(*words, str(path)).code == 1
    assert hook["id"] in (DOCS / "ci.md").read_text("utf-8")
    assert re.search(hook["files"], path.name)


@pytest.mark.slow
def test_the_action_checks_its_paths_and_fails_with_check(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    page = (DOCS / "ci.md").read_text("utf-8")
    assert [name for name in action["inputs"] if f"| `{name}` |" not in page] == []
    steps = action["runs"]["steps"]
    used = re.findall(r"uses: *(.*)", (ROOT / "action.yml").read_text("utf-8"))
    assert [re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[0-9.]+", line) for line in used] != []
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[0-9.]+", line) for line in used)
    assert not any("${{" in step.get("run", "") for step in steps), "an input could inject a command"
    program = tmp_path / "ocmlview" / "bin" / "ocmlview"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m viewer "$@"\n')
    program.chmod(0o755)
    for name, text in (("good.ocml", CHAT), ("bad.ocml", CHAT.replace("analysis", "anaylsis"))):
        (tmp_path / name).write_text(text)
    for paths, code in (("good.ocml", 0), ("good.ocml bad.ocml", 1), ("$(touch made) *.ocml", 2)):
        values = {"SOURCE": str(ROOT), "RUNNER_TEMP": str(tmp_path), "PATHS": paths, "OPTIONS": "--strict"}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **values}
        done = subprocess.run(
            ["bash", "-e", "-c", steps[-1]["run"]], cwd=tmp_path, env=environment, capture_output=True
        )
        assert done.returncode == code, done.stderr
        assert done.stdout.startswith(f"::add-matcher::{MATCHER}\n".encode())
    assert not (tmp_path / "made").exists()
