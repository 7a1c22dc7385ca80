"""Each command as a process: its output, and what it hides."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.program import BROKEN, CHAT, run
from viewer.cli import COMMANDS
from viewer.formats import FORMATS, WRITERS
from viewer.rules import RULES

SECRETS = ("plums", "Be brief", "functions.weather", "c1", "city")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT)
    return path


class TestShow:
    def test_the_safe_view_is_the_conversation(self, chat: Path) -> None:
        out = run("show", chat).out
        assert "▌ User\n▌ Is it warm in Tokyo?\n" in out
        assert "┄ 3 hidden ┄" in out
        assert not [secret for secret in SECRETS if secret in out]

    def test_strict_safe_does_not_even_count_hidden_messages(self, chat: Path) -> None:
        assert "hidden" not in run("show", "--strict-safe", chat).out

    def test_strict_safe_does_not_tell_hidden_from_nothing(self) -> None:
        hidden = CHAT.split("<|start|>user")[0]
        results = [run("show", "--strict-safe", "-", stdin=text) for text in (hidden, "version: 2.2\n")]
        assert results[0] == results[1]

    def test_only_what_is_named_is_revealed(self, chat: Path) -> None:
        out = run("show", "--reveal", "analysis", chat).out
        assert "plums" in out
        assert "city" not in out
        assert "Be brief" not in out

    def test_debug_reveals_all_and_says_so_on_stderr(self, chat: Path) -> None:
        result = run("show", "-d", chat)
        assert all(secret in result.out for secret in SECRETS)
        assert result.err.startswith("DEBUG view")
        assert "DEBUG" not in result.out

    def test_no_variable_reveals_anything(self, chat: Path) -> None:
        names = ("OCMLVIEW_REVEAL", "OCMLVIEW_DEBUG", "OCMLVIEW_SHOW_REVEAL", "DEBUG")
        assert "plums" not in run("show", chat, **dict.fromkeys(names, "all")).out

    def test_json_lines(self, chat: Path) -> None:
        lines = [json.loads(line) for line in run("show", "--json", chat).out.splitlines()]
        assert [line["kind"] for line in lines] == ["transcript", "message", "message"]
        assert [line["number"] for line in lines[1:]] == [2, 6]
        everything = [json.loads(line) for line in run("show", "--json", "-d", chat).out.splitlines()]
        assert [line["kind"] for line in everything].count("message") == 6
        assert everything[-1]["kind"] == "call"

    def test_output_names_each_of_several_files(self, chat: Path) -> None:
        assert run("show", chat, chat).out.count(f"━━ {chat} ━") == 2
        assert {json.loads(line)["file"] for line in run("show", "--json", chat, chat).out.splitlines()} == {str(chat)}

    def test_standard_input_and_files_can_be_mixed(self, chat: Path) -> None:
        assert run("show", chat, "-", stdin=CHAT).out.count("Yes, it is.") == 2

    def test_color_is_used_on_terminals_and_on_request(self, chat: Path) -> None:
        assert "\x1b" not in run("show", chat).out
        assert "\x1b[" in run("show", "--color", "always", chat).out
        assert "\x1b" not in run("show", "--color", "never", chat).out

    def test_terminals_with_other_encodings_get_ascii(self, chat: Path) -> None:
        assert run("show", chat, PYTHONIOENCODING="latin-1").out.isascii()
        assert run("show", "--ascii", chat).out.isascii()

    @pytest.mark.slow
    @pytest.mark.parametrize("locale", ["en_US.UTF-8", "C.UTF-8", "C"])
    def test_broken_characters_do_not_crash_strict_output(self, locale: str) -> None:
        text = json.dumps({"role": "user", "content": "a\ud800b\udfff"})
        for arguments in (["show"], ["show", "--json"]):
            result = run(*arguments, "-", stdin=text, LC_ALL=locale, PYTHONIOENCODING="utf-8:strict")
            assert result.code == 0
            assert "a" in result.out


class TestCheck:
    def test_safe_problems_have_positions_and_sentences_but_no_text(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.ocml"
        path.write_text(BROKEN)
        out = run("check", path).out
        assert re.search(r"broken\.ocml:3:\d+: error: Unknown channel \[E-PARSE-HEADER/channel-unknown\]\n", out)
        assert "1 error" in out.splitlines()[-1]
        assert "anaylsis" not in out
        assert "plums" not in out

    def test_the_line_is_quoted_if_everything_is_revealed(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.ocml"
        path.write_text(BROKEN)
        result = run("check", "--reveal", "all", path)
        quoted, carets = result.out.splitlines()[1:3]
        assert quoted[carets.index("^") :].startswith("anaylsis")
        assert carets.endswith("^~~~~~~~")
        assert "anaylsis" not in run("check", "--reveal", "analysis", path).out

    @pytest.mark.parametrize("form", [[], ["--json"], ["--sarif"], ["--github"]])
    def test_hidden_bodies_of_equal_length_give_the_same_output(self, form: list[str]) -> None:
        outs = {run("check", *form, "-", stdin=BROKEN.replace("plums", fruit)).out for fruit in ("plums", "limes")}
        assert len(outs) == 1
        assert outs != {""}

    def test_json_ends_with_a_summary(self) -> None:
        lines = [json.loads(line) for line in run("check", "--json", "-", stdin=BROKEN).out.splitlines()]
        assert lines[-1] == {"kind": "summary", "errors": 1, "warnings": 0, "messages": 2, "transcripts": 1}
        assert lines[0]["code"] == "E-PARSE-HEADER"

    def test_sarif_is_one_document_over_all_files(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).write_text(BROKEN)
        log = json.loads(run("check", "--sarif", tmp_path / "a", tmp_path / "b").out)
        assert len(log["runs"][0]["results"]) == 2

    def test_a_clean_transcript(self, chat: Path) -> None:
        result = run("check", chat)
        assert (result.code, result.out) == (0, "No problems in 6 messages.\n")


class TestExplain:
    @pytest.mark.parametrize("asked", ["E-CALL-SCHEMA", "e-call-schema", "E-Call-Schema/wrong-type"])
    def test_a_code_in_any_case_with_or_without_reason(self, asked: str) -> None:
        assert run("explain", asked).out.startswith("✖ E-CALL-SCHEMA")

    def test_all_codes(self) -> None:
        out = run("explain").out
        assert all(code in out for code in RULES)

    def test_suggestions(self) -> None:
        result = run("explain", "E-CAL-SCHEMA")
        assert result.code == 2
        assert "Did you mean E-CALL-SCHEMA" in result.err


class TestConvert:
    @pytest.mark.parametrize("target", WRITERS)
    def test_shown_messages_are_written_and_hidden_ones_counted(self, chat: Path, target: str) -> None:
        result = run("convert", "--to", target, chat)
        assert result.code == 0
        assert "Yes, it is." in result.out
        assert not [secret for secret in SECRETS if secret in result.out + result.err]
        assert "4 of 6 messages are hidden and were omitted" in result.err

    def test_everything_is_written_if_revealed(self, chat: Path) -> None:
        result = run("convert", "--to", "openchatml-2.2", "-d", chat)
        assert (result.code, result.out) == (0, CHAT)

    def test_convert_says_how_many_messages_of_a_superseded_branch_it_drops(self) -> None:
        rewound = Path(__file__).parents[2] / "samples" / "valid" / "codex" / "rolled-back.jsonl"
        sentence = "2 messages were omitted as part of a superseded branch; see --threads all.\n"
        assert sentence in run("convert", "--to", "openchatml-2.2", rewound).err
        assert "superseded" not in run("convert", "--to", "openchatml-2.2", "--threads", "all", rewound).err

        agent = {"type": "user", "isSidechain": True, "agentId": "a", "message": {"role": "user", "content": "SECRET"}}
        hint = "ocmlview: <stdin>: the only message is in threads of sub-agents; add --threads all to show it.\n"
        for options in ((), ("-d",), ("-d", "--json"), ("-d", "--threads", "all"), ("--strict-safe",)):
            result = run("show", *options, "-", stdin=json.dumps(agent))
            assert (hint in result.err) is (options in (("-d",), ("-d", "--json"))), (options, result.err)
            assert ("SECRET" in result.out) is ("--threads" in options)

    def test_a_refusal_is_reported_in_one_sentence_and_exits_with_1(self) -> None:
        text = json.dumps({"role": "user", "content": "<|end|>"})
        result = run("convert", "--to", "harmony", "-", stdin=text)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("ocmlview: ")
        assert result.err.count("\n") == 1


class TestStats:
    def test_hidden_messages_are_only_counted(self, chat: Path) -> None:
        out = run("stats", chat).out
        assert "4 hidden messages\n" in out
        assert not [word for word in ("tool", "analysis", "system", *SECRETS) if word in out]

    def test_everything_is_counted_if_revealed(self, chat: Path) -> None:
        out = run("stats", "-d", chat).out
        assert re.search(r"assistant +commentary +1 +10 +1\n", out)
        assert re.search(r"functions\.weather +1 +1 +0 +0\n", out)

    def test_json(self, chat: Path) -> None:
        line = json.loads(run("stats", "--json", chat).out)
        assert line["hidden"] == 4
        assert line["tools"] == []
        assert sum(row["messages"] for row in line["messages"]) == 2
        assert json.loads(run("stats", "--json", "--strict-safe", chat).out)["hidden"] is None

    def test_hidden_bodies_do_not_change_the_counts(self) -> None:
        longer = CHAT.replace("plums", "plums and many other fruits").replace("Be brief.", "Be long, very long.")
        assert run("stats", "-", stdin=CHAT).out == run("stats", "-", stdin=longer).out

    def test_thoughts_inside_a_shown_message_have_no_size(self) -> None:
        def final(thought: str) -> str:
            return f"version: 2.2\n<|start|>assistant<|channel|>final<|message|><think>{thought}</think>Hi<|return|>\n"

        assert run("stats", "-", stdin=final("a")).out == run("stats", "-", stdin=final("much more")).out


class TestFormats:
    def test_every_format_has_a_row(self) -> None:
        lines = run("formats").out.splitlines()
        assert [line.split()[0] for line in lines[1:]] == list(FORMATS)
        assert all(FORMATS.detected_by(name) for name in FORMATS)

    def test_a_file_has_a_ranking(self, tmp_path: Path) -> None:
        path = tmp_path / "one.jsonl"
        path.write_text('{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"Hi."}}\n')
        assert run("formats", "--detect", path).out.splitlines()[1].split()[:2] == ["claude-code", "0.96"]
        line = json.loads(run("formats", "--detect", path, "--json").out.splitlines()[0])
        assert (line["kind"], line["name"], line["score"]) == ("format", "claude-code", 0.96)
        path.write_text('{"name":"shop"}\n')
        assert run("formats", "--detect", path).code == 1
        assert run("formats", "--json").code == 2


def test_demo_prints_the_tour() -> None:
    result = run("demo")
    assert (result.code, result.err) == (0, "")
    assert "▌ User" in result.out
    assert result.out == run("show", "samples/tour.ocml").out == run("samples/tour.ocml").out


@each("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    result = run(command, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: ocmlview {command}")


def test_the_version_lists_what_a_bug_report_needs() -> None:
    first, python, packages, *_ = run("--version").out.splitlines()
    assert re.fullmatch(r"ocmlview \d+\.\d+\.\d+", first)
    assert re.fullmatch(r"\w+ 3\.\d+\.\S+ on \S+", python)
    assert {part.split()[0] for part in packages.split(", ")} >= {"textual", "rich", "numpy"}
    assert all(re.fullmatch(r"[\w-]+ \d\S*", part) for part in packages.split(", "))


def test_explain_prints_the_texts_of_every_code_and_reason() -> None:
    everything = " ".join(run("explain").out.split())
    for code, rule in RULES.items():
        for text in (rule.title, rule.safe, rule.advice, *rule.reasons.values()):
            assert text in everything, code
    for code, rule in RULES.items():
        for reason, text in rule.reasons.items():
            shown = " ".join(run("explain", f"{code}/{reason}").out.split())
            assert text in shown and rule.title in shown and rule.advice in shown


def test_explain_suggests_the_nearest_code_and_reason() -> None:
    assert "Did you mean E-PARSE-HEADER" in run("explain", "E-PARSE-HEDER").err
    wrong = run("explain", "E-PARSE-HEADER/chanel-unknown")
    assert wrong.code == 2
    assert "E-PARSE-HEADER/channel-unknown" in wrong.err
