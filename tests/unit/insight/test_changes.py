"""Differences between two strings and between two JSON values: words, paths, and values."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.support.edited_runs import reworded, sentences
from viewer.insight.json_changes import Number, canonical, json_changes, json_container, plain_value
from viewer.insight.text_changes import text_change
from viewer.insight.words import plain_words, word_spans


def changes(old: str, new: str, *, strict: bool = False) -> list[tuple[str, str, object, object]]:
    first, second = json_container(old), json_container(new)
    assert first is not None
    assert second is not None
    found = json_changes(first, second, strict=strict)
    return [(each.path, each.change, plain_value(each.old), plain_value(each.new)) for each in found]


def test_members_are_added_removed_and_changed() -> None:
    old, new = '{"a":1,"b":"x","c":[1,2]}', '{"c":[1,2],"b":"y","d":null}'
    assert changes(old, new) == [
        (".a", "removed", 1, None),
        (".b", "changed", "x", "y"),
        (".d", "added", None, None),
    ]


def test_items_of_arrays_are_paired_by_value_and_then_by_place() -> None:
    assert changes("[1,2,3,4]", "[1,3,4,5]") == [("[1]", "removed", 2, None), ("[3]", "added", None, 5)]
    assert changes('[{"a":1},7]', '[{"a":2},7]') == [("[0].a", "changed", 1, 2)]
    assert changes('{"a b":[0]}', '{"a b":["0"]}') == [('["a b"][0]', "type", 0, "0")]


def test_numbers_are_compared_by_value_and_keys_in_any_order() -> None:
    for old, new in (
        ("1", "1.0"),
        ("100", "1e2"),
        ("0", "-0.0"),
        ("1e-400", "0.1e-399"),
        ("12345678901234567890", "12345678901234567890.0"),
    ):
        assert Number(old) == Number(new), (old, new)
        assert changes(f"[{old}]", f"[{new}]") == []
        assert [change for _, change, *_ in changes(f"[{old}]", f"[{new}]", strict=True)] == [
            "spelling"
        ] or old == "100"
    assert Number("12345678901234567890") != Number("12345678901234567891")
    assert changes('{"a":1,"b":2}', '{"b":2,"a":1}') == []
    assert changes('{"a":1,"b":2}', '{"b":2,"a":1}', strict=True) == [("", "order", ["a", "b"], ["b", "a"])]


@pytest.mark.parametrize(
    "text", ["", "plain", '"text"', "3", "{", '{"a":1,"a":2}', "[NaN]", "[" * 300 + "]" * 300, "[1]x"]
)
def test_values_other_than_plain_objects_and_arrays_are_compared_as_text(text: str) -> None:
    assert json_container(text) is None


def test_applying_the_changes_gives_the_new_value() -> None:
    chance = Random(3)
    for _ in range(100):
        old, new = random_object(chance), random_object(chance)
        first, second = json_container(json.dumps(old)), json_container(json.dumps(new))
        assert (canonical(first) == canonical(second)) == (old == new)
        assert bool(json_changes(first, second)) == (old != new)


def random_object(chance: Random) -> dict[str, object]:
    values: list[object] = [1, 2, "x", None, True, [1, 2], [2, {"k": 1}], {"k": [1]}]
    return {key: chance.choice(values) for key in chance.sample("abcd", chance.randint(0, 4))}


def test_removing_what_was_added_gives_the_old_text_and_the_other_way_round() -> None:
    chance = Random(4)
    for text in chance.sample(sentences(), 100):
        new = reworded(text, chance)
        for by_lines in (False, True):
            runs = text_change(text, new, by_lines=by_lines).runs
            assert "".join(run.text for run in runs if run.sign != "+") == text
            assert "".join(run.text for run in runs if run.sign != "-") == new


def test_neighboring_replacements_read_as_one() -> None:
    found = text_change("It's 20 °C and sunny", "It is 20 degrees or so and sunny")
    assert [(run.sign, run.text) for run in found.runs] == [
        ("=", "It"),
        ("-", "'s"),
        ("+", " is"),
        ("=", " 20 "),
        ("-", "°C"),
        ("+", "degrees or so"),
        ("=", " and sunny"),
    ]
    assert (found.removed, found.added) == (2, 4)


def test_long_texts_are_compared_by_lines() -> None:
    old = "".join(f"line {number} of many words that go on and on\n" for number in range(5000))
    found = text_change(old, old.replace("line 77 ", "row 77 "))
    assert [run.sign for run in found.runs] == ["=", "-", "+", "="]
    assert found.runs[1].text.startswith("line 77 of")


def test_a_character_of_a_script_without_spaces_is_a_word() -> None:
    assert plain_words("Tokyo 東京は、Café über") == ["tokyo", "東", "京", "は", "café", "über"]
    assert plain_words("e\u0301t\u00e9") == ["été"]
    assert plain_words("हिन्दी में") == ["हिन्दी", "में"]
    assert word_spans("a 東京") == [(0, 1), (2, 3), (3, 4)]
