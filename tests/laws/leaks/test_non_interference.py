"""Non-interference: if only hidden words differ, all output and all screens are the same."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from tests.laws.leaks.test_printed_leaks import printed
from tests.support.leaks.acting import BACK, EVERYWHERE, MERGED, REVEALED, Act, act_of
from tests.support.leaks.laboratory import Session, session
from tests.support.leaks.planted import KINDS, Planted, everything, transcripts
from tests.support.printing import SAFE_SURFACES, SITES
from tests.support.running import drawn
from viewer.document.document import open_document
from viewer.model.visibility import END_USER
from viewer.tui.app import ViewerApp
from viewer.tui.main.navigator import Navigator

PAIRS = int(os.environ.get("OCML_LAB_PAIRS", "1000"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
NUMBERS = st.lists(st.integers(0, 2**40), min_size=12, max_size=12)
ACTS = [act for act in EVERYWHERE if act.kind not in BACK]

Pair = tuple[Planted, Planted]


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Return a transcript, and a copy with other hidden words."""
    first = draw(transcripts())
    return first, first.with_other_words(Random(draw(st.integers(0, 2**32))))


def diagnostics(planted: Planted) -> list[object]:
    """Return the problems that an end user sees. Only bodies with the same problems must be indistinguishable."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat"
        path.write_bytes(planted.data)
        document = open_document(str(path), format=planted.format)
        return [document.message_count, document.project(END_USER).diagnostics()]


async def seen(planted: Planted, acts: Sequence[Act], **options: Any) -> list[object]:
    """Return everything observable after each act, and the files at the end."""
    found: list[object] = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(ViewerApp, "CLICK_CHAIN_TIME_THRESHOLD", 3600.0)  # the time between clicks does not matter
        patched.setattr(ViewerApp, "ENABLE_SELECT_AUTO_SCROLL", False)  # a timer decides how far a drag scrolls
        async with session(planted, Path(folder), searches=False, **options) as run:
            found.append(snapshot(run))
            for act in acts:
                await run.do(act)
                found.append(snapshot(run))
        found += files(Path(folder))
    return found


def snapshot(run: Session) -> tuple[str, ...]:
    """Return the settled screen, and the observable state outside it."""
    if run.app._exit:
        return ()
    screen = run.app.screen
    return drawn(run.pilot), run.app.title, run.app.sub_title, run.app.clipboard, screen.get_selected_text() or ""


def files(folder: Path) -> list[tuple[str, bytes]]:
    made = (path for path in sorted(folder.iterdir()) if path.is_file() and REVEALED not in path.name)
    return [(path.name, path.read_bytes()) for path in made if path.suffix != ".svg"]


def assert_the_same_is_printed(pair: Pair) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chat"
        for line in [*SAFE_SURFACES, *SITES]:
            results = []
            for planted in pair:
                file.write_bytes(planted.data)
                results.append(printed(planted, file, line))
            assert results[0] == results[1], line


def assert_the_same_is_seen(pair: Pair, acts: Sequence[Act], **options: Any) -> None:
    one, other = (asyncio.run(seen(planted, acts, **options)) for planted in pair)
    assert len(one) == len(other)
    for number, (before, after) in enumerate(zip(one, other, strict=True)):
        assert before == after, ["the start", *acts, "the files"][min(number, len(acts) + 1)]


@pytest.mark.share(test=12)
@pytest.mark.parametrize("format", KINDS)
def test_every_command_prints_the_same_for_both_documents(format: str) -> None:
    planted = everything(format)
    pair = planted, planted.with_other_words(Random(5))
    assert diagnostics(pair[0]) == diagnostics(pair[1])
    assert_the_same_is_printed(pair)


@pytest.mark.lab
def test_the_first_screens_of_both_documents_are_equal() -> None:
    planted = everything("openchatml-2.2")
    assert_the_same_is_seen((planted, planted.with_other_words(Random(6))), ACTS[:6])


@pytest.mark.share(test=12)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("format", ["openchatml-2.2", "openchatml-0.1", "json", "events"])
def test_every_screen_of_both_documents_is_equal(format: str, part: int) -> None:
    planted = everything(format, 2)
    assert_the_same_is_seen((planted, planted.with_other_words(Random(6))), ACTS[part::3])


@pytest.mark.share(test=16)
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony", "json", "events"])
def test_every_screen_of_a_served_view_is_equal(format: str, part: int) -> None:
    """The keys that the served view refuses are typed, too."""
    planted = everything(format, 2)
    acts = [*ACTS[part::2], *(Act("key", (key,)) for key in ("d", "b", "a", "i", "r", "x"))]
    assert_the_same_is_seen((planted, planted.with_other_words(Random(6))), acts, sealed=True)


@pytest.mark.share(test=4)
@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony", "json", "events"])
def test_every_screen_of_merged_files_is_equal(format: str) -> None:
    planted = everything(format, 2)
    acts = [act for act in MERGED if act.kind not in BACK]
    assert_the_same_is_seen((planted, planted.with_other_words(Random(6))), acts, merged=True)


@pytest.mark.slow
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs(), NUMBERS)
def test_random_pairs_give_equal_output(pair: Pair, numbers: list[int]) -> None:
    check(pair, numbers)


def check(pair: Pair, numbers: list[int]) -> None:
    assume(diagnostics(pair[0]) == diagnostics(pair[1]))
    assert_the_same_is_printed(pair)
    assert_the_same_is_seen(pair, [act for act in map(act_of, numbers) if act.kind not in BACK])


@pytest.mark.lab
def test_a_thousand_pairs_give_equal_output() -> None:
    counted: list[int] = []

    @seed(SEED)
    @settings(
        max_examples=PAIRS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(pairs(), NUMBERS)
    def campaign(pair: Pair, numbers: list[int]) -> None:
        check(pair, numbers)
        counted.append(1)

    campaign()
    assert len(counted) >= PAIRS


@pytest.mark.share(test=2)
@pytest.mark.parametrize(
    "tells",
    [
        lambda planted: planted.text.replace("20 degrees", f"{len(planted.text)} degrees"),
        lambda planted: planted.text + "<|start|>user<|message|>x<|end|>" * (len(planted.text) % 7),
    ],
)
def test_a_difference_is_found(tells: Callable[[Planted], str]) -> None:
    planted = everything("openchatml-2.2")
    other = planted.with_other_words(Random(8))
    pair = tuple(Planted(each.format, tells(each), each.places) for each in (planted, other))
    with pytest.raises(AssertionError):
        assert_the_same_is_printed((pair[0], pair[1]))
    with pytest.raises(AssertionError):
        assert_the_same_is_seen((pair[0], pair[1]), [Act("key", ("g",)), Act("key", ("G",)), Act("export")])


@pytest.mark.slow
def test_a_served_view_that_reveals_hidden_text_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def tells(navigator: Navigator, typed: str) -> bool:
        if typed == "5":
            navigator._host.notify(str(crc32(Path("input", "chat.ocml").read_bytes())))
        return typed == "5"

    monkeypatch.setattr(Navigator, "type_digit", tells)
    planted = everything("openchatml-2.2")
    with pytest.raises(AssertionError, match="'5'"):
        assert_the_same_is_seen((planted, planted.with_other_words(Random(8))), [Act("key", ("5",))], sealed=True)
