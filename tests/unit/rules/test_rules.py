"""The diagnostics table: every text of every code is present, exactly as in `tests/data/diagnostics.md`."""

import re

from tests.support.cases import each
from tests.support.diagnostic_texts import reason_texts, texts
from viewer.model.diagnostic import Diagnostic, Rule, Severity, fill_in, first_sentence
from viewer.rules import RULES

REASONS = {
    "E-PARSE-HEADER": "yaml-malformed yaml-too-large version-missing role-unknown role-missing channel-empty"
    " channel-unknown channel-repeated attribute-repeated attribute-empty word-unknown message-missing"
    " marker-unknown not-a-message",
    "E-PARSE-CHANNEL-MISSING": "",
    "E-BODY-CONSTRAINT-VIOLATION": "json-malformed json-truncated json-trailing json-too-deep empty",
    "E-CALL-SCHEMA": "not-an-object missing-argument wrong-type unknown-argument not-in-enum",
    "E-TOOL-TIMEOUT": "reported late overdue",
    "E-TOOL-CANCELLED": "reported event",
    "E-STREAM-TRUNCATED": "header body literal event-stream log compressed-truncated compressed-damaged too-large "
    "part-damaged part-too-large part-unread part-repeated",
    "E-PERM-VISIBILITY": "cot-in-final preamble-on-analysis preamble-on-call hidden-delta late-channel "
    "tokens-in-content",
    "E-FORMAT-UNKNOWN": "json text binary",
    "W-ATTRIBUTE-UNKNOWN": "",
    "W-HEADER-MISSING": "",
    "W-VERSION-UNKNOWN": "",
    "W-FORMAT-VERSION": "",
    "W-FORMAT-DIFFERS": "visibility",
    "W-TEXT-BETWEEN": "",
    "W-RECORD-UNKNOWN": "",
    "W-PART-UNKNOWN": "",
    "W-CONTENT-MISSING": "",
    "W-SIBLING-UNREAD": "",
    "W-COPY-DIFFERS": "",
    "W-THREAD-BROKEN": "cycle parent-missing",
    "W-START-IMPLICIT": "",
    "W-START-REPEATED": "",
    "W-END-MISSING": "",
    "W-STOP-REDUNDANT": "",
    "W-STOP-UNEXPECTED": "",
    "W-MARKER-IN-BODY": "constrain nested unbalanced-literal template thought",
    "W-TOKENS-STRIPPED": "",
    "W-CALL-ID-MISSING": "call reply",
    "W-CALL-ID-DUPLICATE": "call reply",
    "W-CALL-ID-UNKNOWN": "",
    "W-CALL-UNANSWERED": "",
    "W-CALL-CHANNEL": "",
    "W-CALL-MIXED": "turn content-and-calls",
    "W-TOOL-NAME-MISSING": "",
    "W-TOOL-UNDECLARED": "",
    "W-TOOL-FAILED": "",
    "W-REPLY-ENVELOPE": "",
    "W-RUN-ERROR": "api rate-limit auth context-length content-filter aborted refused unknown",
    "W-RUN-INCOMPLETE": "max-tokens pause stopped",
    "W-JSON-DUPLICATE-KEY": "",
    "W-STREAM-INTERLEAVED": "",
    "W-STREAM-LATE": "",
    "W-TEXT-HIDDEN-CHARACTERS": "bidi zero-width tags control",
    "W-ENCODING": "invalid-utf8 nul utf-16",
    "W-PLUGIN": "failed disabled",
    "W-LEAK": "secret copied meta",
    "I-OPEN-PROMPT": "",
    "I-CALL-INFERRED": "",
    "I-TYPE-BARE": "",
    "I-TYPE-UNKNOWN": "",
    "I-HARMONY-STRICT": "reply-unaddressed constrain-unaddressed constrain-space channel-space attribute",
    "I-JSON-LENIENT": "",
    "I-RECORD-UNKNOWN": "",
    "I-TEMPLATE-UNKNOWN": "",
    "I-ROW-ORDER": "",
    "I-STREAM-FINAL-ONLY": "",
    "I-NEXT-AMBIGUOUS": "",
    "I-TIME-BACKWARDS": "",
    "I-TIME-UNREADABLE": "",
    "I-LEAK": "copied",
}

NEVER = "– (never in safe output)"
NEVER_SAFE = {"I-NEXT-AMBIGUOUS", "W-LEAK", "I-LEAK"}
"""Codes that only a command for developers reports."""


def test_the_codes_and_reasons_are_those_of_the_list_in_its_order() -> None:
    assert [(code, " ".join(rule.reasons)) for code, rule in RULES.items()] == list(REASONS.items())


@each("rule", RULES.values(), ids=RULES)
def test_the_texts_are_those_of_the_page_word_for_word(rule: Rule) -> None:
    assert (rule.title, rule.safe or NEVER, rule.advice) == texts()[rule.code]
    assert rule.reasons == {reason: reason_texts()[rule.code, reason] for reason in rule.reasons}


@each("rule", RULES.values(), ids=RULES)
def test_every_code_has_all_texts(rule: Rule) -> None:
    assert rule.safe or rule.code in NEVER_SAFE
    for sentence in filter(None, (rule.title, rule.safe, rule.advice, *rule.reasons.values())):
        assert re.fullmatch(r"[A-Z`].*[.…]", sentence), sentence
        assert len(sentence) <= 120
    assert rule.section
    assert rule.example
    assert "TODO" not in repr(rule)
    assert len({rule.title, *rule.reasons.values()}) == 1 + len(rule.reasons)


@each("rule", RULES.values(), ids=RULES)
def test_no_text_has_placeholders(rule: Rule) -> None:
    for sentence in (rule.title, rule.safe, rule.advice, *rule.reasons.values()):
        assert not re.search(r"[{}%]", sentence)
    assert "…" not in rule.safe + rule.advice


def test_the_mark_in_a_text_is_replaced_by_the_value_or_dropped() -> None:
    text = RULES["E-PARSE-HEADER"].reasons["channel-unknown"]
    assert text == "Unknown channel … Expected `analysis`, `commentary`, or `final`."
    assert fill_in(text) == "Unknown channel. Expected `analysis`, `commentary`, or `final`."
    assert fill_in(text, "a.b c") == "Unknown channel `a.b c`. Expected `analysis`, `commentary`, or `final`."
    assert fill_in("Unknown argument …") == "Unknown argument."
    assert fill_in("No value here.", "x") == "No value here."


def test_the_first_sentence_has_no_period() -> None:
    text = RULES["E-PARSE-HEADER"].reasons["channel-unknown"]
    assert first_sentence(text) == "Unknown channel"
    assert first_sentence(text, "a. b") == "Unknown channel `a. b`"
    assert first_sentence("The limit is 64 KB. The rest was not read.") == "The limit is 64 KB"


@each("rule", RULES.values(), ids=RULES)
def test_the_texts_for_end_users_name_no_part_of_the_format(rule: Rule) -> None:
    assert not re.search(
        r"`|<\||tool|call|analysis|commentary|reasoning|JSON|YAML|role|system|developer",
        rule.safe,
        re.IGNORECASE,
    ), rule.safe


def test_the_first_letter_is_the_severity() -> None:
    assert RULES["E-PARSE-HEADER"].severity is Severity.ERROR
    assert RULES["W-ENCODING"].severity is Severity.WARNING
    assert RULES["I-OPEN-PROMPT"].severity is Severity.INFO


def test_the_sentence_of_a_diagnostic_is_that_of_its_reason() -> None:
    rule = RULES["W-ENCODING"]
    assert Diagnostic(RULES["W-ENCODING"], "nul", 1, 0, 1).sentence == rule.reasons["nul"]
    assert Diagnostic(RULES["W-ENCODING"], None, 1, 0, 1).sentence == rule.title
    assert (
        Diagnostic(RULES["E-PARSE-HEADER"], "word-unknown", 1, 0, 1).sentence
        == "Unexpected word in the message header."
    )
