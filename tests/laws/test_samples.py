"""Every sample is read correctly, nothing hidden is shown by default, and every rule has a sample."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest

from tests.support.cases import each
from tests.support.program import run as check_program
from tests.support.reading import read
from tests.support.samples import ROOT, Sample, samples
from tests.unit.render.exports.exported import own_words
from viewer.cli import run
from viewer.document.document import Document
from viewer.formats import WRITERS, detect
from viewer.formats.tokens.reader import body_of_ids
from viewer.formats.tokens.vocabulary import load_vocabulary
from viewer.model.diagnostic import Rule
from viewer.reading.bodies import read_body
from viewer.reading.format import ReadOptions
from viewer.reading.thoughts import thought_spans
from viewer.render.exports import EXPORTERS
from viewer.rules import RULES
from viewer.sources.files import SpooledSource

NOT_IN_A_FILE = {
    ("E-TOOL-TIMEOUT", "overdue"): "a deadline passes only while an input is followed",
    ("E-FORMAT-UNKNOWN", "json"): "`show` refuses such a file: tests/cli/test_unknown_format.py",
    ("E-FORMAT-UNKNOWN", "text"): "the same",
    ("E-FORMAT-UNKNOWN", "binary"): "the same",
    ("E-STREAM-TRUNCATED", "too-large"): "a file of more than two gigabytes",
    ("I-ROW-ORDER", None): "only `check --strict` reports it: tests/unit/formats/test_rows.py",
    ("E-STREAM-TRUNCATED", "part-damaged"): "built from samples: tests/unit/sources/test_containers.py",
    ("E-STREAM-TRUNCATED", "part-too-large"): "the same",
    ("E-STREAM-TRUNCATED", "part-unread"): "the same",
    ("E-STREAM-TRUNCATED", "part-repeated"): "the same",
    ("W-PLUGIN", "failed"): "a plug-in is no file: tests/unit/formats/test_plugins.py",
    ("W-PLUGIN", "disabled"): "the same",
    ("W-FORMAT-DIFFERS", "visibility"): "only `check --lens` reports it: tests/cli/test_lens.py",
    ("I-NEXT-AMBIGUOUS", None): "only `next` reports it: tests/unit/insight/test_next_prompt.py",
}
"""Reasons that no sample can have, each with an explanation."""

SURFACES = (
    ("show",),
    ("show", "--json"),
    ("check", "--exit-zero"),
    ("check", "--exit-zero", "--json"),
    ("check", "--exit-zero", "--sarif"),
    ("check", "--exit-zero", "--github"),
    ("stats",),
    ("stats", "--json"),
    *(("convert", "--to", target) for target in WRITERS),
    *(("export", "-o", "-", "--to", form) for form in EXPORTERS),
)
SHORTEST_HIDDEN = 6
_HEADINGS = [f"<|{mark}|>{role}" for mark in ("start", "im_start") for role in ("system", "user", "assistant", "tool")]
FRAME = re.compile(r"```\w*|\"messages?\": [\[{]|\"model\": \"[^\"]*\",?")
"""A pattern for hidden lines that have no content and that exports write as well."""
OWN_WORDS = "\n".join([*map(repr, RULES.values()), '"properties": {', *map(own_words, EXPORTERS), *_HEADINGS])
"""Text from the program itself. A hidden line that equals it proves nothing."""

Capture = pytest.CaptureFixture[bytes]


@pytest.fixture(autouse=True)
def without_vocabulary(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Show token IDs as numbers, even if a vocabulary is installed."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    load_vocabulary.cache_clear()
    yield
    load_vocabulary.cache_clear()


def printed(capture: Capture, command: tuple[str, ...], sample: Sample) -> tuple[str, str]:
    run([*command, *sample.options, str(sample.path)])
    out, err = capture.readouterr()
    return out.decode("utf-8"), err.decode("utf-8")


@each("sample", samples(), ids=lambda sample: sample.name, quick=120, batch=128)
def test_every_sample_gives_its_expected_machine_output(sample: Sample, capsysbinary: Capture) -> None:
    out, _ = printed(capsysbinary, ("show", "--json", "--reveal", "all"), sample)
    if "OCML_UPDATE" in os.environ and not sample.expected_path.exists():
        sample.expected_path.write_text(out, "utf-8")
    assert out.splitlines() == sample.expected_path.read_text("utf-8").splitlines()


def test_the_tour_gives_its_expected_safe_output(capsysbinary: Capture) -> None:
    tour = Sample(ROOT / "tour.ocml")
    out, _ = printed(capsysbinary, ("show", "--json"), tour)
    assert out == (ROOT / "tour.safe.json").read_text("utf-8")


def test_harmonys_own_rule_for_preambles_shows_commentary_without_a_recipient(capsysbinary: Capture) -> None:
    sample = Sample(ROOT / "valid/harmony/preamble-as-harmony-means-it.harmony")
    plain, _ = printed(capsysbinary, ("show", "--json"), sample)
    wider, _ = printed(capsysbinary, ("show", "--json", "--preambles", "harmony"), sample)
    assert "First the deer" not in plain
    assert "First the deer" in wider


@each("sample", samples(), ids=lambda sample: sample.name, quick=112, test=3, batch=64)
def test_the_safe_output_is_the_visible_part_of_the_whole(sample: Sample, capsysbinary: Capture) -> None:
    out, _ = printed(capsysbinary, ("show", "--json"), sample)
    lines = [json.loads(line) for line in out.splitlines()]
    shown = [line for line in lines if line["kind"] == "message"]
    visible = [line for line in sample.expected if line["kind"] == "message" and line["visible"]]
    assert [line["number"] for line in shown] == [line["number"] for line in visible]
    assert {line["kind"] for line in lines} <= {"transcript", "message", "diagnostic"}
    for line in lines:
        assert all(line.get(key) is None for key in ("span", "body_span", "line", "column", "header"))


@each("sample", samples(), ids=lambda sample: sample.name, quick=900, test=64)
def test_no_surface_contains_hidden_text(sample: Sample, capsysbinary: Capture) -> None:
    secrets = hidden_lines(sample)
    for command in SURFACES:
        for text in printed(capsysbinary, command, sample):
            told = [secret for secret in secrets if secret in text]
            assert not told, f"{' '.join(command)} reveals {told}"


def hidden_lines(sample: Sample) -> set[str]:
    """Return the lines that only hidden messages, hidden parts of shown messages and stray text have, as text and as in
    JSON."""
    text = sample.text
    reading = read(text, sample.format)
    shown, hidden = [], [text[slice(*stray.span)].decode("utf-8", "replace") for stray in reading.strays]  # type: ignore[attr-defined]
    for message, body, visible in zip(reading.messages, reading.texts, reading.visible, strict=True):
        if not visible:
            hidden.append(body)
        elif message.header.role != "assistant":  # type: ignore[attr-defined]
            shown.append(body)
        else:
            kept, cut = without_thoughts(message.pieces, text)  # type: ignore[attr-defined]
            shown.append(kept)
            hidden.extend(cut)
    lines = {line.strip() for body in hidden for line in body.splitlines()}
    known = "\n".join([*shown, OWN_WORDS])
    secrets = {line for line in lines if len(line) >= SHORTEST_HIDDEN and line not in known}
    secrets = {line for line in secrets if not FRAME.fullmatch(line)}
    return secrets | {json.dumps(line, ensure_ascii=ascii)[1:-1] for line in secrets for ascii in (True, False)}


def without_thoughts(pieces: tuple[object, ...], text: bytes) -> tuple[str, list[str]]:
    """Return the visible rest of a body, and the parts that were cut out of it."""
    body = read_body(pieces, lambda start, end: text[start:end], body_of_ids)  # type: ignore[arg-type]
    kept, cut, at = b"", [], 0
    for start, end in thought_spans(body):
        kept += body.data[at:start]
        cut.append(body.data[start:end].decode("utf-8", "replace"))
        at = end
    return (kept + body.data[at:]).decode("utf-8", "replace"), cut


@each("sample", samples(), ids=lambda sample: sample.name, quick=15, test=2, batch=64)
def test_every_sample_is_detected_as_its_format(sample: Sample) -> None:
    found = detect(sample.text).format
    if sample.asked:
        assert found != sample.asked, "the name does not have to mention the format"
        assert sample.format == sample.asked
    else:
        assert found == sample.format
    if sample.folder == "valid":
        assert sample.name.split("/")[1] == sample.format


@each("sample", samples("broken"), ids=lambda sample: sample.name)
def test_a_broken_sample_reports_the_code_in_its_name(sample: Sample) -> None:
    assert sample.told in told_by(sample)


def told_by(sample: Sample) -> set[tuple[str, str | None]]:
    found = sample.expected
    if sample.folder == "broken" and sample.told[0] in OF_CHECK_LEAKS:
        found = [
            json.loads(line) for line in check_program("check", "--leaks", "-d", "--json", sample.path).out.splitlines()
        ]
    return {(line["code"], line["reason"]) for line in found if line["kind"] == "diagnostic"}


def test_every_code_and_reason_has_a_sample() -> None:
    wanted: set[tuple[str, str | None]] = {(code, None) for code, rule in RULES.items() if not rule.reasons}
    wanted |= {(code, reason) for code, rule in RULES.items() for reason in rule.reasons}
    named = {sample.told for sample in samples("broken")}
    assert wanted - set(NOT_IN_A_FILE) <= named
    assert not named & set(NOT_IN_A_FILE)


@each("sample", samples("valid"), ids=lambda sample: sample.name, batch=128)
def test_only_examples_of_the_specifications_among_valid_samples_have_errors(sample: Sample) -> None:
    errors = {f"{code}/{reason}" if reason else code for code, reason in told_by(sample) if code.startswith("E-")}
    assert errors == MEANT.get(sample.name.removeprefix("valid/"), set(sample.seen.get("errors", [])))


MEANT = {
    "openchatml-2.2/fixture-4-tool-error.ocml": {"E-TOOL-TIMEOUT/reported"},
    "openchatml-2.2/fixture-6-constraint-violation.ocml": {"E-BODY-CONSTRAINT-VIOLATION/json-malformed"},
    "openchatml-2.2/log-with-events.ocml": {"E-TOOL-CANCELLED/event"},
    "events/tool-cancel.jsonl": {"E-TOOL-CANCELLED/event"},
    "chatml-json/conversation.in.json": {
        "E-BODY-CONSTRAINT-VIOLATION/json-malformed",
        "E-PARSE-HEADER/message-missing",
    },
    "chatml-json/few-shot.in.json": {"E-BODY-CONSTRAINT-VIOLATION/json-malformed", "E-PARSE-HEADER/message-missing"},
    "harmony-tokens/call.in.json": {"E-PARSE-HEADER/word-unknown"},
    "harmony-tokens/truncated.ids": {"E-STREAM-TRUNCATED/body"},
    "harmony-tokens/unknown-words.in.json": {"E-PARSE-HEADER/channel-unknown", "E-PARSE-HEADER/role-unknown"},
}


OF_CHECK_LEAKS = ("W-LEAK", "I-LEAK")
OF_COMMANDS = ("W-PLUGIN", "W-FORMAT-DIFFERS", "I-NEXT-AMBIGUOUS", *OF_CHECK_LEAKS)
"""Codes that reading a file never reports."""


@each("rule", [rule for code, rule in RULES.items() if code not in OF_COMMANDS], ids=lambda rule: rule.code)
def test_the_example_of_every_rule_reports_its_code_and_the_reason_it_states(rule: Rule) -> None:
    source = SpooledSource("example", iter([rule.example.encode()]), False)
    document = Document(source, options=ReadOptions(row_order=True)).load()
    found = [finding.diagnostic for finding in document.findings() if finding.diagnostic.code == rule.code]
    shown = {one.reason for one in found if one.reason}
    assert found
    assert rule.shown_reason == (shown.pop() if len(shown) == 1 and len(rule.reasons) > 1 else "")


def test_every_expected_file_belongs_to_a_sample() -> None:
    expected = [sample.expected_path for sample in samples()]
    others = {ROOT / "README.md", ROOT / "tour.safe.json"}
    assert len(set(expected)) == len(expected)
    assert {path for path in ROOT.rglob("*") if path.is_file()} - others == {
        *expected,
        *(sample.path for sample in samples()),
        *(sample.path.with_name(f"{sample.path.name}.seen.json") for sample in samples() if sample.seen),
    }
