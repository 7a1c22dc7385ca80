"""A big file that is followed in the viewer: its end first, and then all that is wrong with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.tui.running import drawn, view
from viewer.core.visibility import END_USER
from viewer.sources.document import BIG, open_document
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.widgets.title_bar import FollowState

GOOD = "<|start|>user<|message|>How warm?<|end|>\n<|start|>assistant<|channel|>final<|message|>It is.<|return|>\n"
BROKEN = "<|start|>assistant<|channel|>final<|message|>Br\x00ken.<|return|>\n"


async def test_the_end_is_there_and_nothing_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("version: 2.2\n" + (GOOD * 100 + BROKEN) * (3 * BIG // (100 * len(GOOD))) + GOOD)
    whole = open_document(str(path)).project(END_USER)
    app = ViewerApp([str(path)], ViewOptions(follow=True))
    async with app.run_test(size=(120, 40)) as pilot:
        while view(pilot).going().state is not FollowState.FOLLOWING:
            await asyncio.sleep(0.001)
        document = view(pilot).document
        assert f"msg {whole.message_count}/{whole.message_count}" in drawn(pilot)
        while not document._examiner.is_checked or view(pilot).is_reading:
            await asyncio.sleep(0.001)
        expected = whole.problems(whole.rows()).extend(whole.message_count).severities
        assert expected["warning"] > 10
        assert view(pilot).view.diagnostics.severities == expected
