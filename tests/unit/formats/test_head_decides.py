"""Log prefixes and document headers before the first control token, as they occur in practice."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from tests.support.reading import codes, describe, examine
from viewer.formats import detect
from viewer.model.messages import Transcript
from viewer.model.visibility import is_user_safe

TURNS = "<|start|>user<|message|>q<|end|>{}<|start|>assistant<|channel|>final<|message|>a<|return|>"
PREFIXES = [
    "[10:00] ",
    "[12] ",
    "[12]\n",
    "[12, 13]\n",
    "[2025-01-01T10:00:00Z] INFO ",
    "2025-01-01T10:00:00Z INFO ",
    "12 34 ",
    "12\n34\n",
    "[1, 2, main] ",
    "12: ",
    "[",
    "[]\n",
    '["main"] ',
]


@each("prefix", PREFIXES)
def test_a_log_prefix_never_hides_the_messages(prefix: str) -> None:
    text = (prefix + TURNS.format("\n" + prefix)).encode()
    detection = detect(text)
    assert detection.format in ("harmony", "openchatml-2.2")
    for size in (len(text), 1):
        analysis = examine([text[at : at + size] for at in range(0, len(text), size)], text, detection.format)
        assert [is_user_safe(message) for message in analysis.index] == [True, True]
        assert codes(describe(analysis, text)).count("W-TEXT-BETWEEN") == 2


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("[200006, 1428, 200008]", "harmony-tokens"),
        ("[200006, 1428, 2000", "harmony-tokens"),
        ("[\n  200006,\n  1428\n]\n", "harmony-tokens"),
        ("[200006,1428]\n[200006,1428]\n", "harmony-tokens"),
        ("200006\n1428\n", "harmony-tokens"),
        ("200006\r\n1428\r\n", "harmony-tokens"),
        ("200006", "harmony-tokens"),
    ],
)
def test_only_integers_are_token_ids(text: str, format: str) -> None:
    assert detect(text.encode()).format == format


@pytest.mark.parametrize(
    "text", ["[10:00] up", "[12] up\n", "12 34", "[2025-01-01T10:00:00Z] INFO up", "12\nup\n", "[12, up]"]
)
def test_other_lines_with_numbers_are_not_token_ids(text: str) -> None:
    assert detect(text.encode()).format != "harmony-tokens"


HEADERS = [
    '"version": 2.2\n',
    "'version': \"2.2\"\n",
    "version : 2.2\nmodel: m\n",
    "{version: 2.2, model: m}\n",
    '{"version": "2.2", "model": "m"}\n',
    "{\n  version: 2.2,\n  model: m\n}\n",
    "model: m\n? version\n: 2.2\n",
    "# a comment\n\"version\" : '2.2'\n",
]


def transcript_of(text: bytes, format: str, size: int) -> tuple[Transcript, list[str]]:
    analysis = examine([text[at : at + size] for at in range(0, len(text), size)], text, format)
    assert not analysis.strays
    return analysis.transcripts[0], codes(describe(analysis, text))


@pytest.mark.parametrize("header", HEADERS)
def test_every_yaml_mapping_with_a_version_is_a_header(header: str) -> None:
    text = (header + TURNS.format("\n")).encode()
    assert detect(text).format == "openchatml-2.2"
    for size in (len(text), 1):
        transcript, found = transcript_of(text, "openchatml-2.2", size)
        assert transcript.version == "2.2"
        assert found == []


@pytest.mark.parametrize("format", ["openchatml-2.2", "openchatml-2.0"])
@pytest.mark.parametrize(
    "header", ["model: m\n", "model : m\nprofiles:\n  harmony:\n    require_channels: true\n", "{model: m}\n"]
)
def test_a_header_without_a_version_is_a_header_in_a_chosen_format(header: str, format: str) -> None:
    text = (header + TURNS.format("\n")).encode()
    for size in (len(text), 1):
        transcript, found = transcript_of(text, format, size)
        assert transcript.header
        assert found == ["E-PARSE-HEADER/version-missing"]


def test_prose_and_records_are_not_headers() -> None:
    for before in ("Some prose.\n", "- a\n- b\n", "INFO: ", '{"type":"response.delta","message_id":"m","delta":"x"}\n'):
        text = (before + TURNS.format("\n")).encode()
        for size in (len(text), 1):
            analysis = examine([text[at : at + size] for at in range(0, len(text), size)], text, "openchatml-2.2")
            assert not analysis.transcripts[0].header
            assert "E-PARSE-HEADER/version-missing" not in codes(describe(analysis, text))


def test_an_unknown_version_is_reported_at_its_place() -> None:
    for header in ('"version": 7.5\n', "{model: m, version : 7.5}\n", "version : 7.5\n"):
        text = (header + TURNS.format("\n")).encode()
        analysis = examine([text], text, "openchatml-2.2")
        found = next(one for one in analysis.findings if one.code == "W-VERSION-UNKNOWN")
        assert text[found.start : found.end] == b"7.5"


@pytest.mark.parametrize("header", ['"version": 2.0\n', "version : 2.0\n", "---\nversion: 2.0\n---\n"])
def test_a_later_header_begins_another_transcript(header: str) -> None:
    text = ("version: 2.2\n" + TURNS.format("\n") + "\n" + header + TURNS.format("\n")).encode()
    for size in (len(text), 1):
        analysis = examine([text[at : at + size] for at in range(0, len(text), size)], text, "openchatml-2.2")
        assert [one.version for one in analysis.transcripts] == ["2.2", "2.0"]
