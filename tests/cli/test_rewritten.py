"""A file is rewritten while a command prints it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.leaks.rewriting import tick
from tests.support.program import Result, run
from viewer.cli import output
from viewer.document import vault
from viewer.sources import stamp

TURNS = 1000
SENTENCE = "the file was rewritten"


def chat(word: str, turns: int = TURNS, channel: str = "analysis") -> str:
    return "".join(
        f"<|start|>user<|message|>Question {number}<|end|>\n"
        f"<|start|>assistant<|channel|>{channel}<|message|>Secret {word}<|end|>\n"
        f"<|start|>assistant<|channel|>final<|message|>{word} {number}<|return|>\n"
        for number in range(turns)
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "chat.txt"
    file.write_text(chat("First"))
    return file


@pytest.fixture
def rewritten(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rewrite the file when half of the bodies have been read. They are read in several blocks."""
    monkeypatch.setattr(stamp, "YOUNGEST_NS", 0)
    monkeypatch.setattr(output, "_BLOCK", 500)
    tick(path.parent)
    count = iter(range(10**6))

    def counted(read: Callable[..., str | None]) -> Callable[..., str | None]:
        def counting(*given: object) -> str | None:
            if next(count) == TURNS:
                tick(path.parent)
                path.write_text(chat("Other", TURNS + 50))
                tick(path.parent)
            return read(*given)

        return counting

    for owner, name in ((vault.Vault, "body_for"), (vault._Bodies, "read")):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
    yield


def assert_no_secret(result: Result) -> None:
    assert "Secret" not in result.out + result.err


@pytest.mark.usefixtures("rewritten")
class TestRewrites:
    def test_show_stops_with_one_sentence(self, path: Path) -> None:
        result = run("show", path)
        assert_no_secret(result)
        assert (result.code, result.err) == (2, f"ocmlview: {path}: {SENTENCE}\n")
        assert "First 20" in result.out
        assert "Other" not in result.out

    def test_show_json_prints_a_reset_line_and_continues(self, path: Path) -> None:
        result = run("show", "--json", path)
        assert_no_secret(result)
        lines = [json.loads(line) for line in result.out.splitlines()]
        reset = next(number for number, line in enumerate(lines) if line["kind"] == "reset")
        assert lines[reset]["reason"] == "rewritten"
        assert not any("Other" in line.get("body", "") for line in lines[:reset])
        after = [line["body"] for line in lines[reset:] if line["kind"] == "message"]
        assert after[-1] == f"Other {TURNS + 49}"
        assert SENTENCE in result.err
        assert result.code == 0

    @pytest.mark.parametrize("form", ["html", "md", "text", "jsonl"])
    def test_export_leaves_no_file(self, path: Path, form: str) -> None:
        target = path.with_name("out")
        result = run("export", "--to", form, "-o", target, path)
        assert (result.code, result.err) == (2, f"ocmlview: {path}: {SENTENCE}\n")
        assert [file.name for file in path.parent.iterdir()] == ["chat.txt", "clock"]

    def test_convert_writes_nothing(self, path: Path) -> None:
        result = run("convert", "--to", "json", path)
        assert (result.code, result.out, result.err) == (2, "", f"ocmlview: {path}: {SENTENCE}\n")
