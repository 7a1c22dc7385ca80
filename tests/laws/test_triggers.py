"""A trigger selects every message for which its check reports a problem, whether messages are parsed or scanned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from tests.support.big_inputs import BIG, PLAIN, big_input
from tests.support.cases import each
from tests.support.chance_documents import chance_document
from tests.support.reading import examine, scan
from tests.support.samples import Sample, samples
from tests.support.unconditional import unconditional
from viewer.checks import CHECKS
from viewer.checks.check import AnyOf, Check, Contains, Scope
from viewer.checks.context import CheckContext
from viewer.formats import FORMATS, detect
from viewer.model.diagnostic import Diagnostic
from viewer.rules import RULES
from viewer.rules.notes import I_TYPE_UNKNOWN

TEXT = ("openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony")
NOT_ASCII = (
    "<|start|>user<|message|>Was heißt „Käse“? ❤ 日本 — ок…<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>Сыр, fromage, チーズ, τυρί. 😀<|end|>\n"
).encode()
FILLERS = {"ascii": PLAIN, "not-ascii": NOT_ASCII}
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
    b"<|start_reflect|>a", b"[THINK]a", b"a[/THINK]b", "a\u034fb".encode(),
    b"<|end_reflect|>", b"<|constrain|>json{}", b"<|literal|><|end|><|endliteral|>", b"<|endliteral|>", b"<<|end|>",
    b"<|start|>", b"<|channel|>", b'{"a":1,"a":2}', b'{"a":', b'{"a":1} x', b"[" * 201, b'{"tool_calls":[{"id":"x"}]}',
    b'{"tool_calls": [], "content": "x"}', b'{"TOOL_CALLS":[]}', b'{"ok":false}',
    b'{"tool<|literal|>_<|endliteral|>calls":[{"id":"x"}]}', b"<th<|literal|>ink>a<|endliteral|></think>b",
    b'{"ok":false,"error":"E-TOOL-TIMEOUT"}',
    b'{"error":{"code":"E-TOOL-CANCELLED"}}', b'["12:00"]', b'{"deadline_ms":5}', b"<tool_call>{}</tool_call>",
    b"<tool_response>x</tool_response>", b"analysisA.assistantfinalB.", b"```\nx", b'{"a":"\\ud800"}',
]  # fmt: skip
STOPS = [b"<|end|>", b"<|call|>", b"<|return|>"]


def parsed(data: bytes, format: str, checks: Sequence[Check] = CHECKS) -> list[Diagnostic]:
    """Return the diagnostics if every message goes through the parser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viewer.checks.queue.CHECKS", tuple(checks))
        return examine([data], data, format).findings.by_position()


def scanned(data: bytes, format: str, checks: Sequence[Check] = CHECKS) -> list[Diagnostic]:
    """Return the diagnostics if regular messages go through the scanner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viewer.checks.queue.CHECKS", tuple(checks))
        return scan([data], data, format)[0].findings.by_position()


def assert_selected(data: bytes, format: str, name: object) -> None:
    """Check that each backend finds the same diagnostics as when no check is skipped."""
    everything = parsed(data, format, unconditional(CHECKS))
    assert parsed(data, format) == everything, name
    if format in TEXT:
        assert scanned(data, format) == everything, name


def generated(head: bytes) -> bytes:
    """Return an input with every body under every header, interleaved with plain messages."""
    made = [head, PLAIN]
    for number, header in enumerate(HEADERS):
        for place, body in enumerate(BODIES):
            stop = STOPS[(number + place) % len(STOPS)]
            made.append(b"<|start|>" + header.encode() + b"<|message|>" + body + stop + b"\n" + PLAIN)
    return b"".join(made)


class TestEveryMessageWithAFindingIsSelected:
    @pytest.mark.share(quick=0, test=4)
    @pytest.mark.parametrize("format", TEXT)
    def test_in_generated_messages(self, format: str) -> None:
        head = {"openchatml-2.2": b"version: 2.2\n", "openchatml-2.0": b"version: 2.0\n"}.get(format, b"")
        assert_selected(generated(head), format, format)

    @each("sample", samples(), ids=lambda sample: sample.name, quick=0, test=8, batch=64)
    def test_in_every_sample(self, sample: Sample) -> None:
        assert_selected(sample.text, sample.format, sample.name)

    @pytest.mark.slow
    def test_in_broken_samples_among_plain_messages(self) -> None:
        for sample in samples("broken"):
            place = sample.text.find(b"<|start|>")
            if sample.format in TEXT and place >= 0:
                assert_selected(sample.text[:place] + PLAIN * 9 + sample.text[place:], sample.format, sample.name)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "numbers", [range(300), pytest.param(range(300, 20_000), marks=pytest.mark.lab)], ids=["few", "many"]
    )
    def test_in_random_documents(self, numbers: range) -> None:
        for number in numbers:
            text, format = chance_document(Random(f"prefilter {number}"))
            assert_selected(text, format, number)


@pytest.mark.slow
def test_a_check_reports_the_rules_of_its_row() -> None:
    """For the scope CALLS, the rows of the table list the rules that the ledger reports."""
    text = generated(b"version: 2.2\n")
    none = [replace(check, trigger=AnyOf()) for check in CHECKS]
    without = {found.code for found in parsed(text, "openchatml-2.2", none)}
    for check in CHECKS:
        others = [replace(one, trigger=AnyOf()) for one in CHECKS if one is not check]
        alone = parsed(text, "openchatml-2.2", [*others, *unconditional([check])])
        new = {found.code for found in alone} - without
        assert new <= {rule.code for rule in check.rules}, check.run


def examples() -> Iterator[tuple[str, bytes, str]]:
    """Yield the example of every rule, and other messages that a check reports."""
    for rule in RULES.values():
        yield rule.code, rule.example.encode(), detect(rule.example.encode()).format
    final = "assistant<|channel|>final"
    for name, header, body in (
        ("nul", final, "a\0b"),
        ("a template", final, "<tool_call>{}</tool_call>x"),
        ("a thought", final, "<think>a</think>b"),
        ("a control character", final, "a\x07b"),
        ("a preamble", "assistant intent=preamble<|channel|>analysis", "Plan"),
    ):
        text = f"version: 2.2\n<|start|>{header}<|message|>{body}<|end|>\n"
        yield name, text.encode(), "openchatml-2.2"


class Surrounded(NamedTuple):
    """An example among plain messages, with the diagnostics of the example alone."""

    name: str
    text: bytes
    format: str
    alone: list[Diagnostic]


@cache
def surrounded(filler: bytes, size: int) -> list[Surrounded]:
    """Return all examples in inputs of this size."""
    chance, made = Random(f"filler {size}"), []
    for name, text, format in examples():
        big = big_input(text, size, filler=filler, before=chance.randrange(4, size // len(filler)))
        if big is not None and format in TEXT:
            alone = [big.moved(found) for found in parsed(text, format) if found.code != "W-HEADER-MISSING"]
            made.append(Surrounded(name, big.text, format, alone))
    return made


def missed(filler: bytes, size: int, checks: Sequence[Check]) -> Iterator[str]:
    """Yield the examples that have other diagnostics when plain messages surround them."""
    for example in surrounded(filler, size):
        found = scanned(example.text, example.format, checks)
        if [one for one in found if one.code != "W-HEADER-MISSING"] != example.alone:
            yield example.name


FEW, MANY = 16 * 1024, BIG


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("size", [FEW, pytest.param(MANY, marks=pytest.mark.lab)], ids=["few", "many"])
def test_an_example_has_the_same_diagnostics_among_plain_messages(filler: str, size: int) -> None:
    assert list(missed(FILLERS[filler], size, CHECKS)) == []


@pytest.mark.share(quick=16, test=2)
@pytest.mark.parametrize("number", range(len(CHECKS)), ids=[check.run.__name__ for check in CHECKS])
def test_a_trigger_that_is_never_true_is_found(number: int) -> None:
    checks = list(CHECKS)
    checks[number] = replace(checks[number], trigger=AnyOf())
    assert any(missed(PLAIN, FEW, checks))


@pytest.mark.slow
def test_a_trigger_that_misses_a_message_is_found() -> None:
    def check_fences(case: CheckContext) -> Iterator[Diagnostic]:
        at = case.body.data.find(b"```")
        if at >= 0:
            yield case.diagnose_body(I_TYPE_UNKNOWN, None, at, at + 3)

    text = generated(b"version: 2.2\n")
    everything: list[Diagnostic] = []
    for literal, is_found in ((b"```", True), (b"````", False)):
        check = Check((RULES["I-TYPE-UNKNOWN"],), Scope.MESSAGE, Contains(literal), check_fences)
        checks = (*CHECKS, check)
        everything = everything or parsed(text, "openchatml-2.2", unconditional(checks))
        assert (parsed(text, "openchatml-2.2", checks) == everything) is is_found
        assert (scanned(text, "openchatml-2.2", checks) == everything) is is_found


def test_the_examples_have_known_formats() -> None:
    assert all(format in FORMATS for _, _, format in examples() if format)
