"""`check --jobs N`: several processes print the same as one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.program import BROKEN, CHAT, run
from viewer.cli.jobs import in_order


@pytest.mark.slow
def test_several_processes_print_what_one_prints(tmp_path: Path) -> None:
    for index in range(6):
        name = tmp_path / f"{index:02}.ocml"
        name.write_text(BROKEN if index % 3 else CHAT.replace("warm in", "warm\0in" * index))
    (tmp_path / "empty.ocml").write_text("")
    (tmp_path / "cut.ocml.gz").write_bytes(b"\x1f\x8b\x08\x00garbage")
    missing = str(tmp_path / "missing.ocml")
    for options in (
        ("--max-per-code", "1"),
        ("--json", "--where", "severity:warning"),
        ("--github", "--strict"),
        ("--reveal", "all", "--leaks"),
    ):
        for inputs in (tmp_path,), (missing, tmp_path, tmp_path / "00.ocml"):
            alone = run("check", *options, *inputs)
            assert run("check", "--jobs", "2", *options, *inputs) == alone, (options, inputs)
            assert alone.code == (2 if missing in inputs else 1) or "--where" in options
            assert alone.err.count("DEBUG view") == ("--reveal" in options)
    for jobs in "12":
        nothing = run("check", "--jobs", jobs, "-d", missing)
        assert nothing.err == f"ocmlview: no such file: {missing}\n", "nothing was quoted"


def test_files_after_a_killed_process_are_still_handled() -> None:
    main = os.getpid()

    def act(path: str) -> str:
        if path == "c" and os.getpid() != main:
            os.kill(os.getpid(), signal.SIGKILL)
        return path.upper()

    before: list[str] = []
    assert list(in_order(act, "abcdefghijklmnop", 2, before.append)) == list("ABCDEFGHIJKLMNOP")
    assert before == list("ABCDEFGHIJKLMNOP")
    assert list(in_order(act, "", 2)) == []
