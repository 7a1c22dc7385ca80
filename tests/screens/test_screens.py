"""Golden screens: both views in every state. OCML_UPDATE=1 updates them."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.app_following import Live
from tests.support.running import drawn, finished, press, running
from viewer.model.prices import Price, Prices
from viewer.model.visibility import Reveal
from viewer.render.sanitize import SafeText
from viewer.render.width import cells
from viewer.tui.app import ViewOptions
from viewer.tui.settings.settings import Settings

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
HIDDEN_ONLY = "version: 2.2\n<|start|>assistant<|channel|>analysis<|message|>All of this is a thought.<|end|>\n"
HEADER = "version: 2.2\nmodel: some-model\n"
TALK = (
    "<|start|>user<|message|>Where is the nearest umbrella shop?<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>They want a shop: look at the market first.<|end|>\n"
    '<|start|>assistant to=functions.find call_id=c{0}<|channel|>commentary<|message|>{{"q":"shop"}}<|call|>\n'
    "<|start|>tool name=functions.find call_id=c{0} to=assistant<|channel|>commentary<|message|>"
    '{{"ok":true}}<|end|>\n'
)
SAID = "<|start|>assistant<|channel|>final<|message|>There are three. The nearest is at the corner of the market"
GOOD = {"role": "assistant", "content": "It is good."}
ANSWERS = {what: {"role": "assistant", "content": "Take it with tea."} for what in ("milk", "figs")}
FILES = {
    "live.ocml": HEADER + TALK.format(1) + SAID,
    "paused.ocml": HEADER + "".join(TALK.format(number) + SAID + "<|return|>\n" for number in range(1, 5)),
    "empty.ocml": "",
    "header.ocml": "version: 2.2\nmodel: some-model\n",
    "hidden.ocml": HIDDEN_ONLY,
    "dump.json": '{"results": [1], "config": {}, "version": 3}',
    "rows.jsonl": "".join(
        json.dumps({"messages": [{"role": "user", "content": f"Tell me about {what}"}, ANSWERS.get(what, GOOD)]}) + "\n"
        for what in ("rice", "milk", "salt", "bread", "lemons", "oats", "jam", "corn", "figs", "eggs")
    ),
    "recipe.txt": "Take two eggs.\nThis is no transcript at all.\n",
}
RUNS = {
    "trip.ocml": (10, HEADER + TALK.format(1) + SAID),
    "shops.ocml": (7300, HEADER + "".join(TALK.format(number) + SAID + "<|return|>\n" for number in range(1, 4))),
    "thought.ocml": (90_000, HIDDEN_ONLY),
    "broken.ocml": (300_000, "version: 2.2\n<|start|>user<|message|>Summarize the minutes of Monday"),
}
"""The files of a folder, with their ages in seconds."""


@dataclass(frozen=True)
class Look:
    """One screen: a file, a size, and the keys that lead to it."""

    file: str = "samples/tour.ocml"
    size: tuple[int, int] = (120, 40)
    keys: tuple[str, ...] = ()
    options: ViewOptions = field(default_factory=ViewOptions)
    then: str = ""
    """Text appended to the file after the keys."""


FOLLOW = ViewOptions(follow=True)
DEBUG = ViewOptions(follow=True, revealed=frozenset({Reveal.ALL}))
BRIEF = ViewOptions(follow=True, revealed=frozenset({Reveal.BRIEF}))
PROBLEM = ("d", "e", "e")
AGENT = "samples/valid/claude-code/sub-agent.jsonl"
PRICED = ViewOptions(settings=Settings(prices=Prices({"claude-*": Price(3.0, 15.0)})))
LOOKS = {
    "safe-120x40": Look(),
    "safe-120x40-end": Look(keys=("G",)),
    "safe-120x40-search": Look(keys=("slash", *"umbrella", "enter")),
    "safe-120x40-strict": Look(options=ViewOptions(strict=True)),
    "safe-120x40-outline-and-problems": Look(keys=("T", "p")),
    "safe-120x40-ascii": Look(options=ViewOptions(ascii_only=True)),
    "safe-80x24": Look(size=(80, 24)),
    "safe-80x24-search-fault": Look(size=(80, 24), keys=("slash", "slash", "left_parenthesis", "a", "plus", "enter")),
    "safe-80x24-search": Look(size=(80, 24), keys=("slash", *"umbrella", "enter")),
    "safe-40x12": Look(size=(40, 12)),
    "debug-120x40": Look(keys=PROBLEM),
    "debug-120x40-search": Look(keys=(*PROBLEM, "slash", *"light", "enter")),
    "debug-120x40-side-panes": Look(keys=("d", "T", "i", "vertical_line")),
    "debug-160x48-side-panes": Look(size=(160, 48), keys=("d", "vertical_line", "4", "G", "J", "J", "enter")),
    "debug-100x30-node": Look(size=(100, 30), keys=("d", "7", "G", "enter", "J", "J")),
    "debug-120x40-raw-and-calls": Look(keys=(*PROBLEM, "r", "C")),
    "debug-120x40-ascii": Look(keys=PROBLEM, options=ViewOptions(ascii_only=True)),
    "debug-80x24": Look(size=(80, 24), keys=PROBLEM),
    "debug-80x24-inspector": Look(size=(80, 24), keys=(*PROBLEM, "i")),
    "debug-80x24-problems": Look(size=(80, 24), keys=(*PROBLEM, "p")),
    "debug-120x40-problems": Look(keys=(*PROBLEM, "p")),
    "debug-120x40-timeline": Look(keys=(*PROBLEM, "H")),
    "debug-80x24-timeline": Look(size=(80, 24), keys=(*PROBLEM, "H")),
    "debug-160x48": Look(size=(160, 48), keys=(*PROBLEM, "p", "escape")),
    "debug-100x30-command": Look(size=(100, 30), keys=("d", "colon", *"exp")),
    "safe-80x24-timeline": Look(size=(80, 24), keys=("H",)),
    "safe-80x24-replay": Look(size=(80, 24), keys=("at", "5", "comma")),
    "debug-120x40-replay": Look(keys=("d", "at", "8", "left_square_bracket")),
    "debug-40x12": Look(size=(40, 12), keys=PROBLEM),
    "brief-80x24": Look(size=(80, 24), keys=("D", "e")),
    "brief-120x40": Look(keys=("D", "T", "p", "e")),
    "brief-120x40-ascii": Look(options=replace(BRIEF, ascii_only=True)),
    "paused-brief-80x24": Look("paused.ocml", (80, 24), keys=("ctrl+u",), options=BRIEF, then=TALK.format(5)),
    "live-120x40": Look("live.ocml", options=FOLLOW),
    "live-80x24": Look("live.ocml", (80, 24), options=FOLLOW),
    "live-waiting-120x40": Look("missing.ocml", options=FOLLOW),
    "live-waiting-80x24": Look("missing.ocml", (80, 24), options=FOLLOW),
    "paused-120x40": Look("paused.ocml", keys=("ctrl+u",), options=FOLLOW, then=TALK.format(5)),
    "paused-80x24": Look("paused.ocml", (80, 24), keys=("ctrl+u",), options=FOLLOW, then=TALK.format(5)),
    "paused-debug-120x40": Look("paused.ocml", keys=("ctrl+u",), options=DEBUG, then=TALK.format(5)),
    "paused-debug-80x24": Look("paused.ocml", (80, 24), keys=("ctrl+u",), options=DEBUG, then=TALK.format(5)),
    "help-120x40": Look(keys=("question_mark",)),
    "help-80x24": Look(size=(80, 24), keys=("question_mark",)),
    "help-100x30": Look(size=(100, 30), keys=("question_mark",)),
    "palette-80x24": Look(size=(80, 24), keys=("ctrl+p",)),
    "palette-100x30-theme": Look(size=(100, 30), keys=("ctrl+p", *"theme")),
    "marks-80x24": Look(size=(80, 24), keys=("J", "m", "J", "J", "m", "apostrophe")),
    "empty-80x24": Look("empty.ocml", (80, 24)),
    "empty-debug-120x40": Look("empty.ocml", keys=("d",)),
    "header-80x24": Look("header.ocml", (80, 24)),
    "hidden-80x24": Look("hidden.ocml", (80, 24)),
    "hidden-strict-80x24": Look("hidden.ocml", (80, 24), options=ViewOptions(strict=True)),
    "hidden-debug-80x24": Look("hidden.ocml", (80, 24), ("d",)),
    "not-a-transcript-80x24": Look("recipe.txt", (80, 24)),
    "not-a-transcript-debug-120x40": Look("recipe.txt", keys=("d",)),
    "files-120x40": Look("runs", keys=("j",)),
    "files-100x30-search": Look("runs", (100, 30), keys=("slash", *"corner", "enter")),
    "files-100x30-ascii": Look("runs", (100, 30), keys=("s", "D"), options=ViewOptions(ascii_only=True)),
    "files-80x24": Look("runs", (80, 24), keys=("j", "j")),
    "files-debug-100x30": Look("runs", (100, 30), options=ViewOptions(revealed=frozenset({Reveal.ALL}))),
    "debug-100x30-filter": Look(size=(100, 30), keys=("d", "1", "2", "G", "ampersand")),
    "debug-usage-160x48": Look(AGENT, (160, 48), keys=("d", "C", "$", ";", "escape", "2", "G"), options=PRICED),
    "debug-agent-100x30": Look(AGENT, (100, 30), keys=("d", "T", "colon", *"2>1", "enter")),
    "transcripts-100x30-search": Look("rows.jsonl", (100, 30), keys=("slash", *"tea", "enter")),
    "not-json-100x30": Look("dump.json", (100, 30)),
    "frozen-100x30": Look("live.ocml", (100, 30), keys=("=",), options=FOLLOW, then="."),
    "files-40x12": Look("runs", (40, 12)),
}


@pytest.mark.share(quick=56, test=2)
@pytest.mark.parametrize("name", LOOKS)
async def test_each_screen_equals_its_approved_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = await taken(LOOKS[name], tmp_path, monkeypatch)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("OCML_UPDATE"):
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


async def taken(look: Look, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the text of the screen."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(ROOT if look.file.startswith("samples") else folder)
    for file, written in FILES.items():
        (folder / file).write_text(written, "utf-8")
    (folder / "runs").mkdir()
    for file, (age, written) in RUNS.items():
        (folder / "runs" / file).write_text(written, "utf-8")
        os.utime(folder / "runs" / file, (time.time() - age, time.time() - age))
    async with running(look.file, size=look.size, options=look.options) as pilot:
        for key in look.keys:
            await press(pilot, key)
            await finished(pilot)
        if look.then:
            await Live(pilot, folder / look.file).write(look.then)
        return drawn(pilot)


def test_approved_screens_have_the_size_in_their_name_and_none_is_unused() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(LOOKS)
    for name, look in LOOKS.items():
        lines = (GOLDEN / f"{name}.txt").read_text("utf-8").splitlines()
        assert len(lines) == look.size[1], name
        assert max(cells(SafeText(line)) for line in lines) <= look.size[0], name


def test_the_level_is_in_the_last_cells_of_every_screen() -> None:
    for name, look in LOOKS.items():
        title = (GOLDEN / f"{name}.txt").read_text("utf-8").splitlines()[0]
        level = next((level for level in ("debug", "brief") if level in name), "safe")
        assert title.endswith(f"[{level.upper()}]"), name
        assert cells(SafeText(title)) == look.size[0] - 1, name


def test_safe_screens_hold_no_thought_and_no_tool() -> None:
    for name in LOOKS:
        if "debug" not in name:
            text = (GOLDEN / f"{name}.txt").read_text("utf-8")
            tools = [] if "brief" in name else ["get_weather", "find_tables"]
            for hidden in ("All of this is a thought", "Two questions in one", "wx1", "86:134", *tools):
                assert hidden not in text, name
