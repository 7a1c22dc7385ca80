"""Targets of `:`: their syntax, and where they lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.transcripts import CHAT, END_USER, EVERYTHING, STRICT, document_of, view
from viewer.model.visibility import Audience
from viewer.tui.go_to import HELP, Place, Target, parse, resolve
from viewer.tui.keys import DEBUG_ONLY


@each(
    "typed, target",
    [
        ("12", Target(Place.MESSAGE, 12)),
        (" #12 ", Target(Place.MESSAGE, 12)),
        ("L120", Target(Place.LINE, 120)),
        ("line 120", Target(Place.LINE, 120)),
        ("B4096", Target(Place.BYTE, 4096)),
        ("byte 0", Target(Place.BYTE, 0)),
        ("t3", Target(Place.TURN, 3)),
        ("turn 3", Target(Place.TURN, 3)),
        ("x2", Target(Place.TRANSCRIPT, 2)),
        ("transcript 2", Target(Place.TRANSCRIPT, 2)),
        ("%50", Target(Place.PERCENT, 50)),
        ("50%", Target(Place.PERCENT, 50)),
        ("", HELP),
        ("x", HELP),
        ("-1", HELP),
        ("1.5", HELP),
        ("٣", HELP),
        ("9" * 30, HELP),
    ],
)
def test_every_form_of_a_place_can_be_typed(typed: str, target: Target | str) -> None:
    assert parse(typed) == target


def went(typed: str, folder: Path, audience: Audience, text: str = CHAT) -> int | str:
    projection, rows = view(document_of(folder, text), audience)
    target = parse(typed)
    assert isinstance(target, Target)
    return resolve(target, projection, rows)


@each(
    "typed, safe, strict, revealed",
    [
        ("1", 2, 2, 1),
        ("2", 2, 6, 2),
        ("3", 6, 7, 3),
        ("8", 8, "No message 8: the last one is 4.", 8),
        ("9", *[f"No message 9: the last one is {last}." for last in (8, 4, 8)]),
        ("0", *[f"No message 0: the last one is {last}." for last in (8, 4, 8)]),
        ("t1", 2, 2, 1),
        ("t2", 7, 7, 7),
        ("t3", *["No turn 3: the last one is 2."] * 3),
        ("x1", 2, 2, 1),
        ("x2", *["No transcript 2: the last one is 1."] * 3),
        ("0%", 2, 2, 1),
        ("100%", 8, 8, 8),
        ("999%", 8, 8, 8),
    ],
)
def test_messages_turns_and_parts(
    typed: str, safe: int | str, strict: int | str, revealed: int | str, tmp_path: Path
) -> None:
    assert [went(typed, tmp_path, audience) for audience in (END_USER, STRICT, EVERYTHING)] == [safe, strict, revealed]


@pytest.mark.parametrize("typed", ["L4", "B100"])
@pytest.mark.parametrize("audience", [END_USER, STRICT])
def test_places_of_the_file_are_for_developers(typed: str, audience: Audience, tmp_path: Path) -> None:
    assert went(typed, tmp_path, audience) == DEBUG_ONLY


@pytest.mark.parametrize(
    ("typed", "number"),
    [("L1", 1), ("L3", 1), ("L4", 2), ("L7", 5), ("L8", 6), ("L9", 6), ("L10", 7), ("L999", 8), ("B0", 1)],
)
def test_lines(typed: str, number: int, tmp_path: Path) -> None:
    assert went(typed, tmp_path, EVERYTHING) == number


def test_bytes(tmp_path: Path) -> None:
    for number, at in enumerate((at for at in range(len(CHAT)) if CHAT.startswith("<|start|>", at)), 1):
        assert [went(f"B{at + plus}", tmp_path, EVERYTHING) for plus in (0, 12)] == [number, number]
    assert went("B999999", tmp_path, EVERYTHING) == 8


@pytest.mark.parametrize("typed", ["1", "L1", "B1", "t1", "50%"])
def test_nowhere_to_go(typed: str, tmp_path: Path) -> None:
    assert went(typed, tmp_path, EVERYTHING, "version: 2.2\n") == "No messages are shown."
    hidden = "version: 2.2\n\n<|start|>system<|message|>x<|end|>\n"
    assert isinstance(went(typed, tmp_path, END_USER, hidden), str)
