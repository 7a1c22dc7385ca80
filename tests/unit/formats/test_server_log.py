"""Logs of model servers: prompts and outputs in log lines of vLLM, SGLang, llama.cpp, and LM Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.growth import assert_growth
from tests.support.program import run
from tests.support.reading import Reading, codes, read, read_cut, visible_texts
from viewer.formats import detect
from viewer.model.messages import Message, Stray
from viewer.model.visibility import message_kind
from viewer.syntax.string_map import PythonMap, python_text

EXAMPLES = Path(__file__).parents[2] / "data" / "formats"
NAMES = ("server-vllm.log", "server-vllm-harmony.log", "server-lmstudio.ndjson", "server-slots.json")
SYSTEM = "<|im_start|>system\nSECRET_SYS<|im_end|>\n"
ANSWER = "<|im_start|>assistant\n"


def user(text: str) -> str:
    return f"<|im_start|>user\n{text}<|im_end|>\n"


def assistant(text: str) -> str:
    return f"{ANSWER}{text}<|im_end|>\n"


def asked(prompt: str, id: str = "cmpl-1") -> str:
    head = "(APIServer pid=1) INFO 09-10 19:13:01 [logger.py:40] Received request"
    return f"{head} {id}: prompt: {prompt!r}, params: SamplingParams(n=1), lora_request: None.\n"


def answered(text: str, id: str = "cmpl-1", how: str = "", finish: str = "stop") -> str:
    head = "(APIServer pid=1) INFO 09-10 19:13:02 [logger.py:71] Generated response"
    return f"{head} {id}{how}: output: {text!r}, output_token_ids: None, finish_reason: {finish}\n"


def log(text: str) -> Reading:
    return read(text, "server-log")


def seen(reading: Reading) -> list[str]:
    return [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def messages(reading: Reading) -> list[Message]:
    return [message for message in reading.messages if isinstance(message, Message)]


def kinds(reading: Reading) -> list[str]:
    return [message_kind(message) for message in messages(reading)]


@each("name", NAMES)
def test_reading_in_pieces_equals_reading_whole(name: str) -> None:
    data = (EXAMPLES / name).read_bytes()
    whole = log(data.decode())
    for step in (1, 2, 7, 100):
        assert read_cut(data, "server-log", range(step, len(data), step)) == whole


@each("name", NAMES, quick=0, test=2)
def test_no_cut_shows_hidden_text(name: str) -> None:
    data = (EXAMPLES / name).read_bytes()
    for end in range(len(data)):
        reading = log(data[:end].decode())
        assert "SECRET" not in "".join(seen(reading)), data[:end]


def test_a_request_gives_its_messages() -> None:
    reading = log(asked(f"{SYSTEM}{user('hello')}{ANSWER}<think>\n") + answered("SECRET</think>\n\nHi!"))
    assert seen(reading) == ["hello", "Hi!"]
    assert kinds(reading) == ["instruction", "said", "thought", "said"]
    assert codes(reading) == []


@each(
    "text",
    ["plain", "a\nb\tc", r"back\\slash and \n", "it's", 'say "yes"', 'it\'s "both"', "\U0001f600 é ❤ \x07", "\\'"],
)
def test_escapes_of_python_are_undone(text: str) -> None:
    for written in (repr(text), ascii(text)):
        line = asked(user("x") + ANSWER).replace(repr(user("x") + ANSWER), written_prompt(written))
        assert seen(log(line)) == [text.strip()]


def written_prompt(written: str) -> str:
    quote = written[0]
    return f"{quote}<|im_start|>user\\n{written[1:-1]}<|im_end|>\\n{quote}"


def test_offsets_of_escapes_lead_back_to_the_source() -> None:
    raw = rb"a\nb\x1b\u00e9\U0001f600\xf0\x9f\x98\x80\101\q"
    text = python_text(raw)
    assert text == "a\nb\x1bé😀😀A\\q".encode()
    positions = PythonMap(raw)
    for at in range(len(text)):
        start, end = positions.source_of(at, False), positions.source_of(at, True)
        assert text[at : at + 1] in python_text(raw[start:end])


def test_a_request_that_extends_the_last_one_adds_what_is_new() -> None:
    first = SYSTEM + user("One?") + ANSWER
    second = SYSTEM + user("One?") + assistant("One.") + user("Two?") + ANSWER
    text = asked(first, "a") + answered("<think>SECRET</think>One.", "a") + asked(second, "b") + answered("Two.", "b")
    reading = log(text)
    assert seen(reading) == ["One?", "One.", "Two?", "Two."]
    assert len(reading.transcripts) == 1
    assert kinds(reading).count("instruction") == 1


def test_a_call_in_the_history_is_written_once() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {"a": "SECRET"}}\n</tool_call>'
    first = SYSTEM + user("One?") + ANSWER
    second = (
        first + f"{call}<|im_end|>\n" + "<|im_start|>user\n<tool_response>SECRET</tool_response><|im_end|>\n" + ANSWER
    )
    reading = log(asked(first, "a") + answered(call, "a") + asked(second, "b") + answered("Done.", "b"))
    assert kinds(reading) == ["instruction", "said", "call", "reply", "said"]
    assert seen(reading) == ["One?", "Done."]


def test_another_conversation_is_another_transcript() -> None:
    text = asked(user("A?") + ANSWER, "a") + asked(user("B?") + ANSWER, "b") + answered("A.", "a") + answered("B.", "b")
    reading = log(text)
    assert seen(reading) == ["A?", "A.", "B?", "B."]
    assert len(reading.transcripts) == 2


def test_the_same_prompt_again_replaces_the_answer() -> None:
    prompt = user("A?") + ANSWER
    done = run(
        "show",
        "--json",
        "--format",
        "server-log",
        "-",
        stdin=asked(prompt, "a") + answered("One.", "a") + asked(prompt, "b") + answered("Two.", "b"),
    )
    lines = [line for line in map(json.loads, done.out.splitlines()) if line["kind"] == "message"]
    assert [(line["body"], bool(line.get("superseded"))) for line in lines] == [
        ("A?", False),
        ("One.", True),
        ("Two.", False),
    ]


def test_choices_of_one_request_are_all_said() -> None:
    text = asked(user("A?") + ANSWER, "a") + answered("One.", "a-0") + answered("Two.", "a-1")
    assert seen(log(text)) == ["A?", "One.", "Two."]


def test_streamed_pieces_are_one_answer_and_the_whole_is_a_copy() -> None:
    deltas = answered("SECRET</th", how=" (streaming delta)") + answered("ink>Hi", how=" (streaming delta)")
    prompt = asked(user("A?") + ANSWER + "<think>\n")
    assert seen(log(prompt + deltas)) == ["A?", "Hi"]
    assert seen(log(prompt + deltas + answered("SECRET</think>Hi!", how=" (streaming complete)"))) == ["A?", "Hi!"]


def test_an_output_without_its_request_is_shown_only_if_marks_settle_it() -> None:
    assert seen(log(answered("SECRET</think>\n\nHi!"))) == ["Hi!"]
    assert seen(log(answered("<think>SECRET</think>\n\nHi!"))) == ["Hi!"]
    assert seen(log(answered("SECRET"))) == []
    harmony = "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hi!<|return|>"
    assert seen(log(answered(harmony))) == ["Hi!"]


def test_an_output_after_a_prompt_that_ends_elsewhere_is_hidden() -> None:
    """A logger that truncates prompts at a certain length leaves no mark."""
    for prompt in (SYSTEM + "<|im_start|>user\nhel", SYSTEM + user("hello"), SYSTEM[:20], "<|im_start|>us"):
        reading = log(asked(prompt) + answered("SECRET"))
        assert "SECRET" not in "".join(seen(reading)), prompt
    reading = log(asked(SYSTEM + "<|im_start|>user\nhel") + answered("SECRET</think>Hi!"))
    assert seen(reading) == ["hel", "Hi!"]


def test_an_answer_that_the_prompt_begins_continues() -> None:
    assert "".join(seen(log(asked(user("A?") + ANSWER + "The sum") + answered(" is 4.")))) == "A?The sum is 4."


def test_a_prompt_without_a_template_is_hidden() -> None:
    reading = log(
        asked("SECRET Q: one? A:", "a") + answered("SECRET", "a") + asked("SECRET", "b") + answered("SECRET", "b")
    )
    assert seen(reading) == []
    assert set(kinds(reading)) == {"unknown"}
    assert codes(reading) == ["I-TEMPLATE-UNKNOWN"]


def test_a_literal_that_the_log_cut_off_is_reported() -> None:
    line = asked(SYSTEM + user("hello") + "<|im_start|>assistant\nSECRET")
    cut = line[: line.index("SECRET", line.index("hello")) - 10] + "\n"
    reading = log(cut + answered("SECRET"))
    assert "E-STREAM-TRUNCATED/log" in codes(reading)
    assert seen(reading) == ["hello"]


def test_two_writers_in_one_line_hide_the_record() -> None:
    line = asked(user("SECRET") + ANSWER)
    broken = line[: line.index("SECRET")] + "INFO it's SECRET here\n"
    reading = log(broken + asked(user("hi") + ANSWER, "b"))
    assert "E-PARSE-HEADER/not-a-message" in codes(reading)
    assert seen(reading) == ["hi"]


def test_an_anchor_inside_a_literal_is_text() -> None:
    quoted = "Received request x: prompt: 'SECRET"
    reading = log(asked(SYSTEM + f"<|im_start|>tool\n{quoted}<|im_end|>\n" + user("hi") + ANSWER) + answered("Yes."))
    assert seen(reading) == ["hi", "Yes."]


def test_other_lines_are_hidden_without_a_warning() -> None:
    text = "SECRET one\nSECRET two\n" + asked(user("hi") + ANSWER) + answered("Yes.") + "SECRET three\n"
    reading = log(text)
    assert seen(reading) == ["hi", "Yes."]
    assert len(reading.strays) == 2
    assert codes(reading) == []


def test_how_an_answer_ended_is_reported() -> None:
    for finish, code in (("length", "W-RUN-INCOMPLETE/max-tokens"), ("abort", "W-RUN-ERROR/aborted")):
        assert code in codes(log(asked(user("hi") + ANSWER) + answered("Ye", finish=finish)))
    assert "W-RUN-ERROR/aborted" in codes(log(asked(user("hi") + ANSWER) + "INFO Aborted request cmpl-1.\n"))


def test_a_prompt_that_was_not_logged_hides_the_output() -> None:
    text = asked("x").replace("'x'", "None") + answered("SECRET")
    assert seen(log(text)) == []


def test_details_of_a_request_hold_its_prompt() -> None:
    line = f"DEBUG [logger.py:30] Request cmpl-1 details: prompt: {user('hi') + ANSWER!r}, prompt_token_ids: None\n"
    assert seen(log(line + "INFO Received request cmpl-1: params: SamplingParams(n=1)\n" + answered("Yes."))) == [
        "hi",
        "Yes.",
    ]


def test_sglang_objects_are_read() -> None:
    prompt, output = SYSTEM + user("it's me") + ANSWER, "<think>SECRET</think>Hello."
    receive = f"[2025-09-01 10:00:00] Receive: obj=GenerateReqInput(rid='r1', text={prompt!r}, input_ids=None)\n"
    finish = (
        f"[2025-09-01 10:00:01] Finish: obj=GenerateReqInput(rid='r1', text={prompt!r}, input_ids=None), "
        f"out={{'text': {output!r}, 'meta_info': {{'id': 'r1', 'finish_reason': {{'type': 'length', 'length': 9}}}}}}\n"
    )
    for text in (receive + finish, finish):
        reading = log(text)
        assert seen(reading) == ["it's me", "Hello."]
        assert codes(reading) == ["W-RUN-INCOMPLETE/max-tokens"]
    cut = receive.replace(repr(prompt), f"{prompt[:60]!r} ... {'SECRET'!r}")
    assert "E-STREAM-TRUNCATED/log" in codes(log(cut))
    assert "SECRET" not in "".join(seen(log(cut)))


def test_a_json_wrapper_is_unwrapped() -> None:
    prompt = SYSTEM + user('say "it\'s"\tnow') + ANSWER
    for key in ("log", "message"):
        lines = [
            json.dumps({key: line, "stream": "stderr"})
            for line in (asked(prompt), answered("<think>SECRET</think>Yes.\n❤"))
        ]
        text = "\n".join(lines) + "\n"
        assert detect(text.encode()).format == "server-log"
        assert seen(log(text)) == ['say "it\'s"\tnow', "Yes.\n❤"]


def slots(**changes: object) -> str:
    slot = {"id": 1, "id_task": 4, "is_processing": False, "prompt": SYSTEM + user("hi") + ANSWER, "generated": "Yes."}
    return json.dumps([slot | changes])


def test_a_later_poll_of_a_task_replaces_the_earlier_one() -> None:
    text = f"{slots(is_processing=True, generated='Y')}\n{slots()}\n{slots()}\n"
    assert seen(log(text)) == ["hi", "Yes."]
    assert detect(text.encode()).format == "server-log"


def test_slots_over_several_lines_are_read() -> None:
    text = json.dumps(json.loads(slots()), indent=2)
    assert detect(text.encode()).format == "server-log"
    assert seen(log(text)) == ["hi", "Yes."]


def test_a_task_in_progress_is_an_open_answer() -> None:
    reading = log(slots(is_processing=True, generated="<think>SECRET"))
    assert seen(reading) == ["hi"]


def test_wrong_types_in_json_hide_the_record() -> None:
    values: tuple[object, ...] = (1, None, [], {}, True)
    for value in values:
        assert "SECRET" not in "".join(seen(log(slots(prompt=value, generated="SECRET"))))
        assert seen(log(slots(generated=value))) == ["hi"]
        line = json.dumps({"timestamp": 1, "data": {"type": "llm.prediction.output", "output": value, "x": "SECRET"}})
        assert seen(log(line)) == []
    odd = json.dumps({"timestamp": 1, "data": {"type": "x", "input": "SECRET"}})
    assert seen(log(odd)) == []


def test_the_times_of_lm_studio_are_kept() -> None:
    reading = log((EXAMPLES / "server-lmstudio.ndjson").read_text("utf-8"))
    assert {message.time_ms for message in messages(reading)} == {1756000000000, 1756000001000}


def test_no_other_example_shows_hidden_text() -> None:
    paths = [path for path in sorted(EXAMPLES.iterdir()) if not path.name.endswith(".seen.json")]
    assert len(paths) > 20
    for path in paths:
        assert "SECRET_" not in "".join(seen(log(path.read_text("utf-8")))), path.name


def test_the_program_hides_and_reveals() -> None:
    text = asked(SYSTEM + user("hello") + ANSWER) + answered("<think>\nSECRET_TH\n</think>\nHi!")
    done = run("show", "--json", "-", stdin=text)
    assert "SECRET" not in done.out + done.err
    revealed = run("show", "--json", "--reveal", "all", "-", stdin=text).out
    assert "SECRET_SYS" in revealed
    assert "SECRET_TH" in revealed


ASKED = 'It\'s an old "harbor" \\ é🙂?\nDeep?'
PROMPT = f"{SYSTEM}{user(ASKED)}{ANSWER}"
TOLD = "<think>SECRET_T</think>Yes, it's deep.\nTwelve meters."
LOG = [asked(PROMPT), answered(TOLD)]


def kubernetes(size: int) -> bytes:
    """Return the log as Kubernetes writes it, splitting each line."""
    written = b""
    for line in LOG:
        data = line.rstrip("\n").encode()
        for start in range(0, len(data), size):
            tag = b"P" if start + size < len(data) else b"F"
            written += b"2026-01-02T03:04:05.123456789Z stderr " + tag + b" " + data[start : start + size] + b"\n"
            written += b"2026-01-02T03:04:05.123456789Z stdout F Received nothing: prompt: 'SECRET_OTHER'\n"
    return written


def docker(size: int) -> bytes:
    """Return the log as Docker writes it, splitting each line."""
    parts = [line[start : start + size] for line in LOG for start in range(0, len(line), size)]
    return "".join(json.dumps({"log": part, "stream": "stderr"}) + "\n" for part in parts).encode()


@pytest.mark.slow
@pytest.mark.parametrize("written", [kubernetes, docker])
def test_lines_that_a_container_runtime_cut_are_joined(written: Callable[[int], bytes]) -> None:
    whole = seen(read("".join(LOG).encode(), "server-log"))
    assert len(whole) == 2
    for size in (*range(40, 64), *range(90, 330, 7)):
        reading = read(written(size), "server-log")
        assert seen(reading) == whole, size
        assert "E-STREAM-TRUNCATED/log" not in codes(reading), size


@pytest.mark.share(quick=0, test=2)
@pytest.mark.parametrize(
    ("text", "count"), [(b"x", 400), (b"Received request x: prompt: 'aaa', ", 100)], ids=["one record", "many"]
)
def test_a_line_of_many_parts_takes_linear_time(text: bytes, count: int) -> None:
    part = b"2026-01-02T03:04:05.123456789Z stderr P " + text + b"\n"
    assert_growth(lambda data: read(data, "server-log"), part * count, part * (6 * count), 12)


def test_an_escape_that_was_cut_and_cannot_be_read_ends_the_text() -> None:
    line = asked(user("One\ttwo") + ANSWER).rstrip("\n")
    at = line.index("\\t") + 1
    data = f"2026-01-02T03:04:05Z stderr P {line[:at]}\n2026-01-02T03:04:05Z stderr F {line[at:]}\n"
    reading = read(data.encode(), "server-log")
    assert "E-STREAM-TRUNCATED/log" in codes(reading)
    assert "two" not in "".join(reading.texts)


def test_a_line_that_never_ends_is_read_as_far_as_it_came() -> None:
    data = f"2026-01-02T03:04:05Z stderr P {asked(PROMPT)[:150]}\n"
    for text in (data, data + "2026-01-02T03:04:05Z stdout F other\n"):
        reading = read(text.encode(), "server-log")
        assert "E-STREAM-TRUNCATED/log" in codes(reading)
        assert "SECRET" not in "".join(seen(reading))


def test_text_outside_records_never_covers_a_line_that_was_joined() -> None:
    for size in (50, 120):
        data = kubernetes(size)
        found = [stray for stray in read(data, "server-log").strays if isinstance(stray, Stray)]
        strays = [data[stray.span[0] : stray.span[1]] for stray in found]
        assert strays
        assert all(b"SECRET_SYS" not in text and b"SECRET_T" not in text for text in strays), size


def test_requests_whose_lines_alternate_stay_apart() -> None:
    prompts = {id: f"{SYSTEM}{user(f'{id}?')}{ANSWER}" for id in ("a", "b")}
    text = "".join(asked(prompt, id) for id, prompt in prompts.items())
    text += answered("SECRET_", "b", " (streaming delta)").replace("SECRET_", "<think>SECRET_")
    text += answered("Yes ", "a", " (streaming delta)")
    text += answered("1</think>No ", "b", " (streaming delta)") + answered("a.", "a", " (streaming delta)")
    text += answered("b.", "b", " (streaming delta)")
    ends = [answered("Yes a.", "a", " (streaming complete)"), answered("<think>SECRET_1</think>No b.", "b")]
    assert seen(log(text + "".join(ends))) == ["a?", "Yes a.", "b?", "No b."]
    assert seen(log(text + "".join(reversed(ends)))) == ["b?", "No b.", "a?", "Yes a."]
    assert seen(log(text)) == ["a?", "Yes a.", "b?", "No b."]


def test_a_conversation_that_goes_on_after_another_one_repeats_nothing() -> None:
    text, history = "", dict.fromkeys(("a", "b"), SYSTEM)
    for turn in range(3):
        for id in history:
            text += asked(f"{history[id]}{user(f'{id}{turn}?')}{ANSWER}", f"{id}{turn}")
        for id in history:
            text += answered(f"{id}{turn}.", f"{id}{turn}")
            history[id] += user(f"{id}{turn}?") + assistant(f"{id}{turn}.")
    reading = log(text)
    assert seen(reading) == [f"{id}{turn}{end}" for turn in range(3) for id in history for end in "?."]
    found = [(message.transcript, body) for message, body in zip(messages(reading), seen_or_not(reading), strict=True)]
    for transcript in {number for number, _ in found}:
        texts = {body[0] for number, body in found if number == transcript and body != "SECRET_SYS"}
        assert len(texts) == 1, transcript
    assert kinds(reading)[-5:-2] == ["replayed", "replayed", "replayed"]


def seen_or_not(reading: Reading) -> list[str]:
    """Return the text of each message."""
    return [text.strip() for text in reading.texts]


# Requests and responses as JSON.

SAMPLES = Path(__file__).parents[3] / "samples" / "valid" / "server-log"


def requested(*said: tuple[str, str], stream: bool = False) -> str:
    body = {"messages": [{"role": role, "content": text} for role, text in said], "stream": stream}
    return f"srv  log_server_r: request:  {json.dumps(body)}\n"


def responded(text: str) -> str:
    message = {"role": "assistant", "content": text}
    return f"srv  log_server_r: response: {json.dumps({'choices': [{'index': 0, 'message': message}]})}\n"


def piece(text: str, id: str = "a") -> str:
    chunk = {"id": id, "choices": [{"index": 0, "delta": {"content": text}}]}
    return f"[2026-03-01 10:00:05][DEBUG][small] Generated packet: {json.dumps(chunk, indent=2)}\n"


@pytest.mark.parametrize("firsts", [(0,), pytest.param(range(5, 100, 5), marks=pytest.mark.slow)], ids=len)
@each("name", ("lm-studio-requests", "llama-server-requests"), quick=2)
def test_a_log_of_requests_that_is_cut_at_any_byte_shows_nothing_hidden(name: str, firsts: Sequence[int]) -> None:
    data = (SAMPLES / f"{name}.log").read_bytes()
    shown = seen(read(data, "server-log"))
    for end in (end for first in firsts for end in range(first, len(data), 100)):
        found = visible_texts(data[:end], "server-log")
        assert "SECRET_" not in "\0".join(found), end
        assert all(any(whole.startswith(each) for whole in shown) for each in found), end
        assert visible_texts(data, "server-log", [end]) == shown, end


def test_responses_belong_to_requests_of_their_kind() -> None:
    streamed, whole = requested(("user", "Stream"), stream=True), requested(("user", "Whole"))
    assert seen(log(streamed + whole + responded("Answer"))) == ["Whole", "Answer", "Stream"]
    assert seen(log(streamed + whole + piece("A ") + piece("piece") + responded("Answer"))) == [
        *("Whole", "Answer"),
        *("Stream", "A piece"),
    ]
    assert seen(log(streamed + piece("One") + streamed + piece("Two", "b"))) == ["Stream", "One", "Two"]
    assert seen(log(piece("One") + piece("Two", "b"))) == ["One", "Two"]
    assert seen(log(responded("Alone"))) == ["Alone"]


def test_an_object_that_cannot_be_read_is_hidden_and_the_log_goes_on() -> None:
    good = requested(("user", "Good")) + responded("Fine")
    for bad in (
        'srv  log_server_r: request:  {"messages":[{"role":"user","content":"SECRET_CUT\n',
        'srv  log_server_r: response: {"choices":[{"message":{"role":"assistant","content":"SECRET_CUT\n',
        '[1] Received request: POST to /v1/chat/completions with body {\n  "messages": [\n',
        "[1][x] Generated prediction: {\n",
    ):
        found = log(bad + good)
        assert seen(found) == ["Good", "Fine"], bad
        assert codes(found) == ["E-STREAM-TRUNCATED/log"], bad
    for other in (
        "response: {}",
        'response: {"error":{"message":"SECRET_FAULT"}}',
        "request:  GET /health",
        "response: [1]",
    ):
        assert seen(log(f"srv  log_server_r: {other}\n{good}")) == ["Good", "Fine"], other


def test_objects_inside_texts_and_wrappers_are_no_records() -> None:
    inner = requested(("user", "SECRET_FORGED")).strip()
    assert seen(log(asked(SYSTEM + user("Hello") + ANSWER) + answered(f"<think>{inner}</think>Hi"))) == ["Hello", "Hi"]
    assert seen(log(requested(("system", inner), ("user", "Hello")) + responded("Hi"))) == ["Hello", "Hi"]
    assert seen(log(json.dumps({"log": f"{inner}\n", "stream": "stderr"}) + "\n")) == []


@pytest.mark.slow
def test_many_requests_as_json_take_linear_time() -> None:
    asked_often = [requested(("user", f"Say {each}"), stream=True) + responded("Ok") for each in range(600)]
    few, many = "".join(asked_often[:100]), "".join(asked_often)
    assert_growth(lambda data: read(data, "server-log"), few.encode(), many.encode(), 12)


def test_several_prompts_or_outputs_in_one_record_of_sglang_are_reported() -> None:
    prompt = 'text="<|im_start|>user\\nHi<|im_end|>\\n<|im_start|>assistant\\n"'
    outputs = "out=[{'text': 'SECRET'}, {'text': 'SECRET', 'meta_info': {'finish_reason': None}}]"
    for record in (
        "Receive: obj=GenerateReqInput(rid=['a', 'b'], text=['SECRET', 'SECRET'], stream=False)",
        f"Finish: obj=GenerateReqInput(rid=['a', 'b'], text=['SECRET', 'SECRET'], stream=False), {outputs}",
        f"Finish: obj=GenerateReqInput(rid='a', {prompt}, stream=False), {outputs}",
    ):
        data = f"[2025-09-01 10:00:00] {record}\n".encode()
        reading = read(data, "server-log")
        assert codes(reading) == ["E-PARSE-HEADER/not-a-message"], record
        assert reading.visible == (False,) and "SECRET" in reading.texts[0]
        assert read_cut(data, "server-log", range(1, len(data))) == reading
