"""ChatML JSON: the examples of its documentation, missing fields, and writing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.json_cases import body, messages, problems, read, read_in_every_cutting, rows, strays
from tests.unit.formats.test_json_messages import Shown
from viewer.formats.json.chatml import CHATML_JSON
from viewer.formats.json.chatml_writer import write_chatml_json
from viewer.model.messages import Ending
from viewer.model.visibility import is_user_safe

CHAT = """[
 {"token": "<|start|>"}, "system", {"token": "<|message|>"},
 "You are ChatGPT.\\nCurrent date: 2023-03-01",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "user", {"token": "<|message|>"},
 "How are you",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "assistant", {"token": "<|message|>”},
 "I am doing well!",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "user", {"token": "<|end_message|>"},
 "How are you now?",
 {"token": "<|end_message|>"}
]
"""
INSTRUCTION = """[
 {"token": "<|start|>"}, "user", {"token": "<|message|>"},
 "List off some good ideas:",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "assistant", {"token": "<|message|>"},
]
"""
AUTOCOMPLETE = """[
 {"token": "<|start|>"}, "user", {"token": "<|message|>"},
 "This morning I decided to eat a giant",
]
"""
FEW_SHOT = """[
 {"token": "<|start|>"}, "system", {"token": "<|message|>"},
 "Answer as concisely as possible.
Current date: 2023-03-01

Your job is to translate from English to French",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "system:example_user", {"token": "<|message|>"},
"How are you?",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "assistant:example_user", {"token": "<|message|>”},
"Comment allez-vous?",
 {"token": "<|end_message|>"},
 {"token": "<|start|>"}, "user", {"token": "<|end_message|>"},
"{{user input here}}",
]
"""


@pytest.mark.slow
def test_the_first_example_is_read_in_spite_of_its_quote_and_its_token() -> None:
    events = read_in_every_cutting(CHATML_JSON, CHAT)
    assert rows(events, CHAT) == [
        ("system", None, "You are ChatGPT.\nCurrent date: 2023-03-01"),
        ("user", None, "How are you"),
        ("assistant", None, "I am doing well!"),
        ("user", None, "How are you now?"),
    ]
    assert [is_user_safe(message) for message in messages(events)] == [False, True, True, False]
    assert problems(events) == ["E-PARSE-HEADER/message-missing@4", "E-BODY-CONSTRAINT-VIOLATION/json-malformed@3"]


def test_an_open_last_message_is_a_prompt() -> None:
    events = read_in_every_cutting(CHATML_JSON, INSTRUCTION)
    assert [message.ending for message in messages(events)] == [Ending.END]
    assert problems(events) == ["I-OPEN-PROMPT@None", "I-JSON-LENIENT@1"]
    events = read_in_every_cutting(CHATML_JSON, AUTOCOMPLETE)
    assert rows(events, AUTOCOMPLETE) == [("user", None, "This morning I decided to eat a giant")]
    assert problems(events) == ["I-OPEN-PROMPT@1", "I-JSON-LENIENT@1"]


@pytest.mark.slow
def test_few_shot_examples_are_hidden_and_raw_newlines_accepted() -> None:
    events = read_in_every_cutting(CHATML_JSON, FEW_SHOT)
    assert [row[0] for row in rows(events, FEW_SHOT)] == [
        "system",
        "system:example_user",
        "assistant:example_user",
        "user",
    ]
    assert not any(is_user_safe(message) for message in messages(events))
    assert rows(events, FEW_SHOT)[3][2] == "{{user input here}}"
    assert "I-JSON-LENIENT@1" in problems(events)
    assert "E-PARSE-HEADER/role-unknown@3" not in problems(events)


def start(role: str) -> str:
    return f'{{"token":"<|start|>"}},"{role}",{{"token":"<|message|>"}}'


END = '{"token":"<|end_message|>"}'
START = '{"token":"<|start|>"}'


@each(
    "text, expected, found",
    [
        (f'["It is sunny.",{END}]', [("assistant", None, "It is sunny.")], ["W-START-IMPLICIT@1"]),
        (f'[{start("Assistant")},"a","b\\n",{END}]', [("assistant", None, "ab\n")], []),
        (f'[{start("user")},"a",{END},{START},"Assistant"]', [("user", None, "a")], ["I-OPEN-PROMPT@None"]),
        (f"[{START}]", [], ["I-OPEN-PROMPT@None"]),
        (f'[{START},"user"]', [("user", None, "")], ["E-STREAM-TRUNCATED/header@1"]),
        (f'[{start("bot")},"a",{END}]', [("bot", None, "a")], ["E-PARSE-HEADER/role-unknown@1"]),
        (f'[{START},"user","a",{END}]', [("user", None, "a")], ["E-PARSE-HEADER/message-missing@1"]),
        (
            f'[{START},"user",{END},{start("user")},"b",{END}]',
            [("user", None, ""), ("user", None, "b")],
            ["E-PARSE-HEADER/message-missing@1"],
        ),
        (f'[{START},{start("user")},"a",{END}]', [("user", None, "a")], ["W-START-REPEATED@1"]),
        (f'[{start("user")},"a",{END},{END}]', [("user", None, "a")], ["W-STOP-REDUNDANT@None"]),
        (
            f'[{start("user")},"a",{start("assistant")},"b",{END}]',
            [("user", None, "a"), ("assistant", None, "b")],
            ["W-END-MISSING@1"],
        ),
        (f'[{start("user")},"a', [("user", None, "a")], ["E-STREAM-TRUNCATED/body@1"]),
        (f'[{start("user")},"a","b\\"', [("user", None, 'ab"')], ["E-STREAM-TRUNCATED/body@1"]),
        (f'[{start("user")},"a",{{"tok', [("user", None, "a")], ["E-STREAM-TRUNCATED/body@1"]),
        (
            f'[{start("user")},"a",{START},"us',
            [("user", None, "a"), ("", None, "")],
            ["W-END-MISSING@1", "E-STREAM-TRUNCATED/header@2"],
        ),
    ],
)
def test_missing_and_surplus_items_are_reported(
    text: str, expected: list[tuple[str, str | None, str]], found: list[str]
) -> None:
    events = read_in_every_cutting(CHATML_JSON, text)
    assert rows(events, text) == expected
    assert problems(events) == found


def test_a_message_that_broke_out_of_a_hidden_one_is_hidden() -> None:
    text = f'[{start("system")},"a",{start("assistant")},"b",{END},{start("user")},"c",{END}]'
    events = read_in_every_cutting(CHATML_JSON, text)
    assert [message.broke_out for message in messages(events)] == [False, True, False]


def test_text_between_messages_is_stray_as_are_unknown_items() -> None:
    text = f'[{start("user")},"a",{END},"between",7,{start("user")},"b",{END}] tail'
    events = read_in_every_cutting(CHATML_JSON, text)
    assert [row[2] for row in rows(events, text)] == ["a", "b"]
    assert strays(events, text) == ['"between"', "7", "tail"]


def test_arrays_one_after_another_are_transcripts() -> None:
    text = f'[{start("user")},"a",{END}]\n[{start("user")},"b",{END}]'
    events = read_in_every_cutting(CHATML_JSON, text)
    assert [message.transcript for message in messages(events)] == [1, 2]


def test_the_rest_of_a_broken_array_is_stray() -> None:
    text = f'[{start("user")},"a",{END},{start("user")},"b" oops]'
    events = read_in_every_cutting(CHATML_JSON, text)
    assert [row[2] for row in rows(events, text)] == ["a", "b"]
    assert strays(events, text) == ["oops]"]


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from([START, END, '{"token":"<|message|>"}', '"user"', '"a”', "1", "[", "]", '"']), max_size=12
    ),
    st.integers(1, 9),
)
@settings(max_examples=200, deadline=None)
def test_no_input_raises_and_cuts_change_nothing(items: list[str], size: int) -> None:
    data = f"[{','.join(items)}]".encode()
    assert read(CHATML_JSON, data, [size] * (len(data) // size + 1)) == read(CHATML_JSON, data)


@pytest.mark.share(test=3)
@pytest.mark.parametrize(
    "shape", ["[" * 100_000, f'[{start("user")},"a",{END}]' * 1_000, f"[{','.join([START] * 5_000)}]"]
)
def test_the_work_is_linear_whole_and_byte_by_byte(shape: str) -> None:
    data = shape.encode()
    began = time.process_time()
    read(CHATML_JSON, data)
    read(CHATML_JSON, data, [1] * len(data))
    assert time.process_time() - began < 5


def test_written_text_resembles_the_specification_and_is_read_back() -> None:
    text, losses = write_chatml_json(
        [Shown("system", "Be “brief”\n"), Shown("user", "hi"), Shown("assistant", ending="open")]
    )
    assert losses == []
    assert text == (
        '[\n {"token": "<|start|>"}, "system", {"token": "<|message|>"},\n "Be “brief”\\n",\n'
        ' {"token": "<|end_message|>"},\n'
        ' {"token": "<|start|>"}, "user", {"token": "<|message|>"},\n "hi",\n {"token": "<|end_message|>"},\n'
        ' {"token": "<|start|>"}, "assistant", {"token": "<|message|>"}\n]\n'
    )
    events = read_in_every_cutting(CHATML_JSON, text)
    assert [body(message, text) for message in messages(events)] == ["Be “brief”\n", "hi"]


def test_ambiguous_content_is_dropped_and_listed() -> None:
    hidden = [
        Shown("assistant", "secret", channel="analysis", channel_given="analysis"),
        Shown("assistant", "secret", recipient="functions.f"),
        Shown("tool", "secret"),
        Shown("user", "secret", recipient="user"),
        Shown("user", "secret", intent="debug"),
    ]
    text, losses = write_chatml_json(hidden)
    assert (text, len(losses)) == ("[]\n", 5)
    assert "secret" not in "".join(losses)
    assert len(write_chatml_json([Shown("user", "a", name="n", extra={"k": "v"})])[1]) == 1
