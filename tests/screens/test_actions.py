"""The table of keys is complete and free of clashes, and everything that shows keys uses it."""

from __future__ import annotations

import string

import pytest
from textual.keys import _character_to_key

from tests.support.cases import each
from viewer.render.style import Style
from viewer.tui.bars.footer_keys import FOOTERS, FooterView, footer_actions, footer_always, footer_spots
from viewer.tui.dialogs.help import ROWS, found_lines, help_lines
from viewer.tui.files.keys import OWN
from viewer.tui.keys import ACTIONS, after_yank, bindings, by_id, check_keymap, remapped
from viewer.tui.palette import action_entries, grouped, matching
from viewer.tui.terminal.key_names import character, is_key, key_name, shown_key

# All keys in printed form. A new key is added to this list on purpose.
WANTED = """
    j k ↓ ↑ J K { } ( ) ctrl+d ctrl+u space f b PgDn PgUp ctrl+f ctrl+b g Home G End ctrl+o ctrl+n ctrl+i / n N esc &
    e E w W p o O % C H D d a c t s | T M * r i < > tab shift+tab + - enter h l ← → z m u U ' y x v F = [ ] : ctrl+p ?
    F1 q ctrl+q ctrl+z ctrl+c backspace X S V L @ ; $
"""


def test_every_wanted_key_exists_once_and_there_are_no_others() -> None:
    keys = [shown_key(key) for action in ACTIONS for key in action.keys]
    assert sorted(keys) == sorted(WANTED.split())


def test_ids_are_unique_method_names() -> None:
    ids = [action.id for action in ACTIONS]
    assert len(set(ids)) == len(ids)
    assert all(id.isidentifier() and by_id(id).id == id for id in ids)


def test_y_is_followed_by_text_raw_json_header_call_id_or_link() -> None:
    assert {key: action.id for key, action in after_yank().items()} == {
        "y": "copy_text",
        "r": "copy_raw",
        "j": "copy_json",
        "h": "copy_header",
        "c": "copy_call_id",
        "l": "copy_link",
    }


def test_the_safe_view_refuses_actions_of_the_debug_view() -> None:
    refused = {action.shown_key for action in ACTIONS if action.debug_only}
    assert refused >= {"a", "c", "t", "s", "|", "C", "i", "r", "v", "y r", "y j", "y h", "y c"}
    assert refused.isdisjoint({"d", "y y", "/", "p", "T", "x", "q"})


@each("typed", string.digits + string.ascii_letters + string.punctuation)
def test_keys_have_the_names_that_textual_uses(typed: str) -> None:
    name = key_name(typed)
    assert name == _character_to_key(typed)
    assert character(name) == typed
    assert shown_key(name) == typed
    assert is_key(name)


@pytest.mark.parametrize(
    ("written", "name"),
    [("^p", "ctrl+p"), ("Ctrl+P", "ctrl+p"), ("esc", "escape"), ("PgDn", "pagedown"), ("ctrl+%", "ctrl+percent_sign")],
)
def test_keys_can_be_written_in_the_usual_ways(written: str, name: str) -> None:
    assert key_name(written) == name


def test_keys_are_shown_in_ascii_if_necessary() -> None:
    assert shown_key("up", ascii=True) == "up"
    assert all(shown_key(key, ascii=True).isascii() for action in ACTIONS for key in (*action.keys, *action.after_yank))


def test_bindings_have_ids_and_stay_out_of_textuals_footer() -> None:
    made = {binding.id: binding for binding in bindings()}
    assert set(made) == {action.id for action in ACTIONS if action.keys}
    assert all(binding.action == f"do('{id}')" and not binding.show for id, binding in made.items())
    assert made["partner"].key == "percent_sign"


def test_a_key_given_away_is_taken_from_its_old_action() -> None:
    table = {action.id: action.keys for action in remapped({"search": "x, ctrl+f", "copy_raw": "R"})}
    assert table["search"] == ("x", "ctrl+f")
    assert table["export"] == ()
    assert table["copy_raw"] == ("R",)
    assert table["help"] == by_id("help").keys


def test_a_valid_keymap_has_no_problems() -> None:
    assert check_keymap({}) == []
    assert check_keymap({"search": "ctrl+g", "partner": "f2, ctrl+t"}) == []


@pytest.mark.parametrize(
    ("keymap", "problem"),
    [
        ({"serach": "x"}, "unknown action 'serach'. Did you mean search?"),
        ({"qqqqq": "ctrl+f"}, "unknown action 'qqqqq'"),
        ({"search": "x"}, "key 'x' is assigned to 'search' and 'export': assign another key to one of them"),
        (
            {"search": "ctrl+g", "filter": "^g"},
            "key 'ctrl+g' is assigned to 'search' and 'filter': assign another key to one of them",
        ),
        ({"search": "pagedwn"}, "unknown key 'pagedwn' of 'search'. Did you mean pagedown?"),
        ({"search": "crtl+f"}, "unknown key 'crtl+f' of 'search'"),
        ({"search": "7"}, "key '7' of 'search' cannot be used: digits are for counts such as 12G"),
        ({"search": " "}, "action 'search' has no key"),
    ],
)
def test_problems_of_a_keymap_are_reported(keymap: dict[str, str], problem: str) -> None:
    told = check_keymap(keymap)
    assert len(told) == 1
    assert told[0].sentence.startswith(problem)


@pytest.mark.parametrize("width", [60, 76, 97])
@pytest.mark.parametrize("ascii", [False, True])
def test_every_action_is_on_the_help_screen(width: int, ascii: bool) -> None:
    style = Style(ascii=ascii)
    lines = ["".join(part.text for part in line) for line in help_lines(ACTIONS, width, style)]
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    found = " ".join("".join(part.text for part in line).strip() for line in found_lines(ACTIONS, "", width, style))
    shared = {id: row for row in ROWS for id in row.ids}
    for action in ACTIONS:
        row = shared.get(action.id)
        assert (row.words if row else action.label[1:]) in text.replace("...", "…"), action.id
        for key in (*action.keys[:1], *action.after_yank):
            assert shown_key(key, ascii=ascii) in text, action.id
        assert all(shown_key(key, ascii=ascii) in found for key in action.keys), action.id
        assert all(word in found for word in action.help.split()), action.id
    assert not ascii or (text + found).isascii()
    for sign in ("answer", "thought", "call", "error", "warning", "mark", "hidden", "seen"):
        assert sign in lines[-1] + lines[-2] + lines[-3], sign


def test_the_rows_of_the_help_name_actions_once() -> None:
    ids = [id for row in ROWS for id in row.ids]
    assert len(ids) == len(set(ids))
    assert {*ids} <= {action.id for action in ACTIONS}


def test_help_has_two_columns_and_fits_on_terminals_of_100_columns_and_40_lines() -> None:
    assert len(help_lines(ACTIONS, 97, Style())) < 0.6 * len(help_lines(ACTIONS, 76, Style()))
    assert len(help_lines(ACTIONS, 97, Style())) <= 37


def test_a_key_is_found_by_its_words() -> None:
    def found(wanted: str) -> str:
        return "\n".join("".join(part.text for part in line) for line in found_lines(ACTIONS, wanted, 97, Style()))

    assert found("pgdn").split() == ["space", "f", "PgDn", "ctrl+f", "Scroll", "one", "page", "down."]
    assert "y c*" in found("call id") and "Go to the next error." not in found("call id")
    assert found("no such key").strip() == "No key matches these words."


def test_footers_name_only_actions_of_the_table() -> None:
    known = {action.id for action in (*ACTIONS, *OWN)} | {"brief"}
    for offers in FOOTERS.values():
        assert {id for offer in offers for id in offer.ids} <= known
    assert "Debug" in [item.label for item in footer_actions(FooterView.SAFE, 120)]
    assert "Debug" not in [item.label for item in footer_actions(FooterView.DEBUG, 120)]
    assert [item.keys[0][0] for item in footer_always()] == ["ctrl+p", "?"]


def test_the_footer_of_a_transcript_from_a_list_begins_with_the_way_back() -> None:
    for width in (80, 120, 160):
        spots = footer_spots(FooterView.DEBUG, width, has_back=True)
        assert "".join(each.part.text for each in spots).startswith(" q Back  d Safe ")
        assert footer_actions(FooterView.LIST, width, has_back=True)[0].label == "Go"


def test_footers_show_the_effective_keys() -> None:
    items = footer_actions(FooterView.SAFE, 80, remapped({"next_error": "/"}))
    assert [item.keys for item in items if item.label in ("Find", "Problem")] == [(("/", "next_error"),)]


def test_a_list_has_keys_of_its_own_for_movement() -> None:
    own = {action.id: action.in_list for action in ACTIONS if action.in_list}
    assert own["line_down"] == own["next_message"] == "lists.line_down"
    assert {"half_page_down", "page_up", "top", "bottom", "search", "next_match", "open", "help", "filter"} <= set(own)


def test_the_palette_has_an_entry_with_a_key_or_a_command_for_each_action() -> None:
    entries = {entry.id: entry for entry in action_entries(ACTIONS)}
    assert entries.keys() == {action.id for action in ACTIONS}
    assert (entries["search"].title, entries["search"].shown) == ("Search", "/")
    assert (entries["copy_json"].shown, entries["theme"].shown) == ("y j", ":theme")
    titles = [entry.title for entry in entries.values()]
    assert len(set(titles)) == len(titles)


def test_the_palette_finds_names_before_sentences_and_lists_what_was_used_first() -> None:
    entries = action_entries(ACTIONS)
    assert matching(entries, "next err")[0].id == "next_error"
    assert [entry.id for entry in matching(entries, "ERROR")][:2] == ["next_error", "previous_error"]
    assert "debug" in [entry.id for entry in matching(entries, "safe")]
    assert matching(entries, "no such command") == []
    rows = grouped(entries, ["mark", "gone", "help"])
    assert [row if isinstance(row, str) else row.id for row in rows[:4]] == ["Recent", "mark", "help", "Move"]
    assert len([row for row in rows if not isinstance(row, str)]) == len(entries) + 2
