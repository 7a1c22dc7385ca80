"""The leak finder: what it reports, and what it ignores."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from random import Random

import pytest

from tests.support.cases import each
from tests.support.leaks.finder import SHORTEST, Finder, canary
from tests.support.leaks.laboratory import cut_by_selection
from tests.support.samples import samples

WORD = "jqzxwvkjqxzwvk"
OTHER = canary(Random(2))
NUMBER = "314159265"
FINDER = Finder([WORD, OTHER, NUMBER])

WRITTEN: dict[str, str | bytes] = {
    "plain": f"a {WORD} b",
    "plain bytes": f"a {WORD} b".encode(),
    "beginning": WORD[:SHORTEST],
    "middle": "x" + WORD[4 : 4 + SHORTEST] + "y",
    "end": WORD[-SHORTEST:],
    "upper case": WORD.upper(),
    "mixed case": WORD[:7].upper() + WORD[7:],
    "wrapped": WORD[:5] + "\n│ " + WORD[5:],
    "spaced": " ".join(WORD),
    "cell by cell": "".join(f"\x1b[1;{column}H{letter}" for column, letter in enumerate(WORD)),
    "coloured": "\x1b[31m" + WORD[:3] + "\x1b[0m" + WORD[3:],
    "backwards": WORD[::-1],
    "base64": base64.b64encode(WORD.encode()),
    "base64 at one": base64.b64encode(b"a" + WORD.encode() + b"bc"),
    "base64 at two": base64.b64encode(b"ab" + WORD.encode()),
    "base64 of the web": base64.urlsafe_b64encode(b"\xff\xfe" + WORD.encode()),
    "base64 in a sequence": b"\x1b]52;c;" + base64.b64encode(b"x " + WORD.encode()) + b"\x07",
    "base64 of UTF-16": base64.b64encode(WORD.encode("utf-16-le")),
    "title": f"\x1b]0;{WORD}\x07",
    "hex": WORD.encode().hex(),
    "hex in capitals": WORD.encode().hex().upper(),
    "hex with spaces": WORD.encode().hex(" "),
    "hex with signs": "".join(f"\\x{byte:02x}" for byte in WORD.encode()),
    "hex with colons": WORD.encode().hex(":"),
    "JSON": json.dumps({"a": WORD}),
    "JSON escapes": "".join(f"\\u{ord(letter):04x}" for letter in WORD),
    "URL": "".join(f"%{byte:02X}" for byte in WORD.encode()),
    "HTML": "".join(f"&#{ord(letter)};" for letter in WORD),
    "HTML text": html.escape(f"<{WORD}>"),
    "UTF-16": WORD.encode("utf-16"),
    "UTF-16 big end first": b"x" + WORD.encode("utf-16-be"),
    "UTF-32": WORD.encode("utf-32"),
    "number": f"[200006,{NUMBER},3]",
}


@each("form", WRITTEN)
def test_a_canary_is_found_in_every_form(form: str) -> None:
    found = [leak.canary for leak in FINDER.leaks(WRITTEN[form])]
    assert found == [NUMBER if form == "number" else WORD]


@pytest.mark.parametrize("form", ["plain", "beginning", "middle", "end", "upper case", "wrapped", "spaced"])
def test_a_screen_is_searched_as_it_is_drawn(form: str) -> None:
    text = WRITTEN[form]
    assert isinstance(text, str)
    assert [leak.canary for leak in FINDER.plain(text)] == [WORD]


@each("sample", samples()[::7], ids=lambda sample: sample.name, quick=12)
def test_real_text_has_no_leak(sample: object) -> None:
    data = Path(sample.path).read_bytes()  # type: ignore[attr-defined]
    finder = Finder(canary(Random(seed)) for seed in range(200))
    assert finder.leaks(data) == []
    few = Finder(canary(Random(seed)) for seed in range(20))
    assert few.leaks(base64.b64encode(data)) == []


def test_five_letters_are_not_a_leak() -> None:
    assert FINDER.leaks(f"{WORD[:5]} {WORD[9:]}x") == [] or WORD[:5] + WORD[9:] in WORD


def test_canaries_never_repeat() -> None:
    assert len({canary(Random(seed)) for seed in range(1000)}) == 1000


def test_typed_text_and_keys_that_continue_it_are_not_a_leak() -> None:
    finder = Finder(["kqkxwqzkxzvvxv"])
    assert finder.plain("& kqkx  w Wrap  q Quit") == []
    finder = Finder(["kqkxwqzkxzvvxv"])
    assert finder.plain("& kqkx | w | q Quit")
    finder.ignore_typed("kqkx")
    assert finder.plain("& kqkx | w | q Quit") == []
    assert finder.plain("kqkxwqzkxzvvxv")
    assert finder.plain("wqzkxz")
    finder = Finder(["xzjjqxvvkwqxkz"])
    finder.ignore_typed("jzxz")
    assert finder.plain("& jzxzjjqx")
    finder.ignore_typed("jjqx")
    assert finder.plain("& jzxzjjqx") == []
    assert finder.plain("& jjqxvv")
    finder = Finder(["zzqxvvqwkkvkvz"])
    finder.ignore_typed("kzqw")
    finder.ignore_typed("kkv")
    assert finder.plain("/kzqw//kkv/k")
    finder.ignore_typed("kkv")
    assert finder.plain("/kzqw//kkv/k") == []
    assert finder.plain("vvqwkk")


def test_a_selection_may_cut_the_name_of_a_tool() -> None:
    found = cut_by_selection({"vxjxzvkxxqwxqk", "get"})
    assert found.sub("", "ƒ vxjxzvkxx") == "ƒ "
    assert found.sub("", "zvkxxqwxqk no reply") == " no reply"
    assert found.sub("", "a vxjxzv b") == "a vxjxzv b"
    assert cut_by_selection(set()).sub("", "a") == "a"
