"""Errors in place of responses: lines of a batch, and bodies of failed requests."""

from __future__ import annotations

from typing import Any

from tests.support.agent_records import as_document, as_lines, found, kinds, shown
from viewer.formats import detect

ANSWER = {"custom_id": "a", "response": {"body": {"choices": [{"message": {"role": "assistant", "content": "Seen."}}]}}}
EXPIRED = {"custom_id": "b", "response": None, "error": {"code": "batch_expired", "message": "SECRET_1"}}
LIMIT = {"message": "SECRET_2", "type": "requests", "code": "rate_limit_exceeded"}
FAILED = {"custom_id": "c", "response": {"status_code": 429, "body": {"error": LIMIT}}, "error": None}
NOTHING = {"custom_id": "d", "response": None, "error": None}


def test_an_error_is_a_hidden_notice_and_a_problem_of_the_run() -> None:
    data = as_lines(ANSWER, EXPIRED, FAILED)
    assert detect(data).format == "json"
    assert kinds(data, "json") == [("said", "Seen."), ("notice", "SECRET_1"), ("notice", "SECRET_2")]
    assert found(data, "json") == ["W-RUN-ERROR/api", "W-RUN-ERROR/rate-limit"]


def test_a_file_of_errors_is_not_an_unknown_file() -> None:
    for data in (as_lines(EXPIRED, FAILED), as_document({"error": LIMIT}), as_document(FAILED)):
        assert detect(data).format == "json"
        assert shown(data, "json") == []
        assert "W-RUN-ERROR/rate-limit" in found(data, "json")


def test_a_line_without_a_response_or_an_error_is_not_an_error() -> None:
    assert found(as_lines(ANSWER, NOTHING, ANSWER), "json") == []


def test_anything_else_next_to_messages_is_still_reported() -> None:
    for value in (
        {"error": 7},
        {"error": {"code": 1}},
        {"error": {"x": "SECRET_"}},
        {"error": "SECRET_", "x": "SECRET_"},
    ):
        assert "E-PARSE-HEADER/not-a-message" in found(as_lines(ANSWER, value), "json"), value
    hidden: Any = {"error": LIMIT, "x": [{"role": "user", "content": "SECRET_"}]}
    assert "W-SIBLING-UNREAD" in found(as_lines(ANSWER, hidden), "json")


def test_batches_of_responses_state_errors_too() -> None:
    answer = {"object": "response", "output": [{"type": "message", "role": "assistant", "content": "Seen."}]}
    data = as_lines({"custom_id": "a", "response": {"body": answer}}, EXPIRED, {**ANSWER, "response": {"body": answer}})
    assert detect(data).format == "responses"
    assert kinds(data, "responses") == [("said", "Seen."), ("notice", "SECRET_1"), ("said", "Seen.")]
    assert found(data, "responses") == ["W-RUN-ERROR/unknown"]
