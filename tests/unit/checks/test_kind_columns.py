"""Values of kinds are computed once, in the order of the messages."""

from __future__ import annotations

import random

import numpy as np

from viewer.checks.kind_columns import KindColumn, KindColumns
from viewer.tools.declarations import Declarations


def test_each_value_is_computed_once_in_the_order_of_the_messages() -> None:
    chance = random.Random(1)
    column, known, asked = KindColumn(), dict[int, int](), list[int]()

    def value_of(kind: int) -> int:
        asked.append(kind)
        return 7 * kind - 20

    for size in (0, 1, 5, 300, 40):
        kinds = [chance.randrange(1 + size * 3) for _ in range(size)]
        known.update(dict.fromkeys(kinds, 0))
        found = column.of(np.array(kinds, np.uint32), value_of)
        assert found.tolist() == [7 * kind - 20 for kind in kinds]
        assert asked == [*known]
    columns, declared = KindColumns(), Declarations()
    parts = columns.parts(declared)
    assert columns.parts(declared) is parts
    assert declared.read('{"name": "f", "parameters": {}}')
    assert columns.parts(declared) is not parts
    assert columns.parts(declared) is not columns.parts(Declarations())
