"""The detected format of a growing input depends only on its bytes so far, although only new lines are read."""

from __future__ import annotations

from random import Random

from tests.support.cases import each
from tests.support.samples import Sample, samples
from viewer.formats.detect import HEAD, Evidence, detect

PLACES = 8


@each("sample", samples(), ids=lambda sample: sample.name, quick=60, test=6)
def test_what_was_read_before_does_not_change_the_format(sample: Sample) -> None:
    head, evidence = sample.path.read_bytes()[:HEAD], Evidence()
    for at in sorted(Random(sample.name).choices(range(len(head) + 1), k=PLACES)):
        assert detect(head[:at], evidence=evidence) == detect(head[:at]), at


def test_lines_may_also_change() -> None:
    evidence = Evidence()
    heads = [
        b'{"type":"user","uuid":"a"}\n' * lines + rest
        for lines, rest in ((3, b""), (1, b'{"role":"user","content":"a"}\n'), (0, b"data: {}"), (2, b'{"a'), (0, b""))
    ]
    for head in heads + heads[::-1]:
        assert detect(head, evidence=evidence) == detect(head), head
