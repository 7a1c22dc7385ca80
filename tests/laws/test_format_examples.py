"""Examples of the record formats are detected and shown exactly as documented, and everything else is hidden."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.printing import SURFACES, some
from tests.support.program import run
from tests.support.samples import ROOT, samples
from viewer.formats import FORMATS

EXAMPLES = Path(__file__).parents[1] / "data" / "formats"
FORMAT_OF = {
    "acp.jsonl": "jsonrpc",
    "aider.chat.history.md": "aider",
    "anthropic-request.json": "anthropic",
    "anthropic-stream.sse": "anthropic-stream",
    "atif.json": "atif",
    "chat-log.json": "json",
    "claude-code-rewind.jsonl": "claude-code",
    "claude-code.jsonl": "claude-code",
    "claude-stream.jsonl": "claude-stream",
    "codex-exec.jsonl": "codex-exec",
    "codex-rollout.jsonl": "codex",
    "cursor.jsonl": "cursor",
    "gemini-api.json": "gemini",
    "gemini-cli.json": "gemini-cli",
    "inspect.json": "inspect",
    "ollama.ndjson": "ollama",
    "opencode-export.json": "opencode",
    "openhands.jsonl": "openhands",
    "otel.jsonl": "otel",
    "qwen-chatml.txt": "chatml",
    "responses-items.json": "responses",
    "responses-object.json": "responses",
    "responses-phase.sse": "responses-stream",
    "rows-preference.jsonl": "rows",
    "rows-sharegpt.json": "rows",
    "server-lmstudio.ndjson": "server-log",
    "server-slots.json": "server-log",
    "server-vllm-harmony.log": "server-log",
    "server-vllm.log": "server-log",
    "swe-agent.traj": "swe-agent",
}
NOT_IN_JSON = frozenset({"gAAAASECRET", "SECRET_REDACTED", "SECRET_META", "SECRET_TOOL"})
"""Hidden text that is opaque or belongs to no message."""
NAMES = [
    *(name for name, format in FORMAT_OF.items() if format in FORMATS),
    *(sample.name for sample in samples("valid") if sample.seen),
]


@cache
def expected(name: str) -> dict[str, list[str]]:
    """Return the text that the end user saw, and the hidden text."""
    place = path_of(name)
    value: dict[str, list[str]] = json.loads(place.with_name(f"{place.name}.seen.json").read_text("utf-8"))
    return value


def path_of(name: str) -> Path:
    """Return an example or a sample."""
    return ROOT / name if "/" in name else EXAMPLES / name


def output(*arguments: str) -> str:
    done = run(*arguments)
    return done.out + done.err


@each("name", NAMES, quick=48, test=4, batch=64)
def test_the_format_is_detected_and_the_safe_view_shows_each_text_once_and_in_order(name: str) -> None:
    first, *lines = [json.loads(line) for line in run("show", "--json", str(path_of(name))).out.splitlines()]
    assert first["dialect"] == (name.split("/")[1] if "/" in name else FORMAT_OF[name])
    seen = [line["body"].strip() for line in lines if line["kind"] == "message"]
    assert seen == [text.strip() for text in expected(name)["seen"]]


@pytest.mark.surfaces
@each("name", NAMES, quick=960, test=96, batch=64)
def test_no_safe_surface_contains_hidden_text(name: str) -> None:
    for command, *options in some(SURFACES, name):
        text = output(command, str(path_of(name)), *options)
        assert "SECRET_" not in text, (command, *options)
        for hidden in expected(name)["hidden"]:
            assert hidden not in text, (command, *options)


@each("name", NAMES, quick=48, test=6, batch=64)
def test_the_debug_view_shows_every_hidden_text(name: str) -> None:
    text = run("show", "--json", "--reveal", "all", "--threads", "all", str(path_of(name))).out
    opaque = NOT_IN_JSON | set(expected(name).get("opaque", []))
    missing = [hidden for hidden in expected(name)["hidden"] if hidden not in text and hidden not in opaque]
    assert missing == []
