"""Shell completion: the completions of a command line, in Python and in the installed shells."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.test_startup import HEAVY
from tests.support.containers import documents, eval_log, goose_database, opencode_storage
from tests.support.program import ROOT, run
from viewer.cli import COMMANDS, completion
from viewer.cli.completion import SHELLS
from viewer.formats import FORMATS, WRITERS
from viewer.model.visibility import Reveal
from viewer.rules import RULES

ASK = """
import sys
from viewer.cli import run
try:
    run([])
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def asked(line: str, shell: str = "bash") -> tuple[list[str], set[str]]:
    """Return the completions of this line, whose last word is incomplete, and the modules that were loaded."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "_OCMLVIEW_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    return done.stdout.splitlines(), set(done.stderr.split("\n"))


def offered(line: str) -> list[str]:
    """Return only the values; `file` represents the files that the shell completes."""
    found = [entry.split(",", 1) for entry in asked(line)[0] if entry]
    return [kind if kind == "file" else value for kind, value in found]


NAMES = [reveal.value for reveal in Reveal]


@pytest.mark.share(test=6)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("ocmlview ", list(COMMANDS)),
        ("ocmlview ex", ["explain", "export"]),
        ("ocmlview chat", ["file"]),
        ("ocmlview show ", ["file"]),
        ("ocmlview show chat.ocml ot", ["file"]),
        ("ocmlview chat.ocml ot", ["file"]),
        ("ocmlview show --format ", list(FORMATS)),
        ("ocmlview chat.ocml --format openchatml-2", ["openchatml-2.2", "openchatml-2.0"]),
        ("ocmlview convert --to ", list(WRITERS)),
        ("ocmlview show --reveal ", NAMES),
        ("ocmlview show --reveal analysis,t", ["analysis,tool"]),
        ("ocmlview show --reveal analysis,", [f"analysis,{name}" for name in NAMES if name != "analysis"]),
        ("ocmlview --theme col", ["colorblind"]),
        ("ocmlview themes em", ["ember"]),
        ("ocmlview explain e-call", ["E-CALL-SCHEMA"]),
        ("ocmlview explain ", list(RULES)),
        ("ocmlview export -o ", ["file"]),
        ("ocmlview completion ", list(SHELLS)),
        ("ocmlview --co", ["--color"]),
        ("ocmlview --ver", ["--version"]),
        ("ocmlview check --sa", ["--sarif"]),
    ],
)
def test_completions_are_offered(line: str, wanted: list[str]) -> None:
    assert offered(line) == wanted


@pytest.mark.share(quick=9)
@pytest.mark.parametrize("line", ["ocmlview ", "ocmlview --th", "ocmlview show --format ", "ocmlview --theme "])
def test_completion_loads_no_heavy_module(line: str) -> None:
    found, modules = asked(line)
    assert found
    assert modules & HEAVY == set()


@pytest.mark.slow
def test_your_own_themes_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ocmlview" / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("like: dark\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert offered("ocmlview --theme mi") == ["mine"]


def items(before: str, typed: str) -> list[tuple[str, str]]:
    """Return the completions after these files, with the kind of each."""
    context = click.Context(click.Command("show"))
    context.params["files"] = tuple(before.split())
    return [(entry.type, entry.value) for entry in completion.files(context, click.Argument(["files"]), typed)]


def test_items_are_offered_after_a_file_and_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(json.dumps({"messages": [{"role": "user", "content": "SECRET"}]}) + "\n" for _ in range(12))
    Path("rows.jsonl").write_text(rows, "utf-8")
    Path("one.jsonl").write_text(rows.splitlines()[0], "utf-8")
    goose_database(Path("sessions.db"), [({"working_dir": "/p"}, []), ({"working_dir": "/q"}, [])])
    opencode_storage(Path("storage"), [documents("opencode")["refusal"]])
    log = documents("inspect")["failed-sample"]
    eval_log(Path("run.eval"), log)
    sample = str(log["samples"][0]["id"])
    assert items("", "rows.jsonl:1") == [("plain", f"rows.jsonl:{number}") for number in (1, 10, 11, 12)]
    assert len(items("", "rows.jsonl:")) == 12
    assert items("", "one.jsonl:") == []
    assert sorted(items("", "sessions.db:")) == [
        ("plain", "sessions.db:20260304_1"),
        ("plain", "sessions.db:20260304_2"),
    ]
    assert items("", "storage:") == [("plain", f"storage:{documents('opencode')['refusal']['info']['id']}")]
    assert items("", "run.eval:") == [("plain", f"run.eval:{sample}")]
    for typed in ("none.jsonl:", "rows.jsonl", ""):
        assert items("", typed) == [("file", typed)]


def test_a_shell_that_splits_words_at_colons_gets_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(json.dumps({"messages": [{"role": "user", "content": "Hi"}]}) + "\n" for _ in range(12))
    Path("rows.jsonl").write_text(rows, "utf-8")
    assert items("rows.jsonl :", "12") == [("plain", "12")]
    assert items("a.ocml rows.jsonl", ":")[:2] == [("plain", "1"), ("plain", "2")]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_its_own_script(shell: str) -> None:
    result = run("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert f"_OCMLVIEW_COMPLETE={shell}_complete" in result.out
    assert asked("ocmlview expl", shell)[0][0].removeprefix("plain,").split("\t")[0] in ("explain", "plain")


def test_an_unknown_shell_is_refused_and_the_known_ones_are_named() -> None:
    result = run("completion", "tcsh")
    assert result.code == 2
    assert "'bash', 'zsh', 'fish'" in result.err


IN_BASH = """
eval "$(ocmlview completion bash)"
COMP_WORDS=(ocmlview show --reveal analysis,t) COMP_CWORD=3
_ocmlview_completion ocmlview
printf '%s\\n' "${COMPREPLY[@]}"
"""
IN_ZSH = """
autoload -U compinit && compinit -D
eval "$(ocmlview completion zsh)"
compadd() { print -l ${(P)@[-1]}; }
words=(ocmlview show --reveal analysis,t) CURRENT=4
_ocmlview_completion
"""
IN_FISH = """
ocmlview completion fish | source
complete --do-complete 'ocmlview show --reveal analysis,t'
"""


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "script"), [("bash", IN_BASH), ("zsh", IN_ZSH), ("fish", IN_FISH)])
def test_completion_works_in_a_real_shell(shell: str, script: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "ocmlview"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m viewer "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        [shell, "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["analysis,tool"], done.stderr
