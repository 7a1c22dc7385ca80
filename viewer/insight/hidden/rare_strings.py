"""Rare strings: addresses, URLs, and strings with a digit. Even a short copy of one is a leak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viewer.cache import lazy_regex
from viewer.insight.words import UNSPACED
from viewer.model.messages import Span
from viewer.numeric import NDArray, np

Rare = tuple[str, Span]
"""A rare string and its position in the text."""

_WORD = rf"(?:[^\W{UNSPACED}]|-){{6,200}}"
_SECRET = lazy_regex(rf"https?://[^\s<>\"'()\[\]]+|[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|{_WORD}")
_RARE_WORD = lazy_regex(_WORD)
_HARMLESS = lazy_regex(r"\d{1,4}-\d{1,2}-\d{1,4}|\d{4}-\d{4}|\d{4}-\d\d-\d\dT\d\d|\D+|\d+(?:st|nd|rd|th)")
"""Dates, ranges of years, ordinals, and words without a digit."""
_OTHER_DIGIT = lazy_regex(r"[^\x00-\x7f\D]")
_LEAST_RARE = 6
"""The minimum length of a rare string."""
_FROM_SIGN = lazy_regex(r"[\d@:](?<!:(?!//))[^ \n\t]*+")
"""The rest of a word, starting at a digit, an `@`, or `://`. Every rare string contains one of these, but few words do,
so this avoids most of the slow search for rare strings."""
_SPACE, _SIGN = 1, 2
_SIGN_KINDS = np.zeros(256, np.uint8)
_SIGN_KINDS[[*b" \n\t"]] = _SPACE
_SIGN_KINDS[[*b"0123456789@:"]] = _SIGN
_MAY_BE_INSIDE = np.array([chr(byte).isalnum() or byte in b"-_?" for byte in range(128)], np.bool_)
"""Letters and digits in ASCII, `-`, `_`, and the `?` that replaces other characters."""
_NEAR = np.arange(2 * _LEAST_RARE - 1)


def rare_strings_of(texts: Sequence[str]) -> list[list[Rare]]:
    """Return the rare strings in each item of `texts`. All items are searched together."""
    found: list[list[Rare]] = [[] for _ in texts]
    place, start, end = -1, 0, -1
    for string, span in rare_strings("\n".join(texts)):
        while span[0] > end:
            place, start = place + 1, end + 1
            end = start + len(texts[place])
        found[place].append((string, (span[0] - start, span[1] - start)))
    return found


def rare_strings(text: str) -> Iterator[Rare]:
    """Yield addresses, URLs, and strings with a digit, except dates."""
    is_plain = text.isascii() or not _OTHER_DIGIT.search(text)
    for first, end in _signed_by_ascii(text) if is_plain else _signed(text):
        is_word = text.find("@", first, end) < 0 and text.find("://", first, end) < 0
        for found in (_RARE_WORD if is_word else _SECRET).finditer(text, first, end):
            string = found[0].rstrip(".,;:!?").strip("-_") if "@" not in found[0] else found[0].rstrip(".")
            if len(string) < _LEAST_RARE or ("@" not in string and "://" not in string and _HARMLESS.fullmatch(string)):
                continue
            start = found.start() + found[0].index(string)
            yield string, (start, start + len(string))


def _signed(text: str) -> Iterator[Span]:
    """Yield the words, with their punctuation, that may contain a rare string."""
    before = 0
    for rest in _FROM_SIGN.finditer(text):
        sign, end = rest.span()
        spaces = text.rfind(" ", before, sign), text.rfind("\n", before, sign), text.rfind("\t", before, sign)
        first = max(spaces) + 1 or before
        before = end
        if end - first >= _LEAST_RARE:
            yield first, end


def _signed_by_ascii(text: str) -> Iterator[Span]:
    """Yield what `_signed` yields, except some words without rare strings, for text in which every digit is ASCII. This
    is faster."""
    data = np.frombuffer(text.encode("ascii", "replace"), np.uint8)
    kinds = _SIGN_KINDS.take(data)
    signs = (kinds > _SPACE).nonzero()[0]
    colons = (data.take(signs) == ord(":")).nonzero()[0]
    at = signs[colons]
    is_url = (data.take(at + 1, mode="clip") == ord("/")) & (data.take(at + 2, mode="clip") == ord("/"))
    signs = np.delete(signs, colons[~is_url])
    signs = signs[_may_be_rare(data, signs)]
    spaces = np.concatenate(([-1], (kinds == _SPACE).nonzero()[0], [len(data)]))
    words = spaces.searchsorted(signs)
    words = words[np.diff(words, prepend=0) > 0]
    firsts, ends = spaces[words - 1] + 1, spaces[words]
    is_long = ends - firsts >= _LEAST_RARE
    yield from zip(firsts[is_long].tolist(), ends[is_long].tolist(), strict=True)


def _may_be_rare(data: NDArray[np.uint8], signs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which signs may be part of a rare string: those of addresses and URLs, and digits in a long enough run of
    letters and digits."""
    before = _LEAST_RARE - 1
    is_inside = np.zeros(len(data) + 2 * before, np.bool_)
    is_inside[before : before + len(data)] = _MAY_BE_INSIDE.take(data)
    near = is_inside.take(signs[:, None] + _NEAR)
    is_run = near[:, : before + 1]
    for place in range(1, before + 1):
        is_run = is_run & near[:, place : place + before + 1]
    return is_run.any(axis=1) | (data.take(signs) > ord("9"))
