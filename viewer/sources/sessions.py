"""Find agent sessions where agents store them. Only these places are searched, and only on request."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from viewer.formats.places import PLACES, Place
from viewer.sources.files import why_read_once

LIVE_SECONDS = 30
"""The number of seconds after its last change during which a session is considered live."""
FIRST_LINE = 4 * 1024
"""The number of bytes to read from the start of a file to find the working directory, which is usually named there."""
MOST_FOLDERS = 20_000
_DEEPEST = 8
_UNNAMED = re.compile(r"[^A-Za-z0-9]")
_CWD = re.compile(rb'"(?:cwd|working_directory|workingDirectory|directory)"\s*:\s*("(?:[^"\\]|\\.){1,4096}")')


class Session(Struct, frozen=True):
    """One session in a file, a folder, or a database."""

    agent: str
    path: str
    """`FILE:ITEM` for a session in a database."""
    size: int
    """The size in bytes; 0 if unknown."""
    modified: float
    """The modification time, in seconds since 1970."""
    directory: str | None
    """The working directory, if the path or the start of the file names it."""
    format: str | None = None
    """The format of the file, if it is specific to this agent."""

    def is_live(self, now: float) -> bool:
        """True if the session has changed recently, so it is probably still running."""
        return now - self.modified < LIVE_SECONDS


class Found(Struct, frozen=True):
    """A folder that is searched for the sessions of an agent, and whether it exists."""

    agent: str
    folder: str
    exists: bool


class Surroundings:
    """The environment that determines the places: the home folder, the current directory, and environment variables."""

    def __init__(
        self,
        home: Path | None = None,
        here: Path | None = None,
        variables: Mapping[str, str] | None = None,
        more: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """`more` adds folders for each agent."""
        self.home = home or Path(os.path.expanduser("~"))  # noqa: PTH111 (Path.home raises without a home)
        self.here = here or Path.cwd()
        self._variables = os.environ if variables is None else variables
        self._more = more or {}
        self.steps = {str(folder): steps for steps, folder in enumerate((self.here, *self.here.parents))}
        """The current directory and its parents, each with the number of levels above the current directory."""
        self.dashed = {_UNNAMED.sub("-", folder): folder for folder in reversed(self.steps)}
        """The directories in `steps`, by their paths with every special character replaced by a dash."""

    def folders(self, place: Place) -> list[Path]:
        """Return the existing folders of a place: the first one or, for some agents, the current directory and its
        parents; and those that the user added."""
        named = [path for folder in place.folders if (path := self._folder(folder, place)) is not None]
        first = [path for path in named if path.is_dir()][:1]
        if place.ancestors:
            first = [*self._above()]
        return first + [Path(folder) for folder in self._more.get(place.agent, ()) if Path(folder).is_dir()]

    def named(self, place: Place) -> list[Path]:
        """Return all folders that a place names here, whether or not they exist."""
        return [path for folder in place.folders if (path := self._folder(folder, place)) is not None]

    def _folder(self, folder: str, place: Place) -> Path | None:
        if folder.startswith("$"):
            name, _, rest = folder[1:].partition("/")
            value = self._variables.get(name)
            return Path(value, rest) if value else None
        if folder.startswith("~"):
            return self.home / folder[2:]
        return self.here / folder if place.here else Path(folder)

    def _above(self) -> Iterator[Path]:
        """Yield the current directory and its parents, up to the root of the repository."""
        for folder in (self.here, *self.here.parents):
            yield folder
            if (folder / ".git").exists() or folder == self.home:
                return


def find_sessions(
    around: Surroundings, agents: frozenset[str] = frozenset(), *, archived: bool = False
) -> list[Session]:
    """Return all sessions, sorted: the current directory's sessions, then its parents', then all others. Within
    each group, the newest comes first."""
    found: dict[str, Session] = {}
    for place in PLACES:
        if agents and place.agent not in agents:
            continue
        for folder in around.folders(place):
            patterns = (*place.patterns, *place.archived) if archived else place.patterns
            for path, status in _matches(folder, patterns):
                for session in _sessions(place, folder, path, status, around):
                    key = _key(place, folder, session)
                    if key not in found or _is_better(session, found[key]):
                        found[key] = session
    return sorted(found.values(), key=lambda session: (group_of(session, around), -session.modified, session.path))


def _key(place: Place, folder: Path, session: Session) -> str:
    """Return a key shared by all copies of a session: its name inside the folder of the agent."""
    if not place.stored_twice:
        return session.path
    name = session.path.rsplit("/", 1)[-1]
    return f"{folder}:{name.split(':', 1)[1] if _is_in_database(session) else name.rsplit('.', 1)[0]}"


def _is_in_database(session: Session) -> bool:
    return ".db:" in session.path


def _is_better(one: Session, other: Session) -> bool:
    """True if copy `one` of a session is newer than the other copy, or equally new and in a database."""
    return (one.modified, _is_in_database(one)) > (other.modified, _is_in_database(other))


def group_of(session: Session, around: Surroundings) -> int:
    """Return 0 for the current directory, the number of levels up for a parent, and a large number for any other
    directory."""
    return around.steps.get(session.directory or "", len(around.steps) + 1)


def newest_session(around: Surroundings, within: float) -> Session | None:
    """Return the session to follow among those that changed within this many seconds: the newest one of the current
    directory, or else the newest of all. Return None if there is none."""
    now = time.time()
    recent = [session for session in find_sessions(around) if now - session.modified <= within]
    running = [session for session in recent if not why_read_once(session.path)]
    here = [session for session in running if group_of(session, around) == 0]
    return max(here or running, key=lambda session: session.modified, default=None)


def places(around: Surroundings) -> list[Found]:
    """Return every folder that is searched from here, and whether it exists."""
    return [
        Found(place.agent, str(folder), folder.is_dir())
        for place in PLACES
        for folder in dict.fromkeys([*around.named(place), *around.folders(place)])
    ]


def _sessions(place: Place, top: Path, path: str, status: os.stat_result, around: Surroundings) -> Iterator[Session]:
    """Yield the session in a file or folder, or the sessions in a database."""
    if not path.endswith(".db"):
        yield _session(place, top, path, status, around)
        return
    from viewer.sources.containers.databases import stored_sessions  # few agents have a database

    for stored in stored_sessions(path):
        if stored.is_main:
            modified = stored.modified or status.st_mtime
            yield Session(place.agent, f"{path}:{stored.id}", 0, modified, stored.directory)


def _session(place: Place, top: Path, path: str, status: os.stat_result, around: Surroundings) -> Session:
    directory = around.dashed.get(_first_folder(top, path)) if place.names_folder else None
    if place.here:
        directory = str(around.here) if not place.ancestors else path.rpartition(os.sep)[0]
    if directory is None and stat.S_ISREG(status.st_mode):
        directory = _stated_folder(path)
    is_known = stat.S_ISREG(status.st_mode) and not place.here and not place.stored_twice
    format = place.agent if is_known else None
    return Session(place.agent, path, status.st_size, status.st_mtime, directory, format)


def _first_folder(top: Path, path: str) -> str:
    return path[len(str(top)) :].lstrip(os.sep).partition(os.sep)[0]


def _stated_folder(path: str) -> str | None:
    """Return the working directory named in the first bytes of a file, or None if they name none."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (pathlib takes long for many files)
            found = _CWD.search(file.read(FIRST_LINE))
        return str(json.loads(found[1])) if found else None
    except (OSError, ValueError):
        return None


def _matches(top: Path, patterns: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the matching files and folders with their status, except symbolic links and anything that another user
    owns."""
    for pattern in patterns:
        yield from _match(str(top), tuple(pattern.split("/")), [MOST_FOLDERS], _DEEPEST)


def _match(folder: str, parts: tuple[str, ...], budget: list[int], depth: int) -> Iterator[tuple[str, os.stat_result]]:
    if depth < 0 or budget[0] <= 0:
        return
    budget[0] -= 1
    name, rest = parts[0], parts[1:]
    if name == "**":
        yield from _match(folder, rest, budget, depth)
        for entry in _entries(folder):
            if _is_own_folder(entry):
                yield from _match(entry.path, parts, budget, depth - 1)
        return
    for entry in _entries(folder):
        if not fnmatch.fnmatchcase(entry.name, name):
            continue
        if rest:
            if _is_own_folder(entry):
                yield from _match(entry.path, rest, budget, depth - 1)
            continue
        status = _own_status(entry)
        if status is not None:
            yield entry.path, status


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _own_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of a file or folder that this user owns, or None for anything else."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    is_own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    is_readable = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return status if is_own and is_readable else None
