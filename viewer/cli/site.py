"""`ocmlview export --to site`: write a folder of pages that list and search many transcripts without a server."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from viewer import __version__
from viewer.cli.exits import FINE, complain, fail, say
from viewer.cli.inputs import retried
from viewer.cli.interruption import ended_tidily
from viewer.cli.notices import mention, report_damage, unknown_sentence
from viewer.document.document import Document, open_document
from viewer.errors import ViewerError
from viewer.model.visibility import Audience, Level
from viewer.reading.format import ReadOptions
from viewer.render.exports import view_name
from viewer.render.exports.html_page import html_page
from viewer.render.exports.site.data import SearchIndex, encoded, rows_json, script_file
from viewer.render.exports.site.index_page import index_pages, totals_of
from viewer.render.exports.site.rows import Searchable, SiteRow, page_name, row_of, searchable
from viewer.render.exports.site.single import TOP, anchor_of, single_page
from viewer.render.exports.view_words import badge, revealed_names, view_sentence
from viewer.render.number_format import byte_size, counted
from viewer.sources.containers.items import split_item
from viewer.sources.files import is_directory
from viewer.sources.folder import find_transcripts

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter
    from viewer.document.redaction.redactor import Redactor

MOST_TRANSCRIPTS, LARGEST_SITE = 10_000, 500_000_000
LIMIT_OF_SINGLE = 50 * 1024 * 1024
MOST_LISTED = 20
"""The maximum number of files to report by name because they are not transcripts."""
MANIFEST = "site.json"
"""The file that identifies an existing site."""
ALONE = 16
"""The maximum number of transcripts for which one process writes all pages."""
_MOST_WORKERS = 8
_TEMPORARY = ".tmp"
_ENDINGS = {Level.SAFE: "", Level.BRIEF: ".brief", Level.DEBUG: ".DEBUG"}


Made = TypeVar("Made")


class SiteOptions(Struct, frozen=True):
    """The options of the site from the command line."""

    audience: Audience
    reading: ReadOptions
    format: str | None = None
    where: Filter | None = None
    force: bool = False
    single: bool = False
    limit: int = LIMIT_OF_SINGLE
    redactor: Redactor | None = None
    """Learns the secrets of all transcripts before the first page is written; None if nothing is masked."""


class _Job(Struct, frozen=True):
    """One transcript to write."""

    path: str
    name: str
    """The path relative to the named folder, or to the folder that contains all named files."""
    page: str


class _Built(Struct, frozen=True):
    """The result of a job. A transcript that cannot be written has no row."""

    job: int
    code: int
    said: str
    """Messages about the input that were printed on standard error."""
    row: SiteRow | None = None
    found: Searchable | None = None
    size: int = 0
    """The size in bytes of the page and its searchable text."""
    withheld: int = 0
    withholds_header: bool = False
    has_new_masks: bool = False
    """True if secrets were found that had not been learned before, such as those in a header."""


def export_site(files: Sequence[str], output: str, asked: SiteOptions) -> int:
    """Write the site and return the exit code. A transcript that cannot be written does not stop the others."""
    target = _checked_target(Path(output), files, asked)
    found, code = _find(files, target)
    if not found:
        return fail("no transcripts found; the site was not written")
    if len(found) > MOST_TRANSCRIPTS:
        raise ViewerError(f"{len(found):,} transcripts: a site can hold at most {MOST_TRANSCRIPTS:,}; pass fewer files")
    with ended_tidily(), _Folder(target, asked) as folder:
        _learn(found, folder.path, asked)
        built = _build(_jobs(found, asked.redactor), folder.path, asked)
        rows = _report(built)
        if rows:
            _finish(folder, [each for each in built if each.row], asked)
            folder.keep()
    if not rows:
        return fail("no transcript could be read; the site was not written")
    if asked.redactor:
        say(asked.redactor.sentence)
    view = f"{badge(asked.audience)} view. {view_sentence(asked.audience)}"
    say(f"Exported {output}: {counted(len(rows), 'transcript')}. {view}")
    return max([code, *(each.code for each in built)])


def _checked_target(target: Path, files: Sequence[str], asked: SiteOptions) -> Path:
    """Return the resolved path of the output folder. Raise ViewerError if the site must not be written there."""
    ending = _ENDINGS[asked.audience.level]
    if not target.name.endswith(ending):
        raise ViewerError(f"{target} was not written: the name of a {badge(asked.audience)} site must end in {ending}")
    resolved = target.resolve()
    for name in files:
        path = Path(split_item(name)[0]).resolve()
        if path.is_relative_to(resolved):
            raise ViewerError(f"{target} contains the input; choose another folder")
    if resolved.exists():
        if not (resolved / MANIFEST).is_file():
            raise ViewerError(f"{target} already exists and is not a site; choose another folder")
        if not asked.force:
            raise ViewerError(f"{target} already exists (use --force to overwrite)")
    return resolved


def _find(files: Sequence[str], target: Path) -> tuple[list[tuple[str, str]], int]:
    """Return the path and name of each transcript, sorted by name, and the exit code. Report the files of a folder that
    cannot be read or are not transcripts."""
    code = FINE
    found: list[tuple[str, str]] = []
    shared = _shared_folder(files)
    for name in files:
        if not is_directory(name):
            found.append((name, _relative(name, shared)))
            continue
        passed: list[str] = []
        for each in find_transcripts(name, passed.append):
            if Path(each.path).resolve().is_relative_to(target):
                continue
            if each.reason:
                code = fail(f"{each.path} cannot be read: {each.reason}")
            else:
                found.append((each.path, _relative(each.path, shared)))
        passed = [path for path in passed if not Path(path).resolve().is_relative_to(target)]
        for path in passed[:MOST_LISTED]:
            complain(f"{path} is not a transcript; it was omitted")
        if len(passed) > MOST_LISTED:
            complain(f"{len(passed) - MOST_LISTED:,} other files are not transcripts; they were omitted")
    return sorted(set(found), key=lambda each: (each[1], each[0])), code


def _shared_folder(files: Sequence[str]) -> str:
    """Return the folder to which names are relative: the named folder, or the one that contains all named files."""
    if len(files) == 1 and is_directory(files[0]):
        return os.path.abspath(files[0])  # noqa: PTH100 (symlinks keep their names)
    return os.path.commonpath([os.path.dirname(os.path.abspath(name)) for name in files])  # noqa: PTH100, PTH120


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")  # noqa: PTH100


def _jobs(found: Sequence[tuple[str, str]], redactor: Redactor | None) -> list[_Job]:
    jobs: list[_Job] = []
    taken: set[str] = set()
    for path, given in found:
        name = redactor.name(given) if redactor else given
        page = page_name(name)
        while page in taken:  # 32 bits of a hash are not always enough
            page += "-2"
        taken.add(page)
        jobs.append(_Job(path, name, page))
    return jobs


def _learn(found: Sequence[tuple[str, str]], folder: Path, asked: SiteOptions) -> None:
    """Find the secrets of all transcripts, and number their masks in the order of the transcripts."""
    redactor = asked.redactor
    if redactor is None:
        return
    from viewer.document.redaction.redactor import FoundSecret  # few sites are masked

    def secrets_of(number: int) -> list[FoundSecret]:
        with redirect_stderr(io.StringIO()), suppress(ViewerError):  # writing the pages reports the errors
            document = open_document(found[number][0], format=asked.format, options=asked.reading)
            return retried(document, lambda: redactor.find_shown(document.project(asked.audience, where=asked.where)))
        return []

    for _, name in found:
        redactor.name(name)
    for secrets in _shared(len(found), secrets_of, list[FoundSecret], folder):
        redactor.learn_found(secrets)
    redactor.learn_no_more()


def _build(jobs: Sequence[_Job], folder: Path, asked: SiteOptions) -> list[_Built]:
    """Write the pages of all jobs and return the results in order."""
    built = _shared(len(jobs), lambda number: _written(number, jobs[number], folder, asked), _Built, folder)
    if any(each.has_new_masks for each in built):  # each process numbers its new masks independently
        built = [_written(number, job, folder, asked) for number, job in enumerate(jobs)]
    return built


def _shared(count: int, make: Callable[[int], Made], kind: type[Made], folder: Path) -> list[Made]:
    """Compute this many results, in several processes if there are many, and return them in order."""
    workers = min(_MOST_WORKERS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    made: dict[int, Made] = {}
    if count > ALONE and workers > 1:
        made.update(_made_apart(count, make, kind, folder, workers))
    # The results of a failed process are computed again here, so its error is reported as usual.
    return [made[number] if number in made else make(number) for number in range(count)]


def _made_apart(
    count: int, make: Callable[[int], Made], kind: type[Made], folder: Path, workers: int
) -> Iterator[tuple[int, Made]]:
    """Divide the work among forked processes, which write their results to files. Yield the number and the result of
    each piece of work, except those of processes that failed."""
    context = multiprocessing.get_context("fork")
    results = [folder / f".results-{number}" for number in range(workers)]
    shares = [range(number, count, workers) for number in range(workers)]
    processes = [
        context.Process(target=_work, args=(make, share, result)) for share, result in zip(shares, results, strict=True)
    ]
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join()
    for share, result in zip(shares, results, strict=True):
        if result.exists():
            yield from zip(share, msgspec.msgpack.decode(result.read_bytes(), type=list[kind]), strict=True)  # type: ignore[valid-type]
            result.unlink()


def _work(make: Callable[[int], object], share: range, result: Path) -> None:
    """Compute some of the results in a forked process. If it fails, the process writes no results and no output."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    code = 1
    try:
        result.write_bytes(msgspec.msgpack.encode([make(number) for number in share]))
        code = 0
    finally:
        os._exit(code)


def _written(number: int, job: _Job, folder: Path, asked: SiteOptions) -> _Built:
    """Write the page and the search text of one transcript. If they cannot be written, the result contains the
    error."""
    heard = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    masks = asked.redactor.mask_count if asked.redactor else 0
    with redirect_stderr(heard):
        try:
            built = _transcript(number, job, folder, asked)
        except ViewerError as error:
            (folder / "t" / f"{job.page}.html").unlink(missing_ok=True)
            built = _Built(number, fail(str(error)), "")
    heard.seek(0)
    has_new_masks = asked.redactor is not None and asked.redactor.mask_count > masks
    return replace(built, said=heard.read(), has_new_masks=has_new_masks)


def _transcript(number: int, job: _Job, folder: Path, asked: SiteOptions) -> _Built:
    document = open_document(job.path, format=asked.format, options=asked.reading)
    if document.unknown:
        raise ViewerError(unknown_sentence(document, strict=asked.audience.strict))
    built = retried(document, partial(_pages, number, job, document, folder, asked))
    mention(document, asked.audience)
    return replace(built, code=max(built.code, report_damage(document)))


def _pages(number: int, job: _Job, document: Document, folder: Path, asked: SiteOptions) -> _Built:
    projection = document.project(asked.audience, withholds=False, where=asked.where, redactor=asked.redactor)
    if projection.is_without_match:
        complain(f"{document.name}: no message matches the filter.")
        return _Built(number, FINE, "")
    page, home = f"t/{job.page}.html", TOP if asked.single else "../index.html"
    size = _write(folder / page, html_page(projection, job.name, home))
    found = searchable(projection)
    texts = encoded(found.texts)
    if not asked.single:
        size += _write(folder / "text" / f"{job.page}.js", [script_file(f"text/{job.page}", texts)])
    row = row_of(projection, job.name, page, _modified(job.path))
    kept = replace(found, texts=found.texts if asked.single else {})
    return _Built(
        number, FINE, "", row, kept, size, projection.omissions.fields, projection.omissions.has_header_values
    )


def _modified(path: str) -> str:
    """Return the modification time of a file, or an empty string if it is unknown."""
    with suppress(OSError, ValueError, OverflowError):
        changed = datetime.fromtimestamp(int(os.stat(split_item(path)[0]).st_mtime), UTC)  # noqa: PTH116
        return changed.strftime("%Y-%m-%dT%H:%M:%S")
    return ""


def _report(built: Sequence[_Built]) -> list[SiteRow]:
    """Print the messages about the inputs, in order, and return the rows."""
    for each in built:
        for line in each.said.splitlines():
            say(line)
    withheld = sum(each.withheld for each in built)
    if withheld:
        fields, them = ("field", "it") if withheld == 1 else ("fields", "them")
        say(f"dropped {withheld:,} unlisted {fields}; add --reveal all to keep {them}")
    if any(each.withholds_header for each in built):
        say("dropped document headers except their versions and models; add --reveal all to keep them")
    return [each.row for each in built if each.row]


def _finish(folder: _Folder, built: Sequence[_Built], asked: SiteOptions) -> None:
    """Write the index pages, the search, and the manifest."""
    rows = [each.row for each in built if each.row]
    index = SearchIndex()
    for number, each in enumerate(built):
        if each.found:
            index.add(number, each.found.terms)
    size = sum(each.size for each in built)
    if asked.single:
        pages = _single(folder.path, rows, built, index, asked)
    else:
        if size > LARGEST_SITE:
            raise ViewerError(
                f"the pages are {byte_size(size)}: a site can hold at most {byte_size(LARGEST_SITE)}; pass fewer files"
            )
        _write(folder.path / "rows.js", [script_file("rows", rows_json(rows))])
        for name, shard in index.shards():
            _write(folder.path / f"{name}.js", [script_file(name, encoded(shard))])
        pages = []
        for name, page in index_pages(rows, asked.audience):
            _write(folder.path / name, [page])
            pages.append(name)
    manifest = {
        "program": "ocmlview",
        "version": __version__,
        "audience": view_name(asked.audience),
        "reveals": revealed_names(asked.audience),
        "counts": {key: value for key, value in msgspec.structs.asdict(totals_of(rows)).items() if value is not None},
        "pages": [*pages, *([] if asked.single else [row.page for row in rows])],
    }
    _write(folder.path / MANIFEST, [json.dumps(manifest, indent=1) + "\n"])


def _single(
    folder: Path, rows: Sequence[SiteRow], built: Sequence[_Built], index: SearchIndex, asked: SiteOptions
) -> list[str]:
    """Merge everything into one page, remove the separate files, and return the name of the page."""
    data: dict[str, object] = {name: shard for name, shard in index.shards() if shard}
    data |= {f"text/{anchor_of(number)}": each.found.texts for number, each in enumerate(built) if each.found}
    pages = ((folder / row.page).read_text("utf-8") for row in rows)
    size = _write(folder / "index.html", single_page(rows, pages, data, asked.audience))
    if size > asked.limit:
        raise ViewerError(
            f"the page is {byte_size(size)}, more than the limit of {byte_size(asked.limit)}; "
            "omit --single, or raise --limit-size"
        )
    for name in ("t", "text", "search"):
        shutil.rmtree(folder / name)
    return ["index.html"]


def _write(path: Path, pieces: Iterator[str] | Sequence[str]) -> int:
    """Write a file of the site and return its size."""
    size = 0
    try:
        with path.open("wb") as file:
            for piece in pieces:
                data = piece.encode("utf-8", "replace")
                size += len(data)
                file.write(data)
    except OSError as error:
        raise ViewerError(f"{path} cannot be written: {error.strerror or 'the system refused'}") from None
    return size


class _Folder:
    """Context manager: the temporary folder of a site. `keep` renames it to the name of the site; otherwise, it is
    removed."""

    def __init__(self, target: Path, asked: SiteOptions) -> None:
        self.path = target.with_name(target.name + _TEMPORARY)
        self._target = target
        self._mode = 0o777 if asked.audience.level is Level.SAFE else 0o700
        self._is_kept = False

    def __enter__(self) -> _Folder:
        try:
            self.path.mkdir(mode=self._mode)
        except FileExistsError:
            raise ViewerError(f"{self.path} already exists; remove it") from None
        except OSError as error:
            raise ViewerError(f"{self.path} cannot be created: {error.strerror or 'the system refused'}") from None
        for name in ("t", "text", "search"):
            (self.path / name).mkdir(mode=self._mode)
        return self

    def keep(self) -> None:
        """Sync the files to disk, and replace the existing site, if any, with this one."""
        with suppress(AttributeError):
            os.sync()
        old = self._target.with_name(f"{self._target.name}.old")
        has_old = self._target.exists()
        try:
            if has_old:
                self._target.rename(old)
            self.path.rename(self._target)
        except OSError as error:
            if has_old and not self._target.exists():
                old.rename(self._target)
            raise ViewerError(f"{self._target} cannot be written: {error.strerror or 'the system refused'}") from None
        self._is_kept = True
        if has_old:
            shutil.rmtree(old, ignore_errors=True)

    def __exit__(self, *problem: object) -> None:
        if not self._is_kept:
            shutil.rmtree(self.path, ignore_errors=True)
