"""Whatever a check reports on, the prefilters select: big input has the diagnostics of checks that skip nothing."""

from __future__ import annotations

import pytest

from tests.samples import samples
from viewer.checks import batches as run_checks
from viewer.checks import queue as checker
from viewer.checks.analysis import Analysis
from viewer.checks.context import CheckContext
from viewer.checks.prefilter import Need
from viewer.checks.queue import CheckQueue
from viewer.checks.text import MESSAGE_CHECKS
from viewer.document import document
from viewer.document.document import BIG, WORTH_SCANNING, Document
from viewer.formats import FORMATS, body_of_ids, detect
from viewer.model.diagnostic import Diagnostic
from viewer.model.messages import Message
from viewer.reading.parser import Parser
from viewer.sources.files import SpooledSource

PLAIN = b"<|start|>user<|message|>What is it?<|end|>\n<|start|>assistant<|channel|>final<|message|>A plum.<|end|>\n"
FILLER = PLAIN * (BIG // len(PLAIN) + 1)
HEADERS = [
    "user", "system", "developer", "assistant", "assistant<|channel|>final", "assistant<|channel|>analysis",
    "assistant<|channel|>commentary", "assistant intent=preamble<|channel|>commentary",
    "assistant intent=preamble<|channel|>analysis", "assistant to=functions.f call_id=c<|channel|>commentary",
    "assistant to=functions.f call_id=c<|channel|>commentary<|constrain|>json",
    "assistant to=functions.f<|channel|>analysis<|constrain|>JSON", "assistant<|channel|>final<|constrain|>json",
    "assistant<|channel|>final json", "assistant<|channel|>final<|constrain|>svg", "assistant to=browser.open",
    "tool name=functions.f call_id=c to=assistant<|channel|>commentary", "tool", "tool<|constrain|>json",
    "functions.f to=assistant<|channel|>commentary", "assistant mood=x<|channel|>final", "user<|channel|>final",
]  # fmt: skip
BODIES = [
    b"", b" ", b"plain", b"a\0b", b"\0\0", b"a\xffb", b"\xe2\x82", "a\u200bb".encode(), "\u202eabc".encode(),
    "\U000e0041".encode(), "\ufeffx".encode(), b"a\x07b", b"a\x7fb", b"a\rb", b"a\r\nb", "\u00e9".encode(),
    b"\xc2\x85", "\u2028".encode(), "\u3164".encode(), "\u00ad".encode(), "x\ufe0f".encode(),
    b"<think>a</think>b", b"<THINK>a", b"a</think>b", b"<thinking>x</thinking>", b"<|start_reason|>a<|end_reason|>b",
    b"<|end_reflect|>", b"<|constrain|>json{}", b"<|literal|><|end|><|endliteral|>", b"<|endliteral|>", b"<<|end|>",
    b"<|start|>", b"<|channel|>", b'{"a":1,"a":2}', b'{"a":', b'{"a":1} x', b"[" * 201, b'{"tool_calls":[{"id":"x"}]}',
    b'{"tool_calls": [], "content": "x"}', b'{"TOOL_CALLS":[]}', b'{"ok":false}',
    b'{"ok":false,"error":"E-TOOL-TIMEOUT"}',
    b'{"error":{"code":"E-TOOL-CANCELLED"}}', b'["12:00"]', b'{"deadline_ms":5}', b"<tool_call>{}</tool_call>",
    b"<tool_response>x</tool_response>", b"analysisA.assistantfinalB.", b"```\nx", b'{"a":"\\ud800"}',
]  # fmt: skip
STOPS = [b"<|end|>", b"<|call|>", b"<|return|>"]


def scanned(data: bytes) -> list[Diagnostic]:
    read = Document(SpooledSource("x", iter([data]), False)).keep_per_code(0).load()
    return [finding.diagnostic for finding in read.findings()]


def unfiltered(data: bytes) -> list[Diagnostic]:
    """The diagnostics if every check sees every message."""
    dialect = FORMATS[detect(data).dialect]
    parser, analysis = Parser(dialect), Analysis(lambda start, end: data[start:end], FORMATS, body_of_ids)
    analysis.findings.most_per_code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CheckQueue, "_need", everything)
        analysis.take(parser.feed(data))
        analysis.take(parser.close())
        analysis.close()
        analysis.check_all()
    return analysis.findings.by_position()


def everything(_self: CheckQueue, _message: Message) -> tuple[Need, bytes | None]:
    return Need.ALL, None


def generated(head: bytes) -> bytes:
    """Each body under each header, among plain messages."""
    made = [head, FILLER]
    for number, header in enumerate(HEADERS):
        for place, body in enumerate(BODIES):
            stop = STOPS[(number + place) % len(STOPS)]
            made.append(b"<|start|>" + header.encode() + b"<|message|>" + body + stop + b"\n" + PLAIN)
    return b"".join(made)


def difference(data: bytes) -> set[Diagnostic]:
    return set(scanned(data)) ^ set(unfiltered(data))


@pytest.mark.parametrize("head", [b"version: 2.2\n", b"version: 2.0\n", b""], ids=["2.2", "2.0", "harmony"])
def test_generated_messages_in_big_input_have_the_diagnostics_of_all_checks(head: bytes) -> None:
    assert difference(generated(head)) == set()


def test_broken_samples_in_scanned_input_have_the_diagnostics_of_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "BIG", 2 * WORTH_SCANNING)
    filler = PLAIN * (3 * WORTH_SCANNING // len(PLAIN))
    for sample in samples("broken"):
        if sample.path.suffix in (".ocml", ".harmony") and not sample.asked:
            text = sample.text
            place = text.find(b"<|start|>")
            if place >= 0:
                data = text[:place] + filler + text[place:]
                assert difference(data) == set(), sample.name


def test_a_check_that_the_prefilters_miss_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_fences(case: CheckContext) -> None:
        at = case.body.data.find(b"```")
        if at >= 0:
            case.report_in_body("I-TYPE-UNKNOWN", None, at, at + 3)

    for module in (checker, run_checks):
        monkeypatch.setattr(module, "MESSAGE_CHECKS", (*MESSAGE_CHECKS, check_fences))
    assert {found.code for found in difference(generated(b"version: 2.2\n"))} == {"I-TYPE-UNKNOWN"}
