"""Tables that say where each value stands, so that its module is imported when the value is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class Entry(NamedTuple):
    """One line of such a table."""

    name: str
    """As in `--format`, `--to` and machine output."""
    module: str
    """In this package."""
    attribute: str
    """Its name for the value."""
    title: str = ""
    """What a person calls it."""


class LazyRegistry(Mapping[str, Value], Generic[Value]):
    """Values by name, each loaded when it is asked for; what names and titles there are is known without that."""

    def __init__(self, *rows: Entry) -> None:
        self._rows = {row.name: row for row in rows}
        self._values: dict[str, Value] = {}

    def title(self, name: str) -> str:
        """What a person calls it."""
        return self._rows[name].title

    def __getitem__(self, name: str) -> Value:
        if name not in self._values:
            row = self._rows[name]
            self._values[name] = getattr(import_module(f"viewer.formats.{row.module}"), row.attribute)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
