"""Hash tables are filled and searched as `Columns` requires. Anything other than a table is refused."""

from __future__ import annotations

from array import array

import pytest

from tests.support.native import accelerator, needs_native
from viewer.columns.api import Column

pytestmark = needs_native


def column(*values: int) -> Column:
    return array("I", values)


def test_a_hash_is_found_behind_others_that_share_its_slot() -> None:
    entries, hashes = column(0, 0, 0, 0), column(0, 0, 0, 0)
    accelerator().fill_table(entries, hashes, column(7, 8, 9), column(3, 7, 11))
    assert (entries.tolist(), hashes.tolist()) == ([8, 9, 0, 7], [7, 11, 0, 3])
    assert accelerator().find_hashes(entries, hashes, column(11, 3, 7, 15, 2)) == b"\1\1\1\0\0"


def test_what_is_no_table_is_refused() -> None:
    for sizes in ((0, 0), (3, 3), (4, 2), (2, 4)):
        entries, hashes = (column(*[0] * size) for size in sizes)
        with pytest.raises(ValueError, match="not a table"):
            accelerator().fill_table(entries, hashes, column(), column())
        with pytest.raises(ValueError, match="not a table"):
            accelerator().find_hashes(entries, hashes, column())


def test_a_full_table_ends_every_search() -> None:
    entries, hashes = column(1, 2), column(5, 6)
    assert accelerator().find_hashes(entries, hashes, column(6, 7)) == b"\1\0"
    with pytest.raises(ValueError, match="full"):
        accelerator().fill_table(entries, hashes, column(3), column(7))
    with pytest.raises(ValueError, match="as many"):
        accelerator().fill_table(entries, hashes, column(3), column())
    with pytest.raises(BufferError):
        accelerator().fill_table(bytes(entries), bytes(hashes), column(), column())  # type: ignore[arg-type]
