"""The pictures of the README match the code; OCML_UPDATE=1 updates them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.program import ROOT
from tests.support.running import running
from viewer.tui.terminal.picture import picture

PICTURES = {
    "safe-120x40": ((120, 40), []),
    "debug-120x40": ((120, 40), ["d", "e"]),
    "safe-80x24": ((80, 24), []),
    "debug-80x24": ((80, 24), ["d", "e", "i"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_pictures_show_the_current_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("NO_COLOR", raising=False)
    size, keys = PICTURES[name]
    async with running("samples/tour.ocml", size=size, keys=keys) as pilot:
        drawn = picture(pilot.app)
    file = ROOT / "docs" / "pictures" / f"{name}.svg"
    if os.environ.get("OCML_UPDATE"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(drawn, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == drawn


def test_pictures_load_no_external_resource() -> None:
    for name in PICTURES:
        text = Path(ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        assert text.count("http") == 1  # the name of the format
        assert "<script" not in text
