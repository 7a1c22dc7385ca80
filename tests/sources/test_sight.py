"""Which messages an audience sees is the same whether they are asked for one by one, in runs, or here and there."""

from __future__ import annotations

from array import array

import pytest

from tests.fuzz.targets import InMemory
from tests.sources.test_rows import transcript
from viewer.document import visibility_cache as sight_module
from viewer.document.document import Document
from viewer.document.visibility_cache import VisibilityCache
from viewer.model.messages import Message
from viewer.model.visibility import Audience, Reveal

AUDIENCES = [Audience(), Audience(frozenset({Reveal.ANALYSIS})), Audience(frozenset({Reveal.TOOL}))]


@pytest.mark.parametrize(("first_table", "largest_table"), [(1, 1 << 18), (1 << 12, 1 << 18), (1, 1), (1, 600)])
@pytest.mark.parametrize("audience", AUDIENCES, ids=["safe", "analysis", "tools"])
def test_however_it_is_asked(
    audience: Audience, first_table: int, largest_table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sight_module, "FIRST_TABLE", first_table)
    monkeypatch.setattr(sight_module, "LARGEST_TABLE", largest_table)
    index = Document(InMemory(transcript(5, 300))).load().index
    expected = [audience.sees(message) for message in index]
    asked: list[Message] = []

    def rule(message: Message) -> bool:
        asked.append(message)
        return audience.sees(message)

    sight, numbers = VisibilityCache(index, rule), array("I", [7, 3, 3, len(index), 1])
    assert sight.seen_at(numbers).tolist() == [expected[number - 1] for number in numbers]
    for first in (1, 2, 50):
        assert sight.seen(first, len(index)).tolist() == expected[first - 1 :]
    assert [sight.sees(number) for number in range(1, len(index) + 1)] == expected
    assert len(asked) == len({index.look_key(message.number) for message in index})
    assert sight.seen_at(array("I")).tolist() == []
