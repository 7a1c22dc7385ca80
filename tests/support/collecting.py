"""Measure what collecting the tests cost this process."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


class Collection:
    """The cost of a collection, from the start of the process."""

    def __init__(self) -> None:
        self.began = time.time()
        self.seconds = 0.0
        """The CPU time in seconds."""
        self.compiled = 0
        """The number of test modules that had to be compiled, by this process or by another one."""

    def finish(self) -> None:
        """Measure what has been used so far."""
        self.seconds = time.process_time()
        self.compiled = sum(path.stat().st_mtime >= self.began for path in TESTS.rglob("test_*.pyc"))


COLLECTION = Collection()


def is_whole_suite(config: pytest.Config) -> bool:
    """True if all tests are collected, even if a mark selects only some of them."""
    arguments = (Path(argument).absolute() for argument in config.args)
    return any(TESTS.is_relative_to(argument) for argument in arguments) and not config.option.keyword
