"""A sealed view: no key, command, or entry reveals anything, and actions that do not apply are not offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running import TOUR, drawn, press, running, said, settled, view
from viewer.model.visibility import Audience
from viewer.render.style import Style
from viewer.tui.app import ViewOptions
from viewer.tui.bars.footer_keys import FOOTERS, footer_actions
from viewer.tui.control.commands import COMMANDS
from viewer.tui.dialogs.help import found_lines, help_lines
from viewer.tui.files.keys import list_actions
from viewer.tui.keys import ACTIONS, Scope, Served, bindings, offered, rows_for
from viewer.tui.palette import action_entries
from viewer.tui.settings.settings import Settings

REVEALING = {
    "debug",
    "brief",
    "analysis",
    "commentary",
    "tools",
    "system",
    "side_panes",
    "inspector",
    "raw",
    "calls",
    "partner",
    "next_in_call",
    "previous_in_call",
    "parent",
    "usage",
    "leaks",
    "next_prompt",
    "lens",
    "copy_raw",
    "copy_json",
    "copy_header",
    "copy_call_id",
    "copy_link",
}
OF_THE_MACHINE = ["edit", "export", "suspend"]
LIMITED = [scope for scope in Scope if scope is not Scope.ALL]


def served(served: Served) -> list[str]:
    return [action.id for action in ACTIONS if action.served is served]


def test_the_column_says_which_actions_a_served_view_has() -> None:
    assert sorted(served(Served.DEBUG)) == sorted(REVEALING)
    assert sorted(served(Served.NEVER)) == sorted(OF_THE_MACHINE)
    assert {action.id for action in ACTIONS if action.debug_only} <= {*REVEALING, "edit"}
    assert [each.name for each in COMMANDS if each.served is not Served.SAFE] == ["export", "level", "next", "sessions"]


@pytest.mark.parametrize("scope", LIMITED)
def test_a_row_that_does_not_apply_is_nowhere(scope: Scope) -> None:
    actions = rows_for(scope)
    gone = {action.id for action in ACTIONS} - {action.id for action in offered(actions)}
    assert gone == {
        Scope.SEALED: {*REVEALING, "edit"},
        Scope.SERVED: {*OF_THE_MACHINE},
        Scope.SERVED_SAFE: {*REVEALING, *OF_THE_MACHINE},
    }.get(scope)
    bound = {binding.id: binding.action for binding in bindings(actions)}
    assert {id for id, action in bound.items() if action == f"refuse({scope.refusal!r})"} == {
        action.id for action in ACTIONS if action.id in gone and action.keys
    }
    assert gone.isdisjoint(entry.id for entry in action_entries(actions))
    footers = [item for each in FOOTERS for item in footer_actions(each, 200, actions)]
    assert gone.isdisjoint(id for item in footers for _, id in item.keys)
    rows = offered(actions)
    text = "\n".join("".join(part.text for part in line) for line in help_lines(rows, 97, Style()))
    text += "\n".join("".join(part.text for part in line) for line in found_lines(rows, "", 97, Style()))
    assert not [action.help for action in ACTIONS if action.id in gone and action.help in text]
    assert ("suspend" in text) == (scope is Scope.SEALED)
    assert ("copy_path" in {each.id for each in offered(list_actions(actions, scope))}) == (scope is Scope.SEALED)


def sealed(scope: Scope) -> ViewOptions:
    return ViewOptions(sealed=True, settings=Settings(scope=scope))


@pytest.mark.slow
@pytest.mark.parametrize("scope", [Scope.SEALED, Scope.SERVED_SAFE])
async def test_keys_and_commands_that_do_not_apply_do_nothing(scope: Scope, tmp_path: Path) -> None:
    refused = [action for action in rows_for(scope) if action.refusal]
    async with running(options=sealed(scope)) as pilot:
        before, screen = drawn(pilot).splitlines()[:-2], view(pilot)
        assert "[SAFE]" in before[0]
        for key in [key for action in refused for key in action.keys]:
            await press(pilot, key)
            await settled(pilot)
            assert said(pilot) == scope.refusal, key
        for command in [*(action.id for action in refused), "level debug", "next"]:
            screen.commands.run(command)
            await settled(pilot)
            assert said(pilot) == scope.refusal or "Unknown command" in said(pilot), command
            assert screen.session.projection.audience == Audience(sealed=True)
        screen.commands.run("set pane=inspector")
        assert "Unknown choice" in said(pilot)
        known = {entry.id for entry in screen.commands.entries()}
        assert known.isdisjoint(action.id for action in refused)
        assert not any(id.startswith((":level", ":next")) for id in known)
        assert [each.text for each in screen.commands.offers("le")] == ["leave"]
        assert drawn(pilot).splitlines()[:-2] == before
        assert pilot.app.screen is screen


async def test_an_empty_sealed_view_names_no_key_that_shows_more(tmp_path: Path) -> None:
    path = tmp_path / "chat.ocml"
    path.write_text("version: 2.2\n<|start|>system<|message|>Be brief.<|end|>\n")
    async with running(path, options=sealed(Scope.SEALED)) as pilot:
        assert "1 message is hidden." in drawn(pilot)
        assert "Press d" not in drawn(pilot)


@pytest.mark.slow
async def test_the_list_of_a_sealed_view_refuses_what_it_does_not_offer(tmp_path: Path) -> None:
    for name in ("a.ocml", "b.ocml"):
        (tmp_path / name).write_bytes(Path(TOUR).read_bytes())
    async with running(tmp_path, options=sealed(Scope.SERVED_SAFE)) as pilot:
        await press(pilot, "y")
        await settled(pilot)
        assert "not available in the served view" in drawn(pilot)
        assert pilot.app.clipboard == ""
        await press(pilot, "D", "j", "D")
        await settled(pilot)
        assert "[SAFE]" in drawn(pilot)
        assert "same" in drawn(pilot).lower()
        await press(pilot, "escape", "enter")
        await settled(pilot)
        await press(pilot, "at")
        await settled(pilot)
        assert "[SAFE]" in drawn(pilot)
