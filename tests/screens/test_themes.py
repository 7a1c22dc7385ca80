"""Themes are complete, readable, and parsed strictly. A bad theme is reported and replaced."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from rich.color import blend_rgb
from rich.style import Style
from textual.app import App, ComposeResult
from textual.widgets import Input

from tests.support.cases import each
from tests.support.running import ROOMY, finished, press, running, settled, strips
from tests.support.walks import keys_of
from viewer.render.style import StyleRole
from viewer.render.theme import ANSI, COLORS, DEFAULT, DERIVED, Theme, ThemeError, load_theme, read_theme, theme_names
from viewer.resources import bundled
from viewer.tui.themes.textual_theme import textual_theme

FIXED = ["colorblind", "contrast", "dark", "ember", "heather", "light"]
"""Themes with colors that do not depend on the terminal."""
COLORED = ["ansi", *FIXED]
ALL = [*COLORED, "plain"]
XTERM_COLORS = """
    #000000 #cd0000 #00cd00 #cdcd00 #0000ee #cd00cd #00cdcd #e5e5e5
    #7f7f7f #ff0000 #00ff00 #ffff00 #5c5cff #ff00ff #00ffff #ffffff
"""
XTERM = dict(zip(ANSI, XTERM_COLORS.split(), strict=True))
"""The sixteen colors of xterm."""
VOICES = [
    StyleRole.USER,
    StyleRole.ASSISTANT,
    StyleRole.ANALYSIS,
    StyleRole.COMMENTARY,
    StyleRole.TOOL,
    StyleRole.SYSTEM,
]
DECORATION = {StyleRole.RULE, StyleRole.THUMB}
"""Styles of strokes, not of words."""


def linear(color: str) -> list[float]:
    color = XTERM.get(color.replace("_", "-"), color)
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(color: str) -> float:
    red, green, blue = linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def color_of(style: Style, default: str) -> str:
    return style.color.name if style.color else default


def background_of(style: Style) -> str | None:
    return style.bgcolor.name if style.bgcolor else None


def pairs(theme: Theme) -> Iterator[tuple[str, str, str]]:
    """Yield every text style: its name, its color, and each background under it."""
    pages = [theme.colors["background"], theme.colors["surface"]]
    for name in ("text", "quiet", "primary", "debug", "error", "warning", "success"):
        yield from ((name, theme.colors[name], page) for page in pages)
    yield "selected text", theme.colors["text"], theme.colors["selection"]
    cursor = background_of(theme.styles[StyleRole.CURSOR])
    assert cursor or theme.styles[StyleRole.CURSOR].reverse
    for look, style in theme.styles.items():
        color = color_of(style, theme.colors["text"])
        own = background_of(style)
        for background in [own] if own else [*pages, *([cursor] if cursor else [])]:
            if look not in DECORATION:
                yield look.value, color, background


def test_the_bundled_themes_are_listed() -> None:
    assert theme_names() == ALL


@pytest.mark.parametrize("name", ALL)
def test_a_bundled_theme_sets_every_color_and_is_readable(name: str) -> None:
    """Text meets the contrast of WCAG AA, strokes have a contrast of at least 3, and roles have distinct colors."""
    file, theme = read_theme(bundled("themes", f"{name}.yaml").read_text("utf-8"), name), load_theme(name)
    assert set(file.colors) == set(COLORS)
    assert set(file.looks) | set(DERIVED) == set(StyleRole)
    assert file.title
    assert file.dark is not None
    assert theme.notice == ""
    if name not in COLORED:
        return
    assert [pair for pair in pairs(theme) if contrast(*pair[1:]) < 4.5] == []
    for look in DECORATION:
        assert contrast(color_of(theme.styles[look], ""), theme.colors["background"]) >= 3
    assert len({color_of(theme.styles[look], "") for look in VOICES}) == len(VOICES)
    badges = [background_of(theme.styles[look]) for look in (StyleRole.SAFE_BADGE, StyleRole.DEBUG_BADGE)]
    assert None not in badges
    assert badges[0] != badges[1]


# Colors as seen without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1), in linear light.
SEEN = {
    "without red": [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)],
    "without green": [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)],
    "without blue": [(1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)],
}
TO_XYZ = [(0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)]
WHITE = (0.9505, 1.0, 1.089)


def times(matrix: list[tuple[float, float, float]], vector: list[float]) -> list[float]:
    return [max(0.0, sum(a * b for a, b in zip(row, vector, strict=True))) for row in matrix]


def difference(one: str, other: str, seen: str) -> float:
    """Return the distance of two colors in CIE Lab: 2.3 is just noticeable, 10 is obvious at a glance."""
    labs = []
    for color in (one, other):
        xyz = times(TO_XYZ, times(SEEN[seen], linear(color)))
        f = [c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in map(operator.truediv, xyz, WHITE)]
        labs.append((116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])))
    return math.dist(*labs)


@pytest.mark.parametrize("seen", SEEN)
def test_the_colorblind_theme_is_distinct_with_every_kind_of_vision(seen: str) -> None:
    theme = load_theme("colorblind")
    styles = theme.styles
    together = [
        VOICES,
        [StyleRole.ERROR, StyleRole.WARNING, StyleRole.OK, StyleRole.QUIET],
        [StyleRole.JSON_KEY, StyleRole.JSON_TEXT, StyleRole.JSON_NUMBER],
    ]
    close = [
        (one.value, other.value, round(apart, 1))
        for looks in together
        for one, other in itertools.combinations(looks, 2)
        if (apart := difference(color_of(styles[one], ""), color_of(styles[other], ""), seen)) < 10
    ]
    assert close == []
    badges = [background_of(styles[look]) or "" for look in (StyleRole.SAFE_BADGE, StyleRole.DEBUG_BADGE)]
    assert difference(badges[0], badges[1], seen) > 25


def test_the_ansi_theme_uses_only_terminal_colors() -> None:
    theme = load_theme("ansi")
    assert set(theme.colors.values()) <= {*ANSI, DEFAULT}
    used = [color for style in theme.styles.values() for color in (style.color, style.bgcolor) if color]
    assert all(color.is_system_defined for color in used)
    assert theme.is_ansi
    assert [load_theme(name).is_ansi for name in ("dark", "light", "plain")] == [False, False, True]


def test_the_plain_theme_has_no_colors() -> None:
    theme = load_theme("plain")
    assert set(theme.colors.values()) == {"default"}
    assert all(style.color is None and style.bgcolor is None for style in theme.styles.values())
    assert theme.styles[StyleRole.CURSOR] != theme.styles[StyleRole.PLAIN]
    assert theme.styles[StyleRole.SAFE_BADGE] != theme.styles[StyleRole.DEBUG_BADGE]


class ThemedApp(App[None]):
    CSS_PATH = bundled("themes", "viewer.tcss")

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        made = textual_theme(theme)
        self.register_theme(made)
        self.theme = made.name

    def compose(self) -> ComposeResult:
        yield Input()


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("name", ALL)
async def test_textual_accepts_the_theme(name: str) -> None:
    app = ThemedApp(load_theme(name))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.theme == f"viewer-{name}"


SCREENS = {
    "panes": "d e e i p",
    "without-focus": "escape T",
    "calls": "escape C",
    "timeline": "H",
    "side-panes": "escape |",
    "search": 'escape | / "osaka enter',
    "palette": "escape ctrl+p",
    "help": "escape ?",
    "themes": 'escape : "theme enter',
    "marks": "escape escape m '",
    "command": 'escape : "ex',
    "fault": 'escape / "/(a',
    "filter-offers": "escape escape &",
    "next": "escape S",
    "lens": "escape V",
    "leaks": "escape L",
    "safe": "escape d g e",
    "brief": "D",
}
"""Keys that lead from screen to screen; together they show every style of text."""


@pytest.mark.parametrize("each_of", [pytest.param(1, marks=pytest.mark.lab), pytest.param(10, marks=pytest.mark.slow)])
async def test_every_word_on_every_screen_is_readable_in_every_theme(each_of: int) -> None:
    """Check each screen in every theme, or only in every tenth one, starting with a different one for each screen."""
    weak: dict[tuple[str, str], set[str]] = {}
    async with running(size=ROOMY) as pilot:
        themes = pilot.app.themes  # type: ignore[attr-defined]
        for place, (screen, keys) in enumerate(SCREENS.items()):
            for key in keys_of(keys):
                await press(pilot, key)
                await finished(pilot)
            for name in FIXED[place % each_of :: each_of]:
                themes.preview(name)
                await settled(pilot)
                for strip in strips(pilot):
                    words = {each.text.strip() for each in strip if _is_weak(each.text, each.style)}
                    if words:
                        weak.setdefault((name, screen), set()).update(words)
    assert weak == {}


def _is_weak(text: str, style: Style | None) -> bool:
    """True if the text has letters or digits, and less contrast than WCAG AA requires."""
    return any(map(str.isalnum, text)) and _is_faint(style)


@cache
def _is_faint(style: Style | None) -> bool:
    if style is None or style.color is None or style.bgcolor is None:
        return True
    fore, back = (color.get_truecolor() for color in (style.color, style.bgcolor))
    return contrast(*(blend_rgb(back, fore, 0.6 if style.dim else 1.0).hex, back.hex)) < 4.5


WRITE = "write '#rrggbb' in quotes, default, or one of the 16 colors of the terminal, such as bright-cyan"


@each(
    "text, said",
    [
        ("colors:\n  primry: '#ffffff'\n", "t.yaml:2:3: unknown key 'primry'. Did you mean primary?"),
        ("colours: {}\n", "t.yaml:1:1: unknown key 'colours'. Did you mean colors?"),
        ("looks:\n  usr: '#ffffff'\n", "t.yaml:2:3: unknown key 'usr'. Did you mean user?"),
        ("looks:\n  user: {bald: true}\n", "t.yaml:2:10: unknown key 'bald'. Did you mean bold?"),
        ("looks:\n  user: {bold: yes}\n", "t.yaml:2:16: 'yes' is not true or false"),
        ("colors:\n  text: orange\n", f"t.yaml:2:9: 'orange' is not a color; {WRITE}"),
        (
            "colors:\n  text: brigt-red\n",
            f"t.yaml:2:9: 'brigt-red' is not a color; {WRITE}. Did you mean bright-red?",
        ),
        ("colors:\n  text: #ffffff\n", f"t.yaml:2:8: '' is not a color; {WRITE}"),
        ("looks:\n  user: [a]\n", "t.yaml:2:9: expected keys and values"),
        ("title: [a]\n", "t.yaml:1:8: expected a single value"),
        ("- a\n", "t.yaml:1:1: expected keys and values"),
        ("title: x\ntitle: y\n", "t.yaml:2:1: invalid YAML"),
        ("title: *x\n", "t.yaml:1:8: invalid YAML"),
        ("title: !!python/object:os.system x\n", "t.yaml:1:8: invalid YAML"),
        ("colors: {\n", "t.yaml:1:9: invalid YAML"),
        ("looks:\n  \"\\e[2J\": {}\n", "t.yaml:2:3: unknown key '␛[2J'"),
    ],
)  # fmt: skip
def test_mistakes_are_reported_with_their_position(text: str, said: str) -> None:
    with pytest.raises(ThemeError) as caught:
        read_theme(text, "t.yaml")
    assert str(caught.value) == said


@pytest.mark.parametrize("text", ["title: x\n---\n", "---\ntitle: x\n---\n# end\n", "\ufefftitle: x\n", "title: x\r\n"])
def test_fences_and_byte_order_marks_are_ignored(text: str) -> None:
    assert read_theme(text, "t.yaml").title == "x"


def test_a_theme_that_is_nested_too_deeply_is_reported() -> None:
    with pytest.raises(ThemeError, match="invalid YAML"):
        read_theme("title: " + "[" * 20_000, "t.yaml")


class TestAThemeOfOnesOwn:
    def test_says_only_what_is_different(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_text("like: light\nlooks:\n  user: '#123456'\n")
        theme, light = load_theme("mine", [tmp_path]), load_theme("light")
        assert theme.notice == ""
        assert theme.styles[StyleRole.USER] == Style(color="#123456")
        assert theme.styles[StyleRole.TOOL] == light.styles[StyleRole.TOOL]
        assert not theme.dark
        assert "mine" in theme_names([tmp_path])

    def test_may_be_empty(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_text("")
        assert load_theme("mine", [tmp_path]).styles == load_theme("dark").styles

    def test_may_change_the_one_it_is_named_after(self, tmp_path: Path) -> None:
        (tmp_path / "dark.yaml").write_text("colors: {text: '#ffffff'}\n")
        theme = load_theme("dark", [tmp_path])
        assert theme.notice == ""
        assert theme.colors["text"] == "#ffffff"
        assert theme.colors["border"] == load_theme("dark").colors["border"]

    def test_may_be_like_itself_by_mistake(self, tmp_path: Path) -> None:
        (tmp_path / "one.yaml").write_text("like: two\n")
        (tmp_path / "two.yaml").write_text("like: one\n")
        assert load_theme("one", [tmp_path]).styles == load_theme("dark").styles

    def test_is_replaced_if_it_is_invalid_and_one_sentence_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_text("colors:\n  primry: '#ffffff'\n")
        theme = load_theme("mine", [tmp_path])
        assert theme.styles == load_theme("dark").styles
        assert theme.notice == (
            f"Using the dark theme: {tmp_path}/mine.yaml:2:3: unknown key 'primry'. Did you mean primary?"
        )

    def test_is_reported_if_it_extends_an_unknown_theme(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_text("title: Mine\nlike: lihgt\n")
        said = f"Using the dark theme: {tmp_path}/mine.yaml:2:7: unknown theme 'lihgt'. Did you mean light?"
        assert load_theme("mine", [tmp_path]).notice == said

    def test_knows_its_files(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_text("like: light\n")
        assert load_theme("mine", [tmp_path]).files == (tmp_path / "mine.yaml", bundled("themes", "light.yaml"))

    def test_is_replaced_when_it_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_bytes(b"title: \xff\n")
        assert "cannot be read as UTF-8 text" in load_theme("mine", [tmp_path]).notice

    @pytest.mark.parametrize("name", ["drak", "../secret", "", "\x1b[2J"])
    def test_is_replaced_when_there_is_none(self, name: str) -> None:
        theme = load_theme(name)
        assert theme.name == "dark"
        assert theme.notice.startswith("Using the dark theme: unknown theme '")
        assert "\x1b" not in theme.notice
        assert ("Did you mean dark?" in theme.notice) == (name == "drak")
