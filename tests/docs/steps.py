"""Read the numbered steps of CONTRIBUTING.md and follow them exactly."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_STEP = re.compile(r"^\d+\. +(.*?)(?=^\d+\. |^\S|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^( *)(`{3,})\w+\n(.*?)^ *\2$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"``(.+?)``|`(.+?)`")


class Step(NamedTuple):
    """One step: its sentence, and the block below it."""

    sentence: str
    block: str

    @property
    def names(self) -> list[str]:
        """The code spans of the sentence."""
        return [found[1] or found[2] for found in _CODE.finditer(self.sentence)]


def steps_of(page: str, heading: str) -> list[Step]:
    """Return the steps below a heading. Each must have a block."""
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    steps = []
    for found in _STEP.finditer(section):
        block = _BLOCK.search(found[1])
        assert block, f"a step without a block: {found[1]}"
        steps.append(
            Step(" ".join(found[1][: block.start()].split()), re.sub(f"^{block[1]}", "", block[3], flags=re.MULTILINE))
        )
    return steps


def do(step: Step, project: Path, environment: Mapping[str, str]) -> None:
    """Perform one step in a copy of the project."""
    if step.sentence.startswith("Run"):
        for line in step.block.splitlines():
            done = subprocess.run(["sh", "-c", line], cwd=project, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    elif step.sentence.startswith("Write"):
        path = project / step.names[0]
        path.parent.mkdir(exist_ok=True)
        path.write_text(step.block, "utf-8")
    else:
        assert step.sentence.startswith("In "), step.sentence
        _insert(step, project / step.names[0])


def _insert(step: Step, path: Path) -> None:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    place = _place(step, lines)
    lines[place:place] = [step.block]
    path.write_text("".join(lines), "utf-8")


def _place(step: Step, lines: list[str]) -> int:
    """Return the index of the line before which the block belongs.

    The quoted line must be unique, and no decorator or comment may be separated from the line to which it belongs."""
    if ", at the end," in step.sentence:
        return len(lines)
    path, anchor = step.names[:2]
    found = [number for number, line in enumerate(lines) if anchor in line]
    assert len(found) == 1, f"{path} has {len(found)} lines with {anchor!r}"
    if f"after `{anchor}`" in step.sentence or f"after ``{anchor}``" in step.sentence:
        return found[0] + 1
    before = lines[found[0] - 1].strip() if found[0] else ""
    assert not before.startswith(("@", "#")), f"{path}: {before!r} belongs to the line with {anchor!r}"
    return found[0]
