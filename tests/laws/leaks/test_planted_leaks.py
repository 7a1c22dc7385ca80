"""The laboratory is not blind: it finds a leak that is planted in the code of any surface."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.leaks.laboratory import NAMES, session
from tests.support.leaks.planted import CALL, SHOWN_IN_TEXT, SHOWN_ON_CHANNELS, everything, made_of
from tests.support.leaks.planted_sessions import SESSION_KINDS
from tests.support.leaks.planting import SURFACES, Surface, prefixed

QUICK = ("transcript", "line of a call", "clipboard", "files", "search hits")
SMALL = made_of(
    "openchatml-2.2",
    [
        ("nothing", ""),
        ("shown", SHOWN_IN_TEXT[0]),
        ("analysis", "<|start|>assistant<|channel|>analysis<|message|>{c}<|end|>\n"),
        ("stray", "between\n"),
        ("call", CALL + "{}<|call|>\n"),
        ("shown", SHOWN_ON_CHANNELS[1]),
        ("nothing", ""),
    ],
    7,
)


@pytest.mark.share(quick=9, test=12)
@pytest.mark.parametrize(
    "surface",
    [pytest.param(each, id=each.name, marks=[] if each.name in QUICK else pytest.mark.slow) for each in SURFACES],
)
async def test_a_planted_leak_is_found(surface: Surface, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = everything(surface.kind, 3, SESSION_KINDS) if surface.kind else SMALL
    leak = planted.canaries[0]
    with monkeypatch.context() as patched:
        surface.plant(patched, leak)
        async with session(planted, tmp_path, as_folder=surface.as_folder, merged=surface.merged) as run:
            for act in surface.acts:
                await run.do(prefixed(act, leak))
    assert (surface.found_on or surface.name) in {escaped.surface for escaped in run.escaped}


def test_there_are_many_surfaces_with_different_names() -> None:
    names = [surface.name for surface in SURFACES]
    assert len(names) == len(set(names)) >= 25
    assert set(NAMES.values()) <= {*names, "status", "palette", "welcome card"}
