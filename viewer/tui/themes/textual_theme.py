"""Convert our themes to Textual themes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.theme import Theme as TextualTheme

from viewer.render.theme import OF_THE_TERMINAL, Theme


def textual_theme(theme: Theme) -> TextualTheme:
    """Convert a theme to a Textual theme with the same colors."""
    colors = {name: _textual_name(color) for name, color in theme.colors.items()}
    return TextualTheme(
        name=f"viewer-{theme.name}",
        primary=colors["primary"],
        secondary=colors["quiet"],
        accent=colors["debug"],
        error=colors["error"],
        warning=colors["warning"],
        success=colors["success"],
        foreground=colors["text"],
        background=colors["background"],
        surface=colors["surface"],
        panel=colors["surface"],
        dark=theme.dark,
        ansi=theme.is_ansi,
        variables=_variables(colors),
    )


def _textual_name(color: str) -> str:
    return f"ansi_{color.replace('-', '_')}" if color in OF_THE_TERMINAL else color


def _variables(colors: Mapping[str, str]) -> dict[str, str]:
    """Return the Textual variables for borders, scrollbars, selections, and cursors."""
    pairs: Iterable[tuple[str, str]] = [
        ("border", "border"),
        ("border-blurred", "border"),
        ("scrollbar", "scrollbar"),
        ("scrollbar-hover", "scrollbar-hover"),
        ("scrollbar-active", "scrollbar-active"),
        ("scrollbar-background", "scrollbar-background"),
        ("scrollbar-background-hover", "scrollbar-background"),
        ("scrollbar-background-active", "scrollbar-background"),
        ("scrollbar-corner-color", "scrollbar-background"),
        ("input-selection-background", "selection"),
        ("screen-selection-background", "selection"),
        ("block-cursor-background", "selection"),
        ("block-cursor-foreground", "text"),
    ]
    variables = {variable: colors[name] for variable, name in pairs}
    if colors["selection"] == "ansi_default":
        return {**variables, **_ansi_variables(colors), "block-cursor-text-style": "reverse"}
    selected = {"screen-selection-foreground": colors["text"], "input-selection-foreground": colors["text"]}
    return {**variables, **selected, **(_ansi_variables(colors) if colors["background"].startswith("ansi_") else {})}


def _ansi_variables(colors: Mapping[str, str]) -> dict[str, str]:
    """Return the colors that Textual would otherwise take from the terminal."""
    return {
        "text": colors["text"],
        "surface": colors["surface"],
        "panel": colors["surface"],
        "ansi-background": colors["background"],
        "ansi-foreground": colors["text"],
        "block-cursor-blurred-background": colors["background"],
        "block-cursor-blurred-foreground": colors["text"],
        "footer-key-foreground": colors["primary"],
    }
