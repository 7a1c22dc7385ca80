"""Lookup of plug-in tables for the format registry. The program connects it to the plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Plugged:
    """Lookup of tables from other distributions. It finds nothing until `connect` is called."""

    def __init__(self) -> None:
        self.table: Callable[[str], Any] = lambda name: None
        """A function that finds a table by name."""
        self.tables: Callable[[], list[Any]] = list

    def connect(self, table: Callable[[str], Any], tables: Callable[[], list[Any]]) -> None:
        """Set the functions that find a table by name and list all tables."""
        self.table, self.tables = table, tables


PLUGGED = Plugged()
