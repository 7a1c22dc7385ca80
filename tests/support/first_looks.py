"""The module `viewer.first_looks`, made from the themes and the footer."""

from __future__ import annotations

from collections.abc import Iterator
from pprint import pformat

from viewer.cli.first_page import colors_of
from viewer.first_paint import LARGEST, NARROWEST
from viewer.render.theme import load_theme
from viewer.style_roles import StyleRole
from viewer.tui.bars.footer_keys import FooterView, footer_always, footer_spots
from viewer.tui.settings.settings import Settings

THEMES = ("dark", "light")
ROLES = (
    *("plain", "said", "user", "assistant", "commentary", "rule", "quiet", "strong", "emphasis", "link", "strike"),
    *("code", "title", "safe-badge", "footer-key", "footer-text"),
)
_HEAD = '''"""Colors and footers of the first page. Generated from the themes and keys by a test; do not edit."""

from __future__ import annotations

'''


def made() -> str:
    """Return the text of the module."""
    parts = (
        ("LOOKS", looks(), "The codes of the page, of the title, and of each role, by theme and color depth."),
        ("FOOTERS", tuple(footers()), "The minimum width of each footer, and its keys with their labels."),
        ("ALWAYS", always(), "The keys at the right end of each footer."),
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


def footers() -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    """Yield the footers of the safe view, from the narrowest one."""
    before = None
    for width in range(NARROWEST, LARGEST + 1):
        keys = _keys(width)[: -len(always())]
        if keys != before:
            yield width, keys
        before = keys


def always() -> tuple[tuple[str, str], ...]:
    return _keys(LARGEST)[-len(footer_always(Settings().actions)) :]


def _keys(width: int) -> tuple[tuple[str, str], ...]:
    """Return the keys and labels of the footer of this width, from left to right."""
    parts = [each.part for each in footer_spots(FooterView.SAFE, width, Settings().actions)]
    keys = (part.text for part in parts if part.look is StyleRole.FOOTER_KEY)
    labels = (part.text[1:] for part in parts if part.look is StyleRole.FOOTER_TEXT)
    return tuple((str(key), str(label)) for key, label in zip(keys, labels, strict=True))
