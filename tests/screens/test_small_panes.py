"""Panes on very small and very large screens, in both views: they draw whatever fits, and never fail."""

from __future__ import annotations

import pytest

from tests.support.panes import DEBUG, PAINTER, SAFE, STYLE, OnePane, screen, tour
from tests.support.views import problems_of
from viewer.model.visibility import Audience
from viewer.tui.bottom.calls import Calls
from viewer.tui.bottom.problems import Problems
from viewer.tui.bottom.timeline import Timeline
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.outline import Outline


@pytest.mark.share(quick=12, test=2)
@pytest.mark.parametrize("size", [(5, 2), (20, 5), (500, 200)])
@pytest.mark.parametrize("audience", [SAFE, DEBUG], ids=["safe", "debug"])
@pytest.mark.parametrize("kind", [Outline, Inspector, Problems, Calls, Timeline])
async def test_a_pane_of_any_size_is_drawn(kind: type, audience: Audience, size: tuple[int, int]) -> None:
    projection = tour().project(audience)
    pane = kind(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=size) as pilot:
        match pane:
            case Outline():
                pane.show(projection, projection.rows(), 17)
            case Timeline():
                pane.show(projection, projection.rows(), projection.calls(), 17)
            case Inspector():
                pane.show(projection, 17)
            case Problems():
                pane.show(problems_of(projection), safe=audience.is_safe)
            case Calls():
                pane.show(projection.calls(), 17)
        await pilot.pause()
        assert screen(app)
