"""Running the tests in several processes yields the same results as in one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import ROOT

FILES = {
    "test_results.py": """
import warnings
import pytest

@pytest.fixture
def broken():
    raise ValueError("no fixture")

def test_passes(): print("not shown")

def test_fails():
    print("printed before the failure")
    assert 1 + 1 == 3

@pytest.mark.skip(reason="not now")
def test_is_skipped(): pass

def test_has_no_fixture(broken): pass

def test_warns(): warnings.warn("take care", DeprecationWarning)
""",
    "test_shared.py": """
import pytest

MADE = []

@pytest.fixture(scope="module")
def made():
    MADE.append(1)

@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_a_fixture_of_a_module_is_made_once(number, made, tmp_path):
    assert MADE == [1] and not list(tmp_path.iterdir())
""",
}
CRASH = """
import os

def test_before(): pass
def test_crashes(): os._exit(3)
def test_after(): pass
"""
HANG = """
import time

def test_before(): pass
def test_hangs(): time.sleep(3600)
def test_after(): pass
"""
THREAD = """
import threading, time

def test_leaves_a_thread(): threading.Thread(target=time.sleep, args=(3600,)).start()
"""


def run(folder: Path, *arguments: str, errors: str = "") -> tuple[int, str]:
    """Run the tests of a folder and return the exit code and the output."""
    line = [sys.executable, "-m", "pytest", "-p", "tests.support.processes", "-p", "no:cacheprovider", *arguments]
    environment = {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DEBUG_TEMPROOT": str(folder),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    result = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert errors in result.stderr if errors else not result.stderr
    return result.returncode, result.stdout


@pytest.mark.slow
class TestProcesses:
    def test_results_output_and_warnings_are_those_of_one_process(self, tmp_path: Path) -> None:
        for name, text in FILES.items():
            (tmp_path / name).write_text(text, "utf-8")
        for processes in ("1", "3"):
            code, out = run(tmp_path, "--processes", processes)
            assert code == 1
            assert "1 failed, 7 passed, 1 skipped, " in out and ", 1 error in" in out, out
            assert "printed before the failure" in out and "not shown" not in out
            assert "assert (1 + 1) == 3" in out and "ValueError: no fixture" in out
            assert "DeprecationWarning: take care" in out

    def test_a_test_whose_process_ends_fails_with_the_ones_after_it(self, tmp_path: Path) -> None:
        (tmp_path / "test_crash.py").write_text(CRASH, "utf-8")
        (tmp_path / "test_shared.py").write_text(FILES["test_shared.py"], "utf-8")
        code, out = run(tmp_path, "--processes", "2")
        assert code == 1
        assert re.findall(r"^FAILED (\S+)", out, re.MULTILINE) == [
            "test_crash.py::test_crashes",
            "test_crash.py::test_after",
        ]
        assert "2 failed, 6 passed" in out

    def test_a_test_that_hangs_fails_and_shows_where(self, tmp_path: Path) -> None:
        (tmp_path / "test_hang.py").write_text(HANG, "utf-8")
        (tmp_path / "test_shared.py").write_text(FILES["test_shared.py"], "utf-8")
        limit = ("-o", "faulthandler_timeout=1", "-o", "faulthandler_exit_on_timeout=true")
        code, out = run(tmp_path, "--processes", "2", *limit, errors="in test_hangs")
        assert code == 1
        assert re.findall(r"^FAILED (\S+)", out, re.MULTILINE) == [
            "test_hang.py::test_hangs",
            "test_hang.py::test_after",
        ]
        assert "2 failed, 6 passed" in out

    def test_a_thread_that_never_ends_is_a_failure(self, tmp_path: Path) -> None:
        (tmp_path / "test_thread.py").write_text(THREAD, "utf-8")
        (tmp_path / "conftest.py").write_text("from tests.support import processes; processes.LONGEST_END = 1", "utf-8")
        code, out = run(tmp_path, "--processes", "2")
        assert code == 1
        assert "a thread of a test did not end" in out

    def test_the_first_failure_can_stop_all_processes(self, tmp_path: Path) -> None:
        for number in range(40):
            (tmp_path / f"test_{number}.py").write_text("def test_fails(): assert False", "utf-8")
        code, out = run(tmp_path, "--processes", "2", "-x")
        assert code == 1
        assert re.search(r"= [12] failed in ", out) and re.search(r"stopping after [12] failures", out)
