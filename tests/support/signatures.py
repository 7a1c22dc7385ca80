"""The module `viewer.formats.signatures`, made from the tables of the record formats."""

from __future__ import annotations

from collections import Counter
from pprint import pformat
from textwrap import indent

from viewer.formats import record_formats
from viewer.formats.engine.detect import Row, rows_of

_HEAD = '''"""The signatures of all record formats. Generated from their tables by a test; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.formats.engine.detect import Row

'''
_MANY = 6
"""The number of words from which a repeated list of words gets a name."""


class _Name(str):
    """A name, printed without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def made() -> str:
    """Return the text of the module."""
    rows = rows_of(record_formats())
    often = Counter(words for row in rows for _, words in row[3][2])
    lists = [words for words, count in often.items() if count > 1 and len(words) >= _MANY]
    names = {words: _Name(f"_WORDS_{number}") for number, words in enumerate(lists, 1)}
    parts = [f"{name} = (\n{indent(_printed(words)[1:-1], '    ')}\n)  # fmt: skip\n" for words, name in names.items()]
    lines = "\n".join(f"{_printed(_with_names(row, names))}," for row in rows)
    return f"{_HEAD}{''.join(parts)}\nROWS: tuple[Row, ...] = (\n{indent(lines, '    ')}\n)  # fmt: skip\n"


def _printed(value: object) -> str:
    return pformat(value, width=110, compact=True)


def _with_names(row: Row, names: dict[tuple[str, ...], _Name]) -> object:
    """Return a row with names in place of repeated lists of words."""
    format, batches, needs, (score, need, any_of, *rest) = row
    return format, batches, needs, (score, need, tuple((at, names.get(words, words)) for at, words in any_of), *rest)
