"""The size of the test suite: the number of cases, and the cost of collection."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from tests.support.collecting import COLLECTION, is_whole_suite

MOST_CASES = 6_000
LIBRARIES = "import hypothesis, pytest, rich.markdown, textual.app, textual.widgets"
MOST_IMPORTS = 10
"""The maximum CPU time of collection, as a multiple of importing the libraries: 5 s on an idle machine."""


@pytest.mark.slow
def test_the_suite_has_at_most_6000_cases_that_are_cheap_to_collect(request: pytest.FixtureRequest) -> None:
    if not is_whole_suite(request.config):
        pytest.skip("only a part of the suite was collected")
    cases = [item for item in request.session.items if not item.get_closest_marker("lab")]
    assert 3_000 < len(cases) <= MOST_CASES
    if COLLECTION.compiled == 0:  # the first collection in a clone also compiles the tests
        assert COLLECTION.seconds <= MOST_IMPORTS * loading_time()


def loading_time() -> float:
    """Return the CPU time of importing the libraries."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", LIBRARIES], env=os.environ, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
