"""Cases in a batch: every value is tested with fresh fixtures, and a failure names its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases import each, targets_of

NAMES = [f"sample {number}" for number in range(200)]


def batches(function: object) -> list[pytest.Mark]:
    return [mark for mark in getattr(function, "pytestmark") if mark.name == "parametrize"]  # noqa: B009


def called_with(count: int, quick: int = 1, test: int = 1) -> dict[str, list[int]]:
    """Return the numbers that each target passes to a test, by the marks of the batches."""
    seen: list[int] = []

    @each("number", range(count), quick=quick, test=test)
    def collect(number: int) -> None:
        seen.append(number)

    found: dict[str, list[int]] = {"quick": [], "slow": [], "lab": []}
    for batch in batches(collect)[0].args[1]:
        collect(number=batch.values[0])
        found[batch.marks[0].name if batch.marks else "quick"] += seen
        seen.clear()
    return found


def test_every_value_is_in_one_batch() -> None:
    found = called_with(100, quick=10, test=2)
    assert sorted(number for numbers in found.values() for number in numbers) == list(range(100))
    assert 0 < len(found["quick"]) < len(found["slow"]) < 60 < 100


def test_all_values_are_quick_by_default() -> None:
    assert called_with(40)["quick"] and not called_with(40)["slow"] and not called_with(40)["lab"]


def test_a_new_name_moves_no_other_name() -> None:
    before = targets_of(NAMES, 20, 4)
    assert {name: target for name, target in targets_of(["new", *NAMES], 20, 4).items() if name != "new"} == before


def test_a_target_can_be_empty() -> None:
    assert set(targets_of(NAMES, 0, 1).values()) == {"slow"}
    assert set(targets_of(NAMES, 0, 0).values()) == {"lab"}


def test_at_least_one_case_is_selected() -> None:
    assert sorted(targets_of(["a", "b"], 1000, 1000).values()) == ["lab", "quick"]


def test_a_failure_names_its_value() -> None:
    @each("number", [1, 2, 3])
    def fail(number: int) -> None:
        assert number != 2

    (batch,) = batches(fail)[0].args[1]
    with pytest.raises(AssertionError) as caught:
        fail(number=batch.values[0])
    assert caught.value.__notes__ == ["OCML_ONLY='2'"]


class Home:
    name = "home"


@each("place, word", [(0, "one"), (1, "two"), (2, "three")])
async def test_each_value_has_its_own_fixtures(
    place: int, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Home.name == "home" and not list(tmp_path.iterdir())
    monkeypatch.setattr(Home, "name", word)
    (tmp_path / word).touch()
    assert str(tmp_path).endswith(str(place))


def test_patches_are_undone() -> None:
    assert Home.name == "home"
