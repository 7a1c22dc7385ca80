"""Test settings: each async test runs in a new event loop, and all tests ignore the developer's environment."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import sys
import tempfile

import pytest
from hypothesis import settings, strategies

from tests.support.cases import QUICK, excluded_marks, marks_of, shares_of, targets_of
from tests.support.collecting import COLLECTION
from tests.support.native import LEVELS
from tests.support.processes import pytest_addoption, pytest_runtestloop
from tests.support.reading import read
from tests.support.samples import samples
from viewer.formats import FORMATS

__all__ = ["pytest_addoption", "pytest_runtestloop"]

gc.disable()
"""Garbage collection is disabled while tests are collected, because almost nothing becomes garbage then."""

EMPTY = tempfile.TemporaryDirectory(prefix="ocmlview-tests-")
os.environ["XDG_CONFIG_HOME"] = EMPTY.name
"""Ignore the settings and themes of the developer who runs the tests."""
os.environ["XDG_STATE_HOME"] = os.devnull
"""No state outlives the program, because no folder can be created there."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""The tests start the program many hundreds of times, so keep its compiled files and those of the tests."""

signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""Restore the signals that child processes inherit: a background job would ignore some of them."""

settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
"""The same examples in every run. The long campaigns choose others."""
settings.register_profile("many", deadline=None, max_examples=500)
settings.load_profile("many" if os.environ.get("OCML_EXAMPLES") == "many" else "same")


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Create no cases for a function that its mark excludes, because creating cases takes most of the collection
    time."""
    marks = {mark.name for mark in getattr(obj, "pytestmark", ()) if isinstance(mark, pytest.Mark)}
    return [] if marks & excluded_marks(collector.config.option.markexpr) else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Leave out the cases that their own mark or `share` excludes, but keep one if all are excluded."""
    excluded = excluded_marks(metafunc.config.option.markexpr)
    calls = metafunc._calls
    if not excluded or not calls:
        return
    share = next(metafunc.definition.iter_markers("share"), None)
    names = [f"{call.id}]" for call in calls]
    targets = dict.fromkeys(names, QUICK) if share is None else targets_of(names, *shares_of(share))
    metafunc._calls = [
        call
        for call, name in zip(calls, names, strict=True)
        if not excluded & {targets[name], *(mark.name for mark in call.marks)}
    ] or calls[:1]


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make the table of characters and the tables of all formats once for all processes, and exempt the tests from
    garbage collection."""
    COLLECTION.finish()
    if session.config.option.processes > 1:
        strategies.text().validate()
        _read_each_format()
    gc.freeze()
    gc.set_threshold(200_000)
    gc.enable()


def _read_each_format() -> None:
    """Read a sample of each format: the first reading compiles patterns and conditions."""
    for sample in {sample.format: sample for sample in samples()}.values():
        if sample.format in FORMATS:
            read(sample.text, sample.format)


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
        targets = targets_of(list(cases), *shares_of(marker))
        for case, item in cases.items():
            for mark in marks_of(targets[case]):
                item.add_marker(mark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not LEVELS:
        terminalreporter.write_line("The native accelerator is not built: everything was tested with NumPy only.")
