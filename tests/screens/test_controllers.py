"""Controllers: found by the targets of actions, independent of Textual, and reached through few modules."""

from __future__ import annotations

import subprocess
import sys
from types import FrameType
from typing import Any

import pytest

from tests.support.running import press, running, view
from viewer.tui.keys import ACTIONS, COUNTED, by_id

WITHOUT_TEXTUAL = (
    "session", "keys", "main.follow", "main.stick_to_end", "main.navigator", "main.view", "main.search", "main.filter",
    "main.copy", "main.export", "main.read_worker", "main.follow_worker", "control.panes", "control.lists",
    "control.problems", "jump_list",
)  # fmt: skip
ENTRIES = {"MainScreen.on_key", "MainScreen.action_do", "MainScreen.on_transcript_moved"}
DRAWS = {"Presenter.draw", "BlockMaker.make"}
"""The methods that draw, and that build the blocks to draw."""


async def test_every_action_has_a_target() -> None:
    async with running() as pilot:
        for action in ACTIONS:
            owner, _, method = action.target.partition(".")
            assert callable(getattr(getattr(view(pilot), owner), method)), action.id
            if action.in_list:
                assert callable(getattr(view(pilot).lists, action.in_list.partition(".")[2])), action.id
    assert len({action.target for action in ACTIONS}) == len(ACTIONS)


async def test_an_action_of_the_debug_view_calls_no_target_in_the_safe_view(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as pilot:
        for action in (action for action in ACTIONS if action.debug_only):
            owner, _, method = action.target.partition(".")
            monkeypatch.setattr(type(getattr(view(pilot), owner)), method, lambda self: pytest.fail("called"))
            view(pilot).action_do(action.id)
            assert view(pilot).widgets.status.notice == "debug view only: press d"


def test_counted_actions_are_targets_that_take_a_count() -> None:
    owners = {by_id(id).target.split(".")[0] for id in COUNTED}
    assert owners == {"navigator", "problems", "search", "panes"}


@pytest.mark.slow
def test_session_and_controllers_load_no_textual() -> None:
    imports = "; ".join(f"import viewer.tui.{module}" for module in WITHOUT_TEXTUAL)
    loaded = "print([name for name in sys.modules if name.split('.')[0] == 'textual'])"
    code = f"import sys; {imports}; {loaded}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


class Trace:
    """Records the modules below `tui` that run for a key before anything is drawn."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._inside = self._drawing = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        name, step = frame.f_code.co_qualname, 1 if event == "call" else -1
        self._inside += step * (name in ENTRIES)
        self._drawing += step * (name in DRAWS)
        _, _, module = frame.f_code.co_filename.partition("/viewer/tui/")
        if event == "call" and module and self._inside and not self._drawing:
            self.modules.add(module)


@pytest.mark.share(quick=0)
@pytest.mark.parametrize(("key", "most"), [("j", 10), ("d", 20)])
async def test_a_key_passes_through_few_modules(key: str, most: int) -> None:
    async with running() as pilot:
        await press(pilot, "J")
        trace = Trace()
        sys.setprofile(trace)
        try:
            await press(pilot, key)
        finally:
            sys.setprofile(None)
        assert {"main/screen.py", "main/navigator.py", "transcript/transcript.py"} <= trace.modules
        assert len(trace.modules) <= most, "\n".join(sorted(trace.modules))
