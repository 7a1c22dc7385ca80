"""Diagnostics of `check`: like those of a good compiler, with carets below the offending text."""

from __future__ import annotations

import json

import pytest

from tests.support.cases import each
from viewer.document.document import Finding
from viewer.model.diagnostic import Diagnostic
from viewer.render.diagnostic import compiler_line, counts_line, explanation_lines, source_lines
from viewer.render.json_lines import encode
from viewer.render.sarif import sarif, workflow_command
from viewer.render.style import Style
from viewer.render.width import cells
from viewer.rules import RULES

STYLE = Style()
FINDING = Finding(Diagnostic(RULES["E-BODY-CONSTRAINT-VIOLATION"], "json-malformed", 11, 2000, 2005), 41, 18, 41, 23)


def printed(name: str, style: Style = STYLE, value: str | None = None, finding: Finding = FINDING) -> str:
    return style.paint(compiler_line(name, finding, style, value))


def test_a_line_has_place_severity_sentence_and_code() -> None:
    line = "w.ocml:41:18: error: Invalid JSON [E-BODY-CONSTRAINT-VIOLATION/json-malformed]"
    assert printed("w.ocml") == printed("w.ocml", Style(wrapped=True)) == line


def test_the_offending_value_is_sanitized_and_cut() -> None:
    finding = Finding(Diagnostic(RULES["E-PARSE-HEADER"], "channel-unknown", 2, 10, 20), 3, 30, 3, 38)
    assert printed("f", finding=finding) == "f:3:30: error: Unknown channel [E-PARSE-HEADER/channel-unknown]"
    shown = printed("f", value="a\n\x1b[31m" + "x" * 60, finding=finding)
    assert shown == f"f:3:30: error: Unknown channel `a␊␛[31m{'x' * 32}…` [E-PARSE-HEADER/channel-unknown]"


def test_a_count_is_shown() -> None:
    finding = Finding(Diagnostic(RULES["W-ENCODING"], "nul", None, 0, 1758, 1758), 1, 1, 1, 1759)
    assert printed("f", finding=finding) == "f:1:1: warning: NUL bytes (×1,758) [W-ENCODING/nul]"


def test_a_long_path_is_not_cut() -> None:
    assert printed("d/" * 500).startswith("d/" * 500 + ":41:18: error: ")


def test_file_names_are_sanitized() -> None:
    assert "\x1b" not in printed("\x1b[31m")
    assert "\x1b" not in workflow_command("\x1b[31m", FINDING)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('{"rain":light}', "light"),
        ('\t{"rain":light}', "light"),
        ('{"日本":light} 日本', "light"),
        ('\x1b[31m{"rain":light}', "light"),
        ("x" * 600 + "light" + "y" * 600, "light"),
        ("日" * 300 + "light", "light"),
    ],
)
def test_carets_are_below_the_position(text: str, marked: str) -> None:
    first = text.index(marked)
    source, carets = (
        STYLE.paint(line) for line in source_lines(FINDING, (text, first, first + len(marked)), 80, STYLE)
    )
    assert carets.index("^") == cells(source[: source.index(marked)])
    assert carets.strip().endswith("^" + "~" * (len(marked) - 1))
    assert cells(source) <= 80
    assert "\x1b" not in source


def test_an_empty_place_has_one_caret() -> None:
    _, carets = (STYLE.paint(line) for line in source_lines(FINDING, ("abc", 3, 3), 80, STYLE))
    assert carets.count("^") == 1
    assert "~" not in carets


def test_the_last_line_counts() -> None:
    assert STYLE.paint(counts_line(0, 0, 1, STYLE)) == "No problems in 1 message."
    assert STYLE.paint(counts_line(1, 2, 1234, STYLE)) == "1 error, 2 warnings in 1,234 messages."
    assert STYLE.paint(counts_line(0, 1, 2, STYLE)) == "1 warning in 2 messages."


def test_sarif_has_rules_and_exact_regions() -> None:
    log = json.loads(encode(sarif([("a.ocml", FINDING)]), indent=2))
    run = log["runs"][0]
    assert (log["version"], run["columnKind"]) == ("2.1.0", "unicodeCodePoints")
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {
        "startLine": 41, "startColumn": 18, "endLine": 41, "endColumn": 23, "byteOffset": 2000, "byteLength": 5,
    }  # fmt: skip


def test_workflow_commands_escape_their_properties() -> None:
    command = workflow_command("a,b:c%.ocml", FINDING)
    assert command.startswith("::error file=a%2Cb%3Ac%25.ocml,line=41,endLine=41,col=18,endColumn=23,title=E-BODY")
    assert "\n" not in command


def test_columns_are_omitted_for_positions_of_several_lines() -> None:
    assert "col=" not in workflow_command("a", Finding(FINDING.diagnostic, 41, 18, 42, 3))


@each("code", RULES)
def test_every_rule_can_be_explained(code: str) -> None:
    for style in (Style(), Style(ascii=True, wrapped=True)):
        text = "\n".join(style.paint(line) for line in explanation_lines(RULES[code], 80, style))
        assert code in text
        assert "What to do" in text
        assert text.isascii() or not style.ascii
        assert all(reason in text for reason in RULES[code].reasons)
