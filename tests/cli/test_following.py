"""`show -f` and `check -f` on real files: everything that can happen to a file, and what is printed of it when."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.live_program import NO_EVENTS, Live
from tests.cli.program import CHAT, ROOT, run

HEAD = "version: 2.2\n"
ANSWER = "<|start|>assistant<|channel|>final<|message|>"
SECRET = "plums"
EVENTS = pytest.mark.parametrize("prelude", ["", NO_EVENTS], ids=["events", "polling"])


def said(text: str) -> str:
    return f"<|start|>user<|message|>{text}<|end|>\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.ocml"
    file.write_text(HEAD + said("one"))
    return file


def append(path: Path, text: str | bytes) -> None:
    with path.open("ab") as file:
        file.write(text.encode() if isinstance(text, str) else text)


def json_of(path: Path, *options: str, prelude: str = "") -> Live:
    return Live("show", "-f", "--json", *options, path, prelude=prelude)


class TestShow:
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
    def test_an_answer_is_printed_as_it_comes(self, path: Path) -> None:
        with Live("show", "-f", path) as live:
            live.until(lambda live: "one" in live.out)
            append(path, ANSWER)
            live.until(lambda live: live.out.endswith("\n▌ ASSISTANT\n"))
            for piece in ("It ", "is ", "warm "):
                append(path, piece)
                live.until(lambda live, piece=piece: live.out.endswith(piece[:-1]))  # type: ignore[misc]

    @pytest.mark.slow
    def test_the_end_of_a_pipe_ends_it(self) -> None:
        with Live("show", "-f", "-", stdin=subprocess.PIPE) as live:
            assert live.process.stdin
            live.process.stdin.write(CHAT.encode())
            live.process.stdin.flush()
            live.until(lambda live: "Yes, it is." in live.out)
            live.process.stdin.close()
            result = live.ended()
        assert (result.code, result.err) == (0, "")
        assert result.out == run("show", "-", stdin=CHAT).out

    def test_what_is_piped_in_needs_no_name(self) -> None:
        with Live("show", "-f", stdin=subprocess.PIPE) as live:
            assert live.process.stdin
            live.process.stdin.close()
            assert live.ended().code == 0

    @pytest.mark.slow
    def test_two_interrupts_and_a_reader_that_is_slow(self, path: Path) -> None:
        path.write_text(HEAD + said("again and again") * 50_000)
        command = [sys.executable, "-m", "viewer", "show", "-f", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout
            process.stdout.read(10)
            for _ in range(2):
                time.sleep(0.3)
                process.send_signal(2)
            process.stdout.close()
            assert process.wait(30) in (130, 141)

    def test_a_reader_that_goes_away_is_noticed_while_waiting(self, path: Path) -> None:
        command = [sys.executable, "-m", "viewer", "show", "-f", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout and process.stderr
            process.stdout.read(10)
            process.stdout.close()
            assert process.wait(30) == 141
            assert process.stderr.read() == b""

    @pytest.mark.parametrize(
        "arguments",
        [["show", "-f", "a", "b"], ["show", "--stall-after", "3", "a"], ["show", "-f", "--format", "nonsense", "a"],
         ["show", "-f", "--stall-after", "0", "a"], ["check", "-f", "--sarif", "a"]],
    )  # fmt: skip
    def test_what_cannot_be_followed_ends_with_2(self, arguments: list[str]) -> None:
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.count("\n") == 1

    def test_what_is_compressed_does_not_grow(self, tmp_path: Path) -> None:
        path = tmp_path / "run.ocml.gz"
        path.write_bytes(gzip.compress(CHAT.encode()))
        for arguments in (["show"], ["show", "--json"], ["check"], ["view"]):
            once, result = run(*arguments, path), run(*arguments, "-f", path)
            assert (result.code, result.out) == (once.code, once.out)
            assert "is compressed: it is read as it is now" in result.err

    @pytest.mark.slow
    def test_the_viewer_without_a_screen_prints_live(self, path: Path) -> None:
        with Live("-f", path) as live:
            live.until(lambda live: "one" in live.out)
            append(path, said("two"))
            live.until(lambda live: "two" in live.out)
            assert live.interrupted().code == 130

    @pytest.mark.slow
    def test_the_debug_view_says_what_it_is(self, path: Path) -> None:
        path.write_text(CHAT)
        with Live("show", "-f", "-d", path) as live:
            live.until(lambda live: "Yes, it is." in live.out)
            assert SECRET in live.out
            assert live.interrupted().err.startswith("DEBUG view")


@pytest.mark.slow
class TestFaults:
    """The rows of the fault table, each on a real file."""

    @EVENTS
    def test_append(self, path: Path, prelude: str) -> None:
        with json_of(path, prelude=prelude) as live:
            live.until_bodies("one")
            append(path, said("two"))
            live.until_bodies("one", "two")
            append(path, said("three"))
            live.until_bodies("one", "two", "three")
            assert (live.resets, live.err) == ([], "")

    @pytest.mark.parametrize("form", [["--json"], [], ["--strict-safe"]], ids=["json", "text", "strict"])
    def test_one_byte_at_a_time_no_hidden_byte_is_ever_printed(self, path: Path, form: list[str]) -> None:
        path.write_bytes(b"")
        text = CHAT.replace("Yes, it is.", "Yes é😀.").encode()
        begins = text.index(b"Is it warm")
        with Live("show", "-f", *form, path) as live:
            for at in range(len(text)):
                append(path, text[at : at + 1])
                if at % 3 == 0:
                    time.sleep(0.002)
                out = live.out
                assert not [word for word in (SECRET, "Be brief", "thought", "weather", "city") if word in out]
                assert "Is it" not in out or at >= begins
            live.until(lambda live: "é😀." in live.out)
            result = live.interrupted()
        assert result.out == run("show", *form, path).out

    @EVENTS
    def test_truncated(self, path: Path, prelude: str) -> None:
        with json_of(path, prelude=prelude) as live:
            live.until_bodies("one")
            os.truncate(path, 0)
            live.until(lambda live: live.resets == ["truncated"])
            append(path, HEAD + said("again"))
            live.until_bodies("again")
            assert [line["number"] for line in live.lines if line["kind"] == "message"] == [1, 1]
            assert live.err.count("\n") == 1
            assert "became shorter; reading begins anew" in live.err

    @pytest.mark.parametrize("text", ["1", "two", "something longer"])
    def test_rewritten_shorter_of_the_same_length_and_longer(self, path: Path, text: str) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            path.write_text(HEAD + said(text))
            live.until_bodies(text)
            assert len(live.resets) == 1

    def test_copytruncate(self, path: Path, tmp_path: Path) -> None:
        with json_of(path) as live, path.open("ab", buffering=0) as writer:
            live.until_bodies("one")
            (tmp_path / "run.1").write_bytes(path.read_bytes())
            os.truncate(path, 0)
            writer.write((HEAD + said("two")).encode())
            live.until_bodies("two")
            assert live.resets in (["truncated"], ["rewritten"])

    @EVENTS
    def test_renamed_and_recreated(self, path: Path, tmp_path: Path, prelude: str) -> None:
        with json_of(path, prelude=prelude) as live, path.open("ab", buffering=0) as writer:
            live.until_bodies("one")
            path.rename(tmp_path / "run.1")
            writer.write((said("late") + ANSWER + "and still o").encode())
            path.write_text(HEAD + said("new"))
            live.until_bodies("new")
            assert live.resets == ["replaced"]
            bodies = [(line["body"], line["ending"]) for line in live.lines if line["kind"] == "message"]
        assert bodies == [("one", "end"), ("late", "end"), ("and still o", "open"), ("new", "end")]

    @EVENTS
    def test_deleted_and_recreated(self, path: Path, prelude: str) -> None:
        with json_of(path, prelude=prelude) as live:
            live.until_bodies("one")
            path.unlink()
            live.until(lambda live: "the file is gone" in live.err)
            path.write_text(HEAD + said("new"))
            live.until_bodies("new")
            assert [line.rpartition(": ")[2] for line in live.err.splitlines()] == [
                "the file is gone; waiting for it to come back",
                "following",
                "another file took its place; reading begins anew",
            ]

    def test_replaced_at_once(self, path: Path, tmp_path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            (tmp_path / "next").write_text(HEAD + said("one") + said("two"))
            (tmp_path / "next").replace(path)
            live.until_bodies("one", "two")
            assert live.resets == ["replaced"]

    @EVENTS
    def test_a_symlink_is_switched(self, path: Path, tmp_path: Path, prelude: str) -> None:
        link, other = tmp_path / "links" / "now", tmp_path / "other"
        link.parent.mkdir()
        link.symlink_to(path)
        with json_of(link, prelude=prelude) as live:
            live.until_bodies("one")
            append(path, said("two"))
            live.until_bodies("one", "two")
            other.write_text(HEAD + said("other"))
            (tmp_path / "fresh").symlink_to(other)
            (tmp_path / "fresh").replace(link)
            live.until_bodies("other")
            assert live.resets == ["replaced"]

    @EVENTS
    def test_not_there_yet(self, tmp_path: Path, prelude: str) -> None:
        path = tmp_path / "later" / "run.ocml"
        with json_of(path, prelude=prelude) as live:
            live.until(lambda live: "waiting for the file" in live.err)
            path.parent.mkdir()
            path.write_text(HEAD + said("there"))
            live.until_bodies("there")
            assert live.resets == []

    def test_a_directory_in_its_place(self, path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            path.unlink()
            path.mkdir()
            live.until(lambda live: "this is a directory" in live.err)
            path.rmdir()
            path.write_text(HEAD + said("there"))
            live.until_bodies("there")

    @EVENTS
    def test_the_folder_disappears_and_comes_back(self, tmp_path: Path, prelude: str) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        path = folder / "run.ocml"
        path.write_text(HEAD + said("one"))
        with json_of(path, prelude=prelude) as live:
            live.until_bodies("one")
            path.unlink()
            folder.rmdir()
            live.until(lambda live: "the file is gone" in live.err)
            folder.mkdir()
            path.write_text(HEAD + said("two"))
            live.until_bodies("two")
            append(path, said("three"))
            live.until_bodies("two", "three")

    @pytest.mark.parametrize(
        ("number", "sentence"),
        [
            (errno.EACCES, "permission denied; trying again"),
            (errno.ESTALE, "the file handle is stale; trying again"),
            (errno.EIO, "the file cannot be read; trying again"),
        ],
    )
    @pytest.mark.parametrize("call", ["open", "pread"])
    def test_what_fails_for_a_while(self, path: Path, tmp_path: Path, number: int, sentence: str, call: str) -> None:
        trouble = tmp_path / "trouble"
        trouble.touch()
        prelude = (
            f"import os\nreal, exists = os.{call}, os.path.exists\n"
            f"def fail(what, *a, **k):\n"
            f"    if (isinstance(what, int) or str(what) == {str(path)!r}) and exists({str(trouble)!r}):\n"
            f"        raise OSError({number}, 'no')\n"
            f"    return real(what, *a, **k)\n"
            f"os.{call} = fail\n"
        )
        with json_of(path, prelude=prelude) as live:
            live.until(lambda live: sentence in live.err)
            time.sleep(0.3)
            assert live.err.count(sentence) == 1
            trouble.unlink()
            live.until_bodies("one")
            assert live.resets == []

    def test_one_writers_end_is_not_the_end_of_a_fifo(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        with json_of(path) as live:
            for bodies in (["one"], ["one", "two"]):
                with path.open("wb") as writer:
                    writer.write(((HEAD if len(bodies) == 1 else "") + said(bodies[-1])).encode())
                live.until_bodies(*bodies)
            time.sleep(0.2)
            assert live.process.poll() is None

    def test_paused_in_the_middle_of_a_message(self, path: Path) -> None:
        with json_of(path, "--stall-after", "0.3") as live:
            live.until_bodies("one")
            append(path, ANSWER + "It is")
            live.until(lambda live: "stalled" in live.err)
            time.sleep(0.5)
            assert live.err.count("stalled, nothing has come for") == 1
            append(path, " warm.<|return|>")
            live.until_bodies("one", "It is warm.")
            assert [line["kind"] for line in live.lines] == ["transcript", "message", "message"]
            append(path, ANSWER)
            live.until(lambda live: live.err.count("stalled") == 2)

    def test_touch_is_no_reset(self, path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            os.utime(path, (1, 1))
            path.touch()
            time.sleep(0.3)
            append(path, said("two"))
            live.until_bodies("one", "two")
            assert (live.resets, live.err) == ([], "")

    @pytest.mark.share(test=2)
    @pytest.mark.parametrize("form", [["--json"], []], ids=["json", "text"])
    def test_one_line_of_32_mb(self, path: Path, form: list[str]) -> None:
        with Live("show", "-f", *form, path) as live:
            live.until(lambda live: "one" in live.out)
            append(path, ANSWER)
            for _ in range(32):
                append(path, b"a" * (1024 * 1024))
                time.sleep(0.02)
            append(path, "<|return|>" + said("after"))
            live.until(lambda live: "after" in live.out)
            assert live.out.count("a" * (32 * 1024 * 1024)) == 1

    def test_a_header_of_10_mb(self, path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            append(path, "<|start|>assistant " + "x" * (10 * 1024 * 1024) + "<|message|>secret<|end|>\n" + said("two"))
            live.until_bodies("one", "two")
            assert "secret" not in live.out
            live.until(lambda live: any(line.get("code") == "E-PARSE-HEADER" for line in live.lines))

    @pytest.mark.parametrize(
        ("data", "bodies"),
        [
            (b"\xef\xbb\xbf" + (HEAD + said("a")).encode(), ["a"]),
            ((HEAD + said("é😀")).encode("utf-16"), ["é😀"]),
            ((HEAD + said("a\r\nb")).replace("\n", "\r\n").replace("\r\r", "\r").encode(), ["a\r\nb"]),
            ((HEAD + said("a\0b")).encode(), ["a\0b"]),
            (bytes(range(256)) * 300, []),
        ],
        ids=["BOM", "UTF-16", "CRLF", "NUL", "binary"],
    )
    def test_other_bytes(self, tmp_path: Path, data: bytes, bodies: list[str]) -> None:
        path = tmp_path / "run.ocml"
        path.write_bytes(b"")
        with json_of(path) as live:
            for at in range(0, len(data), max(1, len(data) // 50)):
                append(path, data[at : at + max(1, len(data) // 50)])
                time.sleep(0.002)
            live.until_bodies(*bodies)
            time.sleep(0.2)
            result = live.interrupted()
        if bodies:
            assert result.out == run("show", "--json", path).out

    def test_a_burst(self, path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            append(path, said("again and again") * 200_000 + said("after"))
            live.until(lambda live: live.ends_with('"after"'))
            assert live.out.count("\n") == 200_003


class TestFolders:
    @pytest.mark.slow
    @EVENTS
    def test_the_newest_transcript_is_followed_and_then_newer_ones(self, tmp_path: Path, prelude: str) -> None:
        for age, name in enumerate(("new", "old")):
            (tmp_path / f"{name}.ocml").write_text(HEAD + said(name))
            os.utime(tmp_path / f"{name}.ocml", (1000 - age, 1000 - age))
        (tmp_path / "notes.txt").write_text("nothing to see")
        with json_of(tmp_path, prelude=prelude) as live:
            live.until_bodies("new")
            append(tmp_path / "old.ocml", said("is no newer for that"))
            append(tmp_path / "new.ocml", said("two"))
            live.until_bodies("new", "two")
            (tmp_path / "newer.ocml").write_text(HEAD + said("newer"))
            live.until_bodies("newer")
            assert live.resets == ["replaced"]
            followed = [line for line in live.err.splitlines() if "following the newest" in line]
            assert [Path(line.split(": ")[1]).name for line in followed] == ["new.ocml", "newer.ocml"]

    @pytest.mark.slow
    def test_an_empty_folder_is_waited_in(self, tmp_path: Path) -> None:
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
    def test_problems_are_told_as_they_are_found_and_summed_up(self, path: Path) -> None:
        with Live("check", "-f", path) as live:
            live.until(lambda live: live.process.poll() is None)
            append(path, "<|start|>assistant<|channel|>anaylsis<|message|>plums")
            live.until(lambda live: "E-PARSE-HEADER/channel-unknown" in live.out)
            assert "run.ocml:3:30: error" in live.out
            append(path, "<|end|>\n")
            time.sleep(0.2)
            result = live.interrupted()
        assert (result.code, result.err) == (130, "")
        assert result.out == run("check", path).out
        assert SECRET not in result.out

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("text", "code"), [(CHAT, 0), (CHAT.replace("final", "finel"), 1), (CHAT.replace(" call_id=c1", ""), 0)]
    )
    def test_the_end_of_a_pipe_ends_it_with_the_code_of_check(self, text: str, code: int) -> None:
        for form in ([], ["--json"], ["--github"]):
            with Live("check", "-f", *form, "-", stdin=subprocess.PIPE) as live:
                assert live.process.stdin
                live.process.stdin.write(text.encode())
                live.process.stdin.close()
                result = live.ended()
            once = run("check", *form, "-", stdin=text)
            assert (result.code, result.out) == (code, once.out) == (once.code, once.out)

    @pytest.mark.slow
    @pytest.mark.parametrize("form", ["--json", "--github", "--strict"])
    def test_a_call_past_its_deadline_is_told_as_it_passes(self, path: Path, form: str) -> None:
        append(path, self.CALL)
        with Live("check", "-f", form, path) as live:
            live.until(lambda live: "E-TOOL-TIMEOUT" in live.out)
            assert "overdue" in live.out
            assert live.out.count("E-TOOL-TIMEOUT") == 1

    @pytest.mark.slow
    def test_a_message_that_stalls(self, path: Path) -> None:
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
    def test_resets_and_sums(self, path: Path) -> None:
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
    def test_other_hidden_bodies_of_equal_length_change_nothing(self) -> None:
        outs: set[str] = set()
        for fruit in ("plums", "limes"):
            with Live("check", "-f", "--json", "-", stdin=subprocess.PIPE) as live:
                assert live.process.stdin
                live.process.stdin.write(CHAT.replace("final", "finel").replace("plums", fruit).encode())
                live.process.stdin.close()
                outs.add(live.ended().out)
        assert len(outs) == 1


def late(live: Live, holds: Callable[[Live], object]) -> float:
    """How many seconds pass until something is so."""
    begun = time.monotonic()
    live.until(holds)
    return time.monotonic() - begun


@pytest.mark.lab
@EVENTS
def test_an_appended_message_is_there_within_100_ms(path: Path, prelude: str) -> None:
    with json_of(path, prelude=prelude) as live:
        live.until_bodies("one")
        times = []
        for number in range(200):
            time.sleep(0.03)
            append(path, said(f"number {number}"))
            times.append(late(live, lambda live, number=number: f'number {number}"' in live.out))  # type: ignore[misc]
    assert sorted(times)[197] < 0.1
