"""List the files of a scan, including those in tar archives, and group them into batches, never keeping the whole
list in memory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from viewer.corpus.store import file_system, is_url
from viewer.corpus.tables import READING_VERSION, Contents
from viewer.errors import ViewerError
from viewer.sources.containers.table import container_at
from viewer.sources.walk import may_be_transcript, walk

if TYPE_CHECKING:
    from tarfile import TarInfo

MOST_BYTES = 32 * 1024 * 1024
MOST_FILES = 500
"""The maximum number of files in a batch."""
PAGE = 10_000
"""The number of files that are sorted together by size, largest first."""
BATCHES_PER_WORKER = 4
"""The minimum number of batches per worker in a page, so that all workers finish at about the same time."""
SAMPLE = 200
MANIFEST = "@"
ARCHIVE, MEMBER = ".tar", "::"
"""The suffix of an archive whose members are files of the scan, and the separator between its path and the name of a
member."""
PACKED = re.compile(r"\.(?:tar\.(?:gz|bz2|xz|zst)|tgz|tbz2?|txz|tzst)\Z", re.IGNORECASE)
"""The suffix of a compressed archive. A member cannot be read without reading all members before it, and if the archive
were read as a single file, the result would be a wrong transcript."""
COMPRESSED_ARCHIVE = "archive-compressed"
"""The reason recorded for a compressed archive, which is not read."""


class Entry(Struct, frozen=True, gc=False):
    """A file to scan."""

    path: str
    """The path or URL to read."""
    name: str
    """The path in the tables, which is relative if `--root` is given."""
    size: int
    stamp: str
    """The modification time in nanoseconds, the ETag of an object, or the hash of the content."""
    mtime_ms: int | None = None
    content_hash: str | None = None
    start: int | None = None
    """The offset of a member's content in its tar archive; None for any other file."""
    fault: str = ""
    """The reason why an archive cannot be read; empty if it can."""

    def key(self, contents: Contents) -> str:
        """Return the key of the file in the tables. The key depends on the name, size, and stamp of the file, on the
        contents of the directory, and on the version of the reader."""
        facts = (self.name, str(self.size), self.stamp, str(contents), str(READING_VERSION))
        return blake2b("\0".join(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Keyed(Struct, frozen=True):
    """A file, with its key in the tables."""

    entry: Entry
    key: str


class Batch(Struct, frozen=True):
    """Files that one worker reads together. They become one part of each table."""

    files: tuple[Keyed, ...]
    attempt: int = 1

    @property
    def size(self) -> int:
        """The total size of the files in bytes."""
        return sum(each.entry.size for each in self.files)

    @property
    def part(self) -> str:
        """The name under which the batch's parts are stored. It depends only on the files, so a repeated batch
        overwrites its own parts."""
        keys = "\n".join(sorted(each.key for each in self.files))
        return blake2b(keys.encode(), digest_size=16).hexdigest()


class Listing:
    """Iterates over the files to scan in all given places, and counts the files that it skips."""

    def __init__(self, places: Iterable[str], *, root: str | None = None, output: str = "") -> None:
        """`root` is the folder to which paths in the tables are relative. Files inside `output` are not listed."""
        self._places = tuple(places)
        self._root = os.path.realpath(root) if root is not None else None
        self._output = os.path.realpath(output) if output and not is_url(output) else ""
        self.skipped = 0
        """The number of files skipped because, by name or kind, they are not transcripts."""
        for place in self._places:
            if not is_url(place) and not place.startswith(MANIFEST) and not os.path.lexists(place):
                raise ViewerError(f"no such file: {place}")

    def __iter__(self) -> Iterator[Entry]:
        for place in self._places:
            if place.startswith(MANIFEST):
                yield from self._listed(place.removeprefix(MANIFEST))
            elif is_url(place):
                yield from self._remote(place)
            elif os.path.isdir(place) and container_at(place) is None:
                yield from self._folder(place)
            else:
                yield from self._files(place)

    def _folder(self, folder: str) -> Iterator[Entry]:
        for walked in walk(folder, self._output):
            if walked.fault is not None:
                yield Entry(walked.path, self._name(walked.path), 0, "0")  # its row states why it cannot be read
            elif may_be_transcript(os.path.basename(walked.path)) and _is_wanted(walked.path):
                yield from self._files(walked.path)
            else:
                self.skipped += 1

    def _files(self, path: str) -> Iterator[Entry]:
        """Yield a file, or the members of an archive."""
        file = self._file(path)
        if is_packed(path) and os.path.isfile(path):
            yield msgspec.structs.replace(file, fault=COMPRESSED_ARCHIVE)
            return
        if not path.lower().endswith(ARCHIVE) or not os.path.isfile(path):
            yield file
            return
        try:
            with open(path, "rb") as stream:
                yield from self._members(file, stream)
        except OSError:
            yield file  # its row states why it cannot be read

    def _members(self, archive: Entry, stream: IO[bytes]) -> Iterator[Entry]:
        """Yield the transcripts in a tar archive. Of several members with the same name, the last one is used. If the
        archive is damaged, also yield an entry with that fault."""
        found: dict[str, Entry] = {}
        fault = ""
        for member in _tar_members(stream):
            if member is None:
                fault = "archive-damaged"
            elif not member.isreg() or member.issparse() or not _is_listed(member.name):
                self.skipped += not member.isdir()
            else:
                name = f"{MEMBER}{os.fsencode(member.name).decode('utf-8', 'backslashreplace')}"
                found[name] = msgspec.structs.replace(
                    archive,
                    fault=COMPRESSED_ARCHIVE if is_packed(member.name) else "",
                    path=archive.path + name,
                    name=archive.name + name,
                    size=member.size,
                    stamp=f"{archive.stamp} {member.offset_data}",
                    start=member.offset_data,
                )
        yield from found.values()
        if fault:
            yield msgspec.structs.replace(archive, fault=fault)

    def _file(self, path: str) -> Entry:
        try:
            status = os.stat(path)
            return Entry(path, self._name(path), status.st_size, str(status.st_mtime_ns), status.st_mtime_ns // 10**6)
        except (OSError, ValueError):
            return Entry(path, self._name(path), 0, "0")

    def _name(self, path: str) -> str:
        absolute = os.path.abspath(path)
        if self._root is not None:
            real = os.path.join(os.path.realpath(os.path.dirname(absolute)), os.path.basename(absolute))
            absolute = os.path.relpath(real, self._root)
        return os.fsencode(absolute).decode("utf-8", "backslashreplace")

    def _remote(self, url: str) -> Iterator[Entry]:
        from pyarrow import fs

        files, path = file_system(url)
        base = url[: len(url.rstrip("/")) - len(path)] if url.rstrip("/").endswith(path) else url
        try:
            info = files.get_file_info(path)
            found = (
                files.get_file_info(fs.FileSelector(path, recursive=True))
                if info.type is fs.FileType.Directory
                else [info]
            )
        except OSError as error:
            raise ViewerError(f"{url} cannot be listed: {str(error).partition(chr(10))[0].rstrip('.')}") from None
        if not any(each.is_file for each in found):
            raise ViewerError(f"no files at {url}")
        for each in found:
            if each.is_file and may_be_transcript(each.base_name) and not each.base_name.startswith("."):
                nanoseconds = each.mtime_ns or 0
                file = Entry(
                    f"{base}{each.path}", f"{base}{each.path}", each.size, str(nanoseconds), nanoseconds // 10**6
                )
                if is_packed(each.base_name):
                    yield msgspec.structs.replace(file, fault=COMPRESSED_ARCHIVE)
                    continue
                if not each.base_name.lower().endswith(ARCHIVE):
                    yield file
                    continue
                with files.open_input_file(each.path) as stream:
                    yield from self._members(file, stream)
            elif each.is_file:
                self.skipped += 1

    def _listed(self, manifest: str) -> Iterator[Entry]:
        """Yield the files in a manifest: one path per line, or a CSV or Parquet table with the columns `path`, `size`,
        `mtime_ms`, and `etag`."""
        for row in _manifest_rows(manifest):
            path = row.get("path")
            if not isinstance(path, str) or not path:
                raise ViewerError(f"{manifest} needs a column `path`, or one path per line")
            size, mtime, etag = row.get("size"), row.get("mtime_ms"), row.get("etag")
            if size is None or (mtime is None and etag is None):
                yield from self._remote(path) if is_url(path) else self._files(path)
                continue
            name = path if is_url(path) else self._name(path)
            file = Entry(
                path, name, int(size), str(etag or int(mtime or 0) * 10**6), int(mtime) if mtime is not None else None
            )
            yield msgspec.structs.replace(file, fault=COMPRESSED_ARCHIVE) if is_packed(path) else file


def _tar_members(stream: IO[bytes]) -> Iterator[TarInfo | None]:
    """Yield the members of a tar archive. If the archive is damaged, yield None at the end."""
    import tarfile

    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            while (member := archive.next()) is not None:
                archive.members = []  # type: ignore[attr-defined]  # otherwise, it would keep every member
                yield member
            stream.seek(archive.offset)
            if stream.read(tarfile.BLOCKSIZE) != tarfile.NUL * tarfile.BLOCKSIZE:  # a NUL block ends an archive
                yield None
    except (tarfile.TarError, EOFError, ValueError, OverflowError):
        yield None


def is_packed(name: str) -> bool:
    """True if this is the name of a compressed archive."""
    return PACKED.search(name) is not None


def _is_listed(name: str) -> bool:
    parts = name.split("/")
    return may_be_transcript(name) and not any(part.startswith(".") and part != "." for part in parts)


def _is_wanted(path: str) -> bool:
    """True for a regular file, a link to a regular file, a broken link, and a folder that is a transcript."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True  # a dangling link becomes a row
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _manifest_rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            first = file.read(4096)
        if first.startswith(b"PAR1"):
            import pyarrow as pa
            import pyarrow.parquet as pq

            try:
                for batch in pq.ParquetFile(path).iter_batches():
                    yield from batch.to_pylist()
            except pa.ArrowException:
                raise ViewerError(f"{path} is damaged") from None
            return
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as lines:
            head = first.split(b"\n", 1)[0].strip().lower()
            if b"path" in head.replace(b'"', b"").split(b","):
                import csv

                yield from csv.DictReader(lines)
            else:
                yield from ({"path": line.rstrip("\r\n")} for line in lines if line.strip())
    except OSError as error:
        raise ViewerError(f"{path} cannot be read: {(error.strerror or 'input error').lower()}") from None


def batches(
    files: Iterable[Keyed], workers: int, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES
) -> Iterator[Batch]:
    """Group files into batches, the largest files of each page first."""
    waiting = iter(files)
    while page := sorted(islice(waiting, PAGE), key=lambda each: (-each.entry.size, each.entry.name)):
        share = max(1, workers * BATCHES_PER_WORKER)
        room = min(most_bytes, max(1, sum(each.entry.size for each in page) // share))
        count = min(most_files, -(-len(page) // share))
        yield from _grouped(page, room, count)


def _grouped(page: list[Keyed], room: int, count: int) -> Iterator[Batch]:
    group: list[Keyed] = []
    size = 0
    for each in page:
        if group and (size + each.entry.size > room or len(group) >= count):
            yield Batch(tuple(group))
            group, size = [], 0
        group.append(each)
        size += each.entry.size
    if group:
        yield Batch(tuple(group))


def sample(entries: Iterable[Entry], count: int = SAMPLE) -> tuple[list[Entry], dict[int, tuple[int, int]]]:
    """Return a sample of files of every size, and the number of files and bytes in each power-of-two size class."""
    strata: dict[int, tuple[int, int]] = {}
    kept: dict[int, list[Entry]] = {}
    for entry in entries:
        level = entry.size.bit_length()
        files, size = strata.get(level, (0, 0))
        strata[level] = files + 1, size + entry.size
        few = kept.setdefault(level, [])
        if len(few) < count:
            few.append(entry)
        elif (place := hash_of(entry.name) % (files + 1)) < count:
            few[place] = entry
    each = max(1, count // max(1, len(kept)))
    return [entry for level in sorted(kept) for entry in kept[level][:each]], strata


def hash_of(text: str) -> int:
    """Return a hash of the text that is the same in every run."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
