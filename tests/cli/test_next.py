"""`ocmlview next`: the debug-only rule, its output formats, and its refusals."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest

from tests.support.next_prompts import from_letters
from tests.support.program import ROOT, run
from viewer.insight.next_prompt import NOTES, POLICIES

SENTENCE = "ocmlview next shows hidden messages; add --reveal all\n"
TEXT = from_letters("UAFUAFU")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.harmony"
    path.write_text(TEXT, "utf-8")
    return path


def test_without_revealing_everything_it_prints_one_sentence(chat: Path, tmp_path: Path) -> None:
    lines: list[list[str]] = [
        [],
        ["--json"],
        ["--reveal", "analysis,tool"],
        ["--policy", "keep", "--text"],
        ["--exit-code"],
    ]
    for options in lines:
        for file in (chat, tmp_path / "missing"):
            result = run("next", *options, file)
            assert (result.code, result.out, result.err) == (2, "", SENTENCE)


def test_the_table_names_every_policy_and_explains_its_notes(chat: Path) -> None:
    result = run("next", "-d", chat)
    assert result.code == 0
    assert result.err == "DEBUG view: these prompts include hidden messages.\n"
    assert all(f"\n{name} " in result.out for name in POLICIES)
    assert "last-final      5/7" in result.out
    assert f"stale-analysis: {NOTES['stale-analysis']}" in result.out
    same = [line.split(": ")[1].split(", ") for line in result.out.splitlines() if line.startswith("same prompt: ")]
    assert any({"keep", "openchatml-2.0"} <= {*names} for names in same)


def test_the_title_says_how_many_policies_refuse(chat: Path) -> None:
    broken = ROOT / "samples" / "broken" / "E-CALL-SCHEMA-missing-argument.3.ocml"
    titles: list[tuple[list[str | Path], str]] = [
        (["-d", broken], f"{len(POLICIES)} policies · {len(POLICIES) - 2} refuse, the others produce the same prompt"),
        (["-d", chat], f"{len(POLICIES)} policies · 3 different prompts"),
        (["-d", "--policy", "keep", chat], "1 policy"),
        (["-d", "--policy", "keep,openchatml-2.0", chat], "2 policies · all produce the same prompt"),
    ]
    for given, title in titles:
        assert run("next", *given).out.splitlines()[0].partition(" · ")[2] == title


def test_text_is_the_exact_prompt(chat: Path) -> None:
    result = run("next", "-d", "--policy", "last-final", "--text", chat)
    assert (result.code, result.err) == (0, "")
    assert (
        result.out
        == from_letters("UAFUAFU")
        .replace("<|start|>assistant<|channel|>analysis<|message|>A2<|end|>", "")
        .replace("<|start|>assistant<|channel|>analysis<|message|>A5<|end|>", "")
        + "<|start|>assistant"
    )


def test_json_has_an_object_for_each_policy_and_a_summary(chat: Path) -> None:
    lines = [
        json.loads(line) for line in run("next", "-d", "--json", "--policy", "keep,last-final", chat).out.splitlines()
    ]
    text = run("next", "-d", "--policy", "last-final", "--text", chat).out
    assert lines[1] == {
        "kind": "next",
        "policy": "last-final",
        "same_as": None,
        "renderer": "harmony",
        "after": 7,
        "kept": [1, 3, 4, 6, 7],
        "dropped": [2, 5],
        "why": {"2": "before-last-final", "5": "before-last-final"},
        "changed": [],
        "refused": None,
        "bytes": len(text),
        "tokens": None,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "cache": {"unit": "bytes", "previous": 234, "shared": 149, "first_difference": 5, "cause": "dropped"},
        "notes": [],
    }
    assert lines[2] == {"kind": "next-summary", "groups": [["keep"], ["last-final"]], "differ": True}


def test_a_refusal_is_data_unless_its_text_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "chat.harmony"
    path.write_text(from_letters("UAPCT"), "utf-8")
    result = run("next", "-d", "--json", path)
    refused = next(line for line in map(json.loads, result.out.splitlines()) if line.get("policy") == "hf-template")
    assert result.code == 0
    assert refused["refused"] == {"number": 3, "reason": "content-and-thinking"}
    assert (refused["bytes"], refused["tokens"], refused["sha256"]) == (None, None, None)
    result = run("next", "-d", "--policy", "hf-template", "--text", path)
    assert (result.code, result.out) == (1, "")
    assert result.err == "ocmlview: hf-template refuses message 3: a message with calls has both content and thinking\n"


def test_exit_code_is_1_if_the_named_policies_differ(chat: Path) -> None:
    assert run("next", "-d", "--exit-code", "--policy", "keep,last-final", chat).code == 1
    assert run("next", "-d", "--exit-code", "--policy", "drop-all,last-final", chat).code == 0
    assert run("next", "-d", chat).code == 0


def test_before_is_what_the_model_had_read_when_it_wrote_a_message(chat: Path) -> None:
    result = run("next", "-d", "--policy", "last-final", "--text", "--before", "6", chat)
    without = TEXT.replace("<|start|>assistant<|channel|>analysis<|message|>A2<|end|>", "")
    assert (
        result.out == without[: without.index("<|start|>assistant<|channel|>final<|message|>F6")] + "<|start|>assistant"
    )
    line = json.loads(run("next", "-d", "--policy", "keep", "--json", "--before", "2", chat).out.splitlines()[0])
    assert (line["after"], line["kept"]) == (1, [1])


def test_an_impossible_request_is_reported_in_one_sentence(chat: Path, tmp_path: Path) -> None:
    (tmp_path / "two.ocml").write_text(
        "version: 2.2\n<|start|>user<|message|>Hi<|end|>\n---\nversion: 2.2\n<|start|>user<|message|>Ho<|end|>\n"
    )
    wrong = {
        ("--text",): "--text needs exactly one --policy.",
        ("--ids", "--policy", "keep"): "--ids needs --vocab FILE.",
        ("--policy", "last-finale"): "no policy last-finale. Did you mean last-final?",
        ("--before", "8"): "No message 8: the last one is 7.",
        ("--before", "4"): "message 4 was not written by the model; --before needs an assistant message",
        ("--before", "0"): "0 is not in the range x>=1",
    }
    for options, sentence in wrong.items():
        result = run("next", "-d", *options, chat)
        assert (result.code, result.out) == (2, ""), options
        assert sentence in result.err
        assert result.err.count("\n") == 1
    result = run("next", "-d", "--policy", "keep", "--text", tmp_path / "two.ocml")
    assert (result.code, result.out) == (2, "")
    assert "has 2 transcripts; choose one" in result.err
    assert run("next", "-d", "--policy", "keep", "--text", f"{tmp_path / 'two.ocml'}:2").out.count("Ho") == 1


def test_each_transcript_has_its_own_prompts(tmp_path: Path) -> None:
    path = tmp_path / "two.ocml"
    path.write_text(
        "version: 2.2\n<|start|>user<|message|>Hi<|end|>\n---\nversion: 2.2\n<|start|>user<|message|>Ho<|end|>\n"
    )
    lines = [json.loads(line) for line in run("next", "-d", "--json", "--policy", "keep", path).out.splitlines()]
    assert [(line["kind"], line["transcript"]) for line in lines] == [
        *(("next", 1), ("next-summary", 1), ("next", 2), ("next-summary", 2))
    ]
    assert [line.get("kept") for line in lines] == [[1], None, [2], None]
    both = run("next", "-d", "--json", "--policy", "keep", path, path).out.splitlines()
    assert [json.loads(line)["file"] for line in both] == [str(path)] * 8


def test_an_empty_file_gives_the_start_of_an_answer() -> None:
    result = run("next", "-d", "--policy", "keep", "--text", "-", stdin="")
    assert (result.code, result.out) == (0, "<|start|>assistant")


def test_a_vocabulary_must_be_one_and_needs_its_package(chat: Path) -> None:
    result = run("next", "-d", "--vocab", chat, chat)
    assert (result.code, result.out) == (2, "")
    if importlib.util.find_spec("tiktoken") is None:
        assert result.err == 'ocmlview: --vocab needs the extra "tokens": pip install "ocmlview[tokens]"\n'
    else:
        assert result.err == f"ocmlview: {chat} is not a vocabulary: each line must be a token in base64 and its ID\n"
