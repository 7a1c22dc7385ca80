"""A search over a block finds the strings with signs of marks that testing each string finds."""

from __future__ import annotations

import json
import random

from tests.support.cases import each
from viewer.scan.text_signs import MAY_SPELL, SIGNS, places_with_signs
from viewer.syntax.characters import MAY_HIDE

OTHERS = (
    *(b"<", b"[", b"&", b"~", b"]~", b"[e", b":", b"::", b"`", b"``", b"0", b"{", b"a", b" ", b"\\n", b"\\r\\n"),
    *(b"\\\\", b'\\"', "é日🐙".encode(), "◁".encode()[:2], b"x" * 500),
)


def has_sign(text: bytes) -> bool:
    return any(sign in text.lower() for sign in SIGNS) or MAY_SPELL.search(text) is not None


@each("seed", range(12), quick=4)
def test_strings_with_signs_are_found_in_a_block(seed: int) -> None:
    chance = random.Random(seed)
    signs = [each for sign in SIGNS for each in (sign, sign.upper())] + [b"\\u003c", b"<\\/t", b"\\r", b"\\\\u003c"]
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
            place for place, span in enumerate(zip(starts, ends, strict=True)) if MAY_SPELL.search(block[slice(*span)])
        }
        assert places_with_signs(block, starts, ends, spelled) == found
        texts = {place: block[slice(*span)].lower() for place, span in enumerate(zip(starts, ends, strict=True))}
        assert all(b"~" in texts[place] for place in found - wanted), "the beginning of a sign is not compared"
        missed = {place: texts[place] for place in wanted - found}
        assert all(b"003c" in text and not MAY_SPELL.search(text) for text in missed.values()), (
            "escapes are always found"
        )


def test_an_escape_that_is_not_examined_is_no_part_of_a_sign_and_hides_nothing() -> None:
    codes = [code for code in range(0x80, 0x20000) if not 0xD800 <= code < 0xE000]
    plain = [chr(code) for code in codes if not MAY_SPELL.search(json.dumps(f"x{chr(code)}").encode())]
    assert len(plain) > 40_000, "most letters, ideographs, and emoji"
    assert not [one for one in plain if MAY_HIDE.search(one.encode())]
    for sign in map(bytes.decode, SIGNS):
        for spelled in range(1, 1 << min(len(sign), 6)):
            parts = [f"\\u{ord(one):04X}" if spelled >> at & 1 else one for at, one in enumerate(sign)]
            for text in ("".join(parts), "".join(parts).replace("/", "\\/"), sign.upper().replace("/", "\\/")):
                assert "\\" not in text or MAY_SPELL.search(f'"a{text}"'.encode()), text


def test_usual_escapes_are_not_examined() -> None:
    for text in ("na\\u00efve", "https:\\/\\/a.b\\/c", "<\\/div> <\\/p>", "\\ud83d\\ude00", "\\u601d\\u8003", "\\r\\n"):
        assert not MAY_SPELL.search(f'"{text}"'.encode()), text
