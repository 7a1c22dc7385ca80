"""Find canaries in whatever leaves the program, in any notation: plain, cut, folded, encoded, or spread out."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from urllib.parse import unquote

LETTERS = "jkqvwxz"
"""The letters of canaries. No word has six of them in a row."""
LENGTH = 14
SHORTEST = 6
"""The number of consecutive letters of a canary that counts as a leak."""

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])")
_RUN = re.compile(f"[{LETTERS}]{{{SHORTEST},}}")
_NUMBER = re.compile(r"\d{9,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_HEX = re.compile(r"(?:(?:0x|\\x|%|[ :,_])?[0-9a-f]{2}){6,}", re.IGNORECASE)
_NOT_HEX = re.compile(r"0x|[^0-9a-f]", re.IGNORECASE)
_UNICODE = re.compile(r"\\(?:u|x|U0000|U000000)\{?([0-9a-f]{2,4})\}?", re.IGNORECASE)
_NO_LETTER = re.compile(r"[\W\d_]+")


def canary(chance: Random) -> str:
    """Return a new canary."""
    return "".join(chance.choices(LETTERS, k=LENGTH))


@dataclass(frozen=True, slots=True)
class Leak:
    """A canary that leaked."""

    canary: str
    form: str
    piece: str
    """The part of the canary that was found."""


class Finder:
    """Finds these canaries, and numbers that encode one."""

    def __init__(self, canaries: Iterable[str]) -> None:
        self._of_piece = {
            word[start : start + SHORTEST]: word
            for word in canaries
            if not word.isdecimal()
            for start in range(len(word) - SHORTEST + 1)
        }
        self._numbers = {word for word in canaries if word.isdecimal()}
        self._ends: set[str] = set()
        """The last letters of everything that a prompt may contain: what was typed, once or several times."""

    def ignore_typed(self, prefix: str) -> None:
        """Ignore pieces that begin inside a prefix that the operator typed.

        Keys in the footer may continue it by chance: a typed `kqkx` and the keys w and q together are six letters of a
        canary."""
        typed = {word for word in self._of_piece.values() if word.startswith(prefix)}
        for word in typed:
            for start in range(len(prefix)):
                self._of_piece.pop(word[start : start + SHORTEST], None)
        ends = {prefix[1 - SHORTEST :]}
        for earlier in self._ends:  # a prompt may keep what was typed before, several times, and append to it
            joined = earlier + prefix
            for start in range(len(joined) - SHORTEST + 1):
                self._of_piece.pop(joined[start : start + SHORTEST], None)
            ends.add(joined[1 - SHORTEST :])
        self._ends |= ends

    def leaks(self, data: str | bytes) -> list[Leak]:
        """Return the leaked parts of canaries, one for each canary."""
        found: dict[str, Leak] = {}
        for form, text in _forms(data):
            for word, piece in self._in(text):
                found.setdefault(word, Leak(word, form, piece))
        return list(found.values())

    def plain(self, text: str) -> list[Leak]:
        """Like `leaks`, but for a screen, which is drawn too often to try every encoding: search it only plain and
        across line ends."""
        found: dict[str, Leak] = {}
        for form, view in (("plain", text.casefold()), ("spread", _NO_LETTER.sub("", text.casefold()))):
            for word, piece in self._in(view):
                found.setdefault(word, Leak(word, form, piece))
        return list(found.values())

    def _in(self, text: str) -> Iterator[tuple[str, str]]:
        for run in _RUN.finditer(text):
            letters = run[0]
            for start in range(len(letters) - SHORTEST + 1):
                piece = letters[start : start + SHORTEST]
                if piece in self._of_piece:
                    yield self._of_piece[piece], piece
        if self._numbers:
            yield from ((number[0], number[0]) for number in _NUMBER.finditer(text) if number[0] in self._numbers)


def _forms(data: str | bytes) -> Iterator[tuple[str, str]]:
    """Yield the text in every notation in which it may have been written."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    text = _SEQUENCE.sub("", raw.decode("utf-8", "replace"))
    yield "plain", text.casefold()
    yield "spread", _NO_LETTER.sub("", text.casefold())
    yield "backwards", text.casefold()[::-1]
    yield "sequences", raw.decode("utf-8", "replace").casefold()
    for codec in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be") if b"\0" in raw else ():  # as in any letter
        for start in range(2 if "16" in codec else 4):
            yield codec, raw[start:].decode(codec, "ignore").casefold()
    yield "JSON", _UNICODE.sub(lambda found: chr(int(found[1], 16)), text).casefold()
    if "%" in text:
        yield "URL", unquote(text, errors="replace").casefold()
    if "&" in text:
        yield "HTML", html.unescape(text).casefold()
    yield from _decoded("base64", _BASE64, raw.decode("utf-8", "replace"), _from_base64)
    yield from _decoded("hex", _HEX, text, _from_hex)


def _decoded(
    form: str, sign: re.Pattern[str], text: str, decode: Callable[[str], Iterator[bytes]]
) -> Iterator[tuple[str, str]]:
    for run in dict.fromkeys(found[0] for found in sign.finditer(text)):
        for made in _words_in(decode, run):
            yield form, made


@lru_cache(4096)
def _words_in(decode: Callable[[str], Iterator[bytes]], run: str) -> tuple[str, ...]:
    """Return what a run decodes to, if that may contain a canary: most runs are words that occur in every output."""
    texts = (made.replace(b"\0", b"").decode("latin-1").casefold() for made in decode(run))
    return tuple(text for text in texts if _RUN.search(text) or _NUMBER.search(text))


def _from_base64(run: str) -> Iterator[bytes]:
    """Yield what the text decodes to at all alignments, because its start is unknown."""
    written = run.replace("-", "+").replace("_", "/")
    for start in range(4):
        part = written[start:]
        part = part[: len(part) // 4 * 4]
        try:
            yield base64.b64decode(part)
        except binascii.Error:
            continue


def _from_hex(run: str) -> Iterator[bytes]:
    digits = _NOT_HEX.sub("", run.replace("0x", ""))
    for start in range(2):
        part = digits[start:]
        yield bytes.fromhex(part[: len(part) // 2 * 2])
