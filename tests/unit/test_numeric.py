"""NumPy starts no thread, and the environment stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.program import ROOT

THREADS = "OPENBLAS_NUM_THREADS"
PROGRAM = f"""
import os
import viewer.numeric
tasks = "/proc/self/task"
print(len(os.listdir(tasks)) if os.path.isdir(tasks) else 1, os.environ.get({THREADS!r}))
"""


def test_no_thread_starts_and_the_environment_stays_as_it_was() -> None:
    without = {name: value for name, value in os.environ.items() if name != THREADS}
    for set_by_user in (None, "1"):
        variables = without | ({THREADS: set_by_user} if set_by_user else {})
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=variables, cwd=ROOT, capture_output=True, check=True)
        assert done.stdout.decode().split() == ["1", str(set_by_user)]
