"""The module `viewer.first_looks`, made from the themes and the footer."""

from __future__ import annotations

from collections.abc import Iterator
from pprint import pformat

from viewer.cli.first_page import colors_of
from viewer.first_paint import LARGEST, NARROWEST
from viewer.render.theme import load_theme
from viewer.tui.bars.footer_keys import FooterView, footer_spots
from viewer.tui.settings.settings import Settings

THEMES = ("dark", "light")
ROLES = (
    *("plain", "said", "user", "assistant", "commentary", "rule", "quiet", "strong", "emphasis", "link", "strike"),
    *("code", "title", "safe-badge", "footer-key", "footer-text"),
)
_ALWAYS = 8
"""The number of parts at the right end, and the gap before them."""
_HEAD = '''"""Colors and footers of the first page, made from themes and keys by a test: do not edit."""

from __future__ import annotations

'''


def made() -> str:
    """Return the text of the module."""
    parts = (
        ("LOOKS", looks(), "The codes of the page, of the title, and of each role, by theme and exactness."),
        ("FOOTERS", tuple(footers()), "The least width of each footer, and its parts at the left and right end."),
    )
    lines = [f'{name} = {pformat(value, width=110, compact=True)}\n"""{words}"""\n' for name, value, words in parts]
    return _HEAD + "".join(lines)


def looks() -> dict[tuple[str, bool], tuple[str, str, dict[str, str]]]:
    """Return the colors of the themes that are chosen without settings."""
    return {
        (theme, exact): (
            colors.page,
            colors.title,
            {role.value: codes for role, codes in colors.looks.items() if role.value in ROLES},
        )
        for theme in THEMES
        for exact in (True, False)
        if (colors := colors_of(load_theme(theme), exact=exact))
    }


def footers() -> Iterator[tuple[int, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]]:
    """Yield the footers of the safe view, from the narrowest one."""
    before = None
    for width in range(NARROWEST, LARGEST + 1):
        spots = footer_spots(FooterView.SAFE, width, Settings().actions)
        parts = tuple((each.part.look.value, each.part.text) for each in spots)
        ends = parts[:-_ALWAYS], parts[1 - _ALWAYS :]
        if ends != before:
            yield width, *ends
        before = ends
