"""Calls, replies, and thoughts in the spelling of every chat template stay hidden in every carrier."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.reading import Reading, read, read_cut, visible_texts
from tests.support.template_cases import CASES, Turns
from viewer.checks.analysis import Analysis
from viewer.cli import run
from viewer.formats import FORMATS, WRITERS
from viewer.formats.tokens.reader import body_of_ids
from viewer.model.messages import Coding, Piece
from viewer.model.visibility import is_user_safe
from viewer.reading.bodies import read_body
from viewer.reading.hidden_spans import shown_so_far
from viewer.reading.parser import Parser
from viewer.reading.template_marks import (
    ADDED_TAGS,
    CALL_TAGS,
    LONGEST_MARK,
    MARK_PAIRS,
    MAY_BE_MARK,
    THINK_TAGS,
)

CALL = '{"name": "look_up", "arguments": {"q": "SECRET_ARG"}}'

ASSISTANT = {
    "qwen think and call": f"<think>\nSECRET_TH\n</think>\n\nPlain words.\n<tool_call>\n{CALL}\n</tool_call>",
    "qwen coder": "Plain words.\n<tool_call>\n<function=look_up>\n<parameter=q>\nSECRET_ARG\n</parameter>"
    "\n</function>\n</tool_call>",
    "hermes two calls": f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{CALL}\n</tool_call>\nPlain words.",
    "hermes broken call": "Plain words.\n<tool_call>\n{'name': SECRET_ARG\n</tool_call>",
    "hermes call without its end": f"Plain words.\n<tool_call>\n{CALL}",
    "nemotron reply in an answer": "<tool_response>\nSECRET_OUT\n</tool_response>\nPlain words.",
    "lfm call": '<|tool_call_start|>[look_up(q="SECRET_ARG")]<|tool_call_end|>Plain words.',
    "lfm reply": "<|tool_response_start|>SECRET_OUT<|tool_response_end|>\nPlain words.",
    "glm": "<think>SECRET_TH</think>\nPlain words.\n<tool_call>look_up\n<arg_key>q</arg_key>\n"
    "<arg_value>SECRET_ARG</arg_value>\n</tool_call>",
    "glm observation": "Plain words.<|observation|>\nSECRET_OUT",
    "kimi": "◁think▷SECRET_TH◁/think▷Plain words.<|tool_calls_section_begin|><|tool_call_begin|>functions.look_up:0"
    '<|tool_call_argument_begin|>{"q":"SECRET_ARG"}<|tool_call_end|><|tool_calls_section_end|>',
    "kimi single": 'Plain words.<|tool_call_begin|>look_up:1<|tool_call_argument_begin|>{"q":"SECRET"}'
    "<|tool_call_end|>",
    "deepseek": "Plain words.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look_up\n```json\n"
    '{"q":"SECRET_ARG"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "deepseek outputs": "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>SECRET_OUT<｜tool▁output▁end｜>"
    "<｜tool▁outputs▁end｜>Plain words.",
    "deepseek prompt-opened": "SECRET_TH one\nSECRET_TH two\n</think>\n\nPlain words.",
    "mistral": '[THINK]SECRET_TH[/THINK]Plain words.[TOOL_CALLS][{"name":"look_up","arguments":{"q":"SECRET_ARG"}}]',
    "mistral results": "[TOOL_RESULTS]SECRET_OUT[/TOOL_RESULTS]Plain words.",
    "gemma": "<|channel>thought\nSECRET_TH<channel|>Plain words.<|tool_call>call:look_up{q:SECRET_ARG}<tool_call|>",
    "gemma reply": "<|tool_response>response:look_up{v:SECRET_OUT}<tool_response|>Plain words.",
    "cohere": "<|START_THINKING|>SECRET_TH<|END_THINKING|>Plain words.<|START_ACTION|>[\n"
    '{"tool_call_id":"0","tool_name":"look_up","parameters":{"q":"SECRET_ARG"}}\n]<|END_ACTION|>',
    "cohere result": '<|START_TOOL_RESULT|>[{"results":"SECRET_OUT"}]<|END_TOOL_RESULT|>Plain words.',
    "phi": f"Plain words.<|tool_call|>[{CALL}]<|/tool_call|>",
    "phi reply": "<|tool_response|>SECRET_OUT<|/tool_response|>Plain words.",
    "llama": 'Plain words.<function=look_up>{"q": "SECRET_ARG"}</function>',
    "llama code": 'Plain words.<|python_tag|>look_up.call(q="SECRET_ARG")',
    "minimax": 'Plain words.\n<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="q">SECRET_ARG'
    "</parameter>\n</invoke>\n</minimax:tool_call>",
    "upper case": "<THINK>SECRET_TH</THINK>Plain words.",
    "attributes": '<think time="3" model="a long name of a model">SECRET_TH</think>Plain words.',
    "thinking": "<thinking>\nSECRET_TH\n</thinking>\nPlain words.",
    "think after a call": f"Plain words. <tool_call>{CALL}</tool_call><think>SECRET_TH</think>",
    "call that quotes think": "<think>I use <tool_call> SECRET</think>Plain words.",
    "reply that ends twice": "<tool_response>SECRET </tool_response> SECRET\n</tool_response>\nPlain words.",
    "reply in a call": "Plain words.\n<tool_call>\n<tool_response>SECRET</tool_response>\nSECRET\n</tool_call>",
    "nested replies": "<tool_response><tool_response>SECRET</tool_response>SECRET</tool_response>Plain words.",
    **{tag: f"<{tag}>\nSECRET_TH\n</{tag}>\nPlain words." for tag in (*THINK_TAGS[2:20], *THINK_TAGS[20::12])},
    "an old tag in capitals": "<Thought>SECRET_TH</Thought>Plain words.",
    "a tag in another": "<reasoning>SECRET_TH <thought>SECRET</thought> SECRET</reasoning>Plain words.",
    "tag without its beginning": "SECRET_TH\n</reasoning>\nPlain words.",
    "open thoughts": "<|begin_of_thought|>\nSECRET_TH\n<|end_of_thought|>\n\nPlain words.",
    "apertus": '<|inner_prefix|>SECRET_TH<|inner_suffix|>Plain words.<|tools_prefix|>[{"f": SECRET}]<|tools_suffix|>',
    "pangu": '[unused16]SECRET_TH[unused17]Plain words.[unused11][{"name": "f", "arguments": SECRET}][unused12]',
    "open webui": '<details type="reasoning" done="true" duration="3">\n<summary>Thought</summary>\n> SECRET_TH\n'
    "</details>\nPlain words.",
    "folded in upper case": "<DETAILS type=reasoning>\nSECRET_TH\n</DETAILS>\nPlain words.",
    "folded in single quotes": "<Details type='reasoning' open>SECRET_TH</Details>Plain words.",
    "open webui call": 'Plain words.\n<details type="tool_calls" name="f" arguments="SECRET">\n</details>',
    "folded after another attribute": '<details done="true" type="reasoning">\nSECRET_TH\n</details>\nPlain words.',
    "folded on lines": "<DeTails\n  done\n  type = 'Reasoning'\n>\nSECRET_TH\n</DETAILS>\nPlain words.",
    "folded with a sign in quotes": '<details title="a > b" type="reasoning">SECRET_TH</details>Plain words.',
    "folded in folded": '<details a="1" type="reasoning">SECRET_TH<details><summary>s</summary>SECRET</details>SECRET'
    "</details>Plain words.",
    "folded with a quoted end": '<details type="reasoning">\n> SECRET_TH\n> </details>\n> SECRET\n</details>\n'
    "Plain words.",
    "folded thought by its summary": "<details>\n<summary>Thought for 3 s</summary>\nSECRET_TH\n</details>\n"
    "Plain words.",
    "folded thought by its class": "<details class='thinking'>SECRET_TH</details>Plain words.",
    "folded and not closed": "Plain words.\n<details a=1 type=reasoning>\nSECRET_TH",
    "folded and escaped": "Plain words.\n&lt;details type=&quot;reasoning&quot;&gt;SECRET_TH&lt;/details&gt;",
    "escaped tag": "&lt;think&gt;SECRET_TH&lt;/think&gt;Plain words.",
    "escaped attributes": "&#60;think a=&quot;b&quot;&#62;SECRET_TH <b> SECRET&#60;/think&#62;Plain words.",
    "tag with a tag in its attributes": 'Plain words.\n<think a="<b>">SECRET_TH',
    "tag on lines": "<think\n>SECRET_TH</think\n>Plain words.",
    "think token": "<|think|>SECRET_TH<|/think|>Plain words.",
    "start and end tokens": "<|start_of_reasoning|>SECRET_TH<|end_of_reasoning|>Plain words.",
    "unused tokens": "<unused94>thought\nSECRET_TH<unused95>Plain words.",
    "brackets in lower case": "[think]SECRET_TH[/think]Plain words.",
    "a word in brackets": "[REASONING]\nSECRET_TH\n[/REASONING]\nPlain words.",
    "a speaker in brackets": "[CRITIC]SECRET_TH[/CRITIC]Plain words.",
    "a heading that is closed": "[Analysis]\nSECRET_TH\n[/Analysis]\nPlain words.",
    "a tag with spaces": "< think >\nSECRET_TH\n< /think >\nPlain words.",
    "a wide tag": "＜think＞SECRET_TH＜/think＞Plain words.",
    "a tag in lenses": "【thinking】SECRET_TH【/thinking】Plain words.",
    "kimi with another word": "◁thinking▷SECRET_TH◁/thinking▷Plain words.",
    "a container": "::: thinking\nSECRET_TH\n:::\nPlain words.",
    "a tag with escapes of JSON": "\\u003cthink\\u003eSECRET_TH\\u003c/think\\u003ePlain words.",
    "claude calls": 'Plain words.\n<function_calls>\n<invoke name="f">SECRET</invoke>\n</function_calls>',
    "claude calls with a namespace": "Plain words.\n<antml:function_calls>SECRET</antml:function_calls>",
    "seed": "<seed:think>SECRET_TH</seed:think>Plain words.<seed:tool_call>SECRET</seed:tool_call>",
    "longcat": "<longcat_think>SECRET_TH</longcat_think>Plain words.<longcat_tool_call>SECRET</longcat_tool_call>",
    "nemotron": "Plain words.<TOOLCALL>[SECRET]</TOOLCALL><TOOL_RESPONSE>[SECRET]</TOOL_RESPONSE>",
    "internlm": "Plain words.<|action_start|><|plugin|>\nSECRET<|action_end|>",
    "deepseek by another name": "Plain words.\n<｜DSML｜tool_calls>\n<｜DSML｜invoke SECRET>\n</｜DSML｜tool_calls>",
    "step call": "Plain words.<｜tool_call_begin｜>function SECRET<｜tool_call_end｜>",
    "step element": "Plain words.\n<steptml:toolcall>SECRET</steptml:toolcall>",
    "function gemma": "Plain words.<start_function_call>call:f{a:SECRET}<end_function_call>",
    "lm studio": "Plain words.\n[TOOL_REQUEST]\nSECRET\n[END_TOOL_REQUEST]",
    "step": "Plain words.<｜tool_calls_begin｜>SECRET<｜tool_calls_end｜>",
    "command action": f"Plain words.\nAction:\n```json\n[{CALL}]\n```",
    "carriage returns": "<tool_response>\r\nSECRET\r\n</tool_response>\r\nPlain words.",
}
USER = {
    "qwen reply": "<tool_response>\nSECRET_OUT\n</tool_response>\nPlain words.",
    "nemotron reply": "<TOOL_RESPONSE>[SECRET]</TOOL_RESPONSE>Plain words.",
    "function gemma reply": "<start_function_response>response:f{a:SECRET}<end_function_response>Plain words.",
    "two replies": "<tool_response>\nSECRET_A\n</tool_response>\n<tool_response>\nSECRET_B\n</tool_response>"
    "\nPlain words.",
    "reply after words": "Plain words.\n<tool_response>\nSECRET\n</tool_response>",
    "reply without its end": "Plain words.\n<tool_response>\nSECRET\n",
    "reply in the middle of a line": "Plain words. <tool_response>SECRET</tool_response>",
    "lfm reply": "<|tool_response_start|>SECRET<|tool_response_end|>Plain words.",
    "mistral results": "[TOOL_RESULTS]SECRET[/TOOL_RESULTS]Plain words.",
    "cohere result": "<|START_TOOL_RESULT|>SECRET<|END_TOOL_RESULT|>Plain words.",
    "reply that ends twice": "<tool_response>SECRET </tool_response> SECRET </tool_response>Plain words.",
    "call": f"<tool_call>{CALL}</tool_call>Plain words.",
}
TEXTS = [*(("assistant", text) for text in ASSISTANT.values()), *(("user", text) for text in USER.values())]


def chatml(role: str, text: str) -> str:
    return f"<|im_start|>user\nHello there.<|im_end|>\n<|im_start|>{role}\n{text}<|im_end|>\n"


def json_messages(role: str, text: str) -> str:
    return json.dumps([{"role": "user", "content": "Hello there."}, {"role": role, "content": text}])


def json_unescaped(role: str, text: str) -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps([{"role": "user", "content": "Hello there."}, message], ensure_ascii=False)


def harmony(role: str, text: str) -> str:
    channel = "<|channel|>final" if role == "assistant" else ""
    return f"<|start|>user<|message|>Hello there.<|end|><|start|>{role}{channel}<|message|>{text}<|end|>"


def openchatml(role: str, text: str) -> str:
    return "version: 2.2\n" + harmony(role, text)


def chatml_json(role: str, text: str) -> str:
    start, message, end = ({"token": f"<|{name}|>"} for name in ("start", "message", "end_message"))
    return json.dumps([start, "user", message, "Hello there.", end, start, role, message, text, end])


def events(role: str, text: str) -> str:
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    lines = [{"type": "response.delta", "message_id": "m", "role": role, "delta": piece} for piece in pieces]
    return "\n".join([*map(json.dumps, lines), '{"type":"response.done"}', ""])


CARRIERS: dict[str, Callable[[str, str], str]] = {
    "openchatml-0.1": chatml,
    "json": json_messages,
    "json-parts": json_unescaped,
    "harmony": harmony,
    "openchatml-2.2": openchatml,
    "chatml-json": chatml_json,
    "events": events,
}
CARRIED = [(carrier, role, text) for carrier in CARRIERS for role, text in TEXTS]
Capture = pytest.CaptureFixture[bytes]


def safe_lines(path: Path, capture: Capture, *options: str) -> list[dict[str, object]]:
    run(["show", "--json", *options, str(path)])
    out, _ = capture.readouterr()
    return [json.loads(line) for line in out.decode().splitlines()]


@each("carrier, role, text", CARRIED, quick=108, test=6)
def test_hidden_text_stays_hidden_and_answers_stay(
    carrier: str, role: str, text: str, tmp_path: Path, capsysbinary: Capture
) -> None:
    if role == "user" and carrier == "events":
        return  # events carry answers
    path = tmp_path / "transcript"
    path.write_bytes(CARRIERS[carrier](role, text).encode())
    lines = safe_lines(path, capsysbinary)
    assert "SECRET" not in json.dumps(lines)
    bodies = [str(line["body"]).strip() for line in lines if line["kind"] == "message"]
    assert "Plain words." in bodies
    if carrier in ("harmony", "openchatml-2.2"):
        assert any(line["kind"] == "diagnostic" for line in lines)
    whole = safe_lines(path, capsysbinary, "--reveal", "all")
    assert "SECRET" in json.dumps(whole)


@each("carrier, role, text", CARRIED, quick=108, test=6)
def test_any_cut_gives_the_same_result(carrier: str, role: str, text: str) -> None:
    data, format = CARRIERS[carrier](role, text).encode(), carrier.removesuffix("-parts")
    whole = read(data, format)
    for size in (1, 3, 16):
        assert read_cut(data, format, range(size, len(data), size)) == whole


def shown_so_far_of(data: bytes, format: str) -> list[str]:
    [shown] = shown_while_growing(data, format, [len(data)])
    return shown


def shown_while_growing(data: bytes, format: str, lengths: Iterable[int]) -> Iterator[list[str]]:
    """Yield the shown texts after each of these lengths, read from one growing input."""
    parser = Parser(FORMATS[format])
    analysis = Analysis(lambda start, end: data[start:end], FORMATS, body_of_ids)
    known: dict[tuple[str, tuple[Piece, ...]], str] = {}
    before = 0
    for length in lengths:
        analysis.apply(parser.feed(data[before:length]))
        before = length
        texts = []
        for message in analysis.index:
            if is_user_safe(message):
                key = (message.header.role, message.pieces)
                if key not in known:
                    body = read_body(message.pieces, lambda start, end: data[start:end], body_of_ids)
                    known[key] = shown_so_far(body, message.header.role, in_json=FORMATS[format].json_content)
                texts.append(known[key])
        yield texts


def assert_never_shown(data: bytes, format: str, lengths: Sequence[int], signs: Sequence[str] = ("SECRET",)) -> None:
    """Check that an input of any of these lengths shows none of the signs, read as it grows. Every ninth length is also
    read in one piece, with the same result."""
    for length, shown in zip(lengths, shown_while_growing(data, format, lengths), strict=True):
        text = "\n".join(shown)
        assert not any(sign in text for sign in signs), data[:length]
        assert length % 9 or shown == shown_so_far_of(data[:length], format), data[:length]


def test_a_mark_inside_the_beginning_of_a_longer_one_waits() -> None:
    data = CARRIERS["openchatml-0.1"]("assistant", 'Plain.\nAction:\n```json\n[{"name": "look_up"}]\n```').encode()
    whole = read(data, "openchatml-0.1")
    assert "functions.look_up" in str(whole.messages)
    assert all(read_cut(data, "openchatml-0.1", [at]) == whole for at in range(1, len(data)))


@each(
    "carrier, role, text",
    [each for each in CARRIED if each[0] in ("openchatml-0.1", "harmony", "openchatml-2.2", "events")],
    quick=240,
    test=32,
)
def test_nothing_hidden_shows_while_the_text_grows(carrier: str, role: str, text: str) -> None:
    if text.startswith("SECRET") or "</tool_response> SECRET" in text:
        return  # only the closing mark reveals that the text was hidden
    data = CARRIERS[carrier](role, text).encode()
    step = 5 if carrier == "events" else 1  # most of its bytes are JSON around the text
    lengths = range(len(text) % step, len(data) + 1, step)
    assert_never_shown(data, carrier, lengths, ("SECRET", "<t", "<|", "[T", "◁", "<f", "<m"))


@each("target", WRITERS, quick=6, test=6)
@each(
    "carrier, role, text",
    [each for each in CARRIED if each[0] in ("openchatml-0.1", "json", "harmony")],
    quick=36,
    test=4,
)
def test_conversions_stay_hidden(
    carrier: str, target: str, role: str, text: str, tmp_path: Path, capsysbinary: Capture
) -> None:
    path, written = tmp_path / "transcript", tmp_path / "written"
    path.write_bytes(CARRIERS[carrier](role, text).encode())
    for options in ((), ("--reveal", "all")):
        run(["convert", "--to", target, *options, str(path)])
        out, err = capsysbinary.readouterr()
        assert options or b"SECRET" not in out
        written.write_bytes(out)
        shown = json.dumps(safe_lines(written, capsysbinary)) if out else ""
        assert "SECRET" not in shown or (options and b"would be shown" in err)


EMBEDDED = {
    "analysis and final": "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
    "stopped": "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>",
    "call": "Hi.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
    '{"k":"SECRET"}<|call|>',
    "prompt-opened": "SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
    "without its first token": "analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
    "reply": "<|start|>functions.f to=assistant<|channel|>commentary<|message|>SECRET<|end|><|start|>assistant"
    "<|channel|>final<|message|>Hi.",
    "another user": "Hi.<|end|><|start|>user<|message|>SECRET<|end|>",
    "unknown channel": "Hi.<|end|><|start|>assistant<|channel|>anaylsis<|message|>SECRET",
    "stripped": "analysisWe need SECRET.assistantfinalHi.",
    "stripped, lower case": "analysiswe need SECRET.assistantfinalHi.",
    "stripped call": 'analysisSECRET.assistantcommentary to=functions.f json{"k":"SECRET"}assistantfinalHi.',
    "template": "Hi.<|im_end|>\n<|im_start|>user\nSECRET",
    "llama frame": "Hi.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nSECRET",
    "no message token": "Hi.<|channel|>analysis SECRET",
    "unknown token": "Hi.<|critic|>SECRET",
    "unknown wide token": "Hi.\n<｜Critic_2｜>SECRET<｜end｜>",
    "tools of mistral": "Hi.[MODEL_SETTINGS]SECRET[/MODEL_SETTINGS]",
}


@each("name", EMBEDDED, quick=16)
@pytest.mark.parametrize("carrier", ["json", "json-parts", "chatml-json", "events"])
def test_control_tokens_in_content_are_read(carrier: str, name: str, tmp_path: Path, capsysbinary: Capture) -> None:
    path = tmp_path / "transcript"
    path.write_bytes(CARRIERS[carrier]("assistant", EMBEDDED[name]).encode())
    lines = safe_lines(path, capsysbinary)
    assert "SECRET" not in json.dumps(lines)
    assert "Hi." in [str(line["body"]).strip() for line in lines if line["kind"] == "message"]
    told = {
        (line["code"], line["reason"]) for line in safe_lines(path, capsysbinary, "--reveal", "all") if "code" in line
    }
    wanted = {
        ("E-PERM-VISIBILITY", "tokens-in-content"),
        ("W-TOKENS-STRIPPED", None),
        ("W-MARKER-IN-BODY", "template"),
    }
    assert told & wanted


@each("name", EMBEDDED, quick=18, test=4)
@pytest.mark.parametrize("target", WRITERS)
def test_conversions_of_control_tokens_stay_hidden(
    name: str, target: str, tmp_path: Path, capsysbinary: Capture
) -> None:
    path, written = tmp_path / "transcript", tmp_path / "written"
    path.write_text(json_messages("assistant", EMBEDDED[name]))
    for options in ((), ("--reveal", "all")):
        run(["convert", "--to", target, *options, str(path)])
        out, err = capsysbinary.readouterr()
        assert options or b"SECRET" not in out
        written.write_bytes(out)
        shown = json.dumps(safe_lines(written, capsysbinary)) if out else ""
        assert "SECRET" not in shown or (options and b"would be shown" in err)


def test_a_token_that_is_quoted_or_begins_nothing_stays_text() -> None:
    shown = ["`<|critic|>`", "```\n<|critic|>\n```", "<|box_start|>4<|box_end|>", "a <|b|> c", "x |> f <| y <|z w|>"]
    for text in [*shown, "<|image_1|> is it.", "<|begin_of_box|>4<|end_of_box|>", "Use '<|critic|>'."]:
        assert visible_texts(json_messages("assistant", text).encode(), "json")[1:] == [text], text
    half = b'[{"role": "assistant", "content": "\\ud83d<think>SECRET</think>Hi."}]'
    assert visible_texts(half, "json")[-1] == "Hi."


@each("name", EMBEDDED)
def test_quoted_tokens_of_a_user_stay_text(name: str, tmp_path: Path, capsysbinary: Capture) -> None:
    path = tmp_path / "transcript.json"
    path.write_text(json_messages("user", EMBEDDED[name]))
    assert EMBEDDED[name] in [line["body"] for line in safe_lines(path, capsysbinary) if line["kind"] == "message"]


def test_a_literal_mark_stays_text(tmp_path: Path, capsysbinary: Capture) -> None:
    text = "<|literal|><tool_call>a</tool_call><think>b</think><|endliteral|>"
    path = tmp_path / "transcript.ocml"
    path.write_text(openchatml("assistant", text) + "\n")
    shown = [str(line["body"]) for line in safe_lines(path, capsysbinary) if line["kind"] == "message"]
    assert text.replace("<|literal|>", "").replace("<|endliteral|>", "") in shown


def calls_of(path: Path, capture: Capture) -> Iterator[tuple[object, object]]:
    for line in safe_lines(path, capture, "--reveal", "all"):
        if line["kind"] == "message" and (line["recipient"] or line["role"] == "tool"):
            yield line["role"], line["recipient"]


@pytest.mark.parametrize("carrier", ["openchatml-0.1", "json"])
@each(
    "name",
    [name for name in ASSISTANT if "SECRET_ARG" in ASSISTANT[name] and "broken" not in name and name[-4:] != "code"],
)
def test_the_tool_of_a_call_is_read(carrier: str, name: str, tmp_path: Path, capsysbinary: Capture) -> None:
    path = tmp_path / "transcript"
    path.write_bytes(CARRIERS[carrier]("assistant", ASSISTANT[name]).encode())
    assert ("assistant", "functions.look_up") in set(calls_of(path, capsysbinary))


def test_calls_and_replies_are_linked_by_order() -> None:
    text = (
        "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n"
        '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>\n'
        '<tool_call>\n{"name": "b", "arguments": {}}\n</tool_call>'
        "<|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"
        "<|im_end|>\n"
        "<|im_start|>assistant\nDone.<|im_end|>\n"
    )
    reading = read(text, "openchatml-0.1")
    assert [message.header.role for message in reading.messages] == [  # type: ignore[attr-defined]
        *("user", "assistant", "assistant", "tool", "tool", "assistant")
    ]
    assert reading.texts == ("q", '{"name": "a", "arguments": {}}', '{"name": "b", "arguments": {}}', "1", "2", "Done.")
    assert not reading.findings
    links = [call.split("(", 1)[1] for call in reading.calls]
    assert len(links) == 2


def test_escapes_of_a_json_string_keep_their_places() -> None:
    content = '\\u003cthink\\u003ea\\n\\u00e9\\u003c/think\\u003e\\n\\"Hi\\" \\ud83d\\ude00 <b>'
    text = '[{"role":"assistant","content":"' + content + '"}]'
    reading = read(text, "json")
    assert reading.texts == ("a\né", '"Hi" 😀 <b>')
    spans = [[text.encode()[piece.start : piece.end] for piece in m.pieces] for m in reading.messages]  # type: ignore[attr-defined]
    assert spans == [[b"a\\n\\u00e9"], [b'\\"Hi\\" \\ud83d\\ude00 <b>']]


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize(
    "text", ["<details><summary>More</summary>Plain.</details>", "<Details open class='a'>\nPlain.\n</Details>"]
)
def test_other_folded_elements_stay_text(carrier: str, text: str, tmp_path: Path, capsysbinary: Capture) -> None:
    path = tmp_path / "transcript"
    path.write_bytes(CARRIERS[carrier]("assistant", text).encode())
    lines = safe_lines(path, capsysbinary)
    assert text in [str(line["body"]).strip() for line in lines if line["kind"] == "message"]
    assert not [line for line in lines if line["kind"] == "diagnostic"]


def test_every_mark_is_found_by_the_prefilter_and_is_short() -> None:
    marks = [
        mark.encode() for pair in MARK_PAIRS for mark in (*pair.opens, *(() if pair.shared_close else pair.closes))
    ]
    assert [mark for mark in marks if not MAY_BE_MARK.search(mark)] == []
    assert LONGEST_MARK <= 32


def test_a_list_of_functions_hides_the_rest_of_an_answer() -> None:
    calls = 'functools[{"name": "f", "arguments": {"a": "SECRET"}}]'
    rows: tuple[tuple[str, list[str]], ...] = (
        ("", []),
        ("Sure. ", ["Sure."]),
        ("Try functools[0]. ", ["Try functools[0]."]),
    )
    for text, seen in rows:
        content = json.dumps(text + calls)
        carriers = {
            "json": f'[{{"role": "assistant", "content": {content}}}]',
            "phi": f"<|user|>Hi<|end|><|assistant|>{text}{calls}<|end|>",
            "openchatml-0.1": f"<|im_start|>assistant\n{text}{calls}<|im_end|>\n",
        }
        for format, carrier in carriers.items():
            reading = read(carrier, format)
            assert [body for body in visible(reading) if body != "Hi"] == seen, format
            assert '{"a": "SECRET"}' in reading.texts[-1], format


def test_a_list_of_functions_hides_while_it_is_streamed() -> None:
    text = 'Sure. functools[{"name": "f", "arguments": {"a": "SECRET"}}]'
    for end in range(1, len(text) + 1):
        shown = shown_so_far(read_body((Piece(0, end, Coding.PLAIN),), lambda a, b: text.encode()[a:b]), "assistant")
        assert "Sure. ".startswith(shown) or shown == "Sure."


def visible(reading: Reading) -> list[str]:
    return [body.strip() for body, shows in zip(reading.texts, reading.visible, strict=True) if shows]


ADDED = (
    ("user", "Plain words.\n<system-reminder>SECRET</system-reminder>\n"),
    ("user", "<System_Reminder at='1'>\nSECRET <b>\n</System_Reminder>Plain words."),
    ("user", "Plain words.<environment_details>SECRET</environment_details>"),
    ("user", "Plain words.\n<environment_context>SECRET"),
    ("assistant", "<plan>\nSECRET\n</plan>Plain words."),
    ("assistant", "Plain words.\n<read_file>\n<path>SECRET</path>\n</read_file>"),
    ("assistant", '<tool_result name="a">SECRET</tool_result>\nPlain words.'),
    ("assistant", "<Invoke name='a'>SECRET</Invoke>\n```xml\n<tool_use>x</tool_use>\n```\nPlain words."),
    ("assistant", "Plain words.\n<search engine='a'>SECRET</search>"),
    ("assistant", "<think>SECRET</think><tool_result>SECRET</tool_result> <read_file>SECRET</read_file>Plain words."),
    ("assistant", "Plain words.\n<tool_use>\n<tool_use>SECRET</tool_use>SECRET\n</tool_use>"),
    ("assistant", "<invoke>SECRET\n<invoke>SECRET</invoke>SECRET</invoke>Plain words."),
    ("assistant", "<tool_result>\nSECRET<tool_call>{}</tool_call>SECRET\n</tool_result>Plain words."),
    ("user", "Plain words.<environment_details><tool_response>SECRET</tool_response>SECRET</environment_details>"),
    ("user", "<info-msg>SECRET<info-msg>SECRET</info-msg>SECRET</info-msg>Plain words."),
    ("assistant", "Plain words.\n<read_file>\n<path>SECRET"),
    ("assistant", "Plain words.\n<invoke name='a'>\nSECRET"),
    ("assistant", "<read_file>\n<execute_bash></read_file>SECRET</execute_bash>Plain words."),
    ("assistant", "<think><invoke name='a'></think>SECRET</Invoke>Plain words."),
    ("assistant", "<tool_call><search></tool_call>SECRET<search>SECRET</search>SECRET</search >Plain words."),
    ("assistant", "Plain words.\u2028<think>SECRET</think>"),
    ("assistant", "Plain words.\x0b<thinking>SECRET</thinking>\x85<reasoning>SECRET</reasoning>"),
    ("assistant", "Plain words.\r<read_file>SECRET</read_file>"),
    ("user", "<info-msg><system_notice></info-msg>SECRET</system_notice>Plain words."),
    ("assistant", "Plain words. <SPECIAL_12>SECRET<tool_call>{}</tool_call>SECRET"),
    ("assistant", "Plain words.\n[unused3]SECRET"),
    ("assistant", "Plain words.\n[CRITIC]\nSECRET\n\nSECRET"),
    ("assistant", "> <think>\n> SECRET\n> </think>\nPlain words."),
    ("assistant", "<|scratchpad|>SECRET<|/scratchpad|>Plain words."),
    ("assistant", "<ai_thinking>SECRET</ai_thinking>Plain words."),
    ("assistant", "&amp;lt;think&amp;gt;SECRET&amp;lt;/think&amp;gt;Plain words."),
    ("assistant", "&#060;think a=b&#062;SECRET&#060;/think&#062;Plain words."),
)
"""Hidden text, with a role that it is hidden in."""
PRINTED = (
    '[{"type":"thinking","thinking":"SECRET"},{"type":"text","text":"Hi."}]',
    "[{'type': 'text', 'text': 'Hi.'}, {'type': 'tool_use', 'input': {'a': 'SECRET'}}]",
    '[{"text":"SECRET","thought":true}]',
    '[{"functionResponse": {"response": "SECRET"}}]',
)
"""Lists of content parts as text."""
MENTIONED = (
    ("user", "What does <system-reminder> mean in it?"),
    ("user", "Is `<system-reminder>` a tag?"),
    ("assistant", "Use the plan:\n<plan> is the file with the plan."),
    ("assistant", '[{"type":"text","text":"Hi."}]'),
    ("assistant", "Write it so:\n```xml\n<tool_use>x</tool_use>\n```"),
    ("assistant", "The elements <tool_use>x</tool_use> and\n<tool_result> hold calls."),
    ("assistant", "[DRAFT]\nDear all,\n[/DRAFT]\nSend it."),
    ("assistant", "The token `<SPECIAL_12>`, and `[unused3]`, and [Critic] is a role.\n```\n[unused3]\n```"),
    ("user", "What does [unused3] mean?"),
    ("user", '[{"type":"hammer","thought":"heavy"}]'),
    ("user", 'Read [{"type":"thinking"}] for me.'),
)
"""Text that only mentions such marks."""


@each("carrier", ["json", "openchatml-0.1", "openchatml-2.2", "harmony", "events"], quick=4)
def test_text_that_an_agent_or_a_program_added_is_hidden(carrier: str) -> None:
    def bodies(role: str, text: str) -> list[str]:
        return [body.strip() for body in visible_texts(CARRIERS[carrier](role, text).encode(), carrier)]

    for role, text in (*ADDED, *((role, text) for role in ("user", "assistant") for text in PRINTED)):
        data = CARRIERS[carrier](role, text).encode()
        shown = "\n".join(shown_so_far_of(data, carrier))
        assert "SECRET" not in shown, text
        assert ("Plain words." in shown) == ("Plain words." in text), text
        first = data.index(b"SECRET") if carrier != "events" else len(data) - 1
        assert_never_shown(data, carrier, range(first, len(data)))
    for role, text in MENTIONED:
        assert text in "\n".join(bodies(role, text)), text


@each("case", CASES, ids=lambda case: case.format, quick=24, batch=100)
def test_marks_inside_an_element_do_not_divide_it_in_any_template(case: Turns) -> None:
    elements = (
        (
            "assistant",
            "Plain words.\n<tool_result a='1'>\nSECRET<tool_call>{}</tool_call>SECRET\n</tool_result>\nMore.",
        ),
        ("assistant", "Plain words.\n<read_file>SECRET\n<think>SECRET</think>SECRET\n</read_file>\nMore."),
        ("assistant", "Plain words.\n<read_file>\nSECRET</think>SECRET\n</read_file>\nMore."),
        ("assistant", "Plain words.\n<tool_use>\n```tool_output\nSECRET\n```\nSECRET\n</tool_use>\nMore."),
        ("user", "Plain words.\n<info-msg>SECRET<tool_response>SECRET</tool_response>SECRET</info-msg>\nMore."),
    )
    crossing = (
        ("assistant", "Plain words.\n<tool_call>{}<read_file></tool_call>SECRET</Read_File>\nMore."),
        ("assistant", "Plain words.\n<think><tool_use></think>SECRET</tool_use>\nMore."),
        ("user", "Plain words.\n<tool_response><info-msg></tool_response>SECRET</info-msg>\nMore."),
    )
    for role, text in (*elements, *crossing):
        if role == "user" and case.format == "hunyuan-moe":
            continue  # a question that contains a reply stays hidden
        said, answered = ("Hi.", text) if role == "assistant" else (text, "Hi.")
        frames = case.user.replace("TEXT", said) + case.answer.replace("TEXT", answered).replace("THOUGHT", "")
        data = (case.begin + frames).encode()
        [shown] = [each for each in shown_so_far_of(data, case.format) if "More." in each]
        left = shown.split()
        if (role, text) in crossing:
            assert left == ["More."], text
            left = ["Plain", "words.", "More."]
        assert left == ["Plain", "words.", "More."] or (left == ["More."] and "SECRET</think>SECRET" in text), text
        assert_never_shown(data, case.format, range(data.index(b"SECRET"), len(data)))
        whole = read(data, case.format)
        assert read_cut(data, case.format, range(1, len(data))) == whole
    answer = case.answer.replace("THOUGHT", "")
    start = "<|extra_0|>" if case.format == "hunyuan-moe" else answer.partition("TEXT")[0] or "[/INST]"
    if case.format == "gigachat":
        return  # its only mark ends the frame before it
    for element in ("<read_file>\n<path>", "<think><tool_use>\n</think><tool_use name='a'>\n"):
        data = (case.begin + case.user + answer.replace("TEXT", element + start + "SECRET")).encode()
        assert "SECRET" not in "".join(visible(read(data, case.format))), data


def test_every_element_is_found_by_the_prefilter() -> None:
    for tag in (*ADDED_TAGS, *CALL_TAGS):
        assert MAY_BE_MARK.search(f"<{tag} a='1'>".encode()), tag


def test_a_short_frame_token_inside_a_word_is_text() -> None:
    for written, left in (
        ("(?P<s>[0-9]+) and set<s> a;", ["(?P<s>[0-9]+) and set<s> a;"]),
        ("Yes.</s><s>[INST] No. [/INST]", ["Yes."]),
        ("Yes. <s>user\nNo.", ["Yes."]),
        ("<s>No.", []),
    ):
        message = json.dumps({"role": "assistant", "content": written})
        assert [text.strip() for text in visible_texts(message.encode(), "json")] == left, written
