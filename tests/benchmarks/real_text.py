"""Real text that exists on every machine with Python, by kind: source, prose, JSON, logs, diffs, and command output.

Generated words would hide costs, because real text has `<`, quotes, backslashes, tabs, long lines and accents."""

from __future__ import annotations

import difflib
import json
import random
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, islice
from pathlib import Path

from tests.benchmarks.words import SEED, is_reserved

Texts = Mapping[str, Sequence[str]]
MOST_FILES = 400
LONGEST_SOURCE = 120_000
SHORTEST = 200
LINES_OF_OUTPUT = 80
SIGNS = "“quoted” — naïve café, Ærø: ∑∂√ … "
_DOCSTRING = re.compile(r'^[ ]*r?"""(.+?)"""', re.DOTALL | re.MULTILINE)
_DEFINITION = re.compile(r"^([ ]*)(def|class) (\w+)(.*)", re.MULTILINE)


@cache
def texts() -> Texts:
    """Return all of the text. It contains no `<|` and no reserved word; callers insert these."""
    sources = dict(_sources())
    by_kind: dict[str, list[str]] = {
        "source": list(sources.values()),
        "prose": list(_docstrings(sources.values())),
        "json": list(_trees(sources)),
        "log": list(_logs(sources)),
        "diff": list(_diffs(sources)),
        "output": list(_outputs(sources)),
    }
    return {kind: [text for text in found if _is_usable(text)] for kind, found in by_kind.items()}


def _is_usable(text: str) -> bool:
    return len(text) >= SHORTEST and "<|" not in text and not is_reserved(text)


def _sources() -> Iterator[tuple[str, str]]:
    """Yield modules of the standard library by name, in an order that depends only on the seed."""
    folder = Path(sysconfig.get_path("stdlib"))
    paths = [path for part in ("*.py", "[a-s]*/*.py") for path in folder.glob(part)]
    paths = sorted(path for path in paths if path.parent.name != "site-packages")
    random.Random(SEED).shuffle(paths)
    for path in paths[:MOST_FILES]:
        data = path.read_bytes()[:LONGEST_SOURCE]
        yield path.relative_to(folder).as_posix(), data[: data.rfind(b"\n") + 1].decode("utf-8", "replace")


def _docstrings(sources: Iterable[str]) -> Iterator[str]:
    """Yield prose: the docstrings of each module."""
    for source in sources:
        yield "\n\n".join(found[1] for found in _DOCSTRING.finditer(source)) + SIGNS


def _trees(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield nested JSON: what each module defines, and where."""
    for name, source in sources.items():
        defined = [
            {
                "kind": kind,
                "name": defined,
                "signature": rest.strip(),
                "depth": len(indent) // 4,
                "public": defined[0] != "_",
            }
            for indent, kind, defined, rest in _DEFINITION.findall(source)
        ]
        yield json.dumps({"module": name, "size": len(source), "defines": defined}, indent=2, ensure_ascii=False)


def _logs(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield log lines with lines of source as their messages."""
    levels = ("INFO", "INFO", "DEBUG", "WARNING", "ERROR")
    for (name, source), number in zip(sources.items(), count()):
        lines = [line.strip() for line in source.splitlines() if line.strip()][:400]
        yield "".join(
            f"2026-01-{1 + number % 28:02}T09:{at // 60 % 60:02}:{at % 60:02}.{at * 7 % 1000:03}Z"
            f" {levels[(at + number) % len(levels)]:<7} [{name}:{at}] {line}\n"
            for at, line in enumerate(lines)
        )


def _diffs(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield unified diffs between a module and the same module with some lines moved or left out."""
    chance = random.Random(SEED)
    for name, source in islice(sources.items(), 200):
        before = source.splitlines(keepends=True)[:500]
        after = [line for line in before if chance.random() > 0.03]
        after[4:4] = after[-2:]
        yield "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))


def _outputs(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield what `ls -l`, `grep -rn` and a test run print about these modules."""
    listed = [
        f"-rw-r--r-- 1 user user {len(source):>8} Jan {1 + at % 28:>2} 09:{at % 60:02} {name}"
        for at, (name, source) in enumerate(sources.items())
    ]
    found = [
        f"{name}:{at}:{line}"
        for name, source in sources.items()
        for at, line in enumerate(source.splitlines(), 1)
        if "def " in line or "return" in line
    ]
    tested = [
        f"{name}::test_{at} {'PASSED' if at % 9 else 'FAILED'} [{at % 101:>3}%]" for at, name in enumerate(sources)
    ]
    for lines in (listed, found, tested):
        for first in range(0, len(lines), LINES_OF_OUTPUT):
            yield "\n".join(lines[first : first + LINES_OF_OUTPUT]) + "\n"
