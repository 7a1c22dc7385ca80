"""`CONTAINERS`, the table of the kinds of files and folders that contain transcripts, and how each is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from viewer.errors import ViewerError

if TYPE_CHECKING:
    from viewer.sources.containers.parts import Parts
    from viewer.sources.containers.source import ContainerSource

_LONGEST_FIRST = 4096


class Place(Struct, frozen=True):
    """The facts about a file or folder that the table checks."""

    path: str
    is_folder: bool
    first: bytes = b""
    """The first bytes of a file."""


class Container(Struct, frozen=True):
    """A kind of container."""

    format: str
    """The format of the lines."""
    note: str
    """A note for the status line on how the container is read."""
    fits: Callable[[Place], bool]
    module: str
    """The name of a module in this package."""
    read: str
    """The name of a function that takes a path and an item and returns the lines."""
    items: str = ""
    """The name of a function that takes a path and returns the names of its items; empty if there are none."""
    listed: str = ""
    """The name of a function that returns the format of a path, or an empty string to omit the path from lists. Without
    a function, every path is listed."""
    numbered: bool = False
    """True if all lines are read, and an item may also be the number or the ID of a transcript in them."""


def _fits(module: str, name: str) -> Callable[[Place], bool]:
    """Return a test that runs a function of a module. The module is imported only when the test runs."""

    def fits(place: Place) -> bool:
        return bool(getattr(_module(module), name)(place.path, place.first))

    return fits


def _is_archive(place: Place) -> bool:
    return place.first.startswith((b"PK\x03\x04", b"PK\x05\x06")) and _fits("inspect_log", "is_log")(place)


def _is_export(place: Place) -> bool:
    return place.first.startswith(b"PK\x03\x04") and _fits("chatgpt_export", "is_export")(place)


def _is_parquet(place: Place) -> bool:
    return place.first.startswith(b"PAR1")


def _is_database(place: Place) -> bool:
    return place.first.startswith(b"SQLite format 3\0")


def _is_chat_log(place: Place) -> bool:
    return (
        place.first.lstrip().startswith(b"{")
        and b'"kind"' in place.first[:64]
        and _fits("vscode_chat", "is_log")(place)
    )


def _is_cassette(place: Place) -> bool:
    first = place.first
    is_list = first.lstrip().startswith(b"-") and (b"request" in first or b"response" in first)
    is_other = b"interactions" in first or b'"scope"' in first[:64] or first.startswith((b"when:", b"httprr trace v"))
    is_other = is_other or (first.startswith(b"\x1f\x8b") and place.path.endswith(".httprr.gz"))
    may_be = is_list or is_other
    return may_be and _fits("cassette", "is_cassette")(place)


def _is_event_folder(place: Place) -> bool:
    return place.is_folder and _fits("folders", "is_event_folder")(place)


def _may_be_session(path: str) -> bool:
    """True if a file is named `session/PROJECT/ID.json`. The test is inexpensive, because it runs for every file."""
    parts = os.path.abspath(path).rsplit(os.sep, 3)  # noqa: PTH100 (pathlib takes long to load)
    return path.endswith(".json") and parts[-3:-2] == ["session"]


def _is_storage(place: Place) -> bool:
    return (place.is_folder or _may_be_session(place.path)) and _fits("folders", "is_storage")(place)


CONTAINERS = (
    Container("inspect", "read from a ZIP archive", _is_archive, "inspect_log", "read_log", "items"),
    Container(
        "chatgpt",
        "read from a ZIP archive",
        _is_export,
        "chatgpt_export",
        "read_export",
        listed="format_of",
        numbered=True,
    ),
    Container("rows", "read from Parquet", _is_parquet, "parquet", "read_parquet", "items", "listed_as"),
    Container("goose", "read from a database", _is_database, "databases", "read_database", "items", "listed_as"),
    Container("copilot-cli", "read from a log of changes", _is_chat_log, "vscode_chat", "read_log"),
    Container("har", "read from a cassette", _is_cassette, "cassette", "read_cassette"),
    Container("openhands", "read from a folder", _is_event_folder, "folders", "read_events"),
    Container("opencode", "read from a folder", _is_storage, "folders", "read_storage", "items"),
)


def container_at(path: str) -> Container | None:
    """Return the kind of container at a path, or None if there is none."""
    place = _place(path)
    return next((row for row in CONTAINERS if row.fits(place)), None) if place else None


def open_container(container: Container, path: str, item: str, name: str) -> ContainerSource:
    """Open a container, or one item of it. `name` is the name that the user gave."""
    from viewer.sources.containers.source import ContainerSource  # few inputs need it

    try:
        parts = cast("Callable[[str, str], Parts]", getattr(_module(container.module), container.read))(path, item)
    except OSError as error:
        raise ViewerError(f"{name} cannot be read: {error.strerror or 'input error'}") from None
    return ContainerSource(name, parts, container.note, item if container.numbered else "")


def items_of(container: Container, path: str) -> Iterator[str]:
    """Yield the names of a container's items that can be read."""
    if container.items:
        with suppress(ViewerError, OSError):
            yield from cast("Callable[[str], Iterable[str]]", getattr(_module(container.module), container.items))(path)


def listed_format(container: Container, path: str) -> str:
    """Return the format of a container for a list of files, or an empty string to omit the container from the list."""
    if not container.listed:
        return container.format
    return str(getattr(_module(container.module), container.listed)(path))


def _module(name: str) -> object:
    return import_module(f"viewer.sources.containers.{name}")


def _place(path: str) -> Place | None:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (pathlib takes long to load)
        if stat.S_ISDIR(mode):
            return Place(path, True)
        if not stat.S_ISREG(mode):
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            return Place(path, False, file.read(_LONGEST_FIRST))
    except (OSError, ValueError):
        return None
