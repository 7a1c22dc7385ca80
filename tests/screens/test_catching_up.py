"""A big followed file: first its end appears, then all of its problems."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.running import drawn, view
from viewer.document.backend import BIG
from viewer.document.document import open_document
from viewer.model.visibility import END_USER
from viewer.render.title import FollowState
from viewer.tui.app import ViewerApp, ViewOptions

HEAD = "version: 2.2\n"
GOOD = (
    "<|start|>assistant to=functions.f call_id=c{0}<|channel|>commentary<|constrain|>json<|message|>"
    '{{"at": {0}}}<|call|>\n'
    "<|start|>tool name=functions.f call_id=c{0} to=assistant<|channel|>commentary<|message|>{0}<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>It is.<|end|>\n"
)
BROKEN = "<|start|>assistant<|channel|>final<|message|>Br\x00ken.<|end|>\n"


@pytest.mark.slow
async def test_the_end_is_reached_and_nothing_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    turns = (GOOD.format(number) + BROKEN * (not number % 1000) for number in range(4 * BIG // len(GOOD)))
    path.write_text(HEAD + "".join(turns))
    whole = open_document(str(path)).project(END_USER)
    app = ViewerApp([str(path)], ViewOptions(follow=True))
    async with asyncio.timeout(60), app.run_test(size=(120, 40)) as pilot:
        while view(pilot).follow.title.state is not FollowState.LIVE:
            await asyncio.sleep(0.001)
        document = view(pilot).session.document
        assert document._analysis.unchecked > 0
        assert f"{whole.message_count:,} of {whole.message_count:,}" in drawn(pilot)
        while not document._analysis.is_checked or view(pilot).follow.is_busy:
            await asyncio.sleep(0.001)
        expected = whole.problems(whole.rows()).extend(whole.message_count).severities
        assert expected["warning"] > 10
        assert view(pilot).session.diagnostics.severities == expected
