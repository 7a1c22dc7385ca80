"""The filter language: its grammar, every field and operator, every error, and what each audience may ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.running import TOUR
from viewer.document.document import Document, open_document
from viewer.document.filter.fields import ANY, FIELDS, FieldKind
from viewer.document.filter.grammar import LONGEST, MOST_TERMS, completions, parse
from viewer.document.filter.predicate import matching
from viewer.document.filter.tree import FilterError
from viewer.model.visibility import END_USER, Audience, Reveal

REVEALED = Audience(frozenset({Reveal.ALL}))


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Two transcripts as JSON messages, with calls, times, names, and a problem."""
    path = tmp_path_factory.mktemp("filter") / "chat.jsonl"

    def call(id: str, name: str, arguments: str = '{"city":"Kyoto"}') -> dict[str, object]:
        return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}

    one = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "Eve", "content": "Will it rain in Kyoto?", "timestamp": "2026-11-22T10:01:30Z"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("A1", "get_weather")],
            "timestamp": "2026-11-22T10:02:00Z",
        },
        {"role": "tool", "tool_call_id": "A1", "content": '{"rain": true}', "timestamp": "2026-11-22T10:02:05Z"},
        {"role": "assistant", "content": "Take an Umbrella.", "timestamp": "2026-11-22T10:03:00Z"},
        {"role": "user", "content": "And the day after?", "timestamp": "2026-11-23T10:02:10Z"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("a2", "search", "{x")],
            "timestamp": "2026-11-23T10:02:11Z",
        },
    ]
    two = [
        {"role": "user", "content": 'It said "sunny" (70%).'},
        {"role": "assistant", "content": "Yes, very. " * 100},
    ]
    path.write_text("".join(json.dumps({"model": "m-1", "messages": each}) + "\n" for each in (one, two)), "utf-8")
    return open_document(str(path))


def matches(document: Document, source: str, audience: Audience = REVEALED, marks: Sequence[int] = ()) -> list[int]:
    where = parse(source, has_marks=True)
    return [*matching(where, document.project(audience), document.name, marks)]


CASES = {
    "role:user": [2, 6, 8],
    "role:USER,system": [1, 2, 6, 8],
    "role:s*,t??l": [1, 4],
    'role:"u*"': [],
    "role=user": [2, 6, 8],
    "-role:user,assistant": [1, 4],
    "channel:final": [1, 2, 4, 5, 6, 8, 9],
    "msg>7": [8, 9],
    "msg<=2": [1, 2],
    "msg:2..3,8": [2, 3, 8],
    "msg:8..": [8, 9],
    "msg:..1": [1],
    "turn:2": [6, 7],
    "turn>=2 role:user": [6],
    "transcript:2": [8, 9],
    "time:10:02": [3, 4],
    "time>10:02:04": [4, 5, 6, 7],
    "time<10:02": [2],
    "time:2026-11-23": [6, 7],
    "time:2026-11-22T10:02..2026-11-22T10:03": [3, 4, 5],
    "time:2026-11-23T00:00:00Z..": [6, 7],
    "is:shown": [2, 5, 6, 8, 9],
    "is:hidden": [1, 3, 4, 7],
    "is:open": [],
    "is:preamble": [],
    "is:marked": [5],
    "is:ok": [3, 4],
    "is:pending": [7],
    "is:inferred": [],
    "has:time": [2, 3, 4, 5, 6, 7],
    "has:call": [3, 7],
    "has:reply": [4],
    "has:call,reply": [3, 4, 7],
    "-has:time": [1, 8, 9],
    "from:eve": [2],
    "name:Eve": [2],
    "to:functions.*": [3, 7],
    "tool:get_*": [3, 4],
    "tool:functions.get_weather": [3, 4],
    "call:A1": [3, 4],
    "call:A2": [],
    "call:a*": [7],
    "state:ok,pending": [3, 4, 7],
    "latency>2s": [3, 4],
    "latency:5": [3, 4],
    "latency<=4999ms": [],
    "-latency>2s msg<7": [1, 2, 5, 6],
    "deadline<1h": [],
    "bytes>1kb": [9],
    "bytes<0.01kb": [1, 7],
    "line:2": [8, 9],
    "file:*.jsonl msg:1": [1],
    "file:*.JSONL": [],
    "model:m-1 msg:1": [1],
    "format:json msg:1": [1],
    "umbrella": [5],
    "Umbrella": [5],
    "UMBRELLA": [],
    "rain in Kyoto": [2],
    "rain Kyoto": [],
    "rain -kyoto": [4],
    'rain "Kyoto"': [2],
    '-"rain" role:user': [6, 8],
    '"said \\"sunny\\""': [8],
    "(70%)": [8],
    "/um.rella": [5],
    "re:rain.*kyoto": [2],
    "/": [*range(1, 10)],
    "": [*range(1, 10)],
    "   ": [*range(1, 10)],
    "- msg:1": [],
}


def test_every_field_and_operator_selects_what_it_says(document: Document) -> None:
    for source, wanted in CASES.items():
        assert matches(document, source, marks=[5]) == wanted, source
    asked = " ".join(CASES)
    untested = {"intent", "code", "severity"}
    assert all(f"{name}:" in asked or f"{name}>" in asked or f"{name}<" in asked for name in set(FIELDS) - untested)


def test_problems_preambles_and_open_messages_are_found() -> None:
    document = open_document(TOUR)
    rows = document.project(REVEALED).diagnostics()
    warned = sorted({each.message for each in rows if each.severity == "warning" and each.message})
    assert matches(document, "is:warning") == matches(document, "severity:warning") == warned
    assert matches(document, "is:error") == matches(document, "code:E-*")
    assert matches(document, "has:problem") == matches(document, "is:error,warning")
    assert matches(document, "is:preamble") == matches(document, "intent:preamble") != []
    assert set(matches(document, "has:json")) > set(matches(document, "has:json role:tool"))
    code = next(each.code for each in rows if each.message)
    assert matches(document, f"code:{code.lower()}") == sorted(
        {each.message or 0 for each in rows if each.code == code} - {0}
    )


ERRORS = {
    "rolle:assistant tool:x": (0, 5, 'unknown field "rolle"; did you mean "role"?'),
    "latency>soon": (8, 4, '"soon" is not a duration; write 500ms, 2s, 3m, or 1h'),
    "http://host": (0, 4, 'unknown field "http"; to search for the words, quote them: "http://host"'),
    "umbrella -turn:x": (15, 1, '"x" is not a number; write 5, 3..5, or ..5'),
    "bytes>2xb": (6, 3, '"2xb" is not a size; write 500, 10kb, or 2mb'),
    "time>25:00": (5, 5, '"25:00" is not a time; write 10:02, 2026-11-22, or 2026-11-22T10:02'),
    "time:2026-02-30": (5, 10, '"2026-02-30" is not a time; write 10:02, 2026-11-22, or 2026-11-22T10:02'),
    "role:": (5, 1, '"role:" lacks a value'),
    "role: x": (5, 1, '"role:" lacks a value'),
    "role:a,,b": (7, 1, '"role:" lacks a value'),
    "turn>": (5, 1, '"turn>" lacks a value'),
    'a "b': (2, 2, 'unclosed quote; end it with "'),
    'role:"b': (5, 2, 'unclosed quote; end it with "'),
    'role:"b"c': (8, 1, "unexpected text after the quoted value"),
    "role>a": (4, 1, '"role" needs ":", not ">"'),
    "is<=open": (2, 2, '"is" needs ":", not "<="'),
    "is:opne": (3, 4, 'unknown value of is "opne"; did you mean "open"?'),
    "severity:x": (9, 1, 'unknown value of severity "x"; use error, warning, info'),
    "code:E-PARSE-HEDER": (5, 13, 'unknown code "E-PARSE-HEDER"; did you mean "E-PARSE-HEADER"?'),
    "code:zz": (5, 2, 'unknown code "ZZ"; `ocmlview explain` lists all codes'),
    "is:marked": (3, 6, "only the viewer has marks"),
    "turn:5..3": (5, 4, "the range is empty: it ends before it begins"),
    "turn:..": (5, 2, "a range needs a start or an end"),
    "time:10:02..2026-11-22": (5, 17, "use a date at both ends of a range, or at neither"),
    "turn=1 turn=2": (7, 6, '"turn=" appears twice'),
    "/(a": (1, 2, "Invalid regular expression at character 1."),
    "x" * (LONGEST + 1): (0, 1, f"a filter has at most {LONGEST:,} bytes"),
    "msg:1 " * (MOST_TERMS + 1): (6 * MOST_TERMS, 5, f"a filter has at most {MOST_TERMS} terms"),
}


def test_every_error_names_its_place_and_what_to_write() -> None:
    for source, (column, length, sentence) in ERRORS.items():
        with pytest.raises(FilterError) as error:
            parse(source)
        found = error.value
        assert (found.excerpt.column, found.excerpt.length, found.sentence) == (column, length, sentence), source
        assert str(found) == f"filter, column {column + 1}: {sentence}"


def test_only_the_end_of_a_filter_can_be_incomplete() -> None:
    for source, is_incomplete in {"role:": True, "turn>": True, '"b': True, "role: x": False, "rolle:": False}.items():
        with pytest.raises(FilterError) as error:
            parse(source)
        assert error.value.is_incomplete == is_incomplete, source


def test_no_text_makes_the_parser_fail() -> None:
    for source in ("-", "--", "- -", '""', '-""', ",", ":", "::", "=", "a=", "-a:", "\ud800", "\0", "role:\\", "*:*"):
        try:
            parse(source)
        except FilterError as error:
            assert error.excerpt.column <= len(source)


def test_a_pattern_with_many_wildcards_is_matched_in_linear_steps(document: Document) -> None:
    assert matches(document, "name:" + "*e" * 200) == []


def test_a_field_needs_what_its_row_says() -> None:
    values = {
        FieldKind.NAME: "x*",
        FieldKind.NUMBER: "1",
        FieldKind.SIZE: "1",
        FieldKind.DURATION: "1",
        FieldKind.TIME: "10:02",
    }
    for field in FIELDS.values():
        for value in (*field.words, *field.of_values) or (values[field.kind],):
            where = parse(f"{field.name}:{value}", has_marks=True)
            need = field.need(value)
            assert (where.refusal(END_USER) is None) == (not need), (field.name, value)
            assert where.refusal(REVEALED) is None
            if need and need != ANY:
                assert where.refusal(Audience(frozenset({Reveal(need)}))) is None
                assert where.refusal(Audience(frozenset({Reveal.STRAY}))) is not None
                assert str(where.refusal(END_USER)).endswith(f"needs --reveal {need}")
    assert parse("role:narrator").refusal(END_USER) is not None
    assert parse("role:*").refusal(END_USER) is not None
    assert parse("words /x -role:user,assistant time>10:02 model:x").refusal(END_USER) is None


def test_the_end_of_a_filter_is_completed() -> None:
    assert completions("tr") == ["transcript:"]
    assert completions("role:user -la") == ["role:user -latency:"]
    assert completions("is:shown,un") == ["is:shown,unanswered"]
    assert completions("tool:get", lambda field: ["get_weather", "search"]) == ["tool:get_weather"]
    assert completions("") == completions("nothing:x") == []


# Commands.


def test_every_command_takes_the_filter(document: Document) -> None:
    path = document.name
    shown = run("show", path, "--where", "role:user turn:2")
    assert (shown.code, "turn 2" in shown.out, "day after" in shown.out, "Umbrella" in shown.out) == (
        0,
        True,
        True,
        False,
    )
    lines = [json.loads(line) for line in run("show", "--json", "-d", path, "--where", "call:A1").out.splitlines()]
    assert [line["number"] for line in lines if line["kind"] == "message"] == [3, 4]
    assert [line["call_id"] for line in lines if line["kind"] == "call"] == ["A1"]
    assert [line["number"] for line in lines if line["kind"] == "transcript"] == [1]
    stats = json.loads(run("stats", "--json", path, "--where", "role:user").out)
    assert ([(row["role"], row["messages"]) for row in stats["messages"]], stats["hidden"]) == ([("user", 3)], None)
    page = run("export", path, "--to", "md", "-o", "-", "--where", "transcript:2").out
    assert ("sunny" in page, "Kyoto" in page) == (True, False)
    for form in ("html", "text", "svg", "jsonl"):
        assert "Umbrella" not in run("export", path, "--to", form, "-o", "-", "--where", "role:user").out
    found = run("check", path, "--where", "code:E-*")
    every = run("check", path)
    assert found.out.count(": error: ") == every.out.count(": error: ") >= 1
    assert run("check", path, "--where", "line:2").code == 0
    assert run("check", path, "--where", "is:error msg:7").code == every.code == 1
    assert run("check", "-d", path, "--where", "role:user").code == 0


def test_no_match_is_reported_and_is_not_an_error(document: Document) -> None:
    result = run("show", document.name, "--where", "no such words")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"ocmlview: {document.name}: no message matches the filter.\n"


def test_an_error_quotes_the_filter_and_marks_the_fault(document: Document) -> None:
    result = run("show", document.name, "--where", "道頓堀 rolle:x\t")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        'ocmlview: filter, column 5: unknown field "rolle"; did you mean "role"?',
        "  道頓堀 rolle:x␉",
        "         ^~~~~",
    ]
    assert run("show", document.name, "-f", "--where", "x").code == 2


@pytest.mark.slow
def test_check_without_a_reveal_selects_by_what_it_prints(document: Document) -> None:
    for source in ("role:user", "words", "is:open", "/x", "code:E-* tool:x"):
        result = run("check", document.name, "--where", source)
        assert (result.code, result.out) == (2, "")
        assert "needs --reveal all" in result.err or "need --reveal all" in result.err
    for source in (
        "code:E-*",
        "severity:info",
        "msg>1",
        "transcript:1",
        "line:1",
        "file:x",
        "format:x",
        "model:x",
        "is:error",
    ):
        assert run("check", document.name, "--where", source).code in (0, 1), source


# Hidden content.


def test_a_refused_filter_says_the_same_for_every_document(tmp_path: Path) -> None:
    answers = set()
    for hidden in ("SECRET_ONE", "SECRET"):
        path = tmp_path / "chat.jsonl"
        record = {"messages": [{"role": "tool", "content": hidden}, {"role": "user", "content": "Hi."}]}
        path.write_text(json.dumps(record), "utf-8")
        for command in ("show", "stats", "export"):
            answers.add(
                (run(command, str(path), "--where", "tool:get_*").err, run(command, str(path), "--where", "is:ok").err)
            )
    assert len(answers) == 1


def test_a_filter_of_the_safe_view_does_not_depend_on_hidden_text(tmp_path: Path) -> None:
    """Every filter that the safe view allows yields the same output if all hidden text and hidden fields change."""

    def record(word: str) -> dict[str, object]:
        calls = [
            {"id": f"c{word}", "type": "function", "function": {"name": "t", "arguments": json.dumps({"x": word})}}
        ]
        return {
            "messages": [
                {"role": "system", "content": f"Rules {word}", "timestamp": "2026-11-21T08:00:00Z"},
                {"role": "user", "content": "Hi there.", "timestamp": "2026-11-22T10:01:30Z", "extra": word},
                {"role": "assistant", "content": None, "tool_calls": calls, "reasoning_content": f"Hi {word}"},
                {"role": "tool", "tool_call_id": f"c{word}", "content": f"Hello {word}"},
                {"role": "assistant", "content": "Hello.", "timestamp": "2026-11-22T10:02:30Z"},
            ]
        }

    outputs: list[list[tuple[object, ...]]] = []
    allowed = [
        source for source in CASES if source != "is:marked" and parse(source, has_marks=True).refusal(END_USER) is None
    ]
    allowed += ["hello", "SECRET", "hi", "-hello", "/h", "time<2026-11-22", "has:problem", "is:error,warning"]
    path = tmp_path / "chat.jsonl"
    for word in ("SECRET", "a much longer text with hello and Kyoto " * 40):
        path.write_text(json.dumps(record(word)) + "\n", "utf-8")
        document = open_document(str(path))
        outputs.append(
            [(source, *matching(parse(source), document.project(END_USER), str(path))) for source in allowed]
        )
        for command in (("show",), ("show", "--json"), ("show", "--strict-safe"), ("stats",), ("export", "-o", "-")):
            result = run(*command, str(path), "--where", "hello -role:system")
            outputs[-1].append((command, result.code, result.out, result.err))
            assert "SECRET" not in result.out + result.err
    assert outputs[0] == outputs[1]
    assert len(allowed) > 20


def test_a_filter_changes_no_number_of_a_strict_view(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    messages = [
        {"role": role, "content": text} for role, text in (("system", "x"), ("user", "a"), ("tool", "y"), ("user", "b"))
    ]
    path.write_text(json.dumps({"messages": messages}), "utf-8")
    lines = [
        json.loads(line) for line in run("show", "--json", "--strict-safe", str(path), "--where", "b").out.splitlines()
    ]
    assert [line["number"] for line in lines if line["kind"] == "message"] == [2]
    assert run("show", "--json", "--strict-safe", str(path), "--where", "msg:2").out.count('"body":"b"') == 1
