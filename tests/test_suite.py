"""The size of the test suite: how many cases there are, and what collecting them costs."""

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
MOST_SECONDS = 5
"""Of processor time, in each process that runs tests."""


@pytest.mark.slow
def test_the_suite_has_at_most_6000_cases_that_are_cheap_to_collect() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-m", "not lab", "-p", "no:cacheprovider"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True, capture_output=True)  # compiles the tests
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(collect, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cases = sum(int(count) for count in re.findall(r"^tests/.*: (\d+)$", done.stdout, re.MULTILINE))
    assert 3_000 < cases <= MOST_CASES
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime <= MOST_SECONDS
