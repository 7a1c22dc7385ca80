"""Test cases: loop over many values inside a test, and choose the values of a quick run by a stable hash."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

ONLY = os.environ.get("OCML_ONLY", "")
"""If set, only values whose names contain this text are tested, to repeat a failure."""

QUICK, SLOW, LAB = "quick", "slow", "lab"
"""The smallest target that runs a case: `make check`, `make test`, `make lab`."""


def targets_of(names: Sequence[str], quick: int, test: int) -> dict[str, str]:
    """Return the smallest target that runs each case, if `make check` runs one in `quick` and `make test` one in
    `test`.

    A stable hash of the name decides, so a new case does not move any other. 0 selects none. Otherwise, at least
    the case with the smallest hash is selected."""
    hashes = {name: crc32(name.encode()) for name in names}
    targets = dict.fromkeys(names, LAB)
    for target, every in ((SLOW, test), (QUICK, quick)):
        chosen = [name for name in names if every and hashes[name] % every == 0]
        if every and names and not chosen:
            chosen = [min(names, key=lambda name: (hashes[name], name))]
        targets.update(dict.fromkeys(chosen, target))
    return targets


def shares_of(mark: pytest.Mark) -> tuple[int, int]:
    """Return the two numbers of `@pytest.mark.share` for `targets_of`."""
    return mark.kwargs.get("quick", 0), mark.kwargs.get("test", 1)


def excluded_marks(expression: str) -> set[str]:
    """Return the marks that an option such as `-m "not slow and not lab"` excludes."""
    terms = expression.split(" and ")
    return {mark for mark in (SLOW, LAB) if f"not {mark}" in terms}


def marks_of(target: str) -> list[pytest.MarkDecorator]:
    return [] if target == QUICK else [getattr(pytest.mark, target)]


def each(
    names: str,
    values: Iterable[Any],
    *,
    ids: Callable[[Any], str] | Iterable[str] = str,
    quick: int = 1,
    test: int = 1,
    batch: int = 16,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Parametrize a test with batches of values, and call it for each value of a batch.

    `names` is one name, or several separated by commas for values that are tuples. The id of a value decides which
    target runs it (see `targets_of`). A failure notes the id, and OCML_ONLY=id repeats it. Each value gets its own
    `tmp_path` and `monkeypatch`."""
    names = names.replace(" ", "")
    several = names.split(",")
    plain = [_plain(value, len(several)) for value in values]
    known = [given or ids(value) for given, value in plain] if callable(ids) else list(ids)
    named = [(name, value) for name, (_, value) in zip(known, plain, strict=True) if ONLY in name]
    parametrize = pytest.mark.parametrize(several[0], list(_batches(named, quick, test, batch)))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        looping: Callable[..., Any] = parametrize(_looping(function, several))
        return looping

    return decorate


def _plain(value: Any, count: int) -> tuple[str | None, Any]:
    """Return the id and the value of a `pytest.param`, or no id and the value itself."""
    if not isinstance(value, ParameterSet):
        return None, value
    return str(value.id or "") or None, value.values if count > 1 else value.values[0]


def _batches(named: list[tuple[str, Any]], quick: int, test: int, size: int) -> Iterator[ParameterSet]:
    targets = targets_of([name for name, _ in named], quick, test)
    for target in (QUICK, SLOW, LAB):
        chosen = [pair for pair in named if targets[pair[0]] == target]
        count = -(-len(chosen) // size)
        for number in range(count):
            yield pytest.param(chosen[number::count], id=f"{target}{number}", marks=marks_of(target))


def _looping(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """Return a test that takes a batch as its first parameter and calls `function` for each value in it."""

    def calls(arguments: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        for place, (name, value) in enumerate(arguments[names[0]]):
            values = dict(zip(names, value, strict=True)) if names[1:] else {names[0]: value}
            yield name, {**arguments, **values, **_fresh(arguments, place)}

    @functools.wraps(function)
    def loop(*own: Any, **arguments: Any) -> None:
        for name, keywords in calls(arguments):
            with _named(name, keywords):
                function(*own, **keywords)

    @functools.wraps(function)
    async def loop_async(*own: Any, **arguments: Any) -> None:
        for name, keywords in calls(arguments):
            with _named(name, keywords):
                await function(*own, **keywords)

    looping = loop_async if inspect.iscoroutinefunction(function) else loop
    signature = inspect.signature(function)
    kept = [each for each in signature.parameters.values() if each.name not in names[1:]]
    setattr(looping, "__signature__", signature.replace(parameters=kept))  # noqa: B010
    return looping


def _fresh(arguments: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return fresh fixtures so that a case does not inherit those of the previous one."""
    fresh: dict[str, Any] = {}
    if "tmp_path" in arguments:
        fresh["tmp_path"] = folder = Path(arguments["tmp_path"]) / str(place)
        folder.mkdir()
    if "monkeypatch" in arguments:
        fresh["monkeypatch"] = pytest.MonkeyPatch()
    return fresh


@contextmanager
def _named(name: str, keywords: Mapping[str, Any]) -> Iterator[None]:
    """Add the name of the value to any error that leaves the block, and undo its patches."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"OCML_ONLY={name!r}")
        raise
    finally:
        if "monkeypatch" in keywords:
            keywords["monkeypatch"].undo()
