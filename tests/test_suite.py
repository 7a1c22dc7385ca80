"""The size of the test suite: the number of cases, and the cost of collection."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_CASES = 6_000
LIBRARIES = "import hypothesis, pytest, rich.markdown, textual.app, textual.widgets"
MOST_IMPORTS = 10
"""The maximum processor time of collection, as a multiple of importing the libraries: 5 s on an idle machine."""


@pytest.mark.slow
def test_the_suite_has_at_most_6000_cases_that_are_cheap_to_collect() -> None:
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-m", "not lab", "-p", "no:cacheprovider"]
    load = [sys.executable, "-c", LIBRARIES]
    loading = processor_time(load)[0]  # the tests are compiled, since they run
    collecting, listed = processor_time(collect)
    cases = sum(int(count) for count in re.findall(r"^tests/.*: (\d+)$", listed, re.MULTILINE))
    assert 3_000 < cases <= MOST_CASES
    assert collecting <= MOST_IMPORTS * loading


def processor_time(command: list[str]) -> tuple[float, str]:
    """The processor time of a command, and its output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout
