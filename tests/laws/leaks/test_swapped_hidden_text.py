"""No insight command without --reveal depends on hidden text, its length, its pieces, or its times, in ten formats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.program import run

SECRETS = (
    "never say ZX-4471",
    "we need to offer ten percent to customers who threaten to leave, code QQ-99812",
    "短い秘密",
    '{"a": [1, 2]}',
    500 * "x" + ' Answer: "Yes 1"',
)
TURNS = range(3)
BEGUN = 1_764_000_000


def arguments(variant: int) -> str:
    return json.dumps({"q": SECRETS[variant], "n": variant} if variant % 2 else {"path": f"/etc/{variant}"})


def time_of(variant: int, record: int, *, hidden: bool) -> str:
    at = BEGUN + 3 * record + (0.37 * variant if hidden else 0)
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lines(records: list[dict[str, object]], lead: str = "", end: str = "\n") -> str:
    return "".join(f"{lead}{json.dumps(each)}{end}" for each in records)


def pieces(text: str, variant: int) -> list[str]:
    return [text] if variant % 2 else [text[at : at + 5] for at in range(0, min(len(text), 60), 5)]


def openchatml(variant: int) -> str:
    secret = SECRETS[variant]
    return "version: 2.2\n" + "".join(
        f"<|start|>user<|message|>Q{turn}?<|end|>\n"
        f"<|start|>assistant<|channel|>analysis<|message|>{secret}<|end|>\n"
        f"<|start|>assistant to=functions.f call_id=c{turn}<|channel|>commentary<|constrain|>json<|message|>"
        f"{arguments(variant)}<|call|>\n"
        f"<|start|>tool name=functions.f call_id=c{turn}<|channel|>commentary<|message|>{secret}<|end|>\n"
        f"<|start|>assistant<|channel|>final<|message|>Answer {turn}.<|end|>\n"
        for turn in TURNS
    )


def harmony(variant: int) -> str:
    secret = SECRETS[variant]
    return f"<|start|>system<|message|>You are. {secret}<|end|>" + "".join(
        f"<|start|>user<|message|>Q{turn}?<|end|><|start|>assistant<|channel|>analysis<|message|>{secret}<|end|>"
        f"<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
        f"{arguments(variant)}<|call|><|start|>functions.f to=assistant<|channel|>commentary<|message|>{secret}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>Answer {turn}.<|return|>"
        for turn in TURNS
    )


def chatml(variant: int) -> str:
    thought = f"<think>\n{SECRETS[variant]}\n</think>\n\n"
    return "".join(
        f"<|im_start|>user\nQ{turn}?<|im_end|>\n<|im_start|>assistant\n{thought}Answer {turn}.<|im_end|>\n"
        for turn in TURNS
    )


def messages(variant: int) -> str:
    secret = SECRETS[variant]
    made: list[dict[str, object]] = [{"role": "system", "content": secret}]
    for turn in TURNS:
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "f", "arguments": arguments(variant)}}
        made += [
            {"role": "user", "content": f"Q{turn}?"},
            {"role": "assistant", "content": None, "reasoning_content": secret, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": secret},
            {"role": "assistant", "content": f"Answer {turn}."},
        ]
    return json.dumps({"messages": made})


def anthropic(variant: int) -> str:
    secret = SECRETS[variant]
    made: list[dict[str, object]] = []
    for turn in TURNS:
        thought = {"type": "thinking", "thinking": secret, "signature": "s"}
        call = {"type": "tool_use", "id": f"c{turn}", "name": "f", "input": json.loads(arguments(variant))}
        reply = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": secret}
        made += [
            {"role": "user", "content": f"Q{turn}?"},
            {"role": "assistant", "content": [thought, call]},
            {"role": "user", "content": [reply]},
            {"role": "assistant", "content": f"Answer {turn}."},
        ]
    return json.dumps({"model": "m", "system": secret, "messages": made})


def items(variant: int, turn: int) -> list[tuple[dict[str, object], bool]]:
    """Return the items of a turn in the Responses API, and which of them are hidden."""
    secret = SECRETS[variant]
    asked, answered = {"type": "input_text", "text": f"Q{turn}?"}, {"type": "output_text", "text": f"Answer {turn}."}
    thought: dict[str, object] = {"type": "reasoning", "summary": [{"type": "summary_text", "text": secret}]}
    return [
        ({"type": "message", "role": "user", "content": [asked]}, False),
        (thought | {"encrypted_content": (7 * variant + 1) * "e"}, True),
        ({"type": "function_call", "name": "shell", "arguments": arguments(variant), "call_id": f"c{turn}"}, True),
        ({"type": "function_call_output", "call_id": f"c{turn}", "output": secret}, True),
        ({"type": "message", "role": "assistant", "content": [answered]}, False),
    ]


def responses(variant: int) -> str:
    found = [item for turn in TURNS for item, _ in items(variant, turn)]
    return json.dumps({"model": "m", "instructions": SECRETS[variant], "input": found})


def codex(variant: int) -> str:
    about = {"id": "s", "timestamp": time_of(0, 0, hidden=False), "cwd": "/", "instructions": SECRETS[variant]}
    records: list[dict[str, object]] = [{"timestamp": about["timestamp"], "type": "session_meta", "payload": about}]
    for turn in TURNS:
        for item, hidden in items(variant, turn):
            time = time_of(variant, len(records), hidden=hidden)
            records.append({"timestamp": time, "type": "response_item", "payload": item})
    return lines(records)


def claude_code(variant: int) -> str:
    secret = SECRETS[variant]
    records: list[dict[str, object]] = []
    for turn in TURNS:
        thought = {"type": "thinking", "thinking": secret, "signature": (variant + 1) * "s"}
        call = {"type": "tool_use", "id": f"c{turn}", "name": "Read", "input": json.loads(arguments(variant))}
        reply = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": secret}
        contents: list[tuple[str, object, bool]] = [
            ("user", f"Q{turn}?", False),
            ("assistant", [thought, call], True),
            ("user", [reply], True),
            ("assistant", [{"type": "text", "text": f"Answer {turn}."}], False),
        ]
        for role, content, hidden in contents:
            number = len(records)
            records.append(
                {
                    "type": role,
                    "uuid": f"u{number}",
                    "parentUuid": f"u{number - 1}" if number else None,
                    "sessionId": "s",
                    "timestamp": time_of(variant, number, hidden=hidden),
                    "message": {"role": role, "id": f"m{number}", "content": content},
                }
            )
    return lines(records)


def events(variant: int) -> str:
    records: list[dict[str, object]] = []
    for turn in TURNS:
        for step, text in enumerate((SECRETS[variant], f"Answer {turn}, ", SECRETS[variant], "yes.")):
            is_final = step % 2 == 1
            records += [
                {
                    "type": "response.delta",
                    "message_id": f"final{turn}" if is_final else f"analysis{turn}-{step}",
                    "channel": "final" if is_final else "analysis",
                    "delta": piece,
                    "ts": BEGUN + 12 * turn + 3 * step + (0 if is_final else 0.37 * variant),
                }
                for piece in ([text[:3], text[3:]] if is_final else pieces(text, variant))
            ]
    return lines(records)


def chunks(variant: int) -> str:
    records: list[dict[str, object]] = []
    for turn in TURNS:
        thoughts = [{"reasoning_content": piece} for piece in pieces(SECRETS[variant], variant)]
        for delta in (*thoughts, {"content": f"Answer {turn} "}, {"content": "is yes."}, {}):
            choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
            head = {"id": f"r{turn}", "object": "chat.completion.chunk", "created": BEGUN + 10 * turn, "model": "m"}
            records.append({**head, "choices": [choice]})
    return lines(records, "data: ", "\n\n")


MAKERS: dict[str, tuple[str, Callable[[int], str]]] = {
    "openchatml": ("chat.ocml", openchatml),
    "harmony": ("chat.harmony", harmony),
    "chatml": ("chat.txt", chatml),
    "messages": ("chat.json", messages),
    "anthropic": ("chat.json", anthropic),
    "responses": ("chat.json", responses),
    "codex": ("chat.jsonl", codex),
    "claude code": ("chat.jsonl", claude_code),
    "events": ("chat.jsonl", events),
    "chunks": ("chat.sse", chunks),
}
COMMANDS = (
    *("next", "next --json", "next --text --policy keep", "lens", "lens --json", "lens --exit-code --only visibility"),
    *("leaks", "leaks --json --exit-code", "check --leaks", "check --lens --exit-zero", "replay", "timing"),
    *("replay --idle-limit 1 --speed 64", "timing --json", "show --at-time 3s", "show --at-time +0:01 --json"),
    *(f"show --at B{byte}" for byte in (0, 3, 9, 14, 25, 60)),
    *(f"show --at-event {event}" for event in (1, 2, 3, 5, 8)),
    *("show --at B12 --json", "show --at-event 3 --json", "stats", "stats --json"),
)
DIFFS = ("", "--stat", "--json", "--unified", "--side", "--strict")
_POSITION = re.compile(r"(?m)^([^:\n]+):\d+:\d+:")


@pytest.mark.lab
@pytest.mark.parametrize("format", MAKERS)
def test_no_byte_of_an_insight_command_depends_on_hidden_text(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, make = MAKERS[format]
    for variant in range(len(SECRETS)):
        (tmp_path / str(variant)).mkdir()
        (tmp_path / str(variant) / name).write_text(make(variant), "utf-8")
    for command in COMMANDS:
        found = set()
        for variant in range(len(SECRETS)):
            monkeypatch.chdir(tmp_path / str(variant))
            result = run(*command.split(), name)
            found.add((result.code, _POSITION.sub(r"\1:", result.out), result.err))
        assert len(found) == 1, (command, found)
    monkeypatch.chdir(tmp_path)
    for variant in range(1, len(SECRETS)):
        for option in DIFFS:
            result = run("diff", *option.split(), f"0/{name}", f"{variant}/{name}")
            same = run("diff", *option.split(), f"0/{name}", f"0/{name}")
            assert (result.code, result.err) == (0, ""), (variant, option, result.out, result.err)
            assert result.out.replace(f"{variant}/{name}", f"0/{name}") == same.out, (variant, option)
