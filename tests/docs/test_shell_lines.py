"""Run every command in the README and docs, in a folder with the files that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.shell_lines import CODES, ShellLine, prepare, prepare_tables, run_in_shell, shell_lines
from tests.support.cases import each
from tests.support.program import ROOT, run

NOT_RUN = {
    'eval "$(ocmlview completion zsh)"': "needs zsh; tests/cli/test_completion.py runs it if installed",
    "ocmlview tap --to https://api.openai.com": "listens until Ctrl-C; tests/cli/test_tap.py runs it",
    "ocmlview tap --to http://localhost:11434 -o log.jsonl": "listens until Ctrl-C; tests/cli/test_tap.py runs it",
    "ocmlview -f --merge a.jsonl b.jsonl": "needs a terminal; tests/screens/test_merged.py runs it",
    "ocmlview serve chat.ocml": "serves until Ctrl-C; tests/unit/serve runs it",
    "ocmlview serve transcripts/ --open": "serves until Ctrl-C; tests/unit/serve runs it",
    "ocmlview serve chat.ocml --goto t3 --idle 10m": "serves until Ctrl-C; tests/unit/serve runs it",
    "ssh -L 8000:127.0.0.1:8000 build.example ocmlview serve --port 8000 transcripts/": "needs another machine",
}
"""Commands that are shown but not run, with the reason. For `make`, the rule must exist."""
QUIET = (
    "ocmlview convert --to json -o",
    "ocmlview export",
    "ocmlview show -d --where",
    "ocmlview config --init",
    "ocmlview completion fish >",
    "eval",
    "ocmlview check -f",
    "ocmlview diff chat.ocml",
    "ocmlview diff -d --side",
    "ocmlview diff logs",
)
"""Commands without output: they write a file, or find no problem and no difference."""

LINES = [line for line in shell_lines() if line.text not in NOT_RUN and line.words[0] != "make"]
PLAIN = [line for line in LINES if not line.needs_shell and not line.is_live]
SHELL = [line for line in LINES if line.needs_shell or line.is_live]


def shown(line: ShellLine) -> str:
    return f"{line.page}: {line.text}"


def test_there_are_commands_to_run_and_every_exception_is_shown() -> None:
    assert len(PLAIN) > 20
    assert {line.text for line in SHELL} > {"uv tool install .", "pipx install .", ".venv/bin/ocmlview chat.ocml"}
    assert set(NOT_RUN) <= {line.text for line in shell_lines()}


@each("line", PLAIN, ids=shown, quick=6, batch=8)
def test_a_command_does_what_the_page_says(line: ShellLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if line.reads_tables:
        prepare_tables(tmp_path, line)
    result = run(*line.words[1:])
    assert result.code == line.code, result.err
    assert result.out or line.text.startswith(QUIET)


@pytest.mark.share(test=6)
@pytest.mark.parametrize("line", SHELL, ids=shown)
def test_multi_line_commands_work_in_a_shell(line: ShellLine, tmp_path: Path) -> None:
    environment = prepare(tmp_path)
    folder = ROOT if line.is_for_the_checkout else tmp_path
    prints = not line.text.startswith(QUIET)
    result = run_in_shell(line.text, folder, environment, live=line.is_live, prints=prints)
    assert result.code in ({0, 130} if line.is_live else {0}), result.err
    assert result.out or not prints
    assert "Traceback" not in result.err


@pytest.mark.parametrize("line", [line for line in shell_lines() if line.words[0] == "make"], ids=shown)
def test_every_make_rule_is_in_the_makefile(line: ShellLine) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in line.words[1:]:
        if "=" in name:
            assert f"$({name.partition('=')[0]}" in makefile, name
            continue
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), name


def test_options_on_the_pages_exist() -> None:
    text = re.sub(
        r"```.*?```", "", "".join((ROOT / name).read_text("utf-8") for name in {"README.md"}), flags=re.DOTALL
    )
    manual = (ROOT / "docs/ocmlview.1").read_text("utf-8").replace("\\-", "-")
    assert {option for option in re.findall(r"`(--[a-z-]+)", text) if option not in manual} == set()


def test_exit_codes_on_the_pages_exist() -> None:
    assert set(CODES) <= {line.words[1] for line in PLAIN}
