"""A search over a block finds the strings with signs of marks that testing each string finds."""

from __future__ import annotations

import random
import re

from tests.support.cases import each
from viewer.scan.text_signs import SIGNS, places_with_signs

_ESCAPE = re.compile(rb"\\(?:[u/bf]|r(?!\\n))")
OTHERS = (
    *(b"<", b"[", b"&", b"~", b"]~", b"[e", b":", b"::", b"`", b"``", b"0", b"{", b"a", b" ", b"\\n", b"\\r\\n"),
    *(b"\\\\", b'\\"', "é日🐙".encode(), "◁".encode()[:2], b"x" * 500),
)


def has_sign(text: bytes) -> bool:
    return any(sign in text.lower() for sign in SIGNS) or _ESCAPE.search(text) is not None


@each("seed", range(12), quick=4)
def test_strings_with_signs_are_found_in_a_block(seed: int) -> None:
    chance = random.Random(seed)
    signs = [each for sign in SIGNS for each in (sign, sign.upper())] + [b"\\u003c", b"\\/", b"\\r", b"\\\\u003c"]
    for _ in range(15):
        block, starts, ends = b"", list[int](), list[int]()
        for _ in range(chance.randrange(1, 30)):
            block += chance.choice((b"", b"<think>", b"~b]~[", b", ", b":::"))
            text = b"".join(chance.choices(OTHERS, k=chance.randrange(8)))
            if chance.random() < 0.3:
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chance.choice(signs) + text[at:]
            starts.append(len(block))
            block += b'"' + text + b'"'
            ends.append(len(block))
        wanted = {place for place, span in enumerate(zip(starts, ends, strict=True)) if has_sign(block[slice(*span)])}
        found = places_with_signs(block, starts, ends)
        spelled = {
            place for place, span in enumerate(zip(starts, ends, strict=True)) if _ESCAPE.search(block[slice(*span)])
        }
        assert places_with_signs(block, starts, ends, spelled) == found
        texts = {place: block[slice(*span)].lower() for place, span in enumerate(zip(starts, ends, strict=True))}
        assert all(b"~" in texts[place] for place in found - wanted), "the beginning of a sign is not compared"
        missed = {place: texts[place] for place in wanted - found}
        assert all(b"003c" in text and not _ESCAPE.search(text) for text in missed.values()), "escapes are always found"
