"""Choose the catalog for the inputs on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.sources.files import is_directory
from viewer.sources.sessions import Surroundings
from viewer.tui.files.catalog import Catalog
from viewer.tui.files.facts import Reading
from viewer.tui.files.listing import FileListing, SessionListing


def catalog_of(paths: Sequence[str], reading: Reading, around: Surroundings, *, follows: bool) -> Catalog:
    """Return a catalog of agent sessions, of the transcripts of a folder, or of several files."""
    if not paths:
        return Catalog(SessionListing(around), "sessions on this machine", reading, "newest first", newest_first=False)
    if is_directory(paths[0]):
        return Catalog(FileListing(paths[0]), paths[0], reading, "by name", newest_first=True)
    listing = FileListing(None, paths, awaits=follows)
    return Catalog(listing, "named files", reading, "as named", newest_first=False)
