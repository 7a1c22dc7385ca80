"""No command prints anything hidden, and a planted leak in the output of a command is found."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.support.leaks.planted import KINDS, Planted, everything, everything_like, transcripts
from tests.support.printing import DEBUG_ONLY, FOLDER, OF_CORPORA, PRINTED, SITES, SURFACES, WITHOUT_TRANSCRIPT, some
from tests.support.program import Result, run
from viewer.cli import COMMANDS, site
from viewer.cli.output import Output, write_text
from viewer.document.document import open_document
from viewer.document.projection import Projection
from viewer.formats import WRITERS
from viewer.model.visibility import EVERYTHING

SESSIONS = int(os.environ.get("OCML_LAB_SESSIONS", "1000"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))


def printed(planted: Planted, file: Path, line: list[str]) -> Result:
    """Return the output of a command for this transcript, with the names and contents of the files in its output
    folder."""
    if FOLDER not in line:
        return run(*line, "--format", planted.format, file)
    os.utime(file, (0, 0))  # the time appears in an index
    with tempfile.TemporaryDirectory() as above:
        out = Path(above) / FOLDER
        result = run(*(str(out) if word == FOLDER else word for word in line), "--format", planted.format, file)
        files = sorted(path for path in out.rglob("*") if path.is_file())
        written = "".join(f"{path.relative_to(out)}\n{path.read_text('utf-8')}\n" for path in files)
        return Result(result.code, written, result.err.replace(above, ""))


def assert_nothing_is_printed(planted: Planted) -> None:
    finder = planted.finder
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chat"
        file.write_bytes(planted.data)
        for line in [*SURFACES, *SITES]:
            result = printed(planted, file, line)
            assert finder.leaks(result.out) == [], line
            assert finder.leaks(result.err) == [], line
        listed = run("view", folder)
        assert finder.leaks(listed.out + listed.err) == []


def test_every_command_is_listed() -> None:
    assert set(PRINTED) | WITHOUT_TRANSCRIPT | OF_CORPORA == set(COMMANDS)
    assert {line[-1] for line in SURFACES if line[0] == "convert"} == set(WRITERS)


@pytest.mark.share(test=12)
@pytest.mark.parametrize("format", KINDS)
def test_no_command_prints_what_is_hidden(format: str) -> None:
    for planted in everything_like(format):
        assert_nothing_is_printed(planted)


@pytest.mark.slow
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(transcripts())
def test_no_command_prints_what_is_hidden_in_random_transcripts(planted: Planted) -> None:
    assert_nothing_is_printed(planted)


@pytest.mark.lab
def test_no_command_prints_what_is_hidden_in_a_thousand_transcripts() -> None:
    @seed(SEED)
    @settings(
        max_examples=SESSIONS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(transcripts())
    def campaign(planted: Planted) -> None:
        assert_nothing_is_printed(planted)

    campaign()


LINES = [["show"], ["show", "--json"], ["show", "--strict-safe"], ["check"], ["check", "--json"], ["stats"]]
WAYS = ["standard input", "folder", "several files", "following a pipe", "detected", "strict"]


@pytest.mark.surfaces
@pytest.mark.share(test=80)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("format", KINDS)
def test_no_other_way_to_read_prints_what_is_hidden(format: str, way: str, tmp_path: Path) -> None:
    planted, other = everything(format, 3), everything(format, 4)
    for name, each in (("a.ocml", planted), ("b.ocml", other)):
        (tmp_path / name).write_bytes(each.data)
    forced = [] if way == "detected" else ["--format", planted.format]
    lines = {
        "following a pipe": [["show", "-f"], ["show", "-f", "--json"], ["check", "-f"]],
        "strict": [[*line, "--strict-safe"] for line in SURFACES if line[0] in ("convert", "export", "stats")],
        "detected": some(SURFACES, format),
    }.get(way, LINES)
    files: list[str | Path] = {
        "standard input": ["-"],
        "following a pipe": ["-"],
        "folder": [tmp_path],
        "several files": [tmp_path / "b.ocml", tmp_path / "a.ocml"],
    }.get(way, [tmp_path / "a.ocml"])  # type: ignore[assignment]
    for line in lines:
        apart = {"LANG": "C.UTF-8"} if way == "following a pipe" else {}
        result = run(*line, *forced, *files, stdin=planted.data if "-" in files else b"", **apart)
        for each in (planted, other):
            assert each.finder.leaks(result.out) == [], line
            assert each.finder.leaks(result.err) == [], line


@pytest.mark.share(quick=60, test=12)
@pytest.mark.parametrize("line", [line for line in SURFACES if line[0] not in DEBUG_ONLY], ids=" ".join)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_planted_leak_is_found(line: list[str], stream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = everything("openchatml-2.2")
    file = tmp_path / "chat"
    file.write_bytes(planted.data)

    def leaking(code: Callable[..., None]) -> Callable[..., None]:
        def write(*given: object) -> None:
            code(*given)
            getattr(sys, stream).write(planted.canaries[3].upper() + "\n")

        return write

    for way in ("write", "write_parts"):
        monkeypatch.setattr(Output, way, leaking(getattr(Output, way)))
    for module in ("convert", "export"):
        monkeypatch.setattr(f"viewer.cli.{module}.write_text", leaking(write_text))
    result = printed(planted, file, line)
    assert planted.finder.leaks(result.out if stream == "stdout" else result.err)


@pytest.mark.share(quick=0, test=3)
@pytest.mark.parametrize("part", ["row_of", "searchable", "html_page"])
def test_a_leak_planted_in_a_part_of_a_site_is_found(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = everything("openchatml-2.2")
    file = tmp_path / "chat"
    file.write_bytes(planted.data)
    for line in SITES:
        assert planted.finder.leaks(printed(planted, file, line).out) == []
    code = getattr(site, part)

    def leaking(projection: Projection, *given: str) -> Any:
        everything = open_document(str(file), format=planted.format).project(EVERYTHING)
        return code(everything, *given)

    monkeypatch.setattr(site, part, leaking)
    for line in SITES[:3]:
        assert planted.finder.leaks(printed(planted, file, line).out), line


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("line", [line for line in SURFACES if line[0] in DEBUG_ONLY], ids=" ".join)
def test_a_command_for_developers_prints_hidden_text_only_if_everything_is_revealed(
    line: list[str], tmp_path: Path
) -> None:
    planted = everything("openchatml-2.2")
    file = tmp_path / "chat"
    file.write_bytes(planted.data)
    for options in ([], ["--reveal", "analysis,commentary,tool,system,developer,unclear"]):
        result = printed(planted, file, [*line, *options])
        assert (result.code, result.out) == (2, "")
        assert result.err == f"ocmlview {line[0]} shows hidden messages; add --reveal all\n"
    first = f"{file}:1" if "--text" in line else file
    revealed = run(*line, "-d", "--format", planted.format, first)
    assert revealed.code == 0
    assert "--text" not in line or planted.finder.leaks(revealed.out)
