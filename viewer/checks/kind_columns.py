"""Values that depend only on the kind of a message, as columns: computed once per kind, not once per batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from viewer.numeric import NDArray, np
from viewer.tools.schema_columns import UNKNOWN

if TYPE_CHECKING:
    from viewer.tools.argument_types import ArgumentTypes
    from viewer.tools.declarations import Declarations

_UNSET = np.iinfo(np.int64).min
_LEAST = 256
"""The minimum number of kinds for which there is room."""


class KindColumn:
    """One value for each kind. Each value is computed when a message of its kind is first seen."""

    def __init__(self) -> None:
        self._values = np.full(0, _UNSET, np.int64)

    def of(self, kinds: NDArray[np.uint32], value_of: Callable[[int], int]) -> NDArray[np.int64]:
        """Return the value of each message, given its kind. `value_of` runs once per kind, in the order of the
        messages."""
        if not len(kinds):
            return np.zeros(0, np.int64)
        most = int(kinds.max())
        if most >= len(self._values):
            more = np.full(max(_LEAST, 2 * most) - len(self._values), _UNSET, np.int64)
            self._values = np.concatenate((self._values, more))
        found: NDArray[np.int64] = self._values[kinds]
        unset = found == _UNSET
        if unset.any():
            new = _distinct(kinds[unset])
            self._values[new] = [*map(value_of, new.tolist())]
            found = self._values[kinds]
        return found


def _distinct(kinds: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the distinct kinds in the order of their first messages."""
    firsts = np.full(int(kinds.max()) + 1, _UNSET)
    firsts[kinds[::-1]] = np.arange(len(kinds))[::-1]
    distinct = np.flatnonzero(firsts != _UNSET)
    return distinct[firsts[distinct].argsort()]


class KindColumns:
    """The columns that the batches of one transcript share."""

    def __init__(self) -> None:
        self.answers = KindColumn()
        """The results of the header predicates."""
        self.codes = KindColumn()
        """The `KindCode`, as a number."""
        self.tools = KindColumn()
        """For calls, the numbers of their tools in the ledger."""
        self.bare_tools = KindColumn()
        """A number for each bare tool name."""
        self._tool_numbers: dict[str, int] = {}
        self.types: list[ArgumentTypes] = []
        """The types of the arguments of all tools, by their number."""
        self._parts = KindColumn()
        self._declared: tuple[Declarations | None, int] = (None, 0)
        """The declarations to which `_parts` applies, and their version."""

    def number_tool(self, bare_name: str) -> int:
        """Return the number of a bare tool name. Equal numbers mean equal names."""
        return self._tool_numbers.setdefault(bare_name, len(self._tool_numbers))

    def parts(self, declared: Declarations) -> KindColumn:
        """For calls, the part numbers of the schemas of their tools, under these declarations."""
        known, version = self._declared
        if known is not declared or version != declared.version:
            self._parts, self._declared = KindColumn(), (declared, declared.version)
            self.types.clear()
        return self._parts

    def number_types(self, types: ArgumentTypes | None) -> int:
        """Return the number of the types of a tool's arguments, or `UNKNOWN` for None."""
        if types is None:
            return UNKNOWN
        self.types.append(types)
        return len(self.types) - 1
