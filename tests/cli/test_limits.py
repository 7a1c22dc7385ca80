"""The caps of the settings file, and closed standard streams: one sentence, exit code 2."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.program import CHAT, ROOT, Result, run

READING = [["show"], ["show", "--json"], ["check"], ["stats"], ["view"], ["convert", "--to", "json"], ["export"]]
FOLLOWING = [["show", "-f"], ["show", "-f", "--json"], ["check", "-f"]]


def words(command: list[str]) -> str:
    return " ".join(command)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ocmlview").mkdir()
    (tmp_path / "ocmlview" / "config.yaml").write_text("max_spool: 1 MB\nmax_decompressed: 1 KB\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.share(quick=4, test=3)
@pytest.mark.parametrize("command", [*READING, *FOLLOWING], ids=words)
@pytest.mark.usefixtures("settings")
def test_an_endless_input_is_cut_off(command: list[str], tmp_path: Path) -> None:
    result = run(*command, "/dev/zero")
    assert result.code == 2
    lines = [line for line in result.err.splitlines() if not line.endswith("`ocmlview formats`.")]
    assert lines == ["ocmlview: stopped after 1 MB: /dev/zero cannot be read twice; raise max_spool to continue"]
    assert [path.name for path in tmp_path.iterdir()] == ["ocmlview"]


@pytest.mark.slow
@pytest.mark.usefixtures("settings")
def test_a_compressed_file_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "chat.gz"
    path.write_bytes(gzip.compress((CHAT + "<|start|>user<|message|>again<|end|>\n" * 100).encode()))
    result = run("check", path)
    assert result.code == 1
    assert "E-STREAM-TRUNCATED/too-large" in result.out


@pytest.mark.share(quick=12, test=6)
@pytest.mark.parametrize("command", [*READING, *FOLLOWING, ["export", "-o", "-"], []], ids=words)
def test_a_closed_standard_input_is_reported_in_one_sentence(command: list[str]) -> None:
    result = closed(0, *command, "-")
    assert (result.code, result.out, result.err) == (2, "", "ocmlview: standard input is closed\n")


@pytest.mark.share(quick=24, test=6)
@pytest.mark.parametrize("command", [*READING[:-1], *FOLLOWING[2:], ["export", "-o", "-"]], ids=words)
def test_a_closed_standard_output_is_reported_in_one_sentence(command: list[str]) -> None:
    source = "/dev/null" if "-f" in command else str(ROOT / "samples" / "tour.ocml")
    result = closed(1, *command, source)
    lines = [line for line in result.err.splitlines() if "no messages found" not in line]
    assert (result.code, lines) == (2, ["ocmlview: standard output is closed"])


@pytest.mark.slow
def test_a_closed_standard_error_does_not_change_the_output() -> None:
    source = ROOT / "samples" / "tour.ocml"
    assert closed(2, "show", str(source)).out == run("show", source, LANG="C.UTF-8").out
    assert closed(2, "show", "nowhere").code == 2


@pytest.mark.slow
def test_no_file_gets_the_descriptor_of_a_closed_stream(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    result = closed(1, "export", "--to", "text", "-o", str(path), str(ROOT / "samples" / "tour.ocml"))
    assert result.code == 0
    assert "Exported" in result.err
    assert "Exported" not in path.read_text("utf-8")


def closed(descriptor: int, *arguments: str) -> Result:
    """Run the program with this descriptor closed."""
    closing = "0<&-" if descriptor == 0 else f"{descriptor}>&-"
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m viewer "$@" {closing}', sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "LANG": "C.UTF-8"},
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


@pytest.mark.share(quick=3)
@pytest.mark.parametrize(
    "command", [["check"], ["check", "--json"], ["check", "--sarif"], ["check", "--github"]], ids=words
)
@pytest.mark.parametrize("fault", ["compressed-damaged", "compressed-truncated"])
def test_a_damaged_compressed_file_makes_check_exit_with_1(command: list[str], fault: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.gz"
    data = gzip.compress(CHAT.encode())
    path.write_bytes(data[:-6] + b"\0\0" + data[-4:] if fault == "compressed-damaged" else data[:-9])
    result = run(*command, path)
    assert result.code == 1
    assert fault in result.out


DAMAGE = {
    "compressed-damaged": "The compressed file is damaged. Reading stopped here.",
    "compressed-truncated": "The compressed file is truncated. The content up to that point is shown.",
}


@pytest.mark.share(quick=3)
@pytest.mark.parametrize(
    "command",
    [
        ["show"],
        ["show", "--json"],
        ["show", "--strict-safe"],
        ["stats"],
        ["convert", "--to", "json"],
        ["export", "-o", "-"],
    ],
    ids=words,
)
@pytest.mark.parametrize("fault", DAMAGE)
def test_a_damaged_compressed_file_is_printed_and_reported_and_exits_with_1(
    command: list[str], fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "chat.gz"
    data = gzip.compress(CHAT.encode())
    path.write_bytes(data)
    whole = run(*command, path)
    path.write_bytes(data[:-6] + b"\0\0" + data[-4:] if fault == "compressed-damaged" else data[:-9])
    result = run(*command, path)
    assert (whole.code, result.code) == (0, 1)
    assert f"ocmlview: {path}: {DAMAGE[fault]}\n" in result.err
    assert result.out


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("ending", [b"garbage", b"\x1f\x8b"])
def test_a_damaged_pipe_is_reported_while_it_is_followed(ending: bytes, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "viewer", "check", "-f", "-"],
        input=gzip.compress(CHAT.encode()) + ending,
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.count(b"E-STREAM-TRUNCATED/compressed-") == 1


def test_a_compressed_file_on_standard_input_is_read_and_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "chat.gz"
    path.write_bytes(gzip.compress(CHAT.encode()))
    with path.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "viewer", "show", "-f", "-"], stdin=file, capture_output=True, cwd=ROOT, timeout=60,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0
    assert b"Yes, it is." in done.stdout
