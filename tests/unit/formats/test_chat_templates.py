"""Chat templates: each frame, mark, and role, whole and in pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.growth import assert_growth
from tests.support.program import run
from tests.support.reading import Reading, codes, read, read_cut, visible_texts
from tests.support.template_cases import CASES, SEEN, Turns
from viewer.formats import detect
from viewer.formats.tables.prompts import prompt_kind
from viewer.formats.text.mark_tokens import MarkTokens
from viewer.formats.text.templates import TEMPLATES
from viewer.model.messages import Kind, Message
from viewer.model.visibility import message_kind
from viewer.reading.cursor import Window

EXAMPLES = Path(__file__).parents[2] / "data" / "formats"
NOTES = {"I-CALL-INFERRED", "I-OPEN-PROMPT"}
KINDS = ["instruction", "said", "said", "said", "thought", "call", "call", "reply", "reply", "said"]


def seen(reading: Reading) -> list[str]:
    return [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def messages(reading: Reading) -> list[Message]:
    return [message for message in reading.messages if isinstance(message, Message)]


def kinds(reading: Reading) -> list[str]:
    return [message_kind(message) for message in messages(reading)]


def of_kind(reading: Reading, kind: str) -> list[str]:
    return [text for text, given in zip(reading.texts, kinds(reading), strict=True) if given == kind]


def chatml(text: str) -> Reading:
    return read(text, "chatml")


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_a_conversation_gives_its_messages(case: Turns) -> None:
    reading = read(case.whole, case.format)
    assert seen(reading) == SEEN
    assert kinds(reading) == [kind for kind in KINDS if case.thought or kind != "thought"]
    assert set(codes(reading)) <= NOTES
    assert reading.strays == ()


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_a_conversation_is_detected(case: Turns) -> None:
    assert detect(case.detected.encode()).format == case.format


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_a_hidden_body_contains_only_its_own_text(case: Turns) -> None:
    reading = read(case.whole, case.format)
    assert of_kind(reading, "instruction") == ["SECRET_SYS"]
    assert of_kind(reading, "thought") == (["SECRET_TH"] if case.thought else [])
    for kind, word in (("call", "SECRET_ARG"), ("reply", "SECRET_OUT")):
        assert [text.count(word) for text in of_kind(reading, kind)] == [1, 1]


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_calls_name_their_tools_and_find_their_replies(case: Turns) -> None:
    reading = read(case.whole, case.format)
    calls = [message for message in messages(reading) if message_kind(message) == "call"]
    assert [message.header.recipient for message in calls] == ["functions.rain", "functions.time"]
    assert len(reading.calls) == 2
    assert not any(code.startswith("W-CALL") for code in codes(reading))


@pytest.mark.slow
@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_reading_byte_by_byte_equals_reading_whole(case: Turns) -> None:
    data = case.whole.encode()
    whole = read(data.decode(), case.format)
    assert read_cut(data, case.format, range(1, len(data))) == whole
    for step in (2, 3, 7, 33):
        assert read_cut(data, case.format, range(step, len(data), step)) == whole


@pytest.mark.slow
@each("case", CASES, ids=lambda case: case.format, batch=64, quick=600, test=4)
def test_no_cut_shows_hidden_text(case: Turns) -> None:
    data = case.whole.encode()
    for end in range(0, len(data), 2):
        reading = read(data[:end].decode("utf-8", "ignore"), case.format)
        assert "SECRET" not in "".join(seen(reading)), data[:end]


@pytest.mark.slow
@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_no_other_template_shows_hidden_text(case: Turns) -> None:
    for format in TEMPLATES:
        assert "SECRET" not in "".join(seen(read(case.whole, format))), format


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_a_prompt_at_the_end_is_noted(case: Turns) -> None:
    prompt = case.begin + case.system + case.user.replace("TEXT", "Hello?") + case.prompt
    for text in (prompt, f"{prompt}<think>\n", f"{prompt}<think>\n\n</think>\n\n"):
        reading = read(text, case.format)
        assert seen(reading) == ["Hello?"]
        assert set(codes(reading)) <= {"I-OPEN-PROMPT", "E-STREAM-TRUNCATED/header"} or case.format == "glm"


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_a_role_of_no_template_is_hidden(case: Turns) -> None:
    template = TEMPLATES[case.format]
    start = next((mark for mark, speaker in template.starts.items() if speaker is None), None)
    if start is None or template.names_tools:
        return
    reading = read(f"{case.begin}{start}critic{template.header_ends[0]}SECRET{template.ends[0]}", case.format)
    assert kinds(reading) == ["unknown"]
    assert codes(reading) == ["E-PARSE-HEADER/role-unknown"]


def test_the_frame_of_an_unknown_speaker_is_hidden_however_it_arrives() -> None:
    glm = "<|user|>\nA <| b |> c<|critic 2|>SECRET<|assistant|>\n<|begin_of_box|>c<|end_of_box|>\nd<|endoftext|>"
    deepseek = "<｜User｜>A ｜ b<｜critic｜>SECRET<｜Assistant｜>c<｜tool▁sep｜>d<｜end▁of▁sentence｜>"
    for text, format, shown in (
        (glm, "glm", ["A <| b |> c", "<|begin_of_box|>c<|end_of_box|>\nd"]),
        (deepseek, "deepseek", ["A ｜ b", "c<｜tool▁sep｜>d"]),
    ):
        reading = read(text, format)
        assert seen(reading) == shown
        assert kinds(reading) == ["said", "unknown", "said"]
        assert codes(reading) == ["E-PARSE-HEADER/role-unknown"]
        data = text.encode()
        for cut in range(1, len(data)):
            assert read_cut(data, format, [cut]) == reading, cut
    for case in CASES:
        known = "<｜critic｜>" if case.format == "deepseek" else "<|critic|>"
        answer = case.answer.replace("TEXT", f"c{known}SECRET").replace("THOUGHT", "")
        asked = case.user.replace("TEXT", "Is <|image|> a token?")
        reading = read(case.begin + asked + answer + asked, case.format)
        assert seen(reading) == ["Is <|image|> a token?", "c", "Is <|image|> a token?"], case.format
        assert "E-PARSE-HEADER/role-unknown" in codes(reading), case.format
        mark = "<｜cri\udcfftic｜>" if case.format == "deepseek" else "<|cri\udcfftic|>"
        text = case.begin + asked + answer.replace(known, mark) + asked
        seen_beside = seen(read_cut(text.encode("utf-8", "surrogateescape"), case.format, ()))
        assert seen_beside[0] == seen_beside[-1] == "Is <|image|> a token?", case.format
    for text, held in (("a < b and c", 0), ("a<|b|>c", 0), ("a <", 1), ("a<|b", 3), ("a<|b|", 4), ("a<｜b", 5)):
        window = Window()
        window.append(text.encode())
        assert MarkTokens({b"<|user|>": "start"}, b"<\\|x").held_back(window) == held, text


def test_the_same_tokens_are_found_however_many_were_searched_before() -> None:
    spelled = dict.fromkeys((b"<s>", b"<|user|>", b"<|think|>x", b"[INST]"), "start")
    for text, name, found in (
        ("a < b [c] f`", None, None),
        ("if a<|b:<|user|>", "start", "<|user|>"),
        ("a<|think|>x", "start", "<|think|>x"),
        ("a<|think|>y", "template", "<|think|>"),
        ("a[INST]<think>", "start", "[INST]"),
        ("<THINK >[INST]", "template", "<THINK"),
        ("<|image|><|critic|><s>", "unknown", "<|critic|>"),
    ):
        window = Window()
        window.append(text.encode())
        tokens = MarkTokens(spelled, rb"<\|(?!image)[a-z]{1,9}\|>")
        (token,) = {tokens.search(window, 0) for _ in range(300)}
        assert (token and token.name) == name, text
        assert not token or window.text(token.start, token.end).decode() == found


def test_a_block_that_a_hidden_frame_leaves_open_hides_what_follows_and_is_reported() -> None:
    frames = {
        "glm": ("<|user|>q", "<|assistant|>", ("<|system|>", "<|observation|>", "<|critic|>"), "<|endoftext|>"),
        "deepseek": ("<｜User｜>q", "<｜Assistant｜>", ("<｜System｜>", "<｜Critic｜>"), "<｜end▁of▁sentence｜>"),
    }
    pairs = [("<think>", "</think>"), ("<tool_call>", "</tool_call>"), ("<tool_response>", "</tool_response>")]
    for format, (user, assistant, hidden, end) in frames.items():
        for start in hidden:
            for opens, closes in [*pairs, ("<|tool_call_start|>", "<|tool_call_end|>"), ("[THINK]", "[/THINK]")]:
                text = f"{user}{start}\nSECRET\n{opens}\nSECRETCLOSE{assistant}\nanswer{end}{user}"
                reading = read(text.replace("CLOSE", ""), format)
                assert seen(reading) == ["q", "q"], text
                assert {"W-MARKER-IN-BODY/nested", "W-END-MISSING"} <= set(codes(reading)), text
                assert codes(read(text.partition("CLOSE")[0], format))[-1] == "E-STREAM-TRUNCATED/body", text
                harmless = [text.replace("CLOSE", f"\n{closes}\n")]
                if start == "<|system|>" or "think" in opens.lower():
                    harmless.append(text.replace("CLOSE", "").replace(f"\n{opens}", f" `{opens}`"))
                for one in harmless:
                    reading = read(one, format)
                    assert seen(reading) == ["q", "answer", "q"], one
                    assert "W-END-MISSING" not in codes(reading), one


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("format", ["chatml", "openchatml-0.1"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_calls_have_the_same_numbers_wherever_the_input_is_cut(format: str, role: str) -> None:
    calls = '<tool_call>\n[{"name": "f", "arguments": {}}, {"x": 1}]\n</tool_call>'
    data = f"<|im_start|>{role}\nhi\n{calls}<".encode()
    whole = read(data.decode(), format)
    for cut in range(1, len(data)):
        assert read_cut(data, format, [cut]) == whole


@pytest.mark.slow
def test_reading_takes_linear_time() -> None:
    turn = "<|im_start|>user\nHi <tool<|im_end|>\n<|im_start|>assistant\n<think>\nx\n</think>\nYes.<|im_end|>\n"
    assert_growth(lambda text: read(text, "chatml"), turn * 300, turn * 600, 2.6)


# Detection.


@each(
    "text, format",
    [
        ("<|im_start|>user\nhi<|im_end|>\n", "openchatml-0.1"),
        ("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n", "chatml"),
        ("<|im_start|>user\n<tool_response>\n", "chatml"),
        ("<|im_start|>user<|im_sep|>hi<|im_end|>", "chatml"),
        ("<|im_start|>assistant\n<|function_call|>{}<|im_end|><think>", "openchatml-0.1"),
        ("<|im_start|>assistant\n<|start_reason|><think><|end_reason|><|im_end|>", "openchatml-0.1"),
        ("[BOS]<|im_start|>user\n<think>", "openchatml-0.1"),
        ("[BOS]<|im_user|>user<|im_middle|>hi<|im_end|>", "kimi-text"),
        ("<|user|>\nhi<|end|>\n<|assistant|>\n", "phi"),
        ("<|user|>\nhi<|assistant|>\n<|observation|>\nx", "glm"),
        ("[INST] hi [/INST] yes</s>", "mistral"),
        ("<start_of_turn>user\nhi<end_of_turn>\n", "gemma"),
        ("<|header_start|>user<|header_end|>\n\nhi<|eot|>", "llama3"),
        ("<|user|>\nhi</s>\n", "zephyr"),
        ("<s><|system|>\nx\n<|user|>\nhi\n<|assistant|>\n", "zephyr"),
        ("<|start_of_role|>user<|end_of_role|>hi", "granite"),
        ("Be brief.<|end_of_turn|>GPT4 Correct User: hi<|end_of_turn|>GPT4 Correct Assistant:", "openchat"),
        ("[|user|]hi\n[|assistant|]", "exaone"),
        ("<role>HUMAN</role>hi<role>ASSISTANT</role>", "ling"),
    ],
)
def test_the_marks_select_the_template(text: str, format: str) -> None:
    assert detect(text.encode()).format == format


@pytest.mark.parametrize(
    "text", ["A [INST] in prose.", "Begin with <|user|> and end with </s>.", "An ordinary text with <s> in it."]
)
def test_marks_that_several_programs_use_select_nothing(text: str) -> None:
    assert detect(text.encode()).confidence == 0


def test_a_text_about_a_template_is_no_transcript() -> None:
    for case in CASES[10:]:
        marks = case.detected
        assert detect(f"# Prompts\n\nThe model reads:\n\n```\n{marks}\n```\n".encode()).confidence == 0, case.format
        assert detect(f'prompt = "{marks}"\n'.encode()).confidence == 0, case.format
        assert prompt_kind(marks) is Kind.UNKNOWN, case.format
    for marks in (
        "<|start_of_role|>user<|end_of_role|>hi<|end_of_text|>",
        "<|user|>\nhi</s>\n<|assistant|>\n",
        "GPT4 Correct User: hi<|end_of_turn|>GPT4 Correct Assistant: hello<|end_of_turn|>GPT4 Correct User: ok",
        "[|user|]hi\n[|assistant|]hello[|endofturn|]",
        "<role>HUMAN</role>hi<role>ASSISTANT</role>",
    ):
        assert detect(f"# Prompts\n\nThe model reads:\n\n```\n{marks}\n```\n".encode()).confidence == 0, marks
        assert detect(f'prompt = "{marks}"\n'.encode()).confidence == 0, marks
    for text in (
        "GPT4 User: is what the table calls it.",
        "<|startoftext|> begins a text.",
        "<s> and <|role_sep|> are tokens.",
        "user<|message_sep|>",
        "<|system|> is a token, like <|userprompt|>.",
    ):
        assert detect(text.encode()).confidence == 0, text


def test_the_header_of_a_frame_may_contain_controls() -> None:
    for header, kind in (
        ('assistant {"length": "long"}', "said"),
        ('document {"document_id": "1"}', "instruction"),
        ("assistant aside", "unknown"),
        ("assistant {not closed", "unknown"),
        ('critic {"length": "long"}', "unknown"),
    ):
        reading = read(f"<|start_of_role|>{header}<|end_of_role|>text<|end_of_text|>", "granite")
        assert kinds(reading) == [kind], header


def test_text_is_hidden_until_it_is_known_who_speaks() -> None:
    for format, data, shown in (
        ("hunyuan-moe", "<|startoftext|>TEXT<|extra_4|>a<|extra_0|>b<|eos|>", ["a", "b"]),
        (
            "hunyuan-moe",
            "<|startoftext|>a<|extra_0|>b<|eos|>TEXT<|extra_0|>c<|eos|>用户：d<|extra_0|>",
            ["a", "b", "c", "d"],
        ),
        ("hunyuan-moe", "<|startoftext|>TEXT", []),
        ("hunyuan-moe", "TEXT<tool_call>TEXT</tool_call>TEXT", []),
        ("hunyuan-moe", "a<|extra_0|>b<|eos|><tool_response>TEXT</tool_response>TEXT<|extra_0|>c<|eos|>", ["b", "c"]),
        ("hunyuan-moe", "<|startoftext|>TEXT<tool_response>TEXT</tool_response><|extra_0|>b<|eos|>", ["b"]),
        ("hunyuan-moe", "<|startoftext|>" + "TEXT" * 180_000 + "<|extra_0|>b<|eos|>", ["b"]),
        ("gigachat", "TEXT<|message_sep|>user<|role_sep|>a<|message_sep|>assistant<|role_sep|>b", ["a", "b"]),
        ("gigachat", "<s>" + "TEXT " * 100 + "<|role_sep|>TEXT<|message_sep|>user<|role_sep|>a", ["a"]),
        (
            "gigachat",
            "user<|role_sep|>a<|message_sep|>" + "TEXT " * 100 + "<|message_sep|>user<|role_sep|>b",
            ["a", "b"],
        ),
        ("gigachat", "user<|role_sep|>a<|message_sep|>user TEXT<|role_sep|>TEXT<|message_sep|>", ["a"]),
        ("gigachat", "user<|role_sep|>a<|message_sep|>function call<|role_sep|>TEXT<|message_sep|>", ["a"]),
        ("apertus", "<|assistant_start|><|tools_prefix|>[]<|tools_suffix|>[TEXT, [TEXT]]a<|assistant_end|>", ["a"]),
        ("apertus", '<|assistant_start|><|tools_prefix|>[]<|tools_suffix|>["TEXT]"]a [b]<|assistant_end|>', ["a [b]"]),
        ("apertus", "<|assistant_start|><|tools_prefix|>[]<|tools_suffix|>\n[TEXT", []),
        ("solar", "<|begin|>assistant<|think|>TEXT<|end|><|begin|>assistant<|content|>a<|flush|>", ["a"]),
        ("solar", "<|begin|>TEXT<|think|>TEXT<|content|>TEXT<|end|>", []),
        ("hunyuan", "<｜hy_User｜><answer>a</answer><｜hy_Assistant｜><answer>b</answer>", ["<answer>a</answer>", "b"]),
    ):
        text = data.replace("TEXT", "SECRET")
        whole = read(text, format)
        assert seen(whole) == shown, data[:100]
        if len(text) < 4096:
            assert read_cut(text.encode(), format, range(1, len(text.encode()))) == whole, data
            for end in range(0, len(text), 1 if len(text) < 300 else 5):
                assert "SECRET" not in "".join(visible_texts(text[:end].encode(), format)), data


def test_the_words_before_a_response_are_a_thought_however_they_arrive() -> None:
    answer = "Here is my thought process:\nSECRET\nHere is my response:\nSaid."
    data = f"<|start_of_role|>assistant<|end_of_role|>{answer}<|end_of_text|>".encode()
    whole = read(data.decode(), "granite")
    assert kinds(whole) == ["thought", "said"]
    assert read_cut(data, "granite", range(1, len(data))) == whole
    for end in range(len(data)):
        assert "SECRET" not in "".join(visible_texts(data[:end], "granite"))


def test_an_unknown_speaker_in_brackets_is_hidden_however_it_arrives() -> None:
    data = b"[|user|]Is [|x| x] one?\n[|critic|]SECRET[|endofturn|][|assistant|]No.[|judge|]SECRET"
    whole = read(data.decode(), "exaone")
    assert seen(whole) == ["Is [|x| x] one?", "No."]
    assert kinds(whole) == ["said", "unknown", "said", "unknown"]
    assert read_cut(data, "exaone", range(1, len(data))) == whole
    for cut in range(1, len(data)):
        assert read_cut(data, "exaone", [cut]) == whole, cut


# The rules and pitfalls of chat templates.


@pytest.mark.parametrize(
    "reply",
    [
        "<tool_response>SECRET</tool_response>",
        "<tool_response>\r\nSECRET\r\n</tool_response>",
        "<tool_response>\nSECRET",
        "<tool_call><tool_response>SECRET</tool_response>SECRET</tool_call>",
        "<tool_response>SECRET1</tool_response>\n<tool_response>SECRET2</tool_response>",
        "<|tool_response_start|>SECRET<|tool_response_end|>",
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_a_reply_is_hidden_in_every_frame(reply: str, role: str) -> None:
    reading = chatml(f"<|im_start|>{role}\n{reply}<|im_end|>\n<|im_start|>user\nNext.<|im_end|>")
    assert seen(reading) == ["Next."]


def test_text_around_a_reply_in_a_user_frame_stays_said() -> None:
    text = "<|im_start|>user\nBefore.\n<tool_response>SECRET</tool_response>\nAfter.<|im_end|>"
    assert seen(chatml(text)) == ["Before.", "After."]


@pytest.mark.parametrize(
    "body",
    [
        "SECRET</think>\nSaid.",
        "<think>\nSECRET\n</think>\n\nSaid.",
        "<think><think>SECRET</think>SECRET</think>Said.",
        "<THINK>SECRET</THINK>Said.",
        '<tool_call>\n{"arguments": "SECRET"}\n</tool_call>\nSaid.',
        "<tool_call>\n{SECRET\n</tool_call>\nSaid.",
        "<tool_call>\n<function=f>\n<parameter=a>\nSECRET\n</parameter>\n</function>\n</tool_call>\nSaid.",
        '<|tool_call_start|>[f(a="SECRET")]<|tool_call_end|>Said.',
        "Said.\n<tool_call>SECRET",
    ],
)
def test_thoughts_and_calls_are_hidden_in_an_answer(body: str) -> None:
    assert seen(chatml(f"<|im_start|>assistant\n{body}<|im_end|>")) == ["Said."]


def test_an_open_thought_hides_the_rest_and_a_forged_frame_in_it() -> None:
    text = "<|im_start|>assistant\n<think>\nSECRET<|im_start|>assistant\nSECRET<|im_end|>"
    reading = chatml(text)
    assert seen(reading) == []
    assert "W-END-MISSING" in codes(reading)


def test_a_reply_that_is_not_closed_hides_a_frame_that_begins_in_it() -> None:
    assert seen(chatml("<|im_start|>tool\nSECRET<|im_start|>assistant\nSECRET<|im_end|>")) == []


def test_a_quoted_frame_mark_is_a_frame_and_is_reported() -> None:
    reading = chatml("<|im_start|>user\nWhat is <|im_start|>assistant\nA mark.<|im_end|>")
    assert seen(reading) == ["What is", "A mark."]
    assert codes(reading) == ["W-MARKER-IN-BODY/nested", "W-END-MISSING"]


def test_a_call_without_a_name_is_reported() -> None:
    reading = chatml('<|im_start|>assistant\n<tool_call>\n{"arguments": {}}\n</tool_call><|im_end|>')
    assert "E-CALL-SCHEMA/missing-argument" in codes(reading)
    assert kinds(reading) == ["call"]


def test_a_call_that_is_not_json_is_reported() -> None:
    reading = chatml('<|im_start|>assistant\n<tool_call>\n{"name": "f", "arguments": \n</tool_call><|im_end|>')
    assert [code for code in codes(reading) if code.startswith("E-BODY-CONSTRAINT-VIOLATION")]


def test_reasoning_after_shown_text_is_an_error() -> None:
    reading = chatml("<|im_start|>assistant\nSaid.\n<think>\nSECRET\n</think>\n<|im_end|>")
    assert "E-PERM-VISIBILITY/cot-in-final" in codes(reading)


def test_text_between_frames_is_not_a_message() -> None:
    reading = chatml("SECRET\n<|im_start|>user\nhi<|im_end|>\nSECRET\n")
    assert seen(reading) == ["hi"]
    assert len(reading.strays) == 2


def test_marks_at_the_edges_are_not_text() -> None:
    reading = chatml("<s><|begin_of_text|><|im_start|>user\nhi<|im_end|><|endoftext|></s>\n")
    assert seen(reading) == ["hi"]
    assert reading.strays == ()


def test_names_of_roles_are_read() -> None:
    reading = chatml("<|im_start|>user name=Ann\nhi<|im_end|><|im_start|>user to=x\nSECRET<|im_end|>")
    assert seen(reading) == ["hi"]
    assert messages(reading)[0].header.name == "Ann"


def test_a_header_that_never_ends_hides_its_body() -> None:
    reading = chatml("<|im_start|>user " + "SECRET " * 60 + "\nSECRET<|im_end|>")
    assert seen(reading) == []


TOOLS = (
    "Given the following functions, please respond with a JSON for a function call with its proper arguments that best "
    'answers the given prompt.\n\nRespond in the format {"name": function name, "parameters": values}. Do not use '
    'variables.\n\n{\n    "type": "function",\n    "function": {\n        "name": "SECRET_TOOL"\n    }\n}\n\n'
)


def llama_user(text: str) -> str:
    return f"<|start_header_id|>user<|end_header_id|>\n\n{text}<|eot_id|>"


def llama_answer(text: str) -> str:
    return f"<|start_header_id|>assistant<|end_header_id|>\n\n{text}<|eot_id|>"


def test_llama_tools_before_the_words_of_the_user_are_injected() -> None:
    reading = read(llama_user(f"{TOOLS}How warm is it?"), "llama3")
    assert kinds(reading) == ["injected", "said"]
    assert seen(reading) == ["How warm is it?"]
    assert seen(read(llama_user(TOOLS.replace('"name"', '"x"') + "SECRET"), "llama3")) == []


def test_a_llama_answer_that_is_a_call_is_hidden() -> None:
    for body in (
        '{"name": "f", "parameters": {"a": "SECRET"}}',
        '{"name": "f", "arguments": {"a": "SECRET"}}',
        '{"name": "f", "parameters": {"a": "SECRET"',
        '<|python_tag|>f.call(a="SECRET")',
        '<function=f>{"a": "SECRET"}</function>',
        '<|python_start|>[f(a="SECRET")]<|python_end|>',
        '>>>f\n{"a": "SECRET"}',
    ):
        reading = read(llama_answer(body), "llama3")
        assert seen(reading) == [], body
        assert set(kinds(reading)) == {"call"}


def test_a_llama_answer_that_is_other_json_is_said() -> None:
    assert seen(read(llama_answer('{"answer": 4}'), "llama3")) == ['{"answer": 4}']
    assert seen(read(llama_answer(">>>all\nHi."), "llama3")) == ["Hi."]
    assert seen(read(llama_answer('>>>all\nHi.>>>f\n{"a": "SECRET"}>>>f\n{}'), "llama3")) == ["Hi."]


def test_lookalikes_of_deepseek_marks_are_reported() -> None:
    reading = read("<｜User｜>What is <|Assistant|> for?<｜Assistant｜>Text.<｜end▁of▁sentence｜>", "deepseek")
    assert seen(reading) == ["What is <|Assistant|> for?", "Text."]
    assert codes(reading) == ["W-MARKER-IN-BODY/nested"]


def test_deepseek_function_results_are_hidden() -> None:
    text = (
        '<｜User｜>hi<｜Assistant｜></think>\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\nSECRET\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls><｜end▁of▁sentence｜>\n\n<function_results>\n<result>SECRET</result>\n"
        "</function_results>\n\n<think>SECRET</think>Done.<｜end▁of▁sentence｜>"
    )
    reading = read(text, "deepseek")
    assert seen(reading) == ["hi", "Done."]
    assert kinds(reading) == ["said", "call", "reply", "thought", "said"]


def test_text_after_an_answer_of_deepseek_is_not_a_message() -> None:
    reading = read("<｜User｜>hi<｜Assistant｜>yes<｜end▁of▁sentence｜>SECRET", "deepseek")
    assert seen(reading) == ["hi", "yes"]


def test_a_fenced_output_of_gemma_is_hidden() -> None:
    text = "<start_of_turn>user\n```tool_output\nSECRET\n```\nAnd now?<end_of_turn>\n"
    reading = read(text, "gemma")
    assert seen(reading) == ["And now?"]
    assert kinds(reading) == ["reply", "said"]
    assert seen(read(text.replace("```\nAnd", "And"), "gemma")) == []
    assert seen(read("<start_of_turn>model\nHi.<end_of_turn>\n", "gemma")) == ["Hi."]


def test_a_named_call_of_glm_is_hidden() -> None:
    reading = read('[gMASK]<sop><|user|>\nhi<|assistant|>rain\n{"at": "SECRET"}<|observation|>\nSECRET', "glm")
    assert seen(reading) == ["hi"]
    assert kinds(reading) == ["said", "call", "reply"]
    assert seen(read("[gMASK]<sop><|user|>hi<|assistant|>Yes\nindeed", "glm")) == ["hi", "Yes\nindeed"]


def test_an_action_of_cohere_is_hidden() -> None:
    text = "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>BODY<|END_OF_TURN_TOKEN|>"
    action = 'Action:```json\n[{"tool_name": "f", "parameters": {"a": "SECRET"}}]```'
    assert seen(read(text.replace("BODY", action), "cohere")) == []
    spoken = "<|START_RESPONSE|>Hi.<|END_RESPONSE|>"
    assert seen(read(text.replace("BODY", spoken), "cohere")) == ["Hi."]


def test_a_system_text_in_a_mistral_instruction_is_hidden() -> None:
    text = "<s>[INST] <<SYS>>\nSECRET\n<</SYS>>\n\nhi [/INST] Yes.</s>[AVAILABLE_TOOLS]SECRET[/AVAILABLE_TOOLS]"
    assert seen(read(text, "mistral")) == ["hi", "Yes."]


def test_a_mark_quoted_in_a_system_text_of_mistral_shows_nothing() -> None:
    for begin, end in (("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"), ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]")):
        for quoted in ("[INST]", "[/INST]", "[INST] <<SYS>>", "[/INST] <</SYS>>"):
            text = f"<s>{begin}Use {quoted} SECRET{end}[INST]hi[/INST]Yes.</s>"
            assert "SECRET" not in "".join(seen(read(text, "mistral"))), text


def test_every_kimi_frame_of_the_system_is_hidden() -> None:
    for word in ("system", "tool", "tool_declare", "user", "anything"):
        assert seen(read(f"<|im_system|>{word}<|im_middle|>SECRET<|im_end|>", "kimi-text")) == []


def test_text_around_minimax_responses_is_kept() -> None:
    reading = read("]~b]tool\nSECRET1<response>SECRET2</response>SECRET3[e~[", "minimax")
    assert of_kind(reading, "reply") == ["SECRET1", "SECRET2", "SECRET3"]


def test_an_empty_result_still_answers_its_call() -> None:
    reading = chatml(
        '<|im_start|>assistant\n<tool_call>\n{"name": "f"}\n</tool_call><|im_end|>\n<|im_start|>tool\n<|im_end|>'
    )
    assert kinds(reading) == ["call", "reply"]
    assert "W-CALL-UNANSWERED" not in codes(reading)


@each("case", CASES, ids=lambda case: case.format, batch=64, quick=8)
def test_the_program_shows_the_conversation(case: Turns, tmp_path: object) -> None:
    done = run("show", "--json", "-", stdin=case.detected)
    assert "SECRET" not in done.out + done.err
    revealed = run("show", "--json", "--reveal", "all", "--format", case.format, "-", stdin=case.whole).out
    for word in ("SECRET_SYS", "SECRET_ARG1", "SECRET_ARG2", "SECRET_OUT1", "SECRET_OUT2"):
        assert word in revealed


@pytest.mark.slow
def test_no_example_of_another_format_shows_hidden_text() -> None:
    paths = [path for path in sorted(EXAMPLES.iterdir()) if not path.name.endswith(".seen.json")]
    assert len(paths) > 20
    for path in paths:
        for format in TEMPLATES:
            assert "SECRET_" not in "".join(seen(read(path.read_text("utf-8"), format))), (path.name, format)


def test_a_mark_of_an_unknown_speaker_in_ascii_hides_the_rest_of_a_deepseek_answer() -> None:
    data = (
        "<｜User｜>Is <|critic|> a role?<｜Assistant｜>Yes.<|critic|>SECRET<｜end▁of▁sentence｜><｜User｜>Why?".encode()
    )
    whole = read(data, "deepseek")
    shown = [text for text, shows in zip(whole.texts, whole.visible, strict=True) if shows]
    assert shown == ["Is <|critic|> a role?", "Yes.", "Why?"]
    assert read_cut(data, "deepseek", range(1, len(data))) == whole
