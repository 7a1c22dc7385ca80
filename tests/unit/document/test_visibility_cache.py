"""The visible messages of an audience do not depend on the order and size of queries."""

from __future__ import annotations

from array import array

import pytest

from tests.fuzz.targets import InMemory
from tests.laws.test_backends_agree import BACKENDS
from tests.unit.document.test_rows import transcript
from viewer.columns.api import Columns
from viewer.document import visibility_cache as module
from viewer.document.document import Document
from viewer.document.visibility_cache import VisibilityCache
from viewer.model.messages import Message
from viewer.model.visibility import Audience, Reveal

AUDIENCES = [Audience(), Audience(frozenset({Reveal.ANALYSIS})), Audience(frozenset({Reveal.TOOL}))]


@pytest.mark.parametrize("columns", BACKENDS, ids=lambda columns: columns.name)
@pytest.mark.parametrize("audience", AUDIENCES, ids=["safe", "analysis", "tools"])
def test_every_kind_of_lookup_agrees(audience: Audience, columns: Columns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 70)
    index = Document(InMemory(transcript(5, 300))).load().index
    index.use_columns(columns)
    expected = [audience.sees(message) for message in index]
    asked: list[Message] = []

    def rule(message: Message) -> bool:
        asked.append(message)
        return audience.sees(message)

    cache, numbers = VisibilityCache(index, rule), array("I", [7, 3, 3, len(index), 1])
    assert list(cache.mask_at(numbers)) == [expected[number - 1] for number in numbers]
    for first in (1, 2, 50):
        assert list(cache.mask(first, len(index))) == expected[first - 1 :]
        assert cache.count(first, len(index)) == sum(expected[first - 1 :])
        assert cache.first(first, len(index)) == expected.index(True, first - 1) + 1
    assert [cache.sees(number) for number in range(1, len(index) + 1)] == expected
    assert len(asked) == len({index.header_key(message.number) for message in index})
    assert list(cache.mask_at(array("I"))) == []
    assert list(cache.mask_at(array("I", [0, 0]))) == [1, 1]
    assert cache.sees(len(index) + 1) is False


def test_a_cache_learns_kinds_that_come_later() -> None:
    document = Document(InMemory(transcript(5, 300)))
    cache = VisibilityCache(document.index, Audience().sees)
    while not document.is_complete:
        document.read_some(500)
        index = document.index
        assert list(cache.mask(1, len(index))) == [Audience().sees(message) for message in index]
