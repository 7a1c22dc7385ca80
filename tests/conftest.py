"""Async tests run in an event loop of their own."""

from __future__ import annotations

import asyncio
import inspect
import os
import tempfile

import pytest
from hypothesis import settings

EMPTY = tempfile.TemporaryDirectory(prefix="ocmlview-tests-")
os.environ["XDG_CONFIG_HOME"] = EMPTY.name
"""No settings and no themes of the person who runs the tests."""

settings.register_profile("same", derandomize=True)
"""The same examples in every run; the long campaigns choose others."""
settings.load_profile("same")


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True
