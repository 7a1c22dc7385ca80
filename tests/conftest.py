"""Each async test runs in a new event loop."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import tempfile

import pytest
from hypothesis import settings

from tests.support.cases import marks_of, targets_of

EMPTY = tempfile.TemporaryDirectory(prefix="ocmlview-tests-")
os.environ["XDG_CONFIG_HOME"] = EMPTY.name
"""Ignore the settings and themes of the developer who runs the tests."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""The tests start the program many hundred times, so keep its compiled files."""

signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""Restore the signals that child processes inherit: a background job would ignore some of them."""

settings.register_profile("same", derandomize=True, deadline=None)
"""The same examples in every run; the long campaigns choose others."""
settings.load_profile("same")


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True


def pytest_collection_finish() -> None:
    """Exclude the thousands of collected tests from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`share(quick=a, test=b)`: choose the cases that `make check` and `make test` run (see `targets_of`)."""
    shared: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("share"):
            function, _, case = item.nodeid.partition("[")
            shared.setdefault(function, {})[case] = item
    for cases in shared.values():
        marker = next(iter(cases.values())).get_closest_marker("share")
        assert marker is not None
        targets = targets_of(list(cases), marker.kwargs.get("quick", 0), marker.kwargs.get("test", 1))
        for case, item in cases.items():
            for mark in marks_of(targets[case]):
                item.add_marker(mark)
