"""Registries that import an entry's module on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

from msgspec import Struct

Value = TypeVar("Value")


class Entry(Struct, frozen=True, gc=False):
    """One row of a registry."""

    name: str
    """The name in `--format`, `--to` and machine output."""
    module: str
    """The module in this package."""
    attribute: str
    """The attribute of the module."""
    title: str = ""
    """The title for users."""
    ending: str = ""
    """The suffix of written files."""


class LazyRegistry(Mapping[str, Value], Generic[Value]):
    """Values by name, each loaded on first use; names and titles are available without loading."""

    def __init__(self, *rows: Entry) -> None:
        self._rows = {row.name: row for row in rows}
        self._values: dict[str, Value] = {}

    def title(self, name: str) -> str:
        """The title for users."""
        return self._rows[name].title

    def ending(self, name: str) -> str:
        """The suffix of written files."""
        return self._rows[name].ending

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
