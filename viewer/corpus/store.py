"""`Store`: the files of a table directory, on a local disk or in an object store. Writes are atomic."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

from viewer.errors import ViewerError

_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
_TEMPORARY = re.compile(r"\..*\.tmp")


def is_url(place: str) -> bool:
    """True if this is a URL, not a local path."""
    return _URL.match(place) is not None


class Store(Protocol):
    """A directory of tables. Names are relative, such as `files/0a.parquet`."""

    place: str
    """The path or URL given by the user."""

    def read(self, name: str) -> bytes | None:
        """Read a file. Return None if it does not exist."""

    def write(self, name: str, data: bytes) -> None:
        """Write or replace a file atomically."""

    def names(self, folder: str) -> list[str]:
        """List the files in a folder by name, except temporary ones."""

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""

    def dataset_at(self) -> tuple[Any, str]:
        """Return the pyarrow file system, and the path of the directory in it."""


class LocalStore:
    """A directory on a local disk."""

    def __init__(self, place: str, *, private: bool = False) -> None:
        self.place = place
        self._root = place
        self._private = private
        """True if only the owner may read the files."""
        self._is_ready: set[str] = set()

    def create(self) -> None:
        """Create the directory if it does not exist."""
        mode = 0o700 if self._private else 0o777
        try:
            os.makedirs(self._root, mode, exist_ok=True)
            if self._private:
                os.chmod(self._root, 0o700)
        except OSError as error:
            raise ViewerError(f"{self.place} cannot be created: {error.strerror or 'the system refused'}") from None

    def read(self, name: str) -> bytes | None:
        try:
            with open(os.path.join(self._root, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        path = os.path.join(self._root, name)
        folder, bare = os.path.split(path)
        if folder not in self._is_ready:
            os.makedirs(folder, 0o700 if self._private else 0o777, exist_ok=True)
            self._is_ready.add(folder)
        temporary = os.path.join(folder, f".{bare}.{os.uname().nodename}.{os.getpid()}.tmp")
        mode = 0o600 if self._private else 0o666
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)  # tests interrupt the program at exactly this call

    def names(self, folder: str) -> list[str]:
        return sorted(f"{folder}/{name}" for name in self._entries(folder) if not name.startswith("."))

    def stale(self, folder: str) -> list[str]:
        """List the temporary files that a killed scan left behind."""
        return sorted(f"{folder}/{name}" for name in self._entries(folder) if _TEMPORARY.fullmatch(name))

    def _entries(self, folder: str) -> Iterator[str]:
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                yield from (entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self._root, name))

    def dataset_at(self) -> tuple[Any, str]:
        from pyarrow import fs

        return fs.LocalFileSystem(), os.path.abspath(self._root)


class ObjectStore:
    """A directory in an object store, given by URL. A write is a single request, so no temporary file is needed."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._files, self._root = file_system(place)

    def read(self, name: str) -> bytes | None:
        try:
            with self._files.open_input_stream(f"{self._root}/{name}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        self._files.create_dir(path.rpartition("/")[0], recursive=True)
        with self._files.open_output_stream(path) as stream:
            stream.write(data)

    def names(self, folder: str) -> list[str]:
        from pyarrow import fs

        found = self._files.get_file_info(fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True))
        return sorted(f"{folder}/{each.base_name}" for each in found if each.is_file)

    def remove(self, name: str) -> None:
        if self._files.get_file_info(f"{self._root}/{name}").is_file:
            self._files.delete_file(f"{self._root}/{name}")

    def dataset_at(self) -> tuple[Any, str]:
        return self._files, self._root


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system for a URL and the path in it. Schemes that pyarrow does not support need fsspec."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        files, path = fs.FileSystem.from_uri(url)
    except (pa.ArrowException, OSError, ValueError) as error:
        found = _of_fsspec(url)
        if found is None:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise ViewerError(f"{url} cannot be opened: {reason}") from None
        files, path = fs.PyFileSystem(fs.FSSpecHandler(found[0])), found[1]
    return files, str(path).rstrip("/")


def _of_fsspec(url: str) -> tuple[Any, str] | None:
    """Return fsspec's file system for a URL and the path in it, or None if fsspec is missing or cannot open the URL."""
    from importlib import import_module

    try:
        found: tuple[Any, str] = import_module("fsspec").core.url_to_fs(url)
    except (ImportError, ValueError, OSError):
        return None
    return found


def open_store(place: str, *, private: bool = False) -> LocalStore | ObjectStore:
    """Open the directory at a path or URL."""
    return ObjectStore(place) if is_url(place) else LocalStore(place, private=private)
