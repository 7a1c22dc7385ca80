"""Inspect logs in ZIP archives: one JSON line per sample, in the shape of a JSON log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from msgspec import Struct

from viewer.errors import ViewerError
from viewer.sources.containers.archive import Archive, Member, check_zstd, first_name, needs_zstd
from viewer.sources.containers.parts import DAMAGED, REPEATED, PartFault, Parts, as_json, on_one_line, without_mark

LARGEST_HEADER = 16 * 1024 * 1024
_SAMPLE = re.compile(r"/?samples/(.*)_epoch_([0-9]{1,9})\.json", re.DOTALL)
_HEADERS = ("header.json", "_journal/start.json")
_BEGINNINGS = ("_journal/", "samples/", *_HEADERS)


class Sample(Struct, frozen=True):
    """A sample in one epoch."""

    id: str
    epoch: int
    member: Member

    def is_named(self, item: str) -> bool:
        """True if this item, `ID` or `ID:EPOCH`, names the sample."""
        return item in (self.id, f"{self.id}:{self.epoch}")


def is_log(path: str, first: bytes) -> bool:
    """True if a ZIP archive is an Inspect log, judging by its name or first member."""
    return path.endswith(".eval") or first_name(first).startswith(_BEGINNINGS)


def read_log(path: str, item: str) -> Parts:
    """Return the lines of all samples, or of those that the item names."""
    archive = Archive(path)
    members = {member.name: member for member in archive.members}
    found = _samples(members.values())
    samples = [sample for sample in found if not item or sample.is_named(item)]
    if not members or not (found or any(name in members for name in _HEADERS)):
        raise ViewerError(f"{path}: this ZIP file is not an Inspect log; unpack it and open one of its files")
    if item and not samples:
        count = f"{len(found):,} sample{'' if len(found) == 1 else 's'}"
        raise ViewerError(f"{path} has no sample {item}: it has {count}, named ID or ID:EPOCH")
    if samples and all(sample.member.is_encrypted for sample in samples):
        raise ViewerError(f"{path}: this ZIP file is encrypted")
    if needs_zstd([sample.member for sample in samples]):
        check_zstd()
    repeated = len(archive.members) - len(members)
    return _lines(archive, members, samples, repeated)


def items(path: str) -> list[str]:
    """Return the names of the samples: `ID`, or `ID:EPOCH` if there are several epochs."""
    samples = _samples(Archive(path).members)
    has_epochs = len({sample.epoch for sample in samples}) > 1
    return [f"{sample.id}:{sample.epoch}" if has_epochs else sample.id for sample in samples]


def _samples(members: Iterable[Member]) -> list[Sample]:
    """Return the samples in Inspect's order: by epoch, then by ID, with numeric IDs in numeric order."""
    found = []
    for member in members:
        name = _SAMPLE.fullmatch(member.name)
        if name:
            found.append(Sample(name[1], int(name[2]), member))
    return sorted(found, key=lambda sample: (sample.epoch, sample.id.zfill(20) if sample.id.isdigit() else sample.id))


def _lines(archive: Archive, members: dict[str, Member], samples: list[Sample], repeated: int) -> Parts:
    header, is_finished = _header(archive, members)
    if header is None:
        yield PartFault(DAMAGED)
        header = {}
    for _ in range(repeated):
        yield PartFault(REPEATED)
    spec = header.get("eval")
    spec = spec if isinstance(spec, dict) else {}
    names = {name: spec[name] for name in ("task", "model") if isinstance(spec.get(name), str)}
    known: dict[str, object] = {"version": header.get("version"), "eval": {"task": "", **names}}
    status = header.get("status") if is_finished and archive.is_whole else "started"
    first = known | {"status": status} | ({"error": header["error"]} if header.get("error") else {})
    if not samples:
        yield as_json(first | {"samples": []}) + b"\n"
    for sample in samples:
        yield as_json(first)[:-1] + b',"samples":['
        is_start = True
        for part in archive.read(sample.member):
            if isinstance(part, PartFault):
                yield part
            else:
                yield on_one_line(without_mark(part) if is_start else part)
                is_start = False
        yield b"]}\n"
        first = known


def _header(archive: Archive, members: dict[str, Member]) -> tuple[dict[str, object] | None, bool]:
    """Return the header of the log, or None if it is damaged, and whether the run has ended."""
    for name in _HEADERS:
        if name in members:
            data = archive.text(members[name], LARGEST_HEADER)
            try:
                value = json.loads(data) if data else None
            except (ValueError, RecursionError):
                value = None
            return (value if isinstance(value, dict) else None), name == _HEADERS[0]
    return {}, False
