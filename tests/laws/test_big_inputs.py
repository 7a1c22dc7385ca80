"""Every broken sample and every rule example has the same problems inside an input of 4 MB.

Small inputs are parsed and big ones are scanned, each with its own prefilter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.support.big_inputs import BIG, big_input
from tests.support.cases import ONLY, each
from tests.support.samples import Sample, samples
from tests.support.unconditional import unconditional
from viewer.checks import CHECKS
from viewer.checks.check import AnyOf, Check
from viewer.document.document import Document
from viewer.document.one_reading import WORTH_SCANNING
from viewer.formats import detect
from viewer.model.diagnostic import Diagnostic, Rule
from viewer.rules import RULES
from viewer.sources.files import SpooledSource

IN_TOKENS = ("openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony")
"""The formats that are scanned."""
OF_SIZE = {"W-HEADER-MISSING"}
"""A missing document header is reported at the first message, which differs in a big input."""
SCANNED = [sample for sample in samples("broken") if sample.format in IN_TOKENS and big_input(sample.text, 0)]
WITH_EXAMPLE = [rule for rule in RULES.values() if detect(rule.example.encode()).format in IN_TOKENS]


def diagnostics(text: bytes, format: str, checks: Sequence[Check] = CHECKS) -> list[Diagnostic]:
    """Return the diagnostics of an input with these bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viewer.checks.queue.CHECKS", tuple(checks))
        document = Document(SpooledSource("input", iter([text]), False), format=format).load()
        return [found.diagnostic for found in document.findings() if found.diagnostic.code not in OF_SIZE]


def is_found_among_many(small: bytes, format: str, size: int = BIG, checks: Sequence[Check] = CHECKS) -> bool:
    """True if a big input has the problems that checks without triggers find in the small one, each in its place."""
    big = big_input(small, size)
    assert big is not None
    assert size < WORTH_SCANNING or len(big.text) > WORTH_SCANNING
    everything = diagnostics(small, format, unconditional(CHECKS))
    return diagnostics(big.text, format, checks) == [big.moved(found) for found in everything]


@each("sample", SCANNED, ids=lambda sample: sample.name, quick=0, test=8)
def test_a_broken_sample_has_the_same_problems_in_a_big_input(sample: Sample) -> None:
    assert is_found_among_many(sample.text, sample.format)


@each("rule", WITH_EXAMPLE, ids=lambda rule: rule.code, quick=0, test=12)
def test_the_example_of_a_rule_has_the_same_problems_in_a_big_input(rule: Rule) -> None:
    text = rule.example.encode()
    if big_input(text, 0):
        assert is_found_among_many(text, detect(text).format)


@pytest.mark.skipif(bool(ONLY), reason="needs all samples")
def test_a_check_that_is_never_selected_is_missed() -> None:
    """The other tests can fail: a check that is never triggered finds nothing."""
    sample = next(sample for sample in SCANNED if sample.told[0] == "W-TEXT-HIDDEN-CHARACTERS")
    blind = [replace(check, trigger=AnyOf()) for check in CHECKS]
    assert is_found_among_many(sample.text, sample.format, 4 * WORTH_SCANNING)
    assert not is_found_among_many(sample.text, sample.format, 4 * WORTH_SCANNING, blind)
