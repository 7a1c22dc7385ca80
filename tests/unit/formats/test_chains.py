"""Chains of model calls: an index of many chains finds what a comparison with each of them finds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.support.growth import assert_growth
from viewer.formats.engine import chains
from viewer.formats.engine.chains import Call, Conversation
from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.tables.model import RecordRule
from viewer.model.messages import Kind

Said = list[tuple[str, str]]
RULE = RecordRule((), Kind.SAID)


def call(said: Said, prompt: str = "", *, thread: str = "", is_covered: bool = False) -> Call:
    drafts = [Draft(Kind.INSTRUCTION, "system", [], (0, 0), RULE, text=prompt)] if prompt else []
    drafts += [Draft(Kind.SAID, role, [], (0, 0), RULE, text=text) for role, text in said]
    return RecordReading(drafts=drafts), None, thread, is_covered


def random_call(chance: random.Random, known: list[Said]) -> Call:
    """Return a call that repeats, continues, cuts off, or leaves an earlier one."""
    said = [*chance.choice(known)] if chance.random() < 0.8 else [("user", f"question {chance.randrange(5)}")]
    said = said[chance.randrange(len(said)) :] if chance.random() < 0.2 else said
    said += ((chance.choice(["user", "assistant"]), f"text {chance.randrange(12)}") for _ in range(chance.randrange(3)))
    known.append(said)
    prompt = f"prompt {chance.randrange(2)}" if chance.random() < 0.6 else ""
    thread = "other" if chance.random() < 0.15 else ""
    return call(said, prompt, thread=thread, is_covered=chance.random() < 0.15)


def shown(seed: int) -> Iterator[list[tuple[Kind, str | None, bool]]]:
    """Yield the kind and thread of each draft of a random conversation, and whether it is kept."""
    chance = random.Random(seed)
    conversation, known = Conversation(), [[("user", "question 0")]]
    for _ in range(chance.randrange(1, 12)):
        calls = [random_call(chance, known) for _ in range(chance.randrange(1, 5))]
        before = [[*reading.drafts] for reading, *_ in calls]
        returned = [hash(text) for _, text in chance.choice(known)[-1:]] if chance.random() < 0.3 else []
        asked = {hash(text) for _, text in chance.choice(known)} if chance.random() < 0.3 else set()
        is_stated, is_late = chance.random() < 0.5, chance.random() < 0.3
        conversation.add(calls, is_stated=is_stated, results=returned, asked=asked, is_late=is_late)
        for (reading, *_), drafts in zip(calls, before, strict=True):
            kept = {*map(id, reading.drafts)}
            yield [(draft.kind, draft.thread, id(draft) in kept) for draft in drafts]


@pytest.mark.slow
def test_an_index_of_chains_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(300):
        monkeypatch.setattr(chains, "MOST_SCANNED", 1 << 60)
        expected = [*shown(seed)]
        monkeypatch.setattr(chains, "MOST_SCANNED", seed % 3)
        assert [*shown(seed)] == expected, seed


def test_a_conversation_of_unrelated_calls_takes_linear_time() -> None:
    def read(count: int) -> None:
        conversation = Conversation()
        for number in range(count):
            said = [("user", "hello"), ("assistant", "hi"), ("user", f"question {number}"), ("assistant", "yes")]
            conversation.add([call(said, f"prompt {number}"), call(said[:2])], is_stated=True)

    assert_growth(read, 1000, 4000, 6)
