"""Tokens and cost of messages, turns, models, and files, and who sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.printing import BRIEF_SURFACES, SAFE_SURFACES
from tests.support.program import run
from viewer.document.document import open_document
from viewer.document.filter.grammar import parse
from viewer.document.projection import Projection
from viewer.document.usage import Spent, UsageView
from viewer.model.messages import Usage
from viewer.model.prices import Price, Prices
from viewer.model.visibility import BRIEF, END_USER, EVERYTHING, Audience, Reveal

PRICES = Prices({"big": Price(2.0, 10.0, 0.5), "sm*": Price(1.0, 1.0), "small-2": Price(3.0, 3.0)})


def session(folder: Path, *replies: tuple[str, int, int, int]) -> Path:
    """Write a session of Claude Code with a question before each reply. A reply is its model, input, cached input and
    output."""
    records: list[dict[str, Any]] = []
    for number, (model, input, cached, output) in enumerate(replies):
        records.append({"type": "user", "message": {"role": "user", "content": f"Question {number}?"}})
        usage = {"input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": output}
        answer = {"id": f"m{number}", "model": model, "role": "assistant", "usage": usage}
        call = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {}}
        said = {"type": "text", "text": f"Answer {number}."}
        records += [{"type": "assistant", "message": {**answer, "content": [each]}} for each in (call, said)]
    path = folder / "session.jsonl"
    lines = [
        json.dumps({**each, "uuid": f"u{at}", "sessionId": "s", "timestamp": f"2026-01-02T03:04:{at:02}.000Z"})
        for at, each in enumerate(records)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def view(path: Path, prices: Prices = PRICES, projection: Projection | None = None) -> UsageView:
    found = (projection or open_document(str(path)).project(EVERYTHING)).usages(prices)
    assert found is not None
    return found


def rounded(spent: Spent | None) -> tuple[Usage, float | None] | None:
    return (spent.usage, None if spent.cost is None else round(spent.cost, 9)) if spent is not None else None


def test_prices_apply_to_a_name_or_to_the_longest_beginning_of_one() -> None:
    assert Price(2.0, 10.0, 0.5).of(Usage(1_000_000, 100_000, 400_000)) == pytest.approx(1.2 + 0.2 + 1.0)
    assert Price(2.0, 10.0).of(Usage(1_000_000, 0, 2_000_000)) == pytest.approx(2.0)
    assert Price(2.0, 10.0).of(Usage(input=1)) is None
    found = Prices({"a*": Price(1, 1), "ab*": Price(2, 2), "abc": Price(3, 3)})
    prices = [found.price(model) for model in ("abc", "abcd", "ax", "b", None)]
    assert prices == [Price(3, 3), Price(2, 2), Price(1, 1), None, None]


def test_a_reply_counts_once_in_its_message_turn_model_and_file(tmp_path: Path) -> None:
    path = session(tmp_path, ("big", 10, 4, 3), ("small", 7, 0, 2), ("big", 1, 0, 1))
    found = view(path)
    first = Usage(10, 3, 4), 44e-6
    assert rounded(found.of(2)) == first
    assert found.of(3) is None
    assert [rounded(found.of_turn(number)) for number in (1, 2, 3)] == [first] * 3
    assert rounded(found.of_turn(4)) == (Usage(7, 2, 0), 9e-6)
    assert [(row.model, rounded(row.spent)) for row in found.by_model()] == [
        ("big", (Usage(11, 4, 4), 56e-6)),
        ("small", (Usage(7, 2, 0), 9e-6)),
    ]
    assert rounded(found.total()) == (Usage(18, 6, 4), 65e-6)
    assert view(path, Prices({"big": Price(1, 1)})).total() == Spent(Usage(18, 6, 4), None)


def test_a_filter_selects_what_counts(tmp_path: Path) -> None:
    document = open_document(str(session(tmp_path, ("big", 10, 4, 3), ("small", 7, 0, 2))))
    projection = document.project(EVERYTHING, where=parse("turn:2"))
    assert rounded(view(tmp_path, projection=projection).total()) == (Usage(7, 2, 0), 9e-6)


@pytest.mark.slow
def test_only_an_audience_that_sees_everything_sees_usage(tmp_path: Path) -> None:
    """Other numbers and models change no safe or brief output."""
    files = []
    for name, replies in (("a", ("big", 10, 4, 3)), ("b", ("other", 90_000, 0, 7))):
        (tmp_path / name).mkdir()
        files.append(session(tmp_path / name, replies, replies))
    for audience in (END_USER, BRIEF, Audience(strict=True), Audience(frozenset({Reveal.TOOL}))):
        assert open_document(str(files[0])).project(audience).usages() is None
    lines = [line for line in [*SAFE_SURFACES, *BRIEF_SURFACES] if line[0] in ("view", "show", "stats", "export")]
    for line in lines:
        one, other = (run(line[0], str(path), *line[1:]) for path in files)
        assert (one.out.replace("/a/", "/b/"), one.code) == (other.out, other.code), line
    stats = [json.loads(run("stats", "-d", "--json", str(path)).out) for path in files]
    assert [each["models"][0]["model"] for each in stats] == ["big", "other"]
    assert [each["tools"][0]["tokens"] for each in stats] == [26, 180_014]
