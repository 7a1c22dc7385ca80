"""Key names: as users write them, as Textual names them, and as the screen shows them."""

from __future__ import annotations

import re
import unicodedata

_NAMED = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "enter", "escape": "esc", "tab": "tab",
    "space": "space", "backspace": "backspace", "delete": "del", "insert": "ins", "home": "Home", "end": "End",
    "pageup": "PgUp", "pagedown": "PgDn", **{f"f{number}": f"F{number}" for number in range(1, 25)},
}  # fmt: skip
"""Keys that are not characters, with their printed form."""
_ASCII = {"↑": "up", "↓": "down", "←": "left", "→": "right"}
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_RENAMED = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""The Textual names of characters, by Unicode name, where the two differ."""
_UNICODE = {value: key for key, value in _RENAMED.items()}
_OTHER_WORDS = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}


def key_name(written: str) -> str:
    """Return Textual's name for a key: `%` is percent_sign, `^p` and `Ctrl+P` are ctrl+p."""
    written = written.strip()
    if len(written) == 1:
        return _character_name(written)
    if written.startswith("^") and len(written) == 2:
        written = f"ctrl+{written[1]}"
    *modifiers, key = written.replace(" ", "").split("+")
    key = _OTHER_WORDS.get(key.lower(), key)
    key = _character_name(key.lower() if modifiers else key) if len(key) == 1 else key.lower()
    return "+".join([*map(str.lower, modifiers), key])


def shown_key(name: str, *, ascii: bool = False) -> str:
    """Return the printed form of a key: `%`, `{`, `ctrl+d`, `PgDn`."""
    *modifiers, key = name.split("+")
    shown = _NAMED.get(key) or character(key) or key
    return "+".join([*modifiers, _ASCII.get(shown, shown) if ascii else shown])


def character(key: str) -> str | None:
    """Return the character that a key types, or None if it types none."""
    if len(key) == 1:
        return key
    spoken = _UNICODE.get(key, key).replace("_", " ")
    dashed = re.sub("^(hyphen|less|greater) ", r"\1-", spoken)
    try:
        return unicodedata.lookup(dashed)
    except KeyError:
        return None


def is_key(name: str) -> bool:
    """True if a terminal can send a key of this name."""
    *modifiers, key = name.split("+")
    return all(word in _MODIFIERS for word in modifiers) and (key in _NAMED or character(key) is not None)


def similar_key(name: str) -> str | None:
    """Return the most similar key name, or None if none is similar."""
    *modifiers, key = name.split("+")
    import difflib  # slow to import, and mistakes are rare

    near = difflib.get_close_matches(key, [*_NAMED, "slash", "percent_sign", "question_mark"], 1)
    kept = [word for word in modifiers if word in _MODIFIERS]
    return "+".join([*kept, near[0]]) if near else None


def _character_name(single: str) -> str:
    if single.isalnum():
        return single
    if single == "\t":
        return "tab"
    name = unicodedata.name(single, single).lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)
