"""Members of objects are counted correctly, whether for a whole block or one object at a time."""

from __future__ import annotations

import random
import re

import numpy as np

from tests.support.native_rows import joined
from tests.unit.native.test_objects import bodies_for
from viewer.scan.json_members import UNCERTAIN, most_members
from viewer.syntax.json_text import counted_object, plain_object

SPACED = re.compile(rb"[ \t\r\n]:")


def most_in(body: bytes, longest: int) -> int:
    is_uncertain = len(body) > longest or b"\\u" in body or SPACED.search(body)
    return UNCERTAIN if is_uncertain else body.count(b'":')


def test_members_are_counted_together_as_one_by_one() -> None:
    counted = 0
    for seed in range(30):
        chance = random.Random(seed)
        bodies = [*bodies_for(chance, 20), b'{"a":1,"a":2}', b'{"a" :1}', b'{"\\u0061":1}', b":", b"", b'"\\']
        data, bounds = joined(bodies)
        starts, ends = np.frombuffer(bounds, np.int64).reshape(-1, 2).T
        found = most_members(np.frombuffer(data, np.uint8), starts, ends, 60).tolist()
        assert found == [most_in(body, 60) for body in bodies], seed
        for body, count in zip(bodies, found, strict=True):
            value = counted_object(body, count) if count >= 0 else None
            if value is not None:
                counted += 1
                assert repr(value) == repr(plain_object(body)), body
    assert counted > 100
