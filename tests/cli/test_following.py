"""`show -f` and `check -f` on files, pipes, and folders: the output, and when it appears."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli_following import ANSWER, HEAD, SECRET, append, json_of, said
from tests.support.idle import wait_until_idle
from tests.support.live_program import Live
from tests.support.program import CHAT, ROOT, run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.ocml"
    file.write_text(HEAD + said("one"))
    return file


class TestShow:
    @pytest.mark.slow
    def test_after_ctrl_c_it_has_printed_what_show_prints(self, path: Path) -> None:
        path.write_text(CHAT)
        with Live("show", "-f", path) as live:
            live.until(lambda live: "Yes, it is." in live.out)
            append(path, ANSWER + "And so")
            live.until(lambda live: "And s" in live.out)
            result = live.interrupted()
        assert (result.code, result.err) == (130, "")
        assert result.out == run("show", path).out

    @pytest.mark.slow
    def test_an_answer_is_printed_as_it_arrives(self, path: Path) -> None:
        with Live("show", "-f", path) as live:
            live.until(lambda live: "one" in live.out)
            append(path, ANSWER)
            live.until(lambda live: live.out.endswith("\n▌ Assistant\n"))
            for piece in ("It ", "is ", "warm "):
                append(path, piece)
                live.until(lambda live, piece=piece: live.out.endswith(piece[:-1]))  # type: ignore[misc]

    @pytest.mark.slow
    def test_the_end_of_a_pipe_ends_following(self) -> None:
        with Live("show", "-f", "-", stdin=subprocess.PIPE) as live:
            assert live.process.stdin
            live.process.stdin.write(CHAT.encode())
            live.process.stdin.flush()
            live.until(lambda live: "Yes, it is." in live.out)
            live.process.stdin.close()
            result = live.ended()
        assert (result.code, result.err) == (0, "")
        assert result.out == run("show", "-", stdin=CHAT).out

    @pytest.mark.slow
    def test_piped_input_needs_no_name(self) -> None:
        with Live("show", "-f", stdin=subprocess.PIPE) as live:
            assert live.process.stdin
            live.process.stdin.close()
            assert live.ended().code == 0

    @pytest.mark.slow
    def test_a_second_interrupt_ends_it_if_the_reader_is_slow(self, path: Path) -> None:
        path.write_text(HEAD + said("again and again") * 5_000)
        command = [sys.executable, "-m", "viewer", "show", "-f", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout
            process.stdout.read(10)
            for _ in range(2):
                wait_until_idle(process.pid)
                process.send_signal(2)
            process.stdout.close()
            assert process.wait(60) in (130, 141)

    @pytest.mark.slow
    def test_a_closed_pipe_is_noticed_while_waiting(self, path: Path) -> None:
        command = [sys.executable, "-m", "viewer", "show", "-f", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout and process.stderr
            process.stdout.read(10)
            process.stdout.close()
            assert process.wait(60) == 141
            assert process.stderr.read() == b""

    @pytest.mark.parametrize(
        "arguments",
        [["show", "-f", "a", "b"], ["show", "--stall-after", "3", "a"], ["show", "-f", "--format", "nonsense", "a"],
         ["show", "-f", "--stall-after", "0", "a"], ["check", "-f", "--sarif", "a"]],
    )  # fmt: skip
    def test_an_input_that_cannot_be_followed_exits_with_2(self, arguments: list[str]) -> None:
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.count("\n") == 1

    def test_a_compressed_file_is_not_followed(self, tmp_path: Path) -> None:
        path = tmp_path / "run.ocml.gz"
        path.write_bytes(gzip.compress(CHAT.encode()))
        for arguments in (["show"], ["show", "--json"], ["check"], ["view"]):
            once, result = run(*arguments, path), run(*arguments, "-f", path)
            assert (result.code, result.out) == (once.code, once.out)
            assert "is compressed: reading it once" in result.err

    @pytest.mark.slow
    def test_without_a_screen_the_viewer_prints_live(self, path: Path) -> None:
        with Live("-f", path) as live:
            live.until(lambda live: "one" in live.out)
            append(path, said("two"))
            live.until(lambda live: "two" in live.out)
            assert live.interrupted().code == 130

    @pytest.mark.slow
    def test_the_debug_view_announces_itself(self, path: Path) -> None:
        path.write_text(CHAT)
        with Live("show", "-f", "-d", path) as live:
            live.until(lambda live: "Yes, it is." in live.out)
            assert SECRET in live.out
            assert live.interrupted().err.startswith("DEBUG view")


class TestFolders:
    @pytest.mark.slow
    def test_an_empty_folder_is_watched(self, tmp_path: Path) -> None:
        with json_of(tmp_path) as live:
            live.until(lambda live: "waiting for the file" in live.err)
            (tmp_path / "run.ocml").write_text(HEAD + said("one"))
            live.until_bodies("one")
            assert live.interrupted().code == 130


class TestCheck:
    CALL = (
        "<|start|>assistant to=functions.f call_id=c<|channel|>commentary<|constrain|>json<|message|>"
        '{"deadline_ms": 300}<|call|>\n'
    )

    @pytest.mark.slow
    def test_problems_are_reported_when_found_and_summed_up_at_the_end(self, path: Path) -> None:
        with Live("check", "-f", path) as live:
            live.until(lambda live: live.process.poll() is None)
            append(path, "<|start|>assistant<|channel|>anaylsis<|message|>plums")
            live.until(lambda live: "E-PARSE-HEADER/channel-unknown" in live.out)
            assert "run.ocml:3:30: error" in live.out
            append(path, "<|end|>\n")
            live.poll_again()
            result = live.interrupted()
        assert (result.code, result.err) == (130, "")
        assert result.out == run("check", path).out
        assert SECRET not in result.out

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("text", "code", "forms"),
        [
            (CHAT, 0, [[]]),
            (CHAT.replace("final", "finel"), 1, [[], ["--json"], ["--github"]]),
            (CHAT.replace(" call_id=c1", ""), 0, [["--json"]]),
        ],
    )
    def test_the_end_of_a_pipe_ends_it_with_the_exit_code_of_check(
        self, text: str, code: int, forms: list[list[str]]
    ) -> None:
        for form in forms:
            result, once = run("check", "-f", *form, "-", stdin=text), run("check", *form, "-", stdin=text)
            assert (result.code, result.out) == (code, once.out) == (once.code, once.out)

    @pytest.mark.slow
    def test_the_program_ends_with_its_pipe(self) -> None:
        text = CHAT.replace("final", "finel")
        with Live("check", "-f", "-", stdin=subprocess.PIPE) as live:
            assert live.process.stdin
            live.process.stdin.write(text.encode())
            live.process.stdin.close()
            result = live.ended()
        assert (result.code, result.out) == (1, run("check", "-", stdin=text).out)

    @pytest.mark.slow
    @pytest.mark.parametrize("form", ["--json", "--github", "--strict"])
    def test_an_overdue_call_is_reported_when_its_deadline_passes(self, path: Path, form: str) -> None:
        append(path, self.CALL)
        with Live("check", "-f", form, path) as live:
            live.until(lambda live: "E-TOOL-TIMEOUT" in live.out)
            assert "overdue" in live.out
            assert live.out.count("E-TOOL-TIMEOUT") == 1

    @pytest.mark.slow
    def test_a_stalled_message_is_reported(self, path: Path) -> None:
        append(path, self.CALL.removesuffix("<|call|>\n"))
        for form in ([], ["--json"]):
            with Live("check", "-f", "--stall-after", "0.2", *form, path) as live:
                live.until(lambda live: "stalled" in live.out + live.err)
                if form:
                    (line,) = live.lines
                    assert (line["kind"], line["message"]) == ("stalled", 2)
                else:
                    assert "message 2 is stalled" in live.err

    @pytest.mark.slow
    def test_resets_are_reported_and_totals_continue(self, path: Path) -> None:
        broken = "<|start|>assistant<|channel|>anaylsis<|message|>plums<|end|>\n"
        append(path, broken)
        with Live("check", "-f", "--json", path) as live:
            live.until(lambda live: "E-PARSE-HEADER" in live.out)
            path.write_text(HEAD + broken)
            live.until(lambda live: live.out.count("E-PARSE-HEADER") == 2)
            result = live.interrupted()
        kinds = [json.loads(line)["kind"] for line in result.out.splitlines()]
        assert kinds == ["diagnostic", "reset", "diagnostic", "summary"]
        summary = json.loads(result.out.splitlines()[-1])
        assert (summary["errors"], summary["messages"]) == (2, 3)

    @pytest.mark.slow
    def test_hidden_bodies_of_equal_length_give_the_same_output(self) -> None:
        text = CHAT.replace("final", "finel")
        outs = {
            run("check", "-f", "--json", "-", stdin=text.replace("plums", fruit)).out for fruit in ("plums", "limes")
        }
        assert len(outs) == 1
