"""Training rows: each shape, its pitfalls, and text that no end user saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.json_cases import messages
from tests.support.printing import SURFACES, some
from tests.support.program import run
from tests.support.record_samples import SECRET, cuts, events_of, samples_of, seen, told
from tests.support.samples import Sample
from viewer.formats import detect
from viewer.model.events import Started

SAMPLES = samples_of("rows")
EXAMPLES = Path(__file__).parents[2] / "data" / "formats"


def row(**fields: object) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    return told(fields, "rows")


def turn(speaker: object, value: object) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    return row(conversations=[{"from": speaker, "value": value}])


@pytest.mark.surfaces
@each("sample", SAMPLES, ids=lambda sample: sample.base, quick=42, test=6)
def test_a_sample_shows_what_its_expectation_says(sample) -> None:  # type: ignore[no-untyped-def]
    data = sample.text
    assert detect(data).format == "rows"
    whole = events_of("rows", data)
    assert seen(whole, data) == sample.seen["seen"]
    assert events_of("rows", data, [1] * len(data)) == whole
    everything = run("show", "--json", "--reveal", "all", "--threads", "all", str(sample.path)).out
    for hidden in set(sample.seen["hidden"]).difference(sample.seen.get("opaque", ())):
        assert hidden in everything
    for command, *options in some(SURFACES, sample.name, 6):
        done = run(command, str(sample.path), *options)
        assert SECRET not in done.out + done.err, (command, options)


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=0, test=4, batch=100)
def test_an_input_that_is_cut_anywhere_shows_nothing_hidden(sample: Sample) -> None:
    for cut in cuts(sample.text):
        data = sample.text[:cut]
        shown = seen(events_of("rows", data), data)
        assert SECRET not in "".join(shown), (sample.name, cut)
        assert set(shown) <= set(sample.seen["seen"]), (sample.name, cut)


def test_a_renamed_speaker_hides_its_text() -> None:
    for speaker in ("human", "user", "gpt", "assistant", "model", "chatgpt", "bing", "bard"):
        assert turn(speaker, "plums")[0] == ["plums"]
    renamed: list[object] = ["bot", "HUMAN", "narrator", "", 1, None, ["gpt"]]
    for name in renamed:
        shown, hidden, codes = turn(name, "SECRET_1")
        assert (shown, codes) == ([], ["W-RECORD-UNKNOWN"])
        assert hidden[0][0] == "unknown"


def test_the_turns_of_sharegpt_have_their_kinds() -> None:
    assert turn("system", "SECRET_1")[:2] == ([], [("instruction", "SECRET_1")])
    for speaker in ("function_call", "tool_call"):
        call = json.dumps({"name": "f", "arguments": {"k": "SECRET_1"}})
        assert turn(speaker, call)[:2] == ([], [("call", '{"k": "SECRET_1"}')])
        assert turn(speaker, "f(SECRET_1)")[:2] == ([], [("call", "f(SECRET_1)")])
    for speaker in ("observation", "tool", "function_response"):
        assert turn(speaker, "SECRET_1")[:2] == ([], [("reply", "SECRET_1")])
    for value in ({"text": "SECRET_1"}, [{"type": "x", "text": "SECRET_1"}], 7, True):
        assert turn("gpt", value)[0] == []
    pair = {"input": "a", "output": "b"}
    assert row(conversation=[{"system": "SECRET_A", **pair}])[0] == ["a", "b"]
    assert row(conversation=[{"tool": "look", **pair}])[0] == []


def test_a_call_without_readable_json_is_reported_and_hidden() -> None:
    shown, hidden, codes = turn("function_call", '{"name": SECRET_1}')
    assert (shown, hidden) == ([], [("call", '{"name": SECRET_1}')])
    assert "E-BODY-CONSTRAINT-VIOLATION/json-malformed" in codes


def test_an_answer_that_looks_like_json_stays_text() -> None:
    assert turn("gpt", '{"total": 12}')[0] == ['{"total": 12}']
    step = "I should look. SECRET\nAction: f\nAction Input: SECRET"
    assert row(instruction="a", output=step)[0] == ["a"]
    for after in ("", "\nThought: SECRET", "\nsystem: SECRET", "\nAction: SECRET"):
        shown = row(instruction="a", output=f"{step}\nObservation: SECRET\nFinal Answer: Ten.{after}")[0]
        assert shown == ["a", "Ten."][: 1 if "Thought" in after else 2], after


def test_system_and_tools_are_instructions() -> None:
    prompt = {"prompt": "a", "completion": "b"}
    for name in ("system", "system_prompt", "tools", "functions"):
        shown, hidden, _ = row(**prompt, **{name: "SECRET_1"})
        assert (shown, hidden) == (["a", "b"], [("instruction", "SECRET_1")])
    shown, hidden, codes = row(**prompt, tools='[{"name": SECRET_1}]')
    assert (shown, [kind for kind, _ in hidden]) == (["a", "b"], ["instruction"])
    assert codes == ["E-BODY-CONSTRAINT-VIOLATION/json-malformed"]


@pytest.mark.parametrize("name", ["chosen", "completion", "response", "output", "answer", "preferred_output"])
def test_an_answer_is_a_text_a_message_or_a_list(name: str) -> None:
    said = {"role": "assistant", "content": "b"}
    for answer in ("b", said, [said], [{"role": "user", "content": "a"}, said]):
        assert row(**{"prompt": "a", name: answer})[0] == ["a", "b"]
        assert row(**{name: answer, "prompt": "a"})[0] == ["a", "b"]
    hidden = [{"role": "tool", "content": "SECRET_1"}, {"role": "bot", "content": "SECRET_2"}, said]
    assert row(**{"prompt": "a", name: hidden})[0] == ["a", "b"]


@pytest.mark.parametrize("name", ["rejected", "rejected_response", "rejected_messages", "non_preferred_output"])
def test_a_rejected_answer_is_unknown_in_a_thread(name: str) -> None:
    said = {"role": "assistant", "content": "SECRET_1"}
    for answer in ("SECRET_1", said, [said], [{"role": "user", "content": "a"}, said]):
        data = json.dumps({"prompt": "a", "chosen": "b", name: answer}).encode()
        events = events_of("rows", data)
        assert seen(events, data) == ["a", "b"]
        last = messages(events)[-1].header
        assert (last.kind.value, last.thread, len(messages(events))) == ("unknown", 1, 3)


def test_an_answer_is_shown_once_where_lists_repeat_the_prompt() -> None:
    user, said = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    system, other = {"role": "system", "content": "SECRET_1"}, {"role": "assistant", "content": "SECRET_2"}
    cases: list[dict[str, object]] = [
        {"chosen": [user, said], "rejected": [user, other]},
        {"prompt": [user], "chosen": [user, said], "rejected": [user, other]},
        {"prompt": [system, user], "chosen": [user, said], "rejected": [other]},
        {"prompt": "a", "chosen": [user, said], "rejected": [user, other]},
        {"prompt": "a", "messages": [system, user, said]},
        {"messages": [user, said], "chosen": [user, said], "rejected": [user, other]},
        {"messages": [user], "chosen": said, "rejected": other},
        {"messages": [user, said], "chosen": "b", "label": 1},
        {"prompt": [user], "messages": [user, said]},
    ]
    for case in cases:
        shown, _, _ = row(**case)
        assert shown == ["a", "b"], case


def test_an_answer_equal_to_an_earlier_one_is_shown_again() -> None:
    user, said = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    assert row(prompt=[user, said, user], chosen=[said])[0] == ["a", "b", "a", "b"]


def test_instruction_and_input_are_one_message() -> None:
    assert row(instruction="a", input="b", output="c")[0] == ["a\n\nb", "c"]
    assert row(input="b", output="c", instruction="a")[0] == ["a\n\nb", "c"]
    assert row(instruction="a", input="", output="c")[0] == ["a", "c"]
    assert row(instruction="a", input=None, output="c")[0] == ["a", "c"]
    shown, _, codes = row(instruction="a", input={"text": "SECRET_1"}, output="c")
    assert (shown, codes) == (["a", "c"], ["W-PART-UNKNOWN"])


def test_a_history_comes_first() -> None:
    assert row(instruction="c", output="d", history=[["a", "b"]])[0] == ["a", "b", "c", "d"]
    assert row(instruction="c", output="d", history=[["a", {"t": "SECRET_1"}], "SECRET_2"])[0] == ["a", "c", "d"]


def test_reasoning_is_a_thought() -> None:
    for name in ("thinking", "reasoning", "cot", "rationale", "chain_of_thought"):
        assert row(**{"prompt": "a", "completion": "b", name: "SECRET_1"})[:2] == (
            ["a", "b"],
            [("thought", "SECRET_1")],
        )


def test_a_tool_response_in_a_user_message_is_a_reply() -> None:
    value = "<tool_response>SECRET_1</tool_response>"
    assert turn("human", value)[:2] == ([], [("said", "SECRET_1")])


def test_a_message_without_content_is_its_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"k": "SECRET_1"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    shown, hidden, codes = row(messages=[{"role": "user", "content": "a"}, said], weight=1)
    assert (shown, hidden, codes) == (["a"], [("call", '{"k": "SECRET_1"}')], [])


def test_other_fields_describe_the_transcript_and_are_hidden() -> None:
    data = json.dumps({"prompt": "a", "completion": "b", "label": False, "source": "SECRET_1"}).encode()
    events = events_of("rows", data)
    started = [event.transcript.header for event in events if isinstance(event, Started)]
    assert [(sorted(header), header["source"]) for header in started] == [(["label", "source"], "SECRET_1")]
    assert seen(events, data) == ["a", "b"]
    _, _, codes = row(prompt="a", completion="b", draft={"role": "assistant", "content": "SECRET_1"})
    assert codes == ["W-SIBLING-UNREAD"]


def test_a_text_that_is_not_shown_describes_the_transcript() -> None:
    said = [{"role": "user", "content": "a"}]
    cases: list[dict[str, object]] = [
        {"messages": said, "answer": "SECRET_1"},
        {"prompt": said, "instruction": "SECRET_1"},
        {"prompt": "a", "completion": "b", "output": "SECRET_1"},
        {"conversations": said, "instruction": "SECRET_1", "output": "c"},
    ]
    for case in cases:
        data = json.dumps(case).encode()
        events = events_of("rows", data)
        assert SECRET not in "".join(seen(events, data)), case
        assert [event.transcript.header for event in events if isinstance(event, Started)] != [{}], case
    assert row(messages=said, completion="b")[0] == ["a", "b"]


def test_a_repeated_field_hides_the_row() -> None:
    data = b'{"system":"s","prompt":"SECRET_1","completion":"b","completion":"SECRET_2"}'
    shown, hidden, codes = told(data, "rows")
    assert (shown, [kind for kind, _ in hidden], codes) == ([], ["unknown"], ["W-RECORD-UNKNOWN"])


def test_a_prompt_that_a_template_made_is_unknown() -> None:
    for text in (
        "<|im_start|>system\nSECRET_1<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n",
        "[INST] <<SYS>>SECRET_1<</SYS>> hi [/INST]",
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>SECRET_1",
        "<start_of_turn>user\nSECRET_1<end_of_turn>",
        "### Instruction:\nSECRET_1\n\n### Response:",
    ):
        for fields in ({"prompt": text, "completion": "b"}, {"instruction": "a", "input": text, "output": "b"}):
            shown, hidden, codes = row(**fields)
            assert (shown, [kind for kind, _ in hidden], codes) == (["b"], ["unknown"], []), text
    for text in ("[INST is a mark?", "What is <b>?", "{not json", "## Notes", "User: me"):
        assert row(prompt=text, completion="b") == ([text, "b"], [], [])


def test_labels_in_a_string_name_its_speakers() -> None:
    for text, said in (
        ("SYSTEM: SECRET_1\nUSER: hi\nASSISTANT:", ["hi"]),
        ("\n\nHuman: a\n\nAssistant: Two:\nHuman: c\n\nHuman: d\n\nAssistant:", ["a", "Two:\nHuman: c", "d"]),
        ("Human: a\nSystem note: SECRET_1\nAssistant: <think>SECRET_2\nHuman: SECRET_3</think>c", ["a", "c"]),
        ("Human: a\nAssistant: SECRET_1\nHuman: SECRET_2</think>c\nHuman: d", ["d"]),
        (
            "USER: a\nASSISTANT: c <functioncall> SECRET_1 <|endoftext|> SECRET_2\nNEWS: SECRET_3\nUSER: d",
            ["a", "c", "d"],
        ),
        ("### Human: a### Thoughts: SECRET_1### Assistant: c\n### Step:\nd", ["a", "c\n### Step:\nd"]),
        ("system: SECRET_1\nInstruction: SECRET_2", []),
    ):
        assert row(prompt=text, completion="b")[0] == [*said, "b"], text
        assert row(text=text)[0] == said, text
        assert row(chosen=text, rejected="SECRET_4")[0] == said, text
    for text, said in (
        ("AI: a\nHuman: c\nAI: d", ["a", "c", "d"]),
        ("AI: a\nUSER: c\nAI: d", ["a", "c", "d"]),
        ("Human: a\n\nAssistant:", ["a"]),
        ("USER: a\nASSISTANT: ", ["a"]),
    ):
        assert row(prompt=text, completion="b") == ([*said, "b"], [], []), text
    for text in ("USER: a\nNEWS: SECRET_1\nASSISTANT: b", "Human: a\nThoughts : SECRET_1\nAI: b"):
        shown, hidden, codes = row(chosen=text, rejected="SECRET_2")
        assert (shown, codes) == (["a", "b"], ["W-PART-UNKNOWN"]), text
        assert hidden == [("unknown", "SECRET_1"), ("unknown", "SECRET_2")], text


def test_text_with_one_label_is_no_conversation() -> None:
    assert row(text="### Human: SECRET_1") == ([], [("unknown", "### Human: SECRET_1")], ["W-PART-UNKNOWN"])
    assert row(chosen="Assistant: a", rejected="SECRET_1")[0] == ["Assistant: a"]
    asked = [{"role": "system", "content": "SECRET_1"}, {"role": "user", "content": "a"}]
    fields = {"output": "<think>SECRET_2</think>b", "category": "math", "system_prompt": "SECRET_3", "reasoning": "on"}
    data = json.dumps({"input": asked, **fields}).encode()
    assert detect(data).format == "rows"
    assert row(input=asked, **fields)[0] == ["a", "b"]


def test_turns_that_alternate_are_of_the_user_and_the_assistant() -> None:
    assert row(id="1", data=["a", "b"])[0] == ["a", "b"]
    assert row(id="1", data=["a", "b", {"text": "SECRET_1"}])[0] == ["a", "b"]
    shown, hidden, codes = row(id="1", data=["a"] * 65)
    assert (len(shown), len(hidden), codes) == (64, 1, ["W-RECORD-UNKNOWN"])
    for id in (1, None, ["0"], True):
        assert row(id=id, data=["SECRET_1", "SECRET_2"])[0] == [], id


def test_each_row_is_a_transcript_and_a_bad_one_is_reported() -> None:
    good = '{"prompt":"a","completion":"b"}'
    for text in (f'{good}\n{{"prompt":"SECRET_1"\n{good}\n', f"[{good},7,{good}]", f"{good}\n[7]\n{good}\n"):
        data = text.encode()
        events = events_of("rows", data)
        assert seen(events, data) == ["a", "b", "a", "b"]
        assert sum(isinstance(event, Started) for event in events) >= 2
        codes = told(data, "rows")[2]
        assert {"E-PARSE-HEADER/not-a-message", "W-TEXT-BETWEEN"} & set(codes), text
    assert told(b'{"prompt":"a","completion":"b"}\n{"x":1}\n', "rows")[2] == ["W-RECORD-UNKNOWN"]


def test_rows_of_text_only_are_unknown() -> None:
    shown, hidden, codes = row(text="SECRET_1")
    assert (shown, codes) == ([], ["W-RECORD-UNKNOWN"])
    assert hidden == [("unknown", '{"text": "SECRET_1"}')]


def test_a_flag_that_cannot_be_read_hides_the_message() -> None:
    flags: list[object] = [1, "no", []]
    for flag in flags:
        shown, hidden, _ = row(messages=[{"role": "assistant", "content": "SECRET_1", "thought": flag}], label=1)
        assert (shown, [kind for kind, _ in hidden]) == ([], ["unknown"])


def test_plain_message_lists_stay_json() -> None:
    said = {"messages": [{"role": "user", "content": "a"}]}
    assert detect(json.dumps(said).encode()).format == "json"
    assert detect(json.dumps({**said, "model": "m", "tools": []}).encode()).format == "json"
    for name in ("tools", "label", "weight", "prompt"):
        assert detect(json.dumps({**said, name: 1}).encode()).format == "rows"


@pytest.mark.slow
def test_the_rules_on_other_examples_show_no_secret() -> None:
    for path in EXAMPLES.iterdir():
        if not path.name.endswith(".seen.json"):
            done = run("show", "--json", "--format", "rows", str(path))
            assert SECRET not in done.out + done.err, path.name


def test_half_a_pair_of_texts_is_hidden() -> None:
    for name in ("output", "answer", "completion", "response", "prompt", "instruction", "input"):
        shown, hidden, codes = row(**{name: "SECRET_1"})
        assert (shown, len(hidden), codes) == ([], 1, ["W-RECORD-UNKNOWN"])


def test_the_order_of_a_row_is_reported_to_a_strict_check_only(tmp_path: Path) -> None:
    human, answer = {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}
    call = {"from": "function_call", "value": '{"name": "now", "arguments": {}}'}
    reply = {"from": "observation", "value": "12"}
    rows: list[tuple[list[dict[str, str]], list[int]]] = [
        ([human, answer], []),
        ([answer, human, answer], []),
        ([human, call, reply, answer], []),
        ([human, answer, answer], [3]),
        ([human, answer, human], [3]),
        ([human, call], [2]),
    ]
    for turns, expected in rows:
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps({"conversations": each}) + "\n" for each in ([human, answer], turns)))
        lines = [json.loads(line) for line in run("check", "--json", "--strict", str(path)).out.splitlines()]
        found = [line["message"] - 2 for line in lines if line.get("code") == "I-ROW-ORDER"]
        assert found == expected, turns
        assert "I-ROW-ORDER" not in run("check", str(path)).out
    assert run("check", "--strict", "--require-messages", str(path)).code == 0


def test_a_rejected_answer_is_not_out_of_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"prompt": "Hi", "chosen": "Hello", "rejected": "SECRET_"}))
    assert "I-ROW-ORDER" not in run("check", "--strict", str(path)).out


def test_a_page_of_the_dataset_viewer_holds_rows() -> None:
    spoken = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    cut = json.dumps([{"role": "user", "content": "c"}, {"role": "assistant", "content": "SECRET_1 SECRET_2"}])[:-15]
    rows = [
        {"row_idx": 0, "row": {"messages": spoken}, "truncated_cells": []},
        {"row_idx": 1, "row": {"messages": cut}, "truncated_cells": ["messages"]},
        {"row_idx": 2, "row": {"prompt": "d", "chosen": "e", "rejected": "SECRET_3"}, "truncated_cells": []},
        {"row_idx": 3, "row": {"text": "SECRET_4"}, "truncated_cells": []},
    ]
    shown, _, codes = told({"features": [], "rows": rows}, "rows")
    assert shown == ["a", "b", "c", "d", "e"]
    assert "E-STREAM-TRUNCATED/log" in codes
    data = json.dumps({"features": [], "rows": rows}).encode()
    assert detect(data).format == "rows"
    assert sum(isinstance(event, Started) for event in events_of("rows", data)) == 4


def test_a_query_is_asked_only_if_it_has_a_response() -> None:
    whole = row(query="Seen 1?", response="Seen 2.", history=[["Seen 0?", "Seen 0."]], system="SECRET_S")
    assert whole[0] == ["Seen 0?", "Seen 0.", "Seen 1?", "Seen 2."]
    assert row(query="<|im_start|>system\nSECRET_", response="Seen.")[0] == ["Seen."]
    assert row(query="SECRET_", question="Seen?", response="Seen.")[0] == ["Seen?", "Seen."]
    assert row(query="SECRET_")[0] == []
