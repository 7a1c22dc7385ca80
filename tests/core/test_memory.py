"""What is remembered while reading is forgotten on request."""

from __future__ import annotations

from viewer.core.memory import forget, remembering

CALLS: list[str] = []


@remembering(4)
def doubled(word: str) -> str:
    CALLS.append(word)
    return word * 2


def test_a_word_is_remembered_until_all_is_forgotten() -> None:
    assert [doubled("a"), doubled("a")] == ["aa", "aa"]
    assert CALLS == ["a"]
    forget()
    assert doubled("a") == "aa"
    assert CALLS == ["a", "a"]
