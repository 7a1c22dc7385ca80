"""Measures show, check and stats on generated transcripts beside `wc -l`, in megabytes a second; then the viewer."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.app import main as measure_app
from tests.benchmarks.following import main as measure_following

SIZES = (1_000_000, 4_000_000, 16_000_000)
ROUNDS = 3
SEED = 20260101
WORDS = ["the", "answer", "is", "that", "one", "of", "these", "ways", "will", "take", "less", "time", "than", "we"]


def main() -> None:
    """Generate, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'size':>8}  {'wc -l':>10}  {'show':>10}  {'show --json':>12}  {'check':>10}  {'stats':>10}   MB/s")
        for size in SIZES:
            path = Path(folder) / f"{size}.ocml"
            written = path.write_text(chat(size), "utf-8")
            ours = [(["show"], 10), (["show", "--json"], 12), (["check"], 10), (["stats"], 10)]
            cells = [f"{written / 1e6:>6.0f}MB", rate(written, ["wc", "-l", str(path)], 10)]
            cells += [rate(written, [sys.executable, "-m", "viewer", *args, str(path)], width) for args, width in ours]
            print("  ".join(cells))
    for label, command in (("python -c pass", ["-c", "pass"]), ("--help", ["-m", "viewer", "--help"])):
        print(f"{label:<16}{seconds([sys.executable, *command]) * 1000:6.0f} ms")
    measure_app()
    measure_following()


def chat(size: int) -> str:
    """A transcript of about so many bytes, always the same."""
    chance = random.Random(SEED)
    parts = ["version: 2.2\n"]
    length = 0
    number = 0
    while length < size:
        number += 1
        said, thought, asked = (" ".join(chance.choices(WORDS, k=chance.randint(8, 80))) for _ in range(3))
        turn = (
            f"<|start|>user<|message|>{asked}<|end|>\n<|start|>assistant<|channel|>analysis<|message|>{thought}<|end|>\n"
            f"<|start|>assistant to=functions.find call_id=c{number}<|channel|>commentary<|constrain|>json<|message|>"
            f'{{"words":{number}}}<|call|>\n<|start|>tool name=functions.find call_id=c{number} to=assistant'
            f'<|channel|>commentary<|message|>{{"ok":true}}<|end|>\n'
            f"<|start|>assistant<|channel|>final<|message|>{said}<|return|>\n"
        )
        parts.append(turn)
        length += len(turn)
    return "".join(parts)


def rate(size: int, command: list[str], width: int) -> str:
    """Megabytes a second, start-up included."""
    if not shutil.which(command[0]):
        return "-".rjust(width)
    return f"{size / 1e6 / seconds(command):>{width},.1f}"


def seconds(command: list[str]) -> float:
    """The median time of a command."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return median(times)


if __name__ == "__main__":
    main()
