"""Follow CONTRIBUTING.md step by step in a copy of the project, and use what it adds."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.steps import do, steps_of
from tests.support.big_inputs import big_input
from tests.support.program import ROOT
from tests.test_architecture import FLAT, LARGEST_FOLDER

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
HEADINGS = (
    "Add a key",
    "Add a diagnostic",
    "Add a format table",
    "Add a format",
    "Add a command",
    "Add a history policy",
)
LEFT_BEHIND = shutil.ignore_patterns(".venv", ".git", ".hypothesis", ".*_cache", "dist")
MADE = "tests/docs/test_made.py tests/docs/test_manual.py"
TABLES = f"""
    tests/screens/test_actions.py tests/unit/rules/test_rules.py tests/unit/formats/test_detect.py tests/test_readme.py
    tests/test_architecture.py {MADE}
"""
LAWS = "tests/laws/test_samples.py tests/laws/test_chunking.py"
"""The tests that run with only the new samples."""
PROGRAMS = {
    "ocmlview": 'exec "{python}" -m viewer "$@"',
    "pytest": '[ -z "$OCML_UPDATE" ] || echo "$@" >>"{updates}"',
    "make": "case $1 in docs|check) ;; *) exit 1;; esac",
    "ruff": '[ "$*" = "format ." ]',
}
"""Programs for the copy, which has no `.venv`. Pages and screens are generated once, and all checks and tests run once,
at the end."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which all steps of all sections have been performed."""
    folder = tmp_path_factory.mktemp("contributing")
    contribute(folder)
    return folder / "project"


def contribute(folder: Path) -> None:
    """Copy the project, and do what the page says."""
    project = shutil.copytree(ROOT, folder / "project", ignore=LEFT_BEHIND)
    programs = folder / "programs"
    programs.mkdir()
    updates = folder / "updates"
    for name, script in PROGRAMS.items():
        made = script.replace("{python}", sys.executable).replace("{updates}", str(updates))
        (programs / name).write_text(f"#!/bin/sh\n{made}\n")
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    environment.pop("OCML_UPDATE", None)  # `make docs` sets it, but most steps do not
    for heading in HEADINGS:
        for step in steps_of(PAGE, heading):
            do(step, project, environment)
    update(project, updates.read_text("utf-8").splitlines())


def update(project: Path, lines: list[str]) -> None:
    """Generate the pages, and what the arguments in each line generate, in one run."""
    files, chosen = MADE.split(), [Path(name).stem for name in MADE.split()]
    for line in lines:
        file, option, words = line.split(" ", 2)
        assert option == "-k", line
        files.append(file)
        chosen.append(words)
    done(project, "pytest", *dict.fromkeys(files), "-k", " or ".join(chosen), "-m", "not lab", OCML_UPDATE="1")


def done(project: Path, *command: str, **environment: str) -> str:
    """Run a command in the copy, require that it succeeds, and return its output."""
    line = [sys.executable, "-m", *command]
    variables = {**os.environ, **environment}
    result = subprocess.run(line, cwd=project, env=variables, capture_output=True, text=True, check=False, timeout=500)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
class TestTheSteps:
    def test_the_diagnostic_is_reported_and_explained(self, project: Path) -> None:
        out = done(project, "viewer", "check", "samples/broken/I-FENCE-OPEN.ocml")
        sentence = "Unclosed code block in the body"
        assert f"samples/broken/I-FENCE-OPEN.ocml:2:36: info: {sentence} [I-FENCE-OPEN]" in out
        assert "Unclosed code block in the body." in done(project, "viewer", "explain", "I-FENCE-OPEN")
        assert "### I-FENCE-OPEN" in (project / "docs/diagnostics.md").read_text("utf-8")

    def test_the_diagnostic_is_found_in_a_big_input(self, project: Path, tmp_path: Path) -> None:
        """The step with `test_big_inputs.py` proves this, too: that test fails if a trigger is too narrow. Here, the
        program itself finds the diagnostic."""
        big = big_input((project / "samples/broken/I-FENCE-OPEN.ocml").read_bytes())
        assert big is not None
        path = tmp_path / "big.ocml"
        path.write_bytes(big.text)
        found = done(project, "viewer", "check", str(path))
        assert f"{path}:{big.messages + 2}:36: info: " in found
        assert found.count("[I-FENCE-OPEN]") == 1
        row = project / "viewer/checks/fences.py"
        wide = row.read_text("utf-8")
        row.write_text(wide.replace('Contains(b"```")', 'Contains(b"````")'), "utf-8")
        try:
            with pytest.raises(AssertionError, match="test_a_broken_sample_has_the_same_problems_in_a_big_input"):
                done(project, "pytest", "tests/laws/test_big_inputs.py", OCML_ONLY="I-FENCE-OPEN")
        finally:
            row.write_text(wide, "utf-8")

    def test_the_format_is_read_and_listed(self, project: Path) -> None:
        shown = done(project, "viewer", "show", "samples/valid/chat-lines/one-turn.ocml")
        assert "▌ Assistant\n▌ Yes, it is." in shown
        assert "chat-lines" in done(project, "viewer", "formats")

    def test_the_table_shows_what_was_said_and_nothing_else(self, project: Path) -> None:
        sample = "samples/valid/helpdesk/one-turn.jsonl"
        shown = done(project, "viewer", "show", sample)
        assert "Where is my parcel?" in shown and "It arrives today." in shown
        assert "every day" not in shown and "Patience" not in shown
        assert "W-RECORD-UNKNOWN" in done(project, "viewer", "check", "--exit-zero", sample)
        assert "[`helpdesk`](formats/helpdesk.md)" in (project / "docs/formats.md").read_text("utf-8")

    def test_the_command_counts_what_is_shown(self, project: Path) -> None:
        sample = "samples/valid/helpdesk/one-turn.jsonl"
        assert done(project, "viewer", "words", sample) == f"{sample}: 7 words\n"
        assert "\n.SS words [OPTIONS]" in (project / "docs/ocmlview.1").read_text("utf-8")

    def test_the_policy_is_on_the_page_and_in_the_command(self, project: Path) -> None:
        assert "| `last-call` | Drops analysis before the last call. |" in (project / "docs/next.md").read_text("utf-8")
        out = done(project, "viewer", "next", "-d", "--policy", "last-call", "samples/tour.ocml")
        assert "last-call" in out

    def test_the_key_is_on_the_pages(self, project: Path) -> None:
        row = "| `Z` | `middle` | Go to the middle of the transcript. |"
        assert row in (project / "docs/keys.md").read_text("utf-8")

    @pytest.mark.lab
    def test_lint_and_types_pass(self, project: Path) -> None:
        done(project, "ruff", "check", "--quiet", ".")
        done(project, "ruff", "format", "--check", "--quiet", ".")
        done(project, "mypy")

    @pytest.mark.lab
    def test_the_tests_pass(self, project: Path) -> None:
        """This includes the new key, sample, rule, and row, and every test that a step runs."""
        done(project, "pytest", *TABLES.split())
        for line in (
            line for heading in HEADINGS for step in steps_of(PAGE, heading) for line in step.block.splitlines()
        ):
            if line.startswith("pytest "):
                done(project, *shlex.split(line))
            elif line.startswith("OCML_ONLY="):
                only, *command = shlex.split(line)
                done(project, *command, OCML_ONLY=only.partition("=")[2])
        done(project, "pytest", "tests/cli/test_commands.py", "-k", "explains_itself")
        done(project, "pytest", "tests/laws/test_format_examples.py", "-m", "not lab", OCML_ONLY="helpdesk")
        for new in ("FENCE", "chat-lines", "helpdesk"):
            done(project, "pytest", *LAWS.split(), "-m", "not lab", OCML_ONLY=new)


def test_every_step_can_be_followed() -> None:
    for heading in HEADINGS:
        steps = steps_of(PAGE, heading)
        assert len(steps) >= 5
        assert steps[-1].block == "ruff format .\nmake docs\nmake check\n"
        for step in steps:
            assert re.match("(In|Write) `|Run ", step.sentence), step.sentence
            exists = step.names and (ROOT / step.names[0]).exists()
            assert exists if step.sentence.startswith("In") else True, step.sentence
            assert not exists or not step.sentence.startswith("Write"), step.sentence


def test_every_file_that_the_page_names_exists_or_is_written() -> None:
    written = {step.names[0] for heading in HEADINGS for step in steps_of(PAGE, heading) if "Write" in step.sentence}
    named = set(re.findall(r"(?:viewer|tests)/[\w./-]+\.(?:py|md|c)\b", PAGE))
    assert {name for name in named - written if not (ROOT / name).exists()} == set()


def test_each_folder_has_room_for_the_module_that_a_step_writes() -> None:
    """Otherwise `make check`, which the last step runs, would fail. Only `make lab` runs it in the copy."""
    for heading in HEADINGS:
        for step in steps_of(PAGE, heading):
            if re.match("Write `viewer/.+[.]py`", step.sentence):
                folder = (ROOT / step.names[0]).parent
                assert folder in FLAT or len(list(folder.glob("*.py"))) < LARGEST_FOLDER, step.sentence


def test_the_make_rules_of_the_release_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{name}:" in makefile for name in re.findall(r"`make (\w+)`", PAGE))
