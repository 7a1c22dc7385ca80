"""File lists: the catalog, the watch on its folder, and the files that the session list covers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.model.visibility import Audience
from viewer.reading.format import ReadOptions
from viewer.sources.files import is_directory

if TYPE_CHECKING:
    from textual.worker import Worker

    from viewer.sources.folder import Found
    from viewer.sources.sessions import Surroundings
    from viewer.tui.files.catalog import Catalog
    from viewer.tui.files.facts import Reading
    from viewer.tui.files.folder_watch import FolderWatch
    from viewer.tui.files.screen import Choice


Offer = Callable[[list["Found"]], object]
"""A function that receives newly found files."""


class Covered(Struct, frozen=True):
    """The state below the session list: the open files and the list that they were opened from."""

    paths: list[str]
    place: int
    catalog: Catalog | None
    watch: FolderWatch | None


class FileLists:
    """Owns the catalog. The modules of the list are imported when a list is first shown."""

    def __init__(
        self,
        audience: Audience,
        format: str | None,
        reading: ReadOptions | None,
        places: Mapping[str, Iterable[str]],
        *,
        follows: bool,
    ) -> None:
        """`places` are additional folders to search for sessions, by agent."""
        self.catalog: Catalog | None = None
        """The catalog of the list to return to when a file is left; None if leaving it ends the app."""
        self._given = audience, format, reading
        self._places = places
        self._follows = follows
        self._watch: FolderWatch | None = None
        self._finder: Worker[None] | None = None
        """The worker that looks for new files."""
        self._covered: Covered | None = None

    def open(self, paths: Sequence[str]) -> Catalog:
        """Return the catalog to show: the current one, or else the catalog of the named files or the folder."""
        self._watch = None
        if self.catalog is None:
            self.catalog = catalog_of(paths, self._reading(), self._around(), follows=self._follows)
        return self.catalog

    def choose(self, choice: Choice) -> None:
        """Watch the list's folder for new files while one of its files is on the screen."""
        from viewer.tui.files.folder_watch import FolderWatch
        from viewer.tui.files.listing import FileListing

        listing = self.catalog.listing if self.catalog else None
        if isinstance(listing, FileListing) and listing.folder is not None:
            self._watch = FolderWatch(FileListing(listing.folder), choice.known)

    def look_for_files(
        self, start: Callable[[Callable[[], Coroutine[None, None, None]]], Worker[None]], offer: Offer
    ) -> None:
        """Start looking for new files in the watched folder, unless the previous search is still running."""
        if self._watch is not None and (self._finder is None or self._finder.is_finished):
            self._finder = start(partial(self._find_files, self._watch, offer))

    async def _find_files(self, watch: FolderWatch, offer: Offer) -> None:
        """List part of the folder in a thread, because it may be large. Offer new files, newest last."""
        new = await asyncio.to_thread(watch.step)
        if new and watch is self._watch:
            offer(new)

    @property
    def watched(self) -> list[str]:
        """The paths of the files in the watched folder."""
        return [file.path for file in self._watch.files] if self._watch is not None else []

    # The session list.

    @property
    def covered(self) -> Collection[str]:
        """The files that stay open below the session list."""
        return self._covered.paths if self._covered is not None else ()

    def cover(self, paths: Sequence[str], place: int) -> None:
        """Replace the current list with the session list until the operator leaves it."""
        if self._covered is None:
            self._covered = Covered([*paths], place, self.catalog, self._watch)
            self.catalog = catalog_of((), self._reading(), self._around(), follows=False)

    def uncover(self) -> Covered | None:
        """Leave the session list, and return what was open below it, if anything."""
        covered, self._covered = self._covered, None
        if covered is not None:
            self.catalog, self._watch = covered.catalog, covered.watch
        return covered

    def _reading(self) -> Reading:
        from viewer.tui.files.facts import Reading

        return Reading(*self._given)

    def _around(self) -> Surroundings:
        from viewer.sources.sessions import Surroundings

        return Surroundings(more=self._places)


def catalog_of(paths: Sequence[str], reading: Reading, around: Surroundings, *, follows: bool) -> Catalog:
    """Return a catalog of agent sessions, of the transcripts of a folder, or of several files."""
    from viewer.tui.files.catalog import Catalog
    from viewer.tui.files.listing import FileListing, SessionListing

    if not paths:
        return Catalog(SessionListing(around), "sessions on this machine", reading, "newest first", newest_first=False)
    if is_directory(paths[0]):
        return Catalog(FileListing(paths[0]), paths[0], reading, "by name", newest_first=True)
    listing = FileListing(None, paths, awaits=follows)
    return Catalog(listing, "named files", reading, "as named", newest_first=False)
