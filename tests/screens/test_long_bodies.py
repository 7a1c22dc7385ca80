"""Long bodies: a folded body costs only its visible part, and an unfolded one is laid out while keys work."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.app_following import live
from tests.support.cases import each
from tests.support.running import ROOMY, SMALL, drawn, press, running, view
from viewer.model.visibility import Reveal
from viewer.render import body as bodies
from viewer.render import layout, page
from viewer.render.body import Rendering
from viewer.render.layout import GrowingLayout, LayoutRequest, lay_out_body
from viewer.tui.app import ViewOptions

HEAD = "version: 2.2\n<|start|>user<|message|>List the stars.<|end|>\n"
CALL = "<|start|>assistant to=functions.stars call_id=s1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>\n"
REPLY = "<|start|>tool name=functions.stars call_id=s1 to=assistant<|channel|>commentary<|constrain|>json<|message|>"
END = "<|end|>\n<|start|>assistant<|channel|>final<|message|>There are many.<|return|>\n"


def stars(count: int) -> str:
    found = [{"name": f"Star {number}", "magnitude": number / 7, "tags": ["a", "b"]} for number in range(count)]
    return json.dumps({"ok": True, "content": found})


class Counted:
    """Counts the characters that are laid out, in total and in the thread of the event loop."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.all = self.in_loop = 0
        self.loop_thread = threading.get_ident()
        places = [
            (layout, "lay_out"),
            (page, "lay_out"),
            (bodies, "laid_out"),
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


@pytest.mark.slow
@pytest.mark.parametrize("size", [ROOMY, SMALL])
async def test_a_folded_body_is_laid_out_as_far_as_it_is_shown(
    sky: Path, size: tuple[int, int], counted: Counted
) -> None:
    async with running(sky, size=size, keys=["d", "g", "J", "J", "J", "K", "j", "k"]) as pilot:
        assert "✓ ok" in drawn(pilot)
        await press(pilot, "l")
        assert "content   array, 8,000 items ▸" in drawn(pilot)
        assert counted.all < 1_000


@pytest.mark.slow
async def test_all_nodes_of_a_long_reply_are_bounded(sky: Path, counted: Counted) -> None:
    async with running(sky, size=ROOMY, keys=["d", ":", "3", "enter"]) as pilot:
        await press(pilot, "asterisk")
        block = view(pilot).widgets.transcript.block(1)
        assert 2_000 <= block.height < 2_100
        assert "more" in "".join(part.text for part in block.lines[block.height - 1].parts)
        assert counted.in_loop < 100_000
        await press(pilot, "h", "h")
        assert view(pilot).widgets.transcript.block(1).height == 1


@pytest.mark.slow
async def test_other_messages_do_not_lay_it_out_again(sky: Path, counted: Counted) -> None:
    async with running(sky, size=ROOMY, keys=["d", ":", "3", "enter", "l"]) as pilot:
        before = counted.all
        await press(pilot, "j", "k", "ctrl+d", "m", "p", "p")
        assert counted.all - before < 457_000


@pytest.mark.slow
async def test_a_long_answer_of_plain_text_is_bounded_too(tmp_path: Path, counted: Counted) -> None:
    path = tmp_path / "tale.ocml"
    answer = "Once upon a time there was a lighthouse.\n" * 60_000
    path.write_text(f"{HEAD}<|start|>assistant<|channel|>final<|message|>{answer}<|return|>\n", "utf-8")
    async with running(path, size=SMALL, keys=["J", "J"]) as pilot:
        assert counted.all < 200_000
        await press(pilot, "l", "G")
        assert counted.in_loop < 300_000
        assert view(pilot).widgets.transcript.block(1).height > 60_000
        assert "lighthouse" in drawn(pilot)


@pytest.mark.slow
async def test_a_match_far_inside_is_shown_where_it_is_unfolded(sky: Path) -> None:
    async with running(sky, size=ROOMY, keys=["d", ":", "3", "enter", "l"]) as pilot:
        await press(pilot, "slash", *"Star", "space", *"7000", "enter")
        assert "Star 7000" in drawn(pilot)


FOLLOW = ViewOptions(follow=True)


@pytest.mark.share(test=3)
@pytest.mark.parametrize("options", [FOLLOW, replace(FOLLOW, revealed=frozenset({Reveal.ALL}))])
@pytest.mark.parametrize("line_end", ["", "\n"])
async def test_a_growing_message_is_laid_out_once(
    tmp_path: Path, counted: Counted, options: ViewOptions, line_end: str
) -> None:
    path = tmp_path / "growing.ocml"
    begun = f"{HEAD}<|start|>assistant<|channel|>final<|message|>{'It rains. ' * 10_000}"
    async with live(path, begun, options=options) as app:
        pieces = 40
        before = counted.all
        for piece in range(pieces):
            await app.write(f"Drop {piece} falls. {'It pours. ' * 100}{line_end}")
        shown = await app.write("\nThat is all.")
        assert "That is all." in shown
        assert counted.in_loop - before < 250_000
        await app.write("<|return|>")
        assert "That is all." in drawn(app.pilot)
        assert counted.in_loop - before < 250_000


@each("seed", range(30), quick=10, test=3)
def test_a_body_that_grew_has_the_same_rows_as_a_whole_one(seed: int) -> None:
    chance = Random(seed)
    words = [
        "rain ",
        "umbrella",
        "  ",
        "\n",
        "\r\n",
        "\n\n",
        "雨",
        "e\u0301",
        "👩\u200d🚀",
        "\x1b",
        "\t",
        "a" * 30,
        " ",
    ]
    whole = "".join(chance.choice(words if seed % 2 else words[:6]) for _ in range(400))
    width, trim = chance.randrange(5, 40), chance.random() < 0.5
    ends = sorted({*(chance.randrange(len(whole)) for _ in range(40)), len(whole)})
    growing = None
    for end in ends:
        request = LayoutRequest(whole[:end], width, False, Rendering.PLAIN, trim)
        if growing is None:
            growing = GrowingLayout(request)
        else:
            growing.grow(request)
        expected = lay_out_body(request)
        assert growing.layout.drawn == expected.drawn
        letters = ["".join(row.text for row in each.rows).replace(" ", "") for each in (growing.layout, expected)]
        assert letters[0] == letters[1]
        if not seed % 2:  # a line of wide characters keeps the spaces at the ends of its rows
            assert [(row.text, row.start, row.end) for row in growing.layout.rows] == [
                (row.text, row.start, row.end) for row in expected.rows
            ]


def test_a_growing_body_that_changes_is_laid_out_again() -> None:
    request = LayoutRequest("Rain falls on the town. " * 20, 20, False, Rendering.PLAIN, False)
    growing = GrowingLayout(request)
    for body in ("Snow falls on the town. " * 30, "Sun."):
        other = replace(request, body=body)
        assert growing.grow(other).rows == lay_out_body(other).rows
    wide = replace(request, width=33)
    assert growing.grow(wide).rows == lay_out_body(wide).rows
