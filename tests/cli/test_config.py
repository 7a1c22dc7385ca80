"""`ocmlview config`: the settings file, and each effective value with its source. No setting reveals hidden content."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import pytest

from tests.support.program import CHAT, run
from viewer.tui.keys import ACTIONS
from viewer.tui.settings.file import NEVER, read_settings
from viewer.tui.settings.places import config_file, config_folder, tilde
from viewer.tui.settings.settings import Settings
from viewer.tui.settings.template import TEMPLATE


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path / "ocmlview" / "config.yaml"


def written(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def values(out: str) -> dict[str, tuple[str, str]]:
    """Return the table by setting."""
    rows = [re.split(r"  +", line) for line in out[out.index("setting ") :].splitlines()[1:]]
    return {row[0]: (row[1], row[2]) for row in rows}


def test_without_a_file_every_setting_has_its_default(file: Path) -> None:
    result = run("config")
    assert result.code == 0
    assert result.err == ""
    assert f"settings  {file}  (missing; `ocmlview config --init` writes it)" in result.out
    assert f"themes    {file.parent}/themes" in result.out
    assert values(result.out) == {
        "theme": ("dark", "default"),
        "layout.outline": ("true", "default"),
        "layout.inspector": ("true", "default"),
        "layout.problems": ("false", "default"),
        "wrap": ("88", "default"),
        "markdown": ("true", "default"),
        "stall-after": ("10", "default"),
        "plugins": ("true", "default"),
        "discovery": ("true", "default"),
        "state": ("true", "default"),
        "max_spool": ("4 GB", "default"),
        "max_decompressed": ("2 GB", "default"),
    }


def test_each_value_names_its_origin(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(file, "theme: ember\nkeymap:\n  search: ctrl+g\nlayout: {inspector: 50}\nwrap: 90\nstall-after: 2.5\n")
    shown = values(run("config").out)
    assert shown["theme"] == ("ember", "line 1")
    assert shown["keymap.search"] == ("ctrl+g", "line 3")
    assert shown["layout.inspector"] == ("50", "line 4")
    assert shown["wrap"] == ("90", "line 5")
    assert shown["stall-after"] == ("2.5", "line 6")
    monkeypatch.setenv("NO_COLOR", "1")
    assert values(run("config").out)["theme"] == ("plain", "NO_COLOR")


def test_invalid_settings_are_reported_and_ignored(file: Path) -> None:
    written(file, "thme: light\nwrap: wide\nmarkdown: false\n")
    result = run("config")
    assert result.code == 1
    assert [line.removeprefix(f"ocmlview: {file}:") for line in result.err.splitlines()] == [
        "1:1: unknown key 'thme'. Did you mean theme?",
        "2:7: 'wide' is not allowed: write screen, or a number from 20 to 1000",
    ]
    assert values(result.out)["markdown"] == ("false", "line 3")
    assert values(result.out)["wrap"] == ("88", "default")


@pytest.mark.share(quick=4)
@pytest.mark.parametrize("key", NEVER)
def test_no_setting_reveals_anything(file: Path, tmp_path: Path, key: str) -> None:
    chat = tmp_path / "chat.ocml"
    chat.write_text(CHAT)
    before = run("show", chat)
    written(file, f"{key}: all\n")
    assert run("show", chat) == before
    assert run(chat) == before
    assert "is not allowed: no setting can reveal hidden messages" in run("config").err


def test_a_new_settings_file_is_readable_by_its_owner_only(file: Path) -> None:
    assert run("config", "--init").err == f"wrote {file}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert run("config").code == 0
    file.write_text("theme: light\n")
    again = run("config", "--init")
    assert again.code == 2
    assert again.err == f"ocmlview: {file} already exists; it was not changed\n"
    assert file.read_text() == "theme: light\n"


def test_an_unwritable_folder_is_reported(file: Path) -> None:
    file.parent.write_text("a file")
    result = run("config", "--init")
    assert result.code == 2
    assert len(result.err.splitlines()) == 1


def test_an_invalid_pattern_is_reported_and_stops_a_redaction(file: Path) -> None:
    written(file, "redact:\n  badge: 'B-[0-9]+'\n")
    (file.parent / "chat.json").write_text('[{"role": "user", "content": "B-77"}]')
    assert "[redacted:badge-1]" in run("show", "--redact", file.parent / "chat.json").out
    written(file, "redact:\n  Bad Name: 'B-[0-9]+'\n")
    assert "lowercase letters" in run("config").err
    assert run("show", "--redact", file.parent / "chat.json").code == 2
    written(file, "redact:\n  badge: '('\n")
    assert "redact.badge" in run("config").err
    refused = run("show", "--redact", file.parent / "chat.json")
    assert (refused.code, refused.out) == (2, "")
    assert "redact.badge in the settings file: Invalid regular expression" in refused.err


def test_the_new_settings_file_lists_every_setting(file: Path) -> None:
    assert all(not line or line.startswith("#") for line in TEMPLATE.splitlines())
    written(file, re.sub(r"^#(?! )|^#(?=  \w)", "", TEMPLATE, flags=re.MULTILINE))
    settings = read_settings()
    assert settings.problems_found == ()
    assert set(settings.lines) == {
        "theme", "keymap.search", "keymap.partner", "layout.outline", "layout.inspector", "layout.problems", "wrap",
        "markdown", "stall-after", "plugins", "discovery", "state", "places.claude-code", "max_spool",
        "max_decompressed", "prices.my-model-large", "prices.my-model-*",
        "redact.customer", "redact.badge",
    }  # fmt: skip
    fresh = Settings()
    assert (settings.wrap, settings.markdown, settings.stall_after) == (fresh.wrap, fresh.markdown, fresh.stall_after)
    assert settings.limits == fresh.limits


def test_all_actions_are_listed_with_their_effective_keys(file: Path) -> None:
    written(file, "keymap: {search: ctrl+g}\n")
    rows = run("config", "--keys").out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [action.id for action in ACTIONS]
    row = next(row for row in rows if row.startswith("search "))
    assert row.split()[:2] == ["search", "ctrl+g"]


def test_the_settings_folder_follows_the_conventions_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    folder = "Library/Application Support" if sys.platform == "darwin" else ".config"
    assert config_folder() == tmp_path / folder / "ocmlview"
    monkeypatch.setenv("XDG_CONFIG_HOME", "not/absolute")
    assert config_folder() == tmp_path / folder / "ocmlview"
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert config_file() == Path("/elsewhere/ocmlview/config.yaml")
    assert tilde(tmp_path / "a" / "b") == "~/a/b"
    assert tilde(Path("/elsewhere")) == "/elsewhere"
