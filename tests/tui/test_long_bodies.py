"""A folded body costs what is shown of it, and an unfolded one is laid out while keys go on working."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tui.running import ROOMY, SMALL, drawn, press, running, view
from viewer.render import drawn_text as drawn_module
from viewer.render import json_layout, layout
from viewer.tui import body_layout, body_lines

HEAD = "version: 2.2\n<|start|>user<|message|>List the stars.<|end|>\n"
CALL = "<|start|>assistant to=functions.stars call_id=s1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>\n"
REPLY = "<|start|>tool name=functions.stars call_id=s1 to=assistant<|channel|>commentary<|constrain|>json<|message|>"
END = "<|end|>\n<|start|>assistant<|channel|>final<|message|>There are many.<|return|>\n"


def stars(count: int) -> str:
    found = [{"name": f"Star {number}", "magnitude": number / 7, "tags": ["a", "b"]} for number in range(count)]
    return json.dumps({"ok": True, "content": found})


class Counted:
    """Counts the characters that are laid out, and those of them in the thread of the event loop."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.all = self.in_loop = 0
        self.loop_thread = threading.get_ident()
        places = [
            (layout, "lay_out"),
            (body_lines, "lay_out"),
            (body_layout, "lay_out"),
            (json_layout, "laid_out"),
            (drawn_module, "laid_out"),
        ]
        for module, name in places:
            if hasattr(module, name):
                patch.setattr(module, name, self._counting(getattr(module, name)))

    def _counting(self, code: Callable[..., Any]) -> Callable[..., Any]:
        def count(text: str, *given: Any, **more: Any) -> Any:
            self.all += len(text)
            if threading.get_ident() == self.loop_thread:
                self.in_loop += len(text)
            return code(text, *given, **more)

        return count


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.fixture
def sky(tmp_path: Path) -> Path:
    path = tmp_path / "sky.ocml"
    path.write_text(HEAD + CALL + REPLY + stars(8000) + END, "utf-8")
    assert path.stat().st_size > 457_000
    return path


@pytest.mark.parametrize("size", [ROOMY, SMALL])
async def test_a_folded_body_is_laid_out_as_far_as_it_is_shown(
    sky: Path, size: tuple[int, int], counted: Counted
) -> None:
    async with running(sky, size=size, keys=["d", "g", "J", "J", "J", "K", "j", "k"]) as pilot:
        assert counted.all < 150_000
        assert '"name": "Star 0"' in drawn(pilot) or size == SMALL
        text = "".join(part.text for line in view(pilot).transcript.block(2).lines for part in line.parts)
        assert "more characters" in text


async def test_an_unfolded_body_is_laid_out_beside_the_event_loop(sky: Path, counted: Counted) -> None:
    async with running(sky, size=ROOMY, keys=["d", ":", "3", "enter"]) as pilot:
        before = counted.in_loop
        await press(pilot, "l")
        block = view(pilot).transcript.block(2)
        assert block.height > 30_000
        assert counted.in_loop - before < 100_000
        assert counted.all > 457_000
        await press(pilot, "J")
        assert view(pilot).focused_number == 4
        await press(pilot, "K", "h")
        assert view(pilot).transcript.block(2).height < 70


async def test_other_messages_do_not_lay_it_out_again(sky: Path, counted: Counted) -> None:
    async with running(sky, size=ROOMY, keys=["d", ":", "3", "enter", "l"]) as pilot:
        before = counted.all
        await press(pilot, "j", "k", "ctrl+d", "m", "p", "p")
        assert counted.all - before < 457_000


async def test_a_long_answer_of_plain_text_is_bounded_too(tmp_path: Path, counted: Counted) -> None:
    path = tmp_path / "tale.ocml"
    answer = "Once upon a time there was a lighthouse.\n" * 60_000
    path.write_text(f"{HEAD}<|start|>assistant<|channel|>final<|message|>{answer}<|return|>\n", "utf-8")
    async with running(path, size=SMALL, keys=["J", "J"]) as pilot:
        assert counted.all < 200_000
        await press(pilot, "l", "G")
        assert counted.in_loop < 300_000
        assert view(pilot).transcript.block(1).height > 60_000
        assert "lighthouse" in drawn(pilot)


async def test_a_match_far_inside_is_shown_where_it_is_unfolded(sky: Path) -> None:
    async with running(sky, size=ROOMY, keys=["d", ":", "3", "enter", "l"]) as pilot:
        await press(pilot, "slash", *"Star", "space", *"7000", "enter")
        assert "Star 7000" in drawn(pilot)
