"""Each value of `--reveal` shows what it names and nothing else, on every surface and in every format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.printing import SURFACES, some
from tests.support.program import run
from viewer.model.visibility import Reveal

KINDS = [reveal.value for reveal in Reveal if reveal is not Reveal.ALL]


def word(kind: str, number: int = 0) -> str:
    return f"quagga{kind}{number}z"


FOUND = re.compile("quagga([a-z]+)[0-9]+z", re.IGNORECASE)

ANALYSIS, COMMENTARY, TOOL, UNCLEAR = (word(kind) for kind in ("analysis", "commentary", "tool", "unclear"))
SYSTEM, DEVELOPER, STRAY = word("system"), word("developer"), word("stray")

MARKED = (
    f'Hi.<tool_call>{{"name": "f", "arguments": {{"k": "{COMMENTARY}"}}}}</tool_call>'
    f"<tool_response>{TOOL}</tool_response>\n<think>{ANALYSIS}</think>"
)

TEXT = f"""\
version: 2.2
model: {SYSTEM} and more
note: {SYSTEM}
<|start|>system<|message|>{SYSTEM}<|end|>
<|start|>developer<|message|>{DEVELOPER}<|end|>
{STRAY}
<|start|>user call_id={UNCLEAR} mood={UNCLEAR} intent={UNCLEAR}<|message|>Hello.<|end|>
<|start|>assistant cot={UNCLEAR}<|channel|>analysis<|message|>{ANALYSIS}<|end|>
<|start|>assistant intent=status<|channel|>final<|message|>{UNCLEAR} <|start_reason|>{ANALYSIS}<|end_reason|><|end|>
<|start|>assistant to=functions.f call_id=c mood={UNCLEAR}<|channel|>commentary<|message|>{{"a":"{COMMENTARY}"}}<|call|>
<|start|>tool name=functions.f call_id=c mood={UNCLEAR}<|channel|>commentary<|message|>{TOOL}<|end|>
<|start|>assistant<|channel|>{UNCLEAR}<|message|>{UNCLEAR}<|end|>
<|start|>{UNCLEAR}<|message|>{UNCLEAR}<|end|>
<|start|>assistant content_type={UNCLEAR} mood={UNCLEAR}<|channel|>final<|message|><|start_reason|>{ANALYSIS}\
<|end_reason|>{MARKED}<|end|>
"""

MESSAGES: list[dict[str, object]] = [
    {"role": "system", "content": SYSTEM, "mood": UNCLEAR},
    {"role": "developer", "content": DEVELOPER},
    {"role": "user", "content": [{"type": "text", "text": "Hello."}, {"type": "odd", "x": UNCLEAR}], "y": UNCLEAR},
    {"role": "assistant", "reasoning": ANALYSIS, "content": "Hi.", "metadata": {"t": UNCLEAR}},
    {"role": "assistant", "content": MARKED, "scores": [UNCLEAR]},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": f'{{"a":"{COMMENTARY}"}}'}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": TOOL}], "mood": UNCLEAR},
    {"role": "critic", "content": UNCLEAR},
    {
        "role": "assistant",
        "content": f"<|channel|>analysis<|message|>{ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
    },
    {"role": "assistant", "content": f"Hi.<|im_start|>{UNCLEAR}"},
]

CHATML = (
    f"{STRAY}\n<|im_start|>system mood={UNCLEAR}\n{SYSTEM}<|im_end|>\n<|im_start|>user x={UNCLEAR}\nHello.<|im_end|>\n"
    f"<|im_start|>assistant\n<|start_reason|>{ANALYSIS}<|end_reason|>{MARKED}<|im_end|>\n"
    f"<|im_start|>user\n<tool_response>\n{TOOL}\n</tool_response><|im_end|>\n"
    f'<|im_start|>assistant\n<|function_call|>\n{{"name": "f", "arguments": {{"a": "{COMMENTARY}"}}}}<|im_end|>\n'
)

EVENTS = [
    {"type": "response.delta", "message_id": "m", "delta": "Hi.", "mood": UNCLEAR},
    {"type": "response.reasoning_text.delta", "item_id": "r", "delta": ANALYSIS},
    {"type": "response.function_call_arguments.delta", "item_id": "f", "delta": f'{{"a":"{COMMENTARY}"}}'},
    {"type": "response.odd.delta", "item_id": "o", "delta": UNCLEAR},
    {"type": "response.done"},
]

DOCUMENTS = {
    "openchatml-2.2": TEXT,
    "openchatml-2.0": TEXT.replace("version: 2.2", "version: 2.0"),
    "harmony": TEXT.partition("developer<|message|>")[1].join(["<|start|>", TEXT.partition("developer<|message|>")[2]]),
    "openchatml-0.1": CHATML,
    "json": json.dumps(MESSAGES),
    "events": "".join(f"{json.dumps(event)}\n" for event in EVENTS),
}


@pytest.mark.surfaces
@pytest.mark.share(quick=4)
@pytest.mark.parametrize("kind", KINDS)
@each("format", DOCUMENTS, quick=16, test=4)
def test_a_reveal_shows_no_other_kind(format: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "chat"
    file.write_text(DOCUMENTS[format], encoding="utf-8")
    for surface in some(SURFACES, f"{format} {kind}"):
        if "--strict-safe" not in surface:
            result = run(*surface, "--reveal", kind, "--format", format, file)
            others = set(map(str.lower, FOUND.findall(result.out + result.err))) - {kind}
            assert not others, surface


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("format", DOCUMENTS)
def test_every_kind_comes_back(format: str, tmp_path: Path) -> None:
    file = tmp_path / "chat"
    file.write_text(DOCUMENTS[format], encoding="utf-8")
    for kind in sorted(set(FOUND.findall(DOCUMENTS[format]))):
        assert kind in FOUND.findall(run("show", "--json", "--reveal", kind, "--format", format, file).out)
    assert not FOUND.findall(run("show", "--json", "--format", format, file).out)


def test_conversions_list_what_a_partial_reveal_leaves_out(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(
        json.dumps([{"role": "tool", "content": "x", "mood": "y"}, {"role": "user", "content": "q", "a": 1}])
    )
    assert (
        "dropped 2 unlisted fields; add --reveal all to keep them"
        in run("convert", "--to", "json", "--reveal", "tool", file).err
    )
    assert "dropped" not in run("convert", "--to", "json", "--reveal", "tool,unclear", file).err
