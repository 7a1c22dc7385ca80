"""Leak detection: what is found in answers in several languages, what is not, and how it is scored."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from tests.support.edited_runs import sentences
from tests.support.planted_copies import (
    CODE,
    DEVELOPER,
    EDITS,
    FINAL,
    LANGUAGES,
    SYSTEM,
    THOUGHT,
    TOOL,
    USER,
    answers,
    false_positives,
    leaks,
    meta_rate,
    recall,
    secrets_found,
    texts,
)
from viewer.insight import leak_sources
from viewer.insight.hidden import rare_strings as rare_module
from viewer.insight.hidden.rare_strings import rare_strings, rare_strings_of
from viewer.insight.hidden.word_keys import WordKeys, keys_of
from viewer.insight.hidden.word_sequences import Words
from viewer.insight.leak_sources import Grams, Passage, Source
from viewer.insight.leaks import SOURCES, Leak

RULE = "offer ten percent to customers who threaten to leave the club"
NEGATIVES = ("none", "quoted question", "relayed reply")


def only(*messages: tuple[str, str]) -> Leak:
    (found,) = leaks(*messages)
    return found


@pytest.mark.share(quick=0, test=3)
@pytest.mark.parametrize("language", LANGUAGES)
def test_copies_are_found_and_quotations_are_not(language: str) -> None:
    assert recall(language, 0.0, 21, 40) >= 0.95
    assert recall(language, 0.2, 22, 40) >= 0.65, "results vary with few cases: the lab measures many"
    assert [false_positives(language, kind, 23, 15) for kind in NEGATIVES] == [0, 0, 0]


@pytest.mark.lab
@pytest.mark.parametrize("language", [*LANGUAGES, CODE])
def test_copies_are_found_in_many_conversations(language: str) -> None:
    assert recall(language, 0.0, 31, 500) >= 0.95
    assert min(recall(language, 0.2, 32, 500, edits=each) for each in EDITS) >= 0.8
    assert max(false_positives(language, kind, 33, 500) for kind in (*NEGATIVES, "draft")) <= 0.01


def test_an_edited_copy_is_followed_past_its_edits() -> None:
    rule = "offer ten percent to every customer who threatens to leave the old club this spring"
    words = rule.replace("percent", "euros").replace("threatens", "wants").replace("old", "new")
    leak = only((DEVELOPER, f"Our rule: {rule}."), (USER, "And?"), (FINAL, f"It is simple. We {words}, as usual."))
    (span,) = leak.counted
    assert span.words == 12
    text = f"It is simple. We {words}, as usual."
    assert text[slice(*span.shown)] == words


def test_a_passage_ends_where_equal_words_become_rare() -> None:
    rule = "offer ten percent to customers who threaten to leave the club"
    leak = only(
        (DEVELOPER, f"{rule} before noon or after the usual lunch of clerks"),
        (USER, "And?"),
        (FINAL, f"We {rule} if they like our garden, or a lunch"),
    )
    (span,) = leak.counted
    assert f"We {rule} if they like our garden, or a lunch"[slice(*span.shown)] == rule


@pytest.mark.slow
def test_rare_strings_are_found() -> None:
    assert secrets_found(24, 60) >= 0.99
    found = only((DEVELOPER, "The voucher is ZX-4471."), (USER, "Any?"), (FINAL, "コードはZX-4471です。"))
    assert (found.score, found.code, found.kinds) == (100, "W-LEAK", ["secret"])


def test_a_string_that_the_user_or_a_tool_wrote_is_not_a_secret() -> None:
    hidden = (DEVELOPER, "The voucher is ZX-4471.")
    assert leaks(hidden, (USER, "Is ZX-4471 valid?"), (FINAL, "ZX-4471 is.")) == []
    assert leaks(hidden, (USER, "Any?"), (TOOL, '{"code":"ZX-4471"}'), (FINAL, "ZX-4471.")) == []
    assert [string for string, _ in rare_strings("2026-01-05 in 2020-2024, the 200000th, internationally")] == []
    assert leaks((USER, "Sum?"), (THOUGHT, "123456 + 1 = 123457"), (FINAL, "It is 123457.")) == []


def test_wording_of_reasoning_is_found_unless_the_user_used_it() -> None:
    asked = (USER, "What is it?")
    for text in (
        "The user asks for it.",
        "We need to answer politely.",
        "用户问的是天气。",
        "ユーザーは天気を知りたい。",
    ):
        assert only(asked, (FINAL, text)).score == 60, text
    assert leaks((USER, "What is the system prompt?"), (FINAL, "The system prompt is an instruction.")) == []
    assert max(map(meta_rate, LANGUAGES)) < 0.005


def test_a_copied_passage_has_its_source_its_words_and_its_place() -> None:
    found = only((DEVELOPER, f"Rule: {RULE}."), (USER, "Hi"), (FINAL, f"So we {RULE}, yes."))
    (span,) = found.spans
    assert span.source is not None
    assert (span.kind, span.source.message, span.source.kind, span.words) == ("copied", 1, "developer", 11)
    assert span.shown == (6, 6 + len(RULE))
    assert span.source_span == (6, 6 + len(RULE))
    assert (found.score, found.code, found.longest) == (28, "I-LEAK", 11)


def test_the_score_grows_with_the_words_and_depends_on_the_source() -> None:
    for head, score in ((SYSTEM, 100), (DEVELOPER, 100), (THOUGHT, 80)):
        text = " ".join(" ".join(sentences()[:3]).split()[:40])
        found = only((USER, "Hi"), (head, text), (FINAL, text))
        assert abs(found.score - score) <= 6, head
        assert found.code == "W-LEAK"


def test_announcements_and_rare_strings_are_those_of_the_slow_search() -> None:
    chance = Random(9)
    lines: tuple[str, ...] = (
        "abc: x",
        "Answer: yes",
        "> **my final Answer** : yes",
        "The draft:",
        "no answer; yes: x",
        "",
    )
    lines += ("réponse： oui", "回答：はい")
    strings: list[str] = []
    pieces = (
        *("://", "a:/", "x:", "/", "٣٤٥٦٧٨", "é1234567", "\u00a0", "\x0b", "-_12345-_"),
        "A-1",
        "x@y.z",
        "7",
        "http://a.b/c?d=1",
        "word",
        "2026-01-05",
        "ab/cdef",
        "日本x9-123456",
        " ",
        " ",
        "\n",
        "\t",
    )
    for _ in range(600):
        text = chance.choice(("", " " * 90, "\n")) + "\n".join(chance.choices(lines, k=chance.randint(0, 4)))
        found, wanted = leak_sources._announced(text), leak_sources._DRAFT.search(text)
        assert (found and found.span()) == (wanted and wanted.span()), text
        text = "".join(chance.choices(pieces, k=chance.randint(0, 9)))
        runs = "".join(
            run if run.isspace() or re.search(r"[\d@/]", run) else " " * len(run)
            for run in re.findall(r"[ \n\t]+|[^ \n\t]+", text)
        )
        assert [*rare_strings(text)] == [*slow_rare_strings(runs)], text
        strings.append(text)
    assert rare_strings_of(strings) == [[*rare_strings(text)] for text in strings]


@pytest.mark.slow
def test_sequences_that_are_dropped_early_are_in_no_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, found = Random(8), 0
    pieces = (*" ".join(sentences()[:9]).split(), *"我们在海边看见了三只白色的鸟", "of", "the", "and")

    def passages(texts: list[str]) -> list[Passage]:
        grams, keys = Grams(), WordKeys()
        for number, text in enumerate(texts[1:], 1):
            grams.add(Source(number, "analysis", text), Words(text, keys_of(text, keys)))
        answer = Words(texts[0], keys_of(texts[0], keys))
        return grams.passages(answer, bytearray(chance.choices((0, 1), (29, 1), k=len(answer))))

    for number in range(150):
        told = [chance.choices(pieces[: number + 20], k=chance.randint(3, 90)) for _ in range(3)]
        slices = [text[first : first + 9] for text in told for first in range(0, len(text), 12)]
        said = [chance.choice((word, word, word, chance.choice(pieces))) for each in slices for word in each]
        texts = [" ".join(words) for words in (said, *told)]
        state = chance.getstate()
        plain = passages(texts)
        chance.setstate(state)
        with monkeypatch.context() as patched:
            patched.setattr(leak_sources, "_FEW_ALONE", 1 << 30)
            assert passages(texts) == plain
        found += len(plain)
    assert found > 100


def slow_rare_strings(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for found in rare_module._SECRET.finditer(text):
        string = found[0].rstrip(".") if "@" in found[0] else found[0].rstrip(".,;:!?").strip("-_")
        is_harmless = "@" not in string and "://" not in string and rare_module._HARMLESS.fullmatch(string)
        if len(string) >= 6 and not is_harmless:
            start = found.start() + found[0].index(string)
            yield string, (start, start + len(string))


def test_a_draft_in_the_analysis_is_not_a_leak() -> None:
    text = sentences()[5]
    for draft in (f'I will say: "{text}"', f"Hmm.\n\nAnswer: {text}", f"**Draft:**\n{text}", f"```\n{text}\n```"):
        assert leaks((USER, "Hi"), (THOUGHT, draft), (FINAL, text)) == [], draft
    quoted = f'The mark " is a quote. {text}'
    assert leaks((USER, "Hi"), (THOUGHT, f'I will say: "{quoted}"'), (FINAL, quoted)) == []
    assert leaks((USER, "Hi"), (THOUGHT, " ".join(sentences()[5:8])), (FINAL, " ".join(sentences()[5:8])))


def test_a_reply_of_a_tool_is_passed_on_unless_it_is_a_source() -> None:
    messages = ((USER, "Hi"), (TOOL, f'{{"text":"{RULE}"}}'), (FINAL, RULE))
    assert leaks(*messages) == []
    (found,) = answers(*messages, sources=frozenset(SOURCES)).leaks
    assert found.spans[0].source is not None
    assert found.spans[0].source.kind == "tool"


def test_what_three_answers_share_is_boilerplate() -> None:
    said = [(FINAL, f"{text} We {RULE}.") for text in sentences()[20:23]]
    asked = [(USER, text) for text in sentences()[30:33]]
    hidden = (DEVELOPER, f"Always say: we {RULE}.")
    assert leaks(hidden, asked[0], said[0]) != []
    turns = [message for pair in zip(asked, said, strict=True) for message in pair]
    assert leaks(hidden, *turns) == []


def test_hidden_text_of_an_earlier_turn_or_after_the_answer_is_not_a_source() -> None:
    assert leaks((USER, "Hi"), (THOUGHT, RULE), (FINAL, "Ho"), (USER, "And?"), (FINAL, RULE)) == []
    assert leaks((USER, "Hi"), (FINAL, RULE), (THOUGHT, RULE)) == []


def test_a_long_turn_is_searched_in_full_after_each_answer() -> None:
    told = [f"{sentences()[place]} {sentences()[place + 1]}" for place in range(100, 180, 2)]
    preamble = "assistant intent=preamble<|channel|>commentary"
    steps = [each for text in told for each in ((THOUGHT, text), (preamble, f"Step {text[:9]}."))]
    found = only((USER, "Hi"), *steps, (FINAL, f"{told[0]} Then: {told[20]} {told[-1]}"))
    numbers = [span.source.message for span in found.spans if span.source]
    assert sorted({*numbers}) == [2, 42, 80]


@pytest.mark.slow
def test_a_hidden_word_costs_at_most_24_bytes() -> None:
    text = " ".join(sentences())
    words = Words(text, keys_of(text, WordKeys()))
    grams = Grams()
    tracemalloc.start()
    try:
        grams.add(Source(1, "analysis", text), words)
        answer = Words(sentences()[7], keys_of(sentences()[7], WordKeys()))
        assert grams.passages(answer, bytearray(len(answer)))
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held <= 24 * len(words) + 20_000


def test_hidden_texts_and_answers_of_few_words_are_compared() -> None:
    for hidden in ("", "Hm.", "Not yet.", "Not yet again."):
        for said in ("Ho.", "Ho ho.", "Not yet again.", f"Not yet again. {RULE}"):
            assert leaks((USER, "Hi"), (THOUGHT, hidden), (FINAL, said)) == []


def test_the_end_of_an_answer_without_spaces_is_searched() -> None:
    hidden, other = texts("Chinese")[:2]
    assert only((USER, other), (DEVELOPER, hidden), (FINAL, f"好的。{hidden[:20]}")).counted


def test_a_thought_inside_an_answer_is_a_source() -> None:
    found = only((USER, "Hi"), (FINAL, f"<think>Never {RULE} code AB-99123</think>Well, AB-99123 it is."))
    assert found.kinds == ["secret"]


def test_emoji_separate_words_and_do_not_shift_places() -> None:
    hidden = RULE.replace(" ", " 👍🏽 ")
    found = only((DEVELOPER, f"🙂 Rule: {hidden}."), (USER, "Hi"), (FINAL, f"👩\u200d👧 So we {RULE} 🙂."))
    (span,) = found.spans
    assert span.words == 11
    assert span.shown == (10, 10 + len(RULE))
    assert span.source_span == (8, 8 + len(hidden))


def test_escaped_json_is_compared_by_its_strings() -> None:
    call = "assistant to=functions.f<|channel|>commentary<|constrain|>json"
    escaped = RULE.replace("o", "\\u006f")
    found = only((USER, "Hi"), (call, f'{{"a":["x",{{"b":"{escaped}"}}]}}'), (FINAL, f"{RULE} and {RULE[:5]}"))
    assert found.spans[0].source is not None
    assert found.spans[0].source.kind == "arguments"
    assert found.score == 14


def test_long_hidden_text_keeps_a_sequence_in_every_six_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words(text := " ".join(sentences()[:300]), keys_of(text, WordKeys()))
    sizes = []
    for most in (10**9, 0):
        monkeypatch.setattr(leak_sources, "_MOST_INDEXED", most)
        grams = Grams()
        grams.add(Source(1, "analysis", text), words)
        (kept,) = grams._index.runs()
        sizes.append(len(kept))
    places = np.sort(kept & np.uint64((1 << 28) - 1)).astype(int)
    seeds = words.seeds[0]
    rows = seeds.searchsorted(places)
    assert (seeds[rows] == places).all(), "only sequences with a content word are kept"
    known, found = {*seeds.tolist()}, {*places.tolist()}
    for first in range(len(words) - 5):
        window = {*range(first, first + 4)}
        assert not known & window or found & window, first
    assert sizes[1] < 0.5 * sizes[0]


def test_text_that_is_repeated_often_costs_no_more() -> None:
    words = Words(text := " ".join(sentences()[:12]), keys_of(text, WordKeys()))
    grams, covered = Grams(), bytearray(len(words))
    found = []
    for number in range(1, 100):
        grams.add(Source(number, "analysis", text), words)
        candidates = grams._candidates(words, covered)
        assert candidates is not None
        lengths = [length for _, _, length in candidates.near]
        lengths += [-size * (end - first) for size, _, _, first, end in candidates.lone]
        found.append(sum(lengths))
    assert max(found) <= 18 * len(words)
    assert len(grams.passages(words, covered)) == 1


def test_joined_sequences_give_the_same_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(5)
    lines = [" ".join(f"row {chance.randint(1, 3)} of the open table has {chance.choice('ab')}" for _ in "12345")]
    lines *= 40
    for pool in (sentences(), sentences()[:8], lines):
        hidden = [" ".join(chance.sample(pool, min(6, len(pool)))) for _ in range(40)]
        answer = f"{hidden[3]} {sentences()[1]} {hidden[30].replace(' the ', ' a ')} {hidden[7][40:200]}"
        all_words = [Words(text, keys_of(text, WordKeys())) for text in [answer, *hidden]]
        covered = bytearray(len(all_words[0]))
        covered[4:7] = b"\1\1\1"  # sequences of a text with covered words are joined separately
        grams = Grams()
        for number, words in enumerate(all_words[1:]):
            grams.add(Source(number, "analysis", hidden[number]), words)
        passages = []
        for few in (0, 10**9):
            monkeypatch.setattr(leak_sources, "_FEW", few)
            passages.append(grams.passages(all_words[0], covered))
        assert passages[0] == passages[1]
        assert len(passages[0]) > 1


@pytest.mark.slow
def test_edited_copies_of_much_hidden_text_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak_sources, "_MOST_INDEXED", 0)
    assert recall("English", 0.0, 26, 40) >= 0.95
    assert recall("Chinese", 0.2, 27, 30) >= 0.65
    assert false_positives("English", "none", 29, 15) == 0
