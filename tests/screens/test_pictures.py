"""The pictures in the README and the pages match the code. OCML_UPDATE=1 updates them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.docs.written import example_files
from tests.support.moving_picture import Shot, moving_picture, texts_of
from tests.support.program import ROOT
from tests.support.running import drawn as drawn_text
from tests.support.running import finished, press, running
from viewer.tui.app import ViewOptions
from viewer.tui.keys import Scope
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.picture import picture

PICTURES = {
    "safe-80x24": ((80, 24), []),
    "debug-80x24": ((80, 24), ["d", "e", "i"]),
    "replay-80x24": ((80, 24), ["at", "5", "comma"]),
    "served": ((100, 24), ["J", "d"]),
    "tap-80x24": ((80, 24), ["g", "g"]),
    "next-100x24": ((100, 24), ["d", "S", *["right_square_bracket"] * 2]),
    "lens-100x24": ((100, 24), ["d", "V"]),
    "diff-100x24": ((100, 24), ["d", "colon", *"diff", "space", *"tuesday", "full_stop", *"json", "enter", "e"]),
    "leaks-100x24": ((100, 24), ["d", "L", "right_square_bracket", "right_square_bracket"]),
}
SERVED = ViewOptions(sealed=True, settings=Settings(scope=Scope.SERVED_SAFE))
FILES = {"tap-80x24": "samples/valid/tap/exchanges.jsonl"}
"""The files of the pictures that do not show the tour."""
EXAMPLES = {
    "next-100x24": ("next.md", "two-turns.harmony"),
    "lens-100x24": ("lens.md", "forged.ocml"),
    "diff-100x24": ("diff.md", "monday.harmony"),
    "leaks-100x24": ("leaks.md", "club.ocml"),
}
"""For each picture of a worked example, the page and the file."""
DEMO: list[tuple[list[str], float]] = [
    ([], 1.6),
    (["right_curly_bracket"], 0.7),
    (["J"], 0.7),
    (["J"], 0.9),
    (["d"], 1.4),
    (["e"], 1.6),
    (["p"], 1.4),
    (["greater_than_sign"], 1.2),
    (["greater_than_sign"], 1.4),
    (["H", "d"], 0.9),
    (["slash", *"osaka"], 0.8),
    (["enter"], 0.8),
    (["escape", "ctrl+p", *"light"], 0.8),
    (["escape", "question_mark"], 0.8),
]
"""The frames of the animated picture: keys, and seconds."""
DEMO_SIZE = (100, 30)
LARGEST_DEMO = 400_000


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_pictures_show_the_current_code(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, opened = EXAMPLES.get(name, ("", FILES.get(name, "samples/tour.ocml")))
    if page:
        example_files(page, tmp_path)
    monkeypatch.chdir(tmp_path if page else ROOT)
    monkeypatch.delenv("NO_COLOR", raising=False)
    size, keys = PICTURES[name]
    options = SERVED if name == "served" else None
    async with running(opened, size=size, options=options) as pilot:
        for key in keys:
            await press(pilot, key)
            await finished(pilot)
        drawn = picture(pilot.app)
    file = ROOT / "docs" / "pictures" / f"{name}.svg"
    if os.environ.get("OCML_UPDATE"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(drawn, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == drawn


@pytest.mark.slow
async def test_the_moving_picture_shows_the_current_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("NO_COLOR", raising=False)
    shots, screens = [], []
    async with running("samples/tour.ocml", size=DEMO_SIZE) as pilot:
        for keys, seconds in DEMO:
            await press(pilot, *keys)
            await _unchanged(pilot)
            shots.append(Shot(picture(pilot.app), seconds))
            screens.append(drawn_text(pilot))
    drawn = moving_picture(shots)
    assert texts_of(drawn, DEMO_SIZE[1]) == screens
    assert len(set(screens)) == len(DEMO)
    assert round(sum(seconds for _, seconds in DEMO), 6) == 15
    assert len(drawn.encode()) <= LARGEST_DEMO
    assert "prefers-reduced-motion:reduce" in drawn
    file = ROOT / "docs" / "pictures" / "demo.svg"
    if os.environ.get("OCML_UPDATE"):
        file.write_text(drawn, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == drawn


async def _unchanged(pilot: Pilot[int]) -> None:
    """Wait until the screen looks the same twice in a row."""
    before = ""
    while (now := drawn_text(pilot)) != before:
        before = now
        await press(pilot)


def test_pictures_load_no_external_resource() -> None:
    for name in (*PICTURES, "demo"):
        text = Path(ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        assert text.count("http") == 1  # only in the name of the SVG namespace
        assert "<script" not in text
