"""Caches filled during reading can be cleared, and free memory is returned to the system."""

from __future__ import annotations

import ctypes

import pytest

from viewer.cache import bounded_cache, clear_caches, keep_caches, release_memory

CALLS: list[str] = []


@bounded_cache(4)
def doubled(word: str) -> str:
    CALLS.append(word)
    return word * 2


def test_a_result_is_cached_until_the_caches_are_cleared() -> None:
    assert [doubled("a"), doubled("a")] == ["aa", "aa"]
    assert CALLS == ["a"]
    clear_caches()
    assert doubled("a") == "aa"
    assert CALLS == ["a", "a"]


def test_memory_is_returned_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Library:
        malloc_trim = staticmethod(asked.append)

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library)
    release_memory()
    assert asked == [0]


@pytest.mark.parametrize("error", [OSError, AttributeError])
def test_other_libraries_are_not_called(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: object) -> object:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", load)
    release_memory()


def test_a_process_that_reads_many_files_keeps_its_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.cache._KEEPING", [])
    doubled("b")
    CALLS.clear()
    keep_caches()
    clear_caches()
    assert (doubled("b"), CALLS) == ("bb", [])
