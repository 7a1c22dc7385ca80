"""Format plug-ins: load and check tables from other distributions on demand. Plug-ins never decide visibility."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from msgspec import Struct
from msgspec.structs import replace

from viewer.formats import BUILT_IN
from viewer.formats.places import Place
from viewer.formats.tables.model import RecordFormat, Signature
from viewer.plugins.hooks import Contained, guarded
from viewer.syntax.characters import plain_name

GROUP = "ocmlview.formats"
API_VERSION = 1
HIGHEST_SCORE = 94
LONGEST_TITLE = 40
_LONGEST_NAME = 40


class Sample(Struct, frozen=True):
    """A sample file, and a JSON file that lists which of its text the user did and did not see: `{"seen": [...],
    "hidden": [...]}`."""

    path: str
    expected: str


class PluginFormat(Struct, frozen=True):
    """The value that a plug-in registers."""

    table: RecordFormat
    samples: tuple[Sample, ...]
    places: tuple[Place, ...] = ()
    api_version: int = API_VERSION


class Plugin(Struct, frozen=True):
    """A loaded plug-in."""

    name: str
    distribution: str
    version: str
    format: PluginFormat

    @property
    def table(self) -> RecordFormat:
        """The plug-in's table under the plug-in's name, with guarded hooks and capped scores."""
        table = self.format.table
        signatures = tuple(_capped(signature) for signature in table.signatures)
        title = plain_name(table.title, LONGEST_TITLE)
        hooks = replace(table.hooks, renew=lambda: guarded(table.hooks))
        return replace(table, name=self.name, title=title, signatures=signatures, hooks=hooks)


class Plugins:
    """The registered plug-ins. A broken plug-in is reported in one sentence and never ends the program."""

    def __init__(self) -> None:
        self.is_off = False
        """True if the command line turned plug-ins off."""
        self._allows: Callable[[], bool] | None = None
        self.failures: list[str] = []
        """One sentence for each plug-in that failed to load."""
        self._loaded: dict[str, Plugin | None] = {}

    @property
    def is_connected(self) -> bool:
        """True if `connect` has been called, so the settings are available."""
        return self._allows is not None

    def connect(self, allows: Callable[[], bool]) -> None:
        """Set the function that returns whether the settings allow plug-ins. It is called when a plug-in is needed."""
        self._allows = allows

    def turn_on(self) -> None:
        """Allow plug-ins again."""
        self.is_off = False

    def turn_off(self) -> None:
        """Prevent plug-ins from being loaded."""
        self.is_off = True

    def get(self, name: str) -> Plugin | None:
        """Return a plug-in by name, or None if it does not exist or is broken. A plug-in cannot replace a built-in
        format."""
        if name not in self._loaded:
            entry = next((entry for entry in self._entries() if entry.name == name), None)
            self._loaded[name] = self._load(entry) if entry and name not in BUILT_IN else None
        return self._loaded[name]

    def all(self) -> list[Plugin]:
        """Return all plug-ins that can be loaded."""
        found = (self.get(entry.name) for entry in self._entries())
        return [plugin for plugin in found if plugin is not None]

    def table(self, name: str) -> RecordFormat | None:
        """Return the table of a plug-in, or None if the plug-in does not exist or is broken."""
        plugin = self.get(name)
        return plugin.table if plugin else None

    def tables(self) -> list[RecordFormat]:
        """Return the tables of all plug-ins that can be loaded."""
        return [plugin.table for plugin in self.all()]

    def _entries(self) -> Iterator[EntryPoint]:
        if not self.is_off and (self._allows is None or self._allows()):
            yield from _registered(tuple(sys.path))

    def _load(self, entry: EntryPoint) -> Plugin | None:
        contained = Contained()
        with contained:
            value = entry.load()
        reason = f"it raised {contained.failure}" if contained.failure else _fault_of(value)
        name = plain_name(entry.name, _LONGEST_NAME)
        if reason:
            self.failures.append(f"The format plug-in {name} is ignored: {reason}.")
            return None
        owner = entry.dist
        return Plugin(entry.name, owner.name if owner else "", owner.version if owner else "", value)


PLUGINS = Plugins()


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def _registered(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of all distributions on the module path, by name. Finding them takes milliseconds, and
    they are needed at each step of an input whose format is unknown."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


def _capped(signature: Signature) -> Signature:
    return replace(signature, score=min(signature.score, HIGHEST_SCORE))


def _fault_of(value: object) -> str:
    """Return why a value is not a valid plug-in, or an empty string if it is one."""
    if not isinstance(value, PluginFormat):
        return "its entry point is not a PluginFormat"
    if value.api_version != API_VERSION:
        return f"it needs version {value.api_version} of the plug-in interface"
    if not isinstance(value.table, RecordFormat) or not value.table.signatures or not value.table.records:
        return "its table has no signature or no rule"
    return "" if value.samples else "it has no sample"
