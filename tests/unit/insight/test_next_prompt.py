"""The prompt under each policy: the cases of the reference library, the notes, and the prefix cache."""

from __future__ import annotations

import hashlib
import re
from itertools import takewhile

import pytest
from msgspec.structs import replace

from tests.support.cases import each
from tests.support.next_prompts import (
    ORACLE,
    all_cases,
    cases,
    from_letters,
    history,
    outcomes,
    prompt,
    simulator,
)
from tests.support.samples import Sample, samples
from viewer.formats.tokens.vocabulary import Encoder
from viewer.insight.chat_view import Refusal
from viewer.insight.harmony_prompt import NEXT, sampled_parts
from viewer.insight.next_prompt import NOTES, POLICIES, REFUSALS
from viewer.insight.simulator import Simulator, are_different, groups
from viewer.rules.notes import I_NEXT_AMBIGUOUS

PLAIN = [policy.name for policy in POLICIES.values() if policy.template is None]
TEMPLATES = {"hf-template": "b", "llama.cpp": "b_llamacpp", "vllm-chat": "vllm_chat"}


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def same_beginning(one: str, other: str) -> int:
    """Return the length of the common prefix of two strings."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])


def test_there_are_cases_of_conversations_and_of_edges() -> None:
    found = cases()
    assert sum("transcripts" in case for case in found) > 50
    assert sum("prompts" in case for case in found) > 10


@pytest.mark.slow
def test_every_case_gives_the_prompts_of_the_library() -> None:
    for case in cases():
        for policy, wanted in case.get("prompts", {}).items():
            assert prompt(case["transcript"], policy) == wanted, case["id"]
        for text in case.get("transcripts", ()):
            found = outcomes(text, list(case["policies"]))
            for policy, expected in case["policies"].items():
                outcome = found[policy]
                assert (list(outcome.dropped), outcome.sha256) == (expected["dropped"], expected["sha256"]), case["id"]


@pytest.mark.slow
def test_every_case_gives_the_prompts_and_refusals_of_the_templates() -> None:
    for case in cases():
        for policy, wanted in case.get("templates", {}).items():
            try:
                text = prompt(case["transcripts"][0], policy)
            except Refusal as refusal:
                assert wanted is None, case["id"]
                assert refusal.reason == "content-and-thinking"
            else:
                assert checksum(text[text.index("<|start|>user") :]) == wanted, case["id"]


@pytest.mark.lab
@pytest.mark.skipif(not all_cases(), reason=f"{ORACLE} names no file")
def test_all_cases_give_the_prompts_of_the_library_and_the_templates() -> None:
    for case in all_cases():
        if case["id"].startswith("edge-"):
            if "text" in case["a"] and case["id"] != "edge-unclosed-analysis-then-final":
                assert prompt(case["transcript"], "harmony-0.0.8") == case["a"]["text"], case["id"]
                assert prompt(case["transcript"], "keep") == case["keep"]["text"], case["id"]
            continue
        for spelling in ("transcript", "transcript_sampled", "transcript_ocm22"):
            found = outcomes(case[spelling], list(case["policies"]))
            for policy, wanted in case["policies"].items():
                outcome = found[policy]
                numbers = [list(outcome.kept), list(outcome.dropped)]
                assert numbers == [wanted["kept"], wanted["dropped"]], (case["id"], spelling, policy)
                assert outcome.sha256 == wanted["sha256"], (case["id"], spelling, policy)
        for policy, field in TEMPLATES.items():
            try:
                text = prompt(case["transcript"], policy)
            except Refusal:
                assert "error" in case[field], case["id"]
            else:
                assert text[text.index("<|start|>user") :] == case[field].get("text"), case["id"]


def test_the_cases_find_a_wrong_final() -> None:
    """`harmony-0.0.8` counts from the first final message. If it counted from the last one, some cases would fail."""
    wrong = replace(POLICIES["harmony-0.0.8"], cut=POLICIES["harmony-pr96"].cut)
    conversations = [case for case in cases() if "transcripts" in case]
    different = [
        case
        for case in conversations
        if simulator(case["transcripts"][0]).outcomes([wrong])[0].sha256 != case["policies"]["harmony-0.0.8"]["sha256"]
    ]
    assert different


def test_the_size_and_the_checksum_are_those_of_the_text() -> None:
    text = from_letters("UAFUACTAFU")
    for name, outcome in outcomes(text).items():
        if outcome.refused is None:
            whole = prompt(text, name).encode()
            assert (outcome.bytes, outcome.sha256) == (len(whole), hashlib.sha256(whole).hexdigest())
            assert sorted([*outcome.kept, *outcome.dropped]) == list(range(1, 11))


def test_stale_analysis_stays_before_the_first_final_only() -> None:
    found = outcomes(from_letters("UAFUAFU"))
    dropped = {name: list(found[name].dropped) for name in PLAIN}
    assert dropped == {
        "keep": [],
        "drop-all": [2, 5],
        "harmony-0.0.8": [2],
        "harmony-pr96": [2, 5],
        "last-final": [2, 5],
        "last-user": [2, 5],
        "openchatml-2.2": [2, 5],
        "openchatml-2.0": [],
        "vllm-responses": [2],
    }
    assert "stale-analysis" in found["harmony-0.0.8"].notes
    assert "stale-analysis" not in found["last-final"].notes


def test_a_call_that_waits_for_its_reply_keeps_the_analysis_before_it() -> None:
    found = outcomes(from_letters("UAACF"), ["openchatml-2.2", "last-final"])
    assert list(found["openchatml-2.2"].dropped) == []
    assert list(found["last-final"].dropped) == [2, 3]


@pytest.mark.slow
def test_a_policy_with_the_rule_of_another_one_gives_its_prompt() -> None:
    for case in cases():
        found = outcomes((case.get("transcripts") or [case["transcript"]])[0], PLAIN)
        for name in PLAIN:
            same = POLICIES[name].same_as
            assert same is None or found[name].sha256 == found[same].sha256


NOTED = {
    "UAFXAFU": ("harmony-0.0.8", "stale-analysis"),
    "UXAFU": ("harmony-0.0.8", "final-by-other-role"),
    "UBTAFU": ("last-final", "builtin-vanishes"),
    "UCCTTF": ("hf-template", "second-call-lost"),
    "UPCT": ("hf-template", "preamble-to-analysis"),
    "UCT": ("hf-template", "re-encoded"),
    "UBTF": ("hf-template", "renamed"),
    "UAU": ("hf-template", "empty-final"),
    "UPU": ("hf-template", "to-final"),
}


def test_each_note_appears_where_its_case_occurs() -> None:
    for pattern, (policy, note) in NOTED.items():
        assert note in outcomes(from_letters(pattern), [policy])[policy].notes, pattern
        assert note not in outcomes(from_letters("UF"), [policy])[policy].notes
    texts = {
        "system-as-written": "<|start|>system<|message|>Be brief.<|end|>" + from_letters("U"),
        "open-message": from_letters("U") + "<|start|>assistant<|channel|>analysis<|message|>It",
        "break-out": "<|start|>assistant<|channel|>analysis<|message|>It" + from_letters("FU"),
        "malformed": "<|start|>narrator<|message|>It<|end|>" + from_letters("U"),
        "I-NEXT-AMBIGUOUS": I_NEXT_AMBIGUOUS.example,
        "channels-by-kind": '{"messages": [{"role": "user", "content": "Hi"}]}',
        "left-out": '{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hi"}}\n'
        '{"type":"system","subtype":"api_error","uuid":"u2","sessionId":"s1","content":"Busy","error":{"status":529}}\n',
    }
    for note, text in texts.items():
        assert note in outcomes(text, ["keep"])["keep"].notes, note
    assert {*texts, *(note for _, note in NOTED.values()), "reply-renamed"} == set(NOTES)


def test_a_reply_to_a_second_call_is_attributed_to_the_first_one() -> None:
    calls = "".join(
        f"<|start|>assistant to=functions.{name}<|channel|>commentary json<|message|>{{}}<|call|>" for name in "fg"
    )
    replies = "".join(
        f"<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>x<|end|>" for name in "fg"
    )
    outcome = outcomes(from_letters("U") + calls + replies, ["hf-template"])["hf-template"]
    assert "reply-renamed" in outcome.notes
    assert outcome.why == {3: "second-call-lost"}
    assert [change.number for change in outcome.changed if change.what == "reply-renamed"] == [5]


def test_each_refusal_names_the_message_and_the_reason() -> None:
    refused = {
        "content-and-thinking": (from_letters("UAPC"), 3),
        "reply-without-call": (from_letters("UT"), 2),
        "channel-in-text": (
            "version: 2.2\n<|start|>assistant<|channel|>final<|message|>"
            "<|literal|><|channel|>final<|message|><|endliteral|><|end|>\n",
            1,
        ),
    }
    for reason, (text, number) in refused.items():
        outcome = outcomes(text, ["hf-template"])["hf-template"]
        assert outcome.refused is not None
        assert (outcome.refused.reason, outcome.refused.number) == (reason, number)
        assert (outcome.bytes, outcome.tokens, outcome.sha256, outcome.cache) == (None, None, None, None)
        with pytest.raises(Refusal):
            prompt(text, "hf-template")
    assert {*refused, "needs-channels"} == set(REFUSALS)


def test_a_format_without_channels_has_two_policies() -> None:
    texts = (
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes<|im_end|>\n",
        '[{"token":"<|im_start|>"},"user\\nHi",{"token":"<|im_end|>"}]',
    )
    for text, format in zip(texts, ("openchatml-0.1", "chatml-json"), strict=True):
        found = Simulator(history(text, format)).outcomes(POLICIES.values())
        assert [outcome.policy.name for outcome in found if outcome.refused is None] == ["keep", "drop-all"]
        assert {outcome.refused.reason for outcome in found if outcome.refused} == {"needs-channels"}


def test_an_empty_input_gives_the_start_of_an_answer() -> None:
    for name in POLICIES:
        assert prompt("", name) == NEXT
    assert outcomes("", ["keep"])["keep"].after == 0


def test_the_kind_of_a_record_gives_its_channel() -> None:
    items = [
        '{"type":"message","role":"user","content":"Is it sunny?"}',
        '{"type":"reasoning","id":"r1","summary":[],"content":[{"type":"reasoning_text","text":"Look it up."}]}',
        '{"type":"function_call","call_id":"c1","name":"sky","arguments":"{\\"at\\": 1}"}',
        '{"type":"function_call_output","call_id":"c1","output":"blue"}',
        '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}',
    ]
    text = '{"id":"resp_1","object":"response","status":"completed","output":[' + ",".join(items) + "]}"
    assert prompt(text, "keep") == (
        "<|start|>user<|message|>Is it sunny?<|end|>"
        "<|start|>assistant<|channel|>analysis<|message|>Look it up.<|end|>"
        "<|start|>assistant to=functions.sky<|channel|>commentary <|constrain|>json<|message|>"
        '{"at": 1}<|call|><|start|>functions.sky to=assistant<|channel|>commentary<|message|>blue<|end|>'
        "<|start|>assistant<|channel|>final<|message|>Yes.<|end|><|start|>assistant"
    )
    assert list(outcomes(text, ["last-final"])["last-final"].dropped) == [2]


@pytest.mark.slow
def test_the_cache_is_the_common_beginning_of_the_last_prompt_and_the_next_one() -> None:
    causes = set()
    for pattern in ("UAF", "UAFU", "UAFUAFU", "UACT", "UACTAFU", "UAFUAC", "UAFUACT", "UBTAFU", "UFUAC", "UAU", "U"):
        late = from_letters(pattern).replace(
            " to=functions.f<|channel|>commentary", "<|channel|>commentary to=functions.f"
        )
        for text in (from_letters(pattern), late):
            whole = simulator(text)
            run = whole.history.last_run()
            for outcome in whole.outcomes(POLICIES[name] for name in PLAIN):
                if not run:
                    assert outcome.cache is None
                    continue
                before = Simulator(whole.history.until(run[0])).parts(outcome.policy)
                asked = "".join(part.text for part in before).removesuffix(NEXT)
                answer = "".join(part.text for part in sampled_parts(whole.history, run, is_whole=True))
                shared = same_beginning(asked + answer, prompt(text, outcome.policy.name))
                assert outcome.cache is not None
                assert (outcome.cache.previous, outcome.cache.shared) == (len(asked + answer), shared), pattern
                causes.add(outcome.cache.cause)
    assert causes == {None, "dropped", "restored", "recipient-moved", "return-to-end"}


def marked(text: str) -> list[int]:
    """Encode each control token as one id, and each character as another one, except dots before line breaks."""
    return [*map(ord, re.sub(r"<\|[a-z]+\|>", "\0", text.replace(".\n", "\1")))]


def plain(text: str) -> list[int]:
    return [*map(ord, text.replace(".\n", "\1"))]


ENCODER = Encoder(marked, plain)


def test_tokens_are_counted_with_a_vocabulary() -> None:
    text = from_letters("UAFUAF")
    for outcome in simulator(text, ENCODER).outcomes(POLICIES.values()):
        whole = prompt(text, outcome.policy.name)
        assert outcome.tokens == len(marked(whole))
        assert outcome.cache is None or outcome.cache.unit == "tokens"


def test_a_control_token_in_a_body_is_one_token_only_in_the_text_of_a_template() -> None:
    """openai-harmony encodes bodies as ordinary text. A template yields one string, which a server encodes whole."""
    text = "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final<|message|>a <|endoftext|><|end|>"
    for outcome in simulator(text, ENCODER).outcomes(POLICIES.values()):
        extra = 0 if outcome.policy.renderer == "hf-template" else len("<|endoftext|>") - 1
        assert outcome.tokens == len(marked(prompt(text, outcome.policy.name))) + extra, outcome.policy.name


def test_a_token_may_span_two_messages_that_a_template_joins() -> None:
    head = "<|start|>assistant<|channel|>commentary<|message|>"
    text = f"<|start|>user<|message|>Hi<|end|>{head}One.<|end|>{head}Two.<|end|>"
    for outcome in simulator(text, ENCODER).outcomes(POLICIES.values()):
        assert outcome.tokens == len(marked(prompt(text, outcome.policy.name))), outcome.policy.name


def test_policies_with_equal_prompts_are_one_group() -> None:
    found = list(outcomes(from_letters("UAFU"), ["keep", "drop-all", "last-final"]).values())
    assert groups(found) == [["keep"], ["drop-all", "last-final"]]
    assert are_different(found)
    assert not are_different(found[1:])


@each("sample", samples("valid"), ids=lambda sample: sample.name, quick=80, test=16)
def test_a_sample_has_a_prompt_under_every_policy(sample: Sample) -> None:
    for outcome in Simulator(history(sample.text, sample.format)).outcomes(POLICIES.values()):
        assert (outcome.sha256 is None) == (outcome.refused is not None)
