"""Folded rows: superseded branches, and transcripts of sub-agents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.running import ROOMY, SMALL, drawn, press, running, said, type_in, view
from viewer.document.rows import RowKind
from viewer.tui.app import ViewOptions
from viewer.tui.go_to import Place, Target, parse
from viewer.tui.keys import DEBUG_ONLY

SAMPLES = Path(__file__).parents[2] / "samples" / "valid"
REWOUND = SAMPLES / "codex" / "rolled-back.jsonl"
ONE_AGENT = SAMPLES / "claude-code" / "sub-agent.jsonl"


def record(uuid: str, parent: str | None, role: str, content: object, **more: object) -> dict[str, object]:
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{uuid}", "model": "m", "usage": {"input_tokens": 5, "output_tokens": 7}}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message, **more}


def with_agents(path: Path, rounds: int = 2) -> Path:
    """Write a session whose two sub-agents take turns in the file."""
    call = [{"type": "tool_use", "id": f"call_{agent}", "name": "Task", "input": {"prompt": "Look."}} for agent in "ab"]
    lines = [record("u1", None, "user", "Find two ryokan."), record("a1", "u1", "assistant", call)]
    for number in range(rounds):
        for agent in "ab":
            own = {"isSidechain": True, "agentId": f"agent-{agent}"}
            lines.append(record(f"{agent}q{number}", None, "user", f"Ask {agent}{number}", **own))
            lines.append(record(f"{agent}r{number}", None, "assistant", f"Found {agent}{number}", **own))
    replies = [{"type": "tool_result", "tool_use_id": f"call_{agent}", "content": "Done."} for agent in "ab"]
    lines.append(record("u2", "a1", "user", replies))
    lines.append(record("a2", "u2", "assistant", "Two ryokan have a room."))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


class TestBranches:
    async def test_the_app_folds_a_superseded_branch_and_enter_unfolds_it(self) -> None:
        async with running(REWOUND, size=SMALL) as pilot:
            text = drawn(pilot)
            assert " ── rewound: 2 messages ──" in text
            assert "Also in YAML." not in text
            assert "turn 3" in text
            await press(pilot, "g", "J", "J")
            assert "▌ ── rewound: 2 messages" in drawn(pilot)
            await press(pilot, "enter")
            text = drawn(pilot)
            assert "Also in YAML." in text
            assert "── rewound ──" in text
            assert "── continued ──" in text
            assert view(pilot).navigator.focused_number == 3

    @pytest.mark.slow
    async def test_a_second_h_folds_the_branch_of_the_message(self) -> None:
        async with running(REWOUND, size=SMALL, keys=("g", "J", "J", "l")) as pilot:
            await press(pilot, "h")
            assert "Also in YAML." in drawn(pilot)
            await press(pilot, "h")
            assert "Also in YAML." not in drawn(pilot)
            assert "▌ ── rewound: 2 messages" in drawn(pilot)

    async def test_z_unfolds_branches_and_folds_them_again(self) -> None:
        async with running(REWOUND, size=ROOMY, keys=("z",)) as pilot:
            assert "YAML forbids tabs." in drawn(pilot)
            await press(pilot, "z")
            assert "YAML forbids tabs." not in drawn(pilot)

    @pytest.mark.slow
    @pytest.mark.slow
    async def test_a_search_and_a_filter_find_text_in_a_branch(self) -> None:
        for prefix in ("/", "&"):
            async with running(REWOUND, size=SMALL) as pilot:
                await type_in(pilot, prefix, "forbids")
                assert "YAML forbids tabs." in drawn(pilot)
                assert view(pilot).navigator.focused_number == 4 or prefix == "&"

    @pytest.mark.slow
    async def test_typed_places_lead_to_a_branch_and_into_it(self) -> None:
        async with running(REWOUND, size=SMALL) as pilot:
            await type_in(pilot, ":", "4")
            assert "▌ ── rewound: 2 messages" in drawn(pilot)
            await type_in(pilot, ":", "t2")
            assert "Also in YAML." in drawn(pilot)

    async def test_the_debug_view_folds_hidden_messages_of_the_branch_with_it(self) -> None:
        async with running(SAMPLES / "copilot-cli" / "rewind.jsonl", size=ROOMY) as pilot:
            before = drawn(pilot)
            await press(pilot, "d")
            assert "rewound: 2 messages" in before
            assert "rewound: 2 messages" in drawn(pilot)
            assert before.count("── turn ") == drawn(pilot).count("── turn ") == 1

    @pytest.mark.slow
    async def test_a_strict_view_keeps_its_rules(self) -> None:
        async with running(REWOUND, size=ROOMY, options=ViewOptions(strict=True)) as pilot:
            assert "── rewound ──" in drawn(pilot)


class TestSubAgents:
    async def test_the_debug_view_has_one_line_for_each_run_of_a_sub_agent(self, tmp_path: Path) -> None:
        async with running(with_agents(tmp_path / "a.jsonl"), size=ROOMY, keys=("d", "T")) as pilot:
            rows = view(pilot).session.rows
            kinds = [rows.kind(row) for row in range(len(rows))]
            assert kinds.count(RowKind.AGENT) == 4
            text = drawn(pilot)
            assert "sub-agent 1 · 2 messages" in text
            assert "sub-agent 2 · 2 messages" in text
            assert "enter Open" in text
            assert "Found a0" not in text

    @pytest.mark.slow
    async def test_enter_opens_the_whole_transcript_of_a_sub_agent_and_backspace_returns(self, tmp_path: Path) -> None:
        path = with_agents(tmp_path / "a.jsonl")
        for back in ("backspace", "escape"):
            async with running(path, size=ROOMY, keys=("d", "g")) as pilot:
                while view(pilot).session.folded_at(view(pilot).navigator.cursor_row) is None:
                    await press(pilot, "J")
                await press(pilot, "enter")
                text = drawn(pilot)
                assert "› sub-agent 1 " in text.splitlines()[0]
                for number in range(2):
                    assert f"Found a{number}" in text
                    assert f"Found b{number}" not in text
                await press(pilot, back)
                assert "›" not in drawn(pilot).splitlines()[0]
                assert view(pilot).session.folded_at(view(pilot).navigator.cursor_row) is RowKind.AGENT

    @pytest.mark.slow
    async def test_a_file_of_a_sub_agent_alone_is_not_folded(self) -> None:
        async with running(SAMPLES / "codex" / "sub-agent-session.jsonl", size=ROOMY, keys=("d", "T")) as pilot:
            rows = view(pilot).session.rows
            assert RowKind.AGENT not in {rows.kind(row) for row in range(len(rows))}
            assert rows.shown_count

    async def test_the_safe_view_shows_nothing_of_a_sub_agent(self, tmp_path: Path) -> None:
        async with running(with_agents(tmp_path / "a.jsonl"), size=ROOMY) as pilot:
            for keys in ((), ("d", "g", "J", "J", "enter"), ("d",), ("backspace",), ("g", "J", "J", "enter")):
                await press(pilot, *keys)
                if not view(pilot).session.display.debug:
                    assert "sub-agent" not in drawn(pilot)
                    assert "Found a0" not in drawn(pilot)
                    assert not view(pilot).session.agent

    @pytest.mark.slow
    @pytest.mark.slow
    async def test_side_panes_show_the_open_sub_agent_only(self, tmp_path: Path) -> None:
        async with running(with_agents(tmp_path / "a.jsonl"), size=ROOMY, keys=("d", "g")) as pilot:
            await type_in(pilot, ":", "4")
            await press(pilot, "enter", "|")
            text = drawn(pilot)
            assert "Found a1" in text
            assert "Found b0" not in text

    @pytest.mark.slow
    @pytest.mark.slow
    async def test_a_search_in_a_sub_agent_stays_there(self, tmp_path: Path) -> None:
        async with running(with_agents(tmp_path / "a.jsonl"), size=ROOMY, keys=("d", "g")) as pilot:
            await type_in(pilot, ":", "4")
            await press(pilot, "enter")
            await type_in(pilot, "/", "Found")
            assert "1 of 2" in drawn(pilot)
            await press(pilot, "escape", "escape")
            assert not view(pilot).session.agent

    @pytest.mark.share(quick=3)
    @pytest.mark.parametrize("size", [SMALL, ROOMY])
    async def test_the_line_fits_every_width(self, size: tuple[int, int]) -> None:
        async with running(ONE_AGENT, size=size, keys=("d",)) as pilot:
            lines = [line for line in drawn(pilot).splitlines() if "sub-agent scout" in line]
            assert lines
            assert all("enter Open" in line for line in lines)

    @pytest.mark.slow
    async def test_an_agent_has_the_name_that_its_call_gives_and_a_typed_place(self, tmp_path: Path) -> None:
        """The name appears in its line, the outline, the title, and JSON, but only if the call is revealed."""
        assert parse("14›3") == parse("#14 > 3") == Target(Place.AGENT, 14, 3)
        async with running(ONE_AGENT, size=ROOMY, keys=("d", "T")) as pilot:
            lines = drawn(pilot).splitlines()
            card = next(at for at, line in enumerate(lines) if "ƒ Task" in line and "#2" in line)
            assert "┆ sub-agent scout · 5 messages" in lines[card + 1]
            assert any(re.search(r"┆ scout +5 ", line) for line in lines)
            await type_in(pilot, ":", "2>3")
            assert "› #2 scout" in drawn(pilot).splitlines()[0]
            assert view(pilot).navigator.focused_number == 5
            await type_in(pilot, ":", "2>9")
            assert said(pilot) == "No message 9 of this sub-agent: the last one is 5."
            await type_in(pilot, ":", "1>1")
            assert said(pilot) == "Message 1 started no sub-agent."
            await press(pilot, "d")
            assert "scout" not in drawn(pilot)
            await type_in(pilot, ":", "2>3")
            assert said(pilot) == DEBUG_ONLY
        async with running(with_agents(tmp_path / "a.jsonl"), size=ROOMY, keys=("d",)) as pilot:
            assert "sub-agent 1 · 2 messages" in drawn(pilot)
        lines = run("show", "--json", "-d", "--threads", "all", str(ONE_AGENT)).out.splitlines()
        named = [each["number"] for line in lines if (each := json.loads(line)).get("agent") == "scout"]
        assert named == [3, 4, 5, 6, 7]
        assert "scout" not in run("show", "--json", "--reveal", "subagent,analysis", str(ONE_AGENT)).out


@pytest.mark.slow
async def test_a_hidden_line_says_which_keys_show_its_messages() -> None:
    async with running(size=SMALL, keys=["e", "escape", "enter"]) as pilot:
        assert said(pilot) == DEBUG_ONLY
        await press(pilot, "m")
        assert said(pilot) == "Nothing to mark here."
        await press(pilot, "d", "a", "c", "t", "e", "escape", "enter")
        assert said(pilot) == "Press a, c, t, or s to show more messages."
