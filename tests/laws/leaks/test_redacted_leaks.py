"""With `--redact`, no secret from a transcript, its name, or its folder appears in any output."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from tests.support.leaks.planted import KINDS, everything
from tests.support.program import run
from viewer.cli import site
from viewer.cli.site import ALONE, SiteOptions, export_site
from viewer.document.redaction.examples import example_of
from viewer.document.redaction.kinds import BY_NAME
from viewer.document.redaction.redactor import Redactor
from viewer.model.visibility import END_USER
from viewer.reading.format import ReadOptions
from viewer.render.exports import EXPORTERS

PIECE = 14
"""The number of adjacent characters of a token that must not appear anywhere."""
SHOWN = ("warm in Tokyo", "Yes, 20 degrees", "It is.")
LINES = [
    ["show", "-d"],
    ["show"],
    ["show", "--json", "-d"],
    ["show", "--reveal", "brief"],
    *(["export", "-d", "-o", "-", "--to", form] for form in EXPORTERS),
]
SITES = [["-d", "-o", "OUT.DEBUG"], ["--single", "-o", "ONE"]]


def tokens(text: str, words: list[str]) -> tuple[str, list[str]]:
    """Return the text with a token in place of each word, and the tokens in the shown part."""
    chance, made = Random(1), list[str]()
    for word in [*words, *SHOWN]:
        made.append(example_of(BY_NAME["github-token"], chance)[0])
        text = text.replace(word, f"{word} {made[-1]}" if word in SHOWN else f"{made[-1]}.")
    return text, made


def pieces(words: list[str]) -> re.Pattern[str]:
    found = {word[at : at + PIECE] for word in words for at in range(0, len(word) - PIECE + 1)}
    return re.compile("|".join(map(re.escape, sorted(found))))


@pytest.mark.share(test=8)
@pytest.mark.parametrize("format", [kind for kind in KINDS if kind != "harmony-tokens"])  # its text consists of numbers
def test_no_output_has_a_secret(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planted = everything(format)
    text, made = tokens(planted.text, [word for word in planted.canaries if not word.isdecimal()])
    named, folder = (example_of(BY_NAME["github-token"], Random(seed))[0] for seed in (2, 3))
    file = tmp_path / "in" / folder / f"chat-{named}.ocml"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    leaks = pieces([*made, named, folder])
    forced = ["--format", planted.format]
    assert leaks.search(run("show", "-d", *forced, file).out)
    for line in LINES:
        result = run(*line, "--redact", *forced, file)
        assert not leaks.search(result.out.replace("\n", "")), line
        assert result.code == 0 and "Redacted" in result.err, result.err
    assert not leaks.search(run("show", "--redact", *forced, file, file).out)
    for options in SITES:
        assert run("export", "--to", "site", "--redact", *options, *forced, "in").code == 0
    assert run("export", "--redact", "-d", *forced, "-o", "pages", "in").code == 0
    assert run("export", "--redact", "--to", "md", *forced, file).code == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file() and "in" not in path.relative_to(tmp_path).parts]
    assert len(written) > 250
    for path in written:
        assert not leaks.search(str(path.relative_to(tmp_path))), path
        assert not leaks.search(path.read_text("utf-8")), path


@pytest.mark.slow
def test_a_surface_that_forgets_the_masks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, made = tokens(everything("openchatml-2.2").text, [])
    (tmp_path / "chat.ocml").write_text(text, "utf-8")
    monkeypatch.setattr(Redactor, "clean", lambda self, text: text)
    for line in LINES:
        assert pieces(made).search(run(*line, "--redact", tmp_path / "chat.ocml").out.replace("\n", "")), line


@pytest.mark.slow
def test_a_secret_that_one_transcript_reveals_is_masked_in_names_and_in_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    word, other = "Kq7vXw2mTz9b", "Lr8wYx3nUa0cPq5e7H"
    Path("in").mkdir()
    for number in range(ALONE + 4):
        header = f"model: {other}\n" if number == 5 else ""
        said = f'password="{word}", api_key="{other}"' if number == ALONE + 3 else f"It is {word}."
        name = word if number == 0 else f"chat-{number:02}"
        Path("in", f"{name}.ocml").write_text(f"version: 2.2\n{header}<|start|>user<|message|>{said}<|end|>\n")
    trees = []
    for workers in (8, 1):
        monkeypatch.setattr(site, "_MOST_WORKERS", workers)
        assert export_site(["in"], f"OUT{workers}", SiteOptions(END_USER, ReadOptions(), redactor=Redactor())) == 0
        out = Path(f"OUT{workers}")
        trees.append({path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()})
        for path, data in trees[-1].items():
            assert word not in str(path) and word.encode() not in data and other.encode() not in data, path
    assert trees[0] == trees[1]
    last = Path("in", f"chat-{ALONE + 3:02}.ocml")
    last = last.rename(Path("in", f"{word}-last.ocml"))
    for line in (["show"], ["show", "--json"], ["export", "--to", "md", "-o", "-"]):
        assert word not in run(*line, "--redact", last, *([last] if line[0] == "show" else [])).out, line
    assert run("export", "--redact", last).code == 0
    assert run("export", "--redact", "--to", "md", "-o", "pages", "in").code == 0
    assert [path for path in Path().rglob(f"*{word}*") if path.parts[0] != "in"] == []
