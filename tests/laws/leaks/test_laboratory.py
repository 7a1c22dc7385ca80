"""No action in the safe app leaks hidden content."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.support.leaks.acting import EVERYWHERE, IN_A_LIST, IN_LIST, MERGED, TYPED, WALKS, Act, act_of
from tests.support.leaks.finder import SHORTEST
from tests.support.leaks.laboratory import SHORTEST_TYPED, Escaped, session
from tests.support.leaks.planted import KINDS, Planted, everything, of_sample, transcripts
from tests.support.leaks.planted_sessions import ALL_KINDS, SESSION_KINDS, agents_in
from tests.support.samples import samples

SESSIONS = int(os.environ.get("OCML_LAB_SESSIONS", "1000"))
ACTIONS = int(os.environ.get("OCML_LAB_ACTIONS", "200"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
SHARES = 4
WAYS = [
    *("", "strict", "slowly", "growing", "as_folder", "as_sources", "merged", "brief", "sealed"),
    *("restarted", "at_home"),
]
"""The ways in which random sessions open the app."""
SIZES = [(120, 40), (80, 24), (80, 24), (40, 12)]
"""The screen sizes of random sessions: room for all panes, for a few, and for one."""
NUMBERS = st.integers(0, 2**40)


def prefixes_of(planted: Planted) -> list[str]:
    """Return prefixes of canaries, which an operator may type without having seen the canary.

    They are so short that the first letter after the prompt cannot turn them into a leak. The footer begins with `q
    Quit`, so a canary must not continue with a `q`. A prefix that also occurs elsewhere in the transcript (`392` in the
    token 3923) may be found there, so it proves nothing."""
    rest = planted.text
    for word in planted.canaries:
        rest = rest.replace(word, "\0")
    lengths = range(SHORTEST_TYPED, SHORTEST - 1)
    typed = [word[:length] for word in planted.canaries[:8] for length in lengths if word[length : length + 1] != "q"]
    return [prefix for prefix in typed if prefix not in rest]


async def escaped_from(
    planted: Planted, acts: Sequence[Act], *, restarted: bool = False, **options: Any
) -> tuple[list[Escaped], int]:
    """Return the leaks that were found, and how many times the output was searched. `restarted` starts the app twice:
    the second time with the state that the first one saved."""
    escaped, looks = list[Escaped](), 0
    half = len(acts) // 2 if restarted else 0
    with tempfile.TemporaryDirectory() as folder:
        for part in (acts[:half], acts[half:]) if restarted else (acts,):
            async with session(planted, Path(folder), **options) as run:
                for act in part:
                    await run.do(act)
            escaped += run.escaped
            looks += run.looks
    return escaped, looks


def assert_nothing_escapes(planted: Planted, numbers: Sequence[int], **options: Any) -> None:
    prefixes = prefixes_of(planted)
    agents = agents_in(planted)
    acts = [act_of(number, prefixes, anywhere=True, agents=agents) for number in numbers]
    escaped, _ = asyncio.run(escaped_from(planted, acts, **options))
    assert escaped == [], [str(act) for act in acts]


@pytest.mark.share(test=16)
@pytest.mark.parametrize("format", KINDS)
async def test_no_action_of_the_app_leaks(format: str) -> None:
    planted = everything(format)
    searches = [Act("search", (sign, prefix)) for sign in ("/", "&", "//") for prefix in prefixes_of(planted)[::4]]
    escaped, looks = await escaped_from(planted, [*EVERYWHERE, *searches])
    assert escaped == []
    assert looks > 40


@pytest.mark.share(test=48)
@pytest.mark.parametrize(
    ("format", "option"),
    [
        ("openchatml-2.2", "strict"),
        ("json", "as_folder"),
        ("openchatml-2.2", "as_folder"),
        ("openchatml-2.2", "as_sources"),
        ("openchatml-2.2", "merged"),
        *((name, way) for name in KINDS for way in ("slowly", "growing", "brief", "sealed")),
    ],
)
async def test_no_way_to_open_the_app_leaks(format: str, option: str) -> None:
    planted = everything(format, 2)
    searches = [Act("search", (sign, prefix)) for sign in ("/", "//") for prefix in prefixes_of(planted)[::4]]
    acts = {
        "slowly": [],
        "growing": EVERYWHERE[:6],
        "strict": EVERYWHERE,
        "brief": EVERYWHERE,
        "sealed": [*EVERYWHERE, *searches],
        "as_folder": [*IN_A_LIST, *searches, *[Act("key", (key,)) for key in ("escape", "enter")], *EVERYWHERE],
        "as_sources": [
            *(Act("key", (key,)) for key in ("enter", "]", "J", "]", "[", "q", "j", "s", "enter")),
            *EVERYWHERE,
        ],
        "merged": [*MERGED, *searches, Act("key", ("enter",)), *EVERYWHERE, Act("key", ("q",)), *MERGED],
    }[option]
    escaped, _ = await escaped_from(planted, acts, **{option: True})
    assert escaped == []


EXTRA = [
    *(Act("command", (typed,)) for typed in TYPED),
    *(Act("search", (sign, "warm")) for sign in ("/", "&")),
    *(Act(walk) for walk in WALKS),
    *(Act("key", (key,)) for key in ("m", "J", "m", "H", "G", "$", ";", "p")),
    Act("export"),
]
"""Every command and every screen, once."""


@pytest.mark.slow
@pytest.mark.share(test=4)
@pytest.mark.parametrize(
    ("format", "option"),
    [("many rows", ""), ("claude-code", "restarted"), ("claude-code", "at_home"), ("claude-code", "brief")],
)
async def test_no_screen_leaks_from_sub_agents_and_many_transcripts(format: str, option: str) -> None:
    planted = everything(format, 3, SESSION_KINDS)
    searches = [Act("search", (sign, prefix)) for sign in ("/", "&", IN_LIST) for prefix in prefixes_of(planted)[::4]]
    agents = [Act("agent", (place, key)) for place in agents_in(planted) for key in ("backspace", "J")]
    assert bool(agents) == (format == "claude-code")
    acts = [*EXTRA, *agents, *searches]
    escaped, _ = await escaped_from(planted, acts, **({option: True} if option else {}))
    assert escaped == []


@pytest.mark.slow
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(transcripts(), st.lists(NUMBERS, min_size=12, max_size=12))
def test_no_random_session_leaks(planted: Planted, numbers: list[int]) -> None:
    assert_nothing_escapes(planted, numbers)


@pytest.fixture
def seldom_collected() -> Iterator[None]:
    """Collect garbage rarely, because collecting takes a tenth of the time of a session."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.lab
@pytest.mark.usefixtures("seldom_collected")
@pytest.mark.parametrize("share", range(SHARES))
def test_none_of_a_thousand_sessions_leaks(share: int) -> None:
    @seed(SEED * SHARES + share)
    @settings(
        max_examples=-(-SESSIONS // SHARES),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(transcripts(ALL_KINDS), NUMBERS, st.sampled_from(WAYS))
    def sessions(planted: Planted, number: int, option: str) -> None:
        chance = Random(f"{SEED} {share} {number} {len(planted.data)}")
        numbers = [chance.getrandbits(40) for _ in range(ACTIONS)]  # lists of integers would repeat a few too often
        assert_nothing_escapes(planted, numbers, size=chance.choice(SIZES), **({option: True} if option else {}))

    sessions()


SAMPLE_SESSIONS = int(os.environ.get("OCML_LAB_SAMPLE_SESSIONS", "200"))


@pytest.mark.lab
@pytest.mark.usefixtures("seldom_collected")
@pytest.mark.parametrize("share", range(SHARES))
def test_nothing_escapes_from_sessions_over_the_samples(share: int) -> None:
    """Test samples of every format, with a canary in each text that the format's documentation hides."""
    found = [sample for sample in samples("valid") if sample.seen.get("hidden") and not sample.is_compressed]
    chance = Random(f"{SEED} {share}")
    for number, sample in enumerate(chance.choices(found, k=SAMPLE_SESSIONS // SHARES)):
        planted = of_sample(sample, number)
        option = chance.choice(WAYS)
        numbers = [chance.getrandbits(40) for _ in range(ACTIONS // 4)]
        assert_nothing_escapes(planted, numbers, size=chance.choice(SIZES), **({option: True} if option else {}))
