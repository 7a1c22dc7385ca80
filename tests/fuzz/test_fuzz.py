"""No input raises an exception or takes long: known inputs stay fixed, and every run tries new ones for a few
seconds."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.fuzz import campaign
from tests.fuzz.campaign import SLOWEST, HangError, run_campaign, try_everything, try_one
from tests.fuzz.inputs import CORPUS, LARGEST, ON_TRIAL, mutated, seeds
from tests.fuzz.structures import restructured
from tests.fuzz.targets import HAS_SCANNER, LARGE, TRIED
from tests.support.cases import each
from tests.support.hostile import SHAPES, Shape
from tests.support.samples import samples
from viewer.formats import FORMATS

SECONDS = float(os.environ.get("OCML_LAB_SECONDS", "600"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))


@pytest.mark.slow
def test_no_input_raises_in_a_few_seconds(tmp_path: Path) -> None:
    assert run_campaign(1, 1_000_000, tmp_path).inputs > 0


@pytest.mark.lab
def test_no_input_raises() -> None:
    assert run_campaign(SECONDS, SEED * 10_000_000).inputs > SECONDS / 2


FORMAT_SECONDS = float(os.environ.get("OCML_LAB_FORMAT_SECONDS", "600"))


def run_format(name: str, seconds: float, first: int, kept: Path = CORPUS) -> int:
    """Read mutations of the samples of one format, by their bytes and by their structure, as that format."""
    own = [sample.text[:LARGEST] for sample in samples(f"valid/{name}")]
    others, end, number = seeds(), time.monotonic() + seconds, first
    while time.monotonic() < end:
        chance = random.Random(number)
        seed = chance.choice(own)
        data = restructured(seed, others, chance) if chance.random() < 0.6 else None
        data = mutated(data or seed, others, chance) if data is None or chance.random() < 0.2 else data
        failing = kept / f"{ON_TRIAL}{name}-{number}"
        failing.write_bytes(data)
        try_everything(data, number, [f"read as {name}", "show --json"] if number % 8 == 0 else [f"read as {name}"])
        failing.unlink()
        number += 1
    return number - first


@pytest.mark.lab
@pytest.mark.parametrize("name", FORMATS)
def test_no_mutation_of_a_format_raises(name: str) -> None:
    assert run_format(name, FORMAT_SECONDS, SEED * 10_000_000) > FORMAT_SECONDS


@pytest.mark.slow
def test_no_mutation_of_a_table_raises_in_a_second(tmp_path: Path) -> None:
    assert run_format("claude-code", 1, 2_000_000, tmp_path) > 2


def corpus() -> list[ParameterSet]:
    """Return all inputs of the corpus. Those larger than a few kilobytes are slow."""
    files = [file for file in sorted(CORPUS.iterdir()) if file.is_file()]
    return [
        pytest.param(file, id=file.name, marks=[pytest.mark.slow] if file.stat().st_size > 4096 else [])
        for file in files
    ]


@pytest.mark.share(quick=24, test=12)
@pytest.mark.parametrize("file", corpus())
def test_no_input_of_the_corpus_raises(file: Path) -> None:
    try_everything(file.read_bytes(), 1, list(TRIED))


def test_the_corpus_is_small() -> None:
    assert sum(file.stat().st_size for file in CORPUS.iterdir()) < 512 * 1024


@pytest.mark.skipif(not HAS_SCANNER, reason="there is no scanner")
def test_the_scanner_is_a_target() -> None:
    assert "scan" in TRIED


@pytest.mark.slow
def test_a_hang_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(data: bytes, chance: random.Random) -> None:
        while True:
            pass

    monkeypatch.setitem(TRIED, "hang", hang)
    monkeypatch.setattr(campaign, "SLOWEST", 0.05)
    with pytest.raises(HangError):
        try_one("hang", b"", 1)


def test_an_input_that_fails_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(data: bytes, chance: random.Random) -> None:
        raise ValueError

    for name in list(TRIED):
        monkeypatch.delitem(TRIED, name)
    monkeypatch.setitem(TRIED, "fail", fail)
    with pytest.raises(ValueError):
        run_campaign(1, 5, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new-5"]


PAIRS = [(name, shape) for name in TRIED if name not in LARGE for shape in SHAPES[SEED % 6 :: 6]]


@each("name, shape", PAIRS, ids=[f"{name}: {shape.title}" for name, shape in PAIRS], quick=0, test=300, batch=26)
def test_hostile_shapes_of_64_kb_take_less_than_a_second(name: str, shape: Shape) -> None:
    data = shape.text(LARGEST)
    start = time.process_time()
    TRIED[name](data, random.Random(1))
    took = time.process_time() - start
    assert took < 2.5 * SLOWEST, f"{took:.1f} s"
