"""The text at the top of the screen stays there when it is laid out again, and a match in a long body is shown."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from tests.support.cases import each
from tests.support.running import drawn, press, running, settled, type_in
from viewer.render.layout import LONG

HEAD = "version: 2.2\n<|start|>user<|message|>List them.<|end|>\n<|start|>assistant<|channel|>final<|message|>"
PARAGRAPHS = {"short": 60, "long": 400}
"""The number of paragraphs in a body that is laid out immediately, and in one that is laid out in a thread."""


def written(folder: Path, count: int) -> Path:
    """Write an answer of numbered paragraphs, some of them below a table whose cells are padded."""
    table = "| a | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb |\n|---|---|\n| 1 | 2 |\n\n"
    body = "\n\n".join(
        f"{'' if n % 9 else table}Paragraph {n:03} has **some** words, that do not fit on a line of a narrow screen."
        for n in range(count)
    )
    assert (len(body) > LONG) is (count > 300)
    path = folder / "answer.ocml"
    path.write_text(f"{HEAD}{body}<|return|>\n", "utf-8")
    return path


def top(pilot: Pilot[int]) -> int:
    """Return the number of the first paragraph on the screen."""
    return int(drawn(pilot).partition("Paragraph ")[2][:3])


@each("size", PARAGRAPHS, quick=0)
async def test_the_text_at_the_top_stays_there_in_every_layout(size: str, tmp_path: Path) -> None:
    async with running(written(tmp_path, PARAGRAPHS[size]), size=(100, 30), keys=["J", "J", "l"]) as pilot:
        await press(pilot, *["space"] * 3)
        before = top(pilot)
        assert before > 15
        for width, height in [(60, 20), (180, 50), (34, 12), (100, 30)]:
            await pilot.resize_terminal(width, height)
            await settled(pilot)
            assert top(pilot) - before in (0, 1), (width, height)
        for key in ("M", "M", "d", "T"):
            await press(pilot, key)
            assert top(pilot) - before in (0, 1), key


@each("size", PARAGRAPHS, quick=5)
async def test_a_match_in_a_folded_body_is_on_the_screen(size: str, tmp_path: Path) -> None:
    wanted = f"Paragraph {PARAGRAPHS[size] - 5:03}"
    async with running(written(tmp_path, PARAGRAPHS[size]), size=(100, 30)) as pilot:
        await type_in(pilot, "/", wanted)
        assert wanted in drawn(pilot)
        assert "more" not in drawn(pilot)
        await press(pilot, "g", "n")
        assert wanted in drawn(pilot)
