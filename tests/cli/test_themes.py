"""`ocmlview themes`: the list in words or in colors, and the mistakes in a custom theme."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.program import run
from viewer.render.sanitize import SafeText
from viewer.render.theme import theme_names
from viewer.render.width import cells
from viewer.tui.themes.preview import WIDTH

SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    folder = tmp_path / "ocmlview" / "themes"
    folder.mkdir(parents=True)
    return folder


def test_themes_are_listed_in_words_if_there_is_no_color(mine: Path) -> None:
    (mine / "mine.yaml").write_text('title: "My\\e[2Jown"\nlike: light\n')
    result = run("themes")
    assert result.code == 0
    heads, *rows = result.out.splitlines()
    assert heads.split() == ["name", "title", "from"]
    assert [row.split()[0] for row in rows] == theme_names([mine])
    assert "\x1b" not in result.out
    assert re.search(r"^mine +My␛\[2Jown +you$", result.out, re.MULTILINE)


@pytest.mark.parametrize("ascii", [False, True])
def test_each_theme_is_shown_in_its_own_colors(ascii: bool) -> None:
    result = run("themes", "--color", "always", *(["--ascii"] if ascii else []))
    assert result.code == 0
    blocks = result.out.rstrip("\n").split("\n\n")
    assert len(blocks) == len(theme_names())
    for block in blocks:
        assert {cells(SafeText(SEQUENCE.sub("", line))) for line in block.splitlines()} == {WIDTH}
        assert "\x1b" not in SEQUENCE.sub("", block)
        assert not ascii or block.isascii()
    light = run("themes", "--color", "always", "light").out
    assert "48;2;251;250;246" in light
    assert re.findall(r"\x1b\[[0-9;]*3[0-9](?!8)", run("themes", "--color", "always", "plain").out) == []


def test_the_16_colors_are_those_of_the_terminal() -> None:
    out = run("themes", "--color", "always", "ansi").out
    assert "8;2;" not in out
    assert "8;5;" not in out
    assert "\x1b[1;96;40m" in out


@pytest.mark.share(quick=3)
@pytest.mark.parametrize(("term", "has", "lacks"), [("xterm-256color", "38;5;", "38;2;"), ("linux", "\x1b[", "8;5;")])
def test_a_terminal_with_fewer_colors_gets_fewer(term: str, has: str, lacks: str) -> None:
    out = run("themes", "--color", "always", "dark", TERM=term, COLORTERM="").out
    assert has in out
    assert lacks not in out


def test_an_invalid_theme_is_reported_and_the_others_are_listed(mine: Path) -> None:
    (mine / "mine.yaml").write_text("colors:\n  primry: red\n")
    result = run("themes")
    assert result.code == 1
    assert result.err.endswith("mine.yaml:2:3: unknown key 'primry'. Did you mean primary?\n")
    assert len(result.out.splitlines()) == 1 + len(theme_names())
    assert run("themes", "drak") == type(result)(1, "", "ocmlview: unknown theme 'drak'. Did you mean dark?\n")
