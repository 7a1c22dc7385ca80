"""Examples of secrets, generated on demand so that no source file appears to leak one."""

from __future__ import annotations

import re
from random import Random

from viewer.document.redaction.kinds import SecretKind

_UPPER, _LOWER, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_ALPHABETS = {
    "A": _UPPER,
    "a": _LOWER,
    "d": _DIGITS,
    "n": _UPPER + _LOWER + _DIGITS,
    "h": "0123456789abcdef",
    "u": _UPPER + _DIGITS,
    "l": _LOWER + _DIGITS,
    "w": _UPPER + _LOWER + _DIGITS + "_-",
    "b": _UPPER + _LOWER + _DIGITS + "+/",
    "2": _UPPER + "234567",
    "p": _UPPER + _LOWER + _DIGITS + "!*+-_.~^",
}
_PART = re.compile(r"\{([A-Za-z0-9]):([0-9]+)\}")
_SIGNS = "_-+/!*.~^"
_LEAST_SECRET = 12
"""The minimum length of a part that is secret by itself. A shorter part may be a region or a team number."""


def example_of(kind: SecretKind, chance: Random) -> tuple[str, list[str]]:
    """Generate text with a random secret of this kind, and return it with the words that must not be shown. `{n:36}` in
    the template becomes 36 letters and digits."""
    words: list[str] = []

    def fill(part: re.Match[str]) -> str:
        words.append(_word(part[1], int(part[2]), chance))
        return words[-1]

    text = _PART.sub(fill, kind.example.replace("{_}", ""))
    return text, [word for word in words if len(word) >= _LEAST_SECRET]


def _word(alphabet: str, length: int, chance: Random) -> str:
    """Generate a random word that begins and ends with a letter or digit. A word from the alphabet `p` contains
    both."""
    plain = [each for each in _ALPHABETS[alphabet] if each not in _SIGNS]
    while True:
        letters = chance.choices(_ALPHABETS[alphabet], k=length)
        if letters:
            letters[0], letters[-1] = chance.choice(plain), chance.choice(plain)
        word = "".join(letters)
        if alphabet != "p" or (any(map(str.isalpha, word)) and any(map(str.isdigit, word))):
            return word
