"""Write OpenChatML 0.1: canonical text is unchanged, losses are reported, and hidden text stays hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.openchatml_0_1_reading import FRAGMENTS, Text, body_of, messages_of, read, texts
from tests.support.program import run
from viewer.errors import ViewerError
from viewer.formats.openchatml_0_1.writer import write_openchatml_0_1
from viewer.model.visibility import is_user_safe

CANONICAL = [
    "[BOS]<|im_start|>user name=Eric\nHello\n\n there.<|im_end|>\n<|im_start|>assistant\nHi.<|im_end|>[EOS]\n",
    "[BOS]<|im_start|>system\nTools:<|reason|>\n<|function_list|>\n{}<|im_end|>\n<|im_start|>user\nq<|im_end|>\n"
    "<|im_start|>assistant name=A\n<|start_reflect|>a\n<|end_reflect|>\n<|start_reason|><|end_reason|>\n\n  Yes.\n"
    '<|function_call|>\n{"arguments": {}, "name": "f"}\n<|function_call|>\n{"name": "python"}<|im_end|>\n'
    '<|im_start|>tool\n<|function_output|>\n{"name": "f"}\n<|function_output|>\n{"name": "python"}<|im_end|>\n'
    '<|im_start|>tool name=g\n<|function_output|>\n{"name": "f"}<|im_end|>\n<|im_start|>tool name=g\nok<|im_end|>\n'
    "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
    "<|im_start|>assistant mood=good\nC<|im_end|>[EOS]\n[BOS]<|im_start|>user\nq<|im_end|>[EOS]\n",
    "[BOS]<|im_start|>assistant\n<|function_call|>\n{}<|im_end|>\n<|im_start|>assistant\nB<|im_end|>[EOS]\n",
    "[BOS]<|im_start|>tool name=g\n<|function_output|>\n{}<|im_end|>[EOS]\n",
    "[BOS]<|fim_prefix|>a <|fim_middle|><|fim_suffix|> c[EOS]\n",
    "[BOS]<|fim_prefix|>a<|fim_middle|>b\n<|fim_suffix|>\nc\n<|im_start|>user\nq<|im_end|>[EOS]\n",
    "[BOS]<|file_separator|>\n  a\n<|file_separator|>\n<|file_separator|>\nb\n<|file_separator|>\n"
    "<|fim_prefix|>x<|fim_middle|>y<|fim_suffix|>z\n<|file_separator|>\nc\n<|fim_prefix|>d[EOS]\n",
    "[BOS]<|fim_prefix|>a<|fim_middle|><|fim_suffix|>\nc\n<|file_separator|>\nb[EOS]\n",
    "",
]


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_text_is_written_as_it_was_read(text: str) -> None:
    assert write_openchatml_0_1(texts(text.encode())) == (text, [])


EMPTY_PIECES = [
    ("<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", 1),
    ("<|fim_prefix|><|fim_middle|><|fim_suffix|>b", 2),
    ("<|fim_prefix|>a<|fim_middle|> <|fim_suffix|>b", 0),
    ("<|fim_prefix|>a<|fim_middle|>x<|fim_suffix|>\n[EOS]", 1),
]


@pytest.mark.parametrize(("text", "count"), EMPTY_PIECES)
def test_a_conversion_lists_the_empty_pieces_of_a_fill_in(text: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "fill-in"
    file.write_text(text, encoding="utf-8")
    result = run("convert", "--to", "openchatml-0.1", file)
    runs = {
        0: "",
        1: "1 run of text outside any message omitted.\n",
        2: "2 runs of text outside any message omitted.\n",
    }
    assert result.err == runs[count]
    assert not run("check", "--strict", file).code


def test_calls_and_replies_of_other_formats_get_their_envelopes() -> None:
    call = Text(
        recipient="functions.f",
        channel="commentary",
        channel_given="commentary",
        content_type="json",
        constrained=True,
        ending="call",
        call_id="c1",
        body='{"a": 1}',
    )
    reply = Text(
        role="tool", name="functions.f", content_type="text", channel_given="commentary", call_id="c1", body='"'
    )
    text, lost = write_openchatml_0_1([call, reply])
    assert text == (
        '[BOS]<|im_start|>assistant\n<|function_call|>\n{"arguments": {"a": 1}, "name": "f"}<|im_end|>\n'
        '<|im_start|>tool\n<|function_output|>\n{"name": "f", "content": "\\""}<|im_end|>[EOS]\n'
    )
    assert lost == [
        "2 messages: call IDs have no equivalent and were dropped.",
        "1 message: the content type has no equivalent and was dropped.",
    ]
    again = texts(text.encode())
    assert [message.recipient or message.name for message in again] == ["functions.f", "functions.f"]


def test_hidden_messages_stay_hidden_when_written() -> None:
    hidden = [
        Text(channel="analysis", channel_given="analysis", body="a"),
        Text(channel="analysis", channel_given="analysis", intent="summary", body="b"),
        Text(channel="commentary", channel_given="commentary", body="c"),
        Text(channel=None, channel_given="anaylsis", body="d"),
        Text(intent="debug", body="e"),
        Text(recipient="all", body="f"),
        Text(role="developer", body="g"),
        Text(role="user", recipient="functions.x", body="h"),
    ]
    text, lost = write_openchatml_0_1(hidden)
    messages = messages_of(read(text.encode()))
    assert [body_of(message, text.encode()) for message in messages] == list("abcdefgh")
    assert not [message for message in messages if is_user_safe(message)]
    assert lost == [
        "1 message: the role developer was written as system.",
        "4 messages: content other than answers, analyses, and calls became a reason block, so it stays hidden.",
        "1 message: an analysis without a kind became a reason block.",
        "2 messages: the channel has no equivalent and was dropped.",
        "2 messages: the intent has no equivalent and was dropped.",
        "1 message: the recipient has no equivalent and was dropped.",
        "1 message: the recipient or intent became an attribute that OpenChatML 0.1 does not define.",
    ]


def test_a_preamble_is_written_as_plain_text_and_listed() -> None:
    preamble = Text(channel="commentary", channel_given="commentary", intent="preamble", ending="return", body="Wait ")
    text, lost = write_openchatml_0_1([preamble])
    assert text == "[BOS]<|im_start|>assistant\nWait <|im_end|>[EOS]\n"
    assert lost == [
        "1 message: a preamble became plain assistant text.",
        "1 message: its ending (returned, unfinished, or cut off) has no equivalent.",
        "1 message: whitespace at either end of the body is lost when the file is read again.",
    ]


@pytest.mark.parametrize(
    "message",
    [
        Text(number=7, body="a<|im_end|>b"),
        Text(number=7, body="<|end_reason|>"),
        Text(number=7, role="user", body="<|im_start|>"),
        Text(number=7, role="user", name="file 1", body="<|file_separator|>"),
        Text(number=7, role="user", name="Eric the Red"),
        Text(number=7, role="user", name="<b>"),
        Text(number=7, role="user", name="file 999999999"),
    ],
)
def test_unwritable_content_is_refused_in_one_sentence_without_quoting_it(message: Text) -> None:
    with pytest.raises(ViewerError, match=r"^Message 7 [a-zA-Z0-9., ]+\.$"):
        write_openchatml_0_1([message])


@pytest.mark.parametrize("value", ["b c", "b<", "b\x1b"])
def test_a_field_that_cannot_be_written_is_left_out_and_listed(value: str) -> None:
    text, lost = write_openchatml_0_1([Text(number=7, role="user", body="Hi", extra={"a": value, "d": "e"})])
    assert text == "[BOS]<|im_start|>user d=e\nHi<|im_end|>[EOS]\n"
    assert lost == ["1 message: a field with whitespace, `<`, or control characters was dropped."]


def test_marks_without_meaning_for_a_role_are_written() -> None:
    text, lost = write_openchatml_0_1([Text(role="user", body="<|function_call|>[EOS]")])
    assert (text, lost) == ("[BOS]<|im_start|>user\n<|function_call|>[EOS]<|im_end|>[EOS]\n", [])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_written_text_is_stable(text: str) -> None:
    """Text that was written once does not change when it is read and written again."""
    try:
        once, _ = write_openchatml_0_1(texts(text.encode()))
        twice, lost = write_openchatml_0_1(texts(once.encode()))
        assert write_openchatml_0_1(texts(twice.encode())) == (twice, lost)
    except ViewerError:
        return
