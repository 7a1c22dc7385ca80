"""The settings file: its keys, and how mistakes are reported and skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.program import ROOT
from viewer.errors import ViewerError
from viewer.tui.settings.file import NEVER, WHY_NEVER, read_settings
from viewer.tui.settings.saving import save_theme
from viewer.tui.settings.settings import Chosen, Pane, Settings, theme_in_force

ALL_OF_IT = """\
# mine
theme: light
keymap:
  search: ctrl+g
  partner: ["%", f2]
  fold: "comma"
layout:
  outline: false
  inspector: 40
  problems: true
wrap: 96
markdown: false
stall-after: 2.5
"""


def read(text: str | bytes, folder: Path) -> Settings:
    file = folder / "config.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_settings(file, folder / "themes")


def told(text: str | bytes, folder: Path) -> list[str]:
    """Return the problems, without the folder at the start."""
    return [problem.removeprefix(f"{folder}/") for problem in read(text, folder).problems_found]


def test_every_setting_can_be_set(tmp_path: Path) -> None:
    settings = read(ALL_OF_IT, tmp_path)
    assert settings.problems_found == ()
    assert settings.theme == "light"
    assert settings.keymap == {"search": "ctrl+g", "partner": "%, f2", "fold": "comma"}
    assert (settings.outline, settings.inspector, settings.problems) == (Pane(False), Pane(True, 40), Pane(True))
    assert (settings.wrap, settings.markdown, settings.stall_after) == (96, False, 2.5)
    assert settings.lines["keymap.partner"] == 5
    assert settings.lines["layout.inspector"] == 9
    assert settings.folder == tmp_path / "themes"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "\ufeff", "wrap: screen\n"])
def test_an_empty_file_equals_no_file(text: str, tmp_path: Path) -> None:
    settings = read(text, tmp_path)
    assert settings.problems_found == ()
    assert (settings.theme, settings.wrap, settings.keymap) == ("", 0 if "screen" in text else 88, {})
    assert read_settings(tmp_path / "none.yaml").problems_found == ()


@each(
    "text, said",
    [
        ("thme: dark\n", "config.yaml:1:1: unknown key 'thme'. Did you mean theme?"),
        ("theme: drak\n", "config.yaml:1:8: unknown theme 'drak'. Did you mean dark?"),
        ("theme: [dark]\n", "config.yaml:1:8: expected a single value"),
        ("keymap:\n  serach: x\n", "config.yaml:2:3: unknown action 'serach'. Did you mean search?"),
        (
            "keymap:\n  search: pagedwn\n",
            "config.yaml:2:3: unknown key 'pagedwn' of 'search'. Did you mean pagedown?",
        ),
        (
            "keymap:\n  search: x\n",
            "config.yaml:2:3: key 'x' is assigned to 'search' and 'export': assign another key to one of them",
        ),
        (
            "keymap:\n  mark: f3\n  fold: f3\n",
            "config.yaml:3:3: key 'F3' is assigned to 'fold' and 'mark': assign another key to one of them",
        ),
        ("keymap:\n  search: {a: b}\n", "config.yaml:2:11: expected a single value"),
        ("keymap: x\n", "config.yaml:1:9: expected keys and values"),
        ("layout:\n  outlin: true\n", "config.yaml:2:3: unknown key 'outlin'. Did you mean outline?"),
        (
            "layout:\n  outline: wide\n",
            "config.yaml:2:12: 'wide' is not allowed: write true, false, or a number from 16 to 200",
        ),
        (
            "layout:\n  problems: 61\n",
            "config.yaml:2:13: '61' is not allowed: write true, false, or a number from 3 to 60",
        ),
        ("wrap: 19\n", "config.yaml:1:7: '19' is not allowed: write screen, or a number from 20 to 1000"),
        ("wrap: ٩٩\n", "config.yaml:1:7: '٩٩' is not allowed: write screen, or a number from 20 to 1000"),
        ("markdown: yes\n", "config.yaml:1:11: 'yes' is not true or false"),
        ("stall-after: 0\n", "config.yaml:1:14: '0' is not a time: write a number of seconds"),
        ("max_spool: lots\n", "config.yaml:1:12: 'lots' is not a size: write a number and KB, MB, or GB"),
        ("max_decompressed: 0\n", "config.yaml:1:19: '0' is not a size: write a number and KB, MB, or GB"),
        ("prices:\n  m: {input: 1}\n", "config.yaml:2:3: 'm' needs a price for output"),
        ("prices:\n  m: {in: 1}\n", "config.yaml:2:7: unknown key 'in'"),
        (
            "prices:\n  m: {input: -1, output: 2}\n",
            "config.yaml:2:14: '-1' is not a price: write an amount per million tokens",
        ),
        ("stall-after: soon\n", "config.yaml:1:14: 'soon' is not a time: write a number of seconds"),
        ("- theme\n", "config.yaml:1:1: expected keys and values"),
        ("theme: dark\ntheme: light\n", "config.yaml:2:1: invalid YAML"),
        ("theme: &a dark\n", "config.yaml:1:8: invalid YAML"),
        ("keymap: {filter: &}\n", "config.yaml:1:19: invalid YAML"),
        ('"\\e[2J": x\n', "config.yaml:1:1: unknown key '␛[2J'"),
        ('keymap:\n  "\\e[2J": f2\n', "config.yaml:2:3: unknown action '␛[2J'"),
        (b"theme: \xff\n", "config.yaml cannot be read as UTF-8 text; it is ignored"),
    ],
)  # fmt: skip
def test_mistakes_are_reported_with_their_position(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == [said]


def test_a_mistake_affects_only_its_own_setting(tmp_path: Path) -> None:
    text = "theme: drak\nkeymap: {search: f2, nope: f3, fold: f2}\nlayout: {outline: 3, inspector: false}\nwrap: 80\n"
    settings = read(text, tmp_path)
    assert len(settings.problems_found) == 4
    assert settings.theme == ""
    assert settings.keymap == {"search": "f2"}
    assert (settings.outline, settings.inspector, settings.wrap) == (Pane(), Pane(False), 80)
    assert settings.notice.endswith("(and 3 more; run ocmlview config)")


def test_a_key_without_an_action_cannot_clash_silently(tmp_path: Path) -> None:
    """`x` would be free if export moved to another key. If that entry is invalid, both entries are reported and neither
    takes effect."""
    settings = read("keymap:\n  search: x\n  export: 5\n", tmp_path)
    assert settings.keymap == {}
    assert len(settings.problems_found) == 2


@pytest.mark.parametrize("key", NEVER)
@each("written", ["{key}: all\n", "layout: {{{key}: true}}\n", "{upper}: safe\n"])
def test_no_setting_reveals_anything(key: str, written: str, tmp_path: Path) -> None:
    text = written.format(key=key, upper=key.upper())
    settings = read(text, tmp_path)
    assert len(settings.problems_found) == 1
    assert settings.problems_found[0].endswith(f" is not allowed: {WHY_NEVER}")
    assert settings == Settings(folder=tmp_path / "themes", problems_found=settings.problems_found)


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    assert read_settings(tmp_path / "config.yaml").notice.endswith("cannot be read as UTF-8 text; it is ignored")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["theme: " + "[" * 20_000, "wrap: 80\n" + "#" * 70_000, "a: " + "1" * 70_000])
def test_an_absurd_file_is_refused_at_once(text: str, tmp_path: Path) -> None:
    assert len(told(text, tmp_path)) == 1
    assert told(text, tmp_path)[0].endswith("invalid YAML")


def test_the_effective_theme_is_chosen_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    chosen = Settings(theme="light")
    assert theme_in_force(Settings()) == Chosen("dark", "")
    assert theme_in_force(chosen) == Chosen("light", "theme")
    assert theme_in_force(chosen, color="never") == Chosen("plain", "--color never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert theme_in_force(chosen) == Chosen("plain", "NO_COLOR")
    assert theme_in_force(chosen, "ember") == Chosen("ember", "--theme")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "theme: ember\n"),
        ("wrap: 90", "wrap: 90\ntheme: ember\n"),
        ("# mine\ntheme : light  # bright\nwrap: 90\n", "# mine\ntheme: ember\nwrap: 90\n"),
        ("#theme: dark\nkeymap:\n  theme: f2\n", "theme: ember\nkeymap:\n  theme: f2\n"),
        ("#theme: dark\nwrap: 90\ntheme: light\n", "#theme: dark\nwrap: 90\ntheme: ember\n"),
        ("{theme: light}\n", None),
        ("theme:\n  light\n", None),
        ("- a\n", None),
    ],
)
def test_saving_a_theme_changes_one_line_or_nothing(before: str, after: str | None, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(before, "utf-8")
    if after is None:
        with pytest.raises(ViewerError, match="has a mistake; it was not changed"):
            save_theme(file, "ember", tmp_path / "themes")
    else:
        save_theme(file, "ember", tmp_path / "themes")
    assert file.read_text("utf-8") == (before if after is None else after)


def test_a_saved_theme_begins_the_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.yaml"
    save_theme(file, "light", tmp_path / "themes")
    assert (read_settings(file).theme, file.stat().st_mode & 0o777) == ("light", 0o600)
    assert "#keymap:" in file.read_text("utf-8")


def test_the_settings_code_never_mentions_revealing() -> None:
    for name in ("settings.py", "file.py", "saving.py", "template.py"):
        text = (ROOT / "viewer" / "tui" / "settings" / name).read_text("utf-8")
        assert "Reveal" not in text
        assert "DisplayState" not in text
