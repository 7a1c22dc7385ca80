"""The samples, the expected result of each, and the format to request."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from viewer.sources.files import open_source

ROOT = Path(__file__).parent.parent.parent / "samples"
ENDINGS = (
    *(".in.json", ".ocml.gz", ".ocml", ".harmony", ".ids", ".jsonl", ".sse", ".ndjson", ".log", ".txt"),
    *(".chat.history.md", ".specstory.md", ".chat.md", ".traj"),
)

KNOWN_TOO_LATE = {
    "broken/E-PERM-VISIBILITY-cot-in-final.7.ocml",
    "broken/W-COPY-DIFFERS.jsonl",
    "valid/responses-stream/corrected-text.sse",
    *(
        f"valid/{template}/thought-without-its-mark.txt"
        for template in ("glm", "kimi-text", "phi", "granite", "zephyr", "openchat", "exaone", "ling")
    ),
}
"""Samples with a result that no reader can know in time: an unmatched end mark makes the text before it a thought, or a
final text replaces its deltas."""

_ASKED = re.compile(r"\.as-([a-z-]+(?:-[0-9]\.[0-9x])?)$")
_BROKEN = re.compile(r"([EWI]-[A-Z0-9-]+)(?:-([a-z0-9-]+))?(?:\.\d+)?(?:\.as-.*)?")


@dataclass(frozen=True)
class Sample:
    """One input and its companion file."""

    path: Path

    @cached_property
    def ending(self) -> str:
        return next(ending for ending in ENDINGS if self.path.name.endswith(ending))

    @cached_property
    def base(self) -> str:
        return self.path.name.removesuffix(self.ending)

    @cached_property
    def name(self) -> str:
        """The path below `samples`."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def folder(self) -> str:
        """`valid`, `broken`, or empty for the tour."""
        return self.name.split("/")[0] if "/" in self.name else ""

    @property
    def is_compressed(self) -> bool:
        """True if the input is a compressed file, which is not followed."""
        return self.ending.endswith(".gz")

    @property
    def asked(self) -> str | None:
        """The format to request, if the content does not identify it."""
        found = _ASKED.search(self.base)
        return found[1] if found else None

    @property
    def options(self) -> list[str]:
        """The options that request the format on the command line."""
        return ["--format", self.asked] if self.asked else []

    @property
    def expected_path(self) -> Path:
        return self.path.with_name(f"{self.base}.json")

    @property
    def expected(self) -> list[dict[str, Any]]:
        """The expected output with everything revealed."""
        return [json.loads(line) for line in self.expected_path.read_text("utf-8").splitlines()]

    @property
    def seen(self) -> dict[str, list[str]]:
        """The shown text, the hidden text, and the errors, according to the documentation of the format."""
        path = self.path.with_name(f"{self.path.name}.seen.json")
        value: dict[str, list[str]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return value

    @cached_property
    def format(self) -> str:
        """The format in which the sample is read."""
        with self.expected_path.open(encoding="utf-8") as lines:
            return str(json.loads(lines.readline())["dialect"])

    @property
    def text(self) -> bytes:
        """The bytes to which spans refer: those of the file, or the UTF-8 form of UTF-16."""
        source = open_source(str(self.path))
        return source.read(0, source.size)

    @property
    def told(self) -> tuple[str, str | None]:
        """The code and reason in the name of a broken sample."""
        found = _BROKEN.fullmatch(self.base)
        assert found, self.name
        return found[1], found[2]


@cache
def samples(folder: str = "") -> list[Sample]:
    """Return all inputs under a folder of `samples`."""
    files = sorted(path for path in (ROOT / folder).rglob("*") if path.name.endswith(ENDINGS))
    return [Sample(path) for path in files]
