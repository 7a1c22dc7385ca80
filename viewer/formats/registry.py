"""Registries that import an entry's module on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from msgspec import Struct

Value = TypeVar("Value")


class Entry(Struct, frozen=True, gc=False):
    """One row of a registry."""

    name: str
    """The name in `--format`, `--to`, and machine-readable output."""
    module: str
    """The name of the module, relative to this package."""
    attribute: str
    """The attribute of the module that contains the value."""
    title: str = ""
    """The title for users."""
    detected_by: str = ""
    """The signs that identify the format; empty for a table, which has signatures."""
    ending: str = ""
    """The suffix of written files."""


class LazyRegistry(Mapping[str, Value], Generic[Value]):
    """Values by name, each loaded on first use. Names and titles are available without loading."""

    def __init__(
        self,
        *rows: Entry,
        convert: Callable[[Any], Value] = lambda value: value,
        more: Callable[[str], Any] = lambda name: None,
    ) -> None:
        """`convert` turns a module's attribute into a value. `more` finds values without a row, or returns None."""
        self._rows = {row.name: row for row in rows}
        self._convert = convert
        self._more = more
        self._values: dict[str, Value] = {}

    def title(self, name: str) -> str:
        return self._rows[name].title if name in self._rows else str(self._more(name).title)

    def detected_by(self, name: str) -> str:
        """Return the signs that identify the format."""
        row = self._rows[name]
        if row.detected_by:
            return row.detected_by
        from viewer.formats.engine.detect import reason  # lazy: only lists of formats need it

        return reason(self._load(row).signatures[0])

    def ending(self, name: str) -> str:
        return self._rows[name].ending

    def __getitem__(self, name: str) -> Value:
        if name not in self._rows:
            found = self._more(name)
            if found is None:
                raise KeyError(name)
            return self._convert(found)
        if name not in self._values:
            self._values[name] = self._convert(self._load(self._rows[name]))
        return self._values[name]

    def _load(self, row: Entry) -> Any:
        return getattr(import_module(f"viewer.formats.{row.module}"), row.attribute)

    def __contains__(self, name: object) -> bool:
        return name in self._rows or (isinstance(name, str) and self._more(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
