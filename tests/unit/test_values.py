"""Values are what dataclasses are: frozen or not, equal, hashed, copied, matched."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, fields, is_dataclass, replace

import pytest

from viewer.values import field, frozen, mutable


@frozen
class Point:
    """A place."""

    x: int
    y: int = 2
    """How far down."""
    marks: list[str] = field(default_factory=list)

    @property
    def sum(self) -> int:
        return self.x + self.y


@mutable
class Counted:
    number: int = 0


@frozen
class Nothing:
    """Holds nothing."""


@frozen
class Word:
    text: str


@dataclass(frozen=True, slots=True)
class Standard:
    x: int
    y: int = 2


def test_a_value_holds_what_it_was_made_with() -> None:
    point = Point(1)
    assert (point.x, point.y, point.marks, point.sum) == (1, 2, [], 3)
    assert Point(1).marks is not point.marks
    assert Point(y=5, x=4, marks=["a"]).marks == ["a"]
    assert Point.__doc__ == "A place."
    assert repr(point) == "Point(x=1, y=2, marks=[])"


@pytest.mark.parametrize("arguments", [(), (1, 2, [], 4)])
def test_wrong_arguments_are_refused(arguments: tuple[object, ...]) -> None:
    for _ in range(2):
        with pytest.raises(TypeError):
            Point(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Point(1, z=2)  # type: ignore[call-arg]


def test_what_is_not_known_here_is_refused_at_once() -> None:
    class Odd:
        x: int = field(default=1, compare=False)

    with pytest.raises(TypeError, match="default_factory"):
        frozen(Odd)


def test_frozen_means_frozen() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.z = 2  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_equal_values_are_equal_and_have_one_hash() -> None:
    assert Point(1) == Point(1, 2, []) != Point(1, 3)
    assert Word("a") == Word("a") != Word("b")
    assert {Word("a"), Word("a")} == {Word("a")}
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    others: list[object] = ["a", Nothing(), Standard(1), Point(1)]
    assert Word("a") not in others
    assert Standard(1) not in others[3:]


def test_a_mutable_value_changes_and_has_no_hash() -> None:
    counted = Counted()
    counted.number += 1
    assert counted == Counted(1)
    with pytest.raises(TypeError):
        hash(counted)
    with pytest.raises(AttributeError):
        counted.other = 1  # type: ignore[attr-defined]


def test_the_functions_of_dataclasses_take_them() -> None:
    point = Point(1, marks=["a"])
    assert replace(point, y=7) == Point(1, 7, ["a"])
    assert asdict(point) == {"x": 1, "y": 2, "marks": ["a"]}
    assert [each.name for each in fields(Point)] == ["x", "y", "marks"]
    assert is_dataclass(Nothing)
    assert asdict(Nothing()) == {}
    assert replace(Counted(1), number=2) == Counted(2)


def test_values_are_copied_and_matched() -> None:
    point = Point(1, marks=["a"])
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)
    match Nothing():
        case Nothing():
            return
    raise AssertionError
