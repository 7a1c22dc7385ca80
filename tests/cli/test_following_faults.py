"""Everything that can happen to a file while `show -f` prints it."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from tests.support.cli_following import ANSWER, EVENTS, HEAD, SECRET, append, json_of, said
from tests.support.live_program import Live
from tests.support.program import CHAT, run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.ocml"
    file.write_text(HEAD + said("one"))
    return file


@pytest.mark.slow
class TestFaults:
    """The rows of the fault table, each tested on a real file."""

    @EVENTS
    def test_append(self, path: Path, prelude: str) -> None:
        with json_of(path, prelude=prelude) as live:
            live.until_bodies("one")
            append(path, said("two"))
            live.until_bodies("one", "two")
            append(path, said("three"))
            live.until_bodies("one", "two", "three")
            assert (live.resets, live.err) == ([], "")

    @pytest.mark.share(test=2)
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
            live.until(lambda live: "\n" in live.err)  # the two streams arrive independently
            assert live.err.count("\n") == 1
            assert "the file was truncated; reading again" in live.err

    @pytest.mark.share(test=2)
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
            live.until(lambda live: "the file was removed" in live.err)
            path.write_text(HEAD + said("new"))
            live.until_bodies("new")
            live.until(lambda live: "the file was replaced" in live.err)  # the two streams arrive independently
            assert [line.rpartition(": ")[2] for line in live.err.splitlines()] == [
                "the file was removed; waiting for it to reappear",
                "following",
                "the file was replaced; reading again",
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
            live.until(lambda live: "the file was removed" in live.err)
            folder.mkdir()
            path.write_text(HEAD + said("two"))
            live.until_bodies("two")
            append(path, said("three"))
            live.until_bodies("two", "three")

    @pytest.mark.share(test=3)
    @pytest.mark.parametrize(
        ("number", "sentence"),
        [
            (errno.EACCES, "permission denied; retrying"),
            (errno.ESTALE, "the file handle is stale; retrying"),
            (errno.EIO, "the file cannot be read; retrying"),
        ],
    )
    @pytest.mark.parametrize("call", ["open", "pread"])
    def test_a_failure_is_retried(self, path: Path, tmp_path: Path, number: int, sentence: str, call: str) -> None:
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
            live.poll_again()
            assert live.err.count(sentence) == 1
            trouble.unlink()
            live.until_bodies("one")
            assert live.resets == []

    def test_one_writers_end_is_not_the_end_of_a_fifo(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        with json_of(path) as live:
            for bodies in (["one"], ["one", "two"], ["one", "two", "three"]):
                with path.open("wb") as writer:
                    writer.write(((HEAD if len(bodies) == 1 else "") + said(bodies[-1])).encode())
                live.until_bodies(*bodies)
            live.poll_again()
            assert live.process.poll() is None

    def test_paused_in_the_middle_of_a_message(self, path: Path) -> None:
        with json_of(path, "--stall-after", "0.3") as live:
            live.until_bodies("one")
            append(path, ANSWER + "It is")
            live.until(lambda live: "stalled" in live.err)
            live.poll_again(10)
            assert live.err.count("stalled: no data for") == 1
            append(path, " warm.<|return|>")
            live.until_bodies("one", "It is warm.")
            assert [line["kind"] for line in live.lines] == ["transcript", "message", "message"]
            append(path, ANSWER)
            live.until(lambda live: live.err.count("stalled") == 2)

    def test_touch_is_not_a_reset(self, path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            os.utime(path, (1, 1))
            path.touch()
            live.poll_again()
            append(path, said("two"))
            live.until_bodies("one", "two")
            assert (live.resets, live.err) == ([], "")

    @pytest.mark.parametrize(
        ("form", "megabytes"),
        [(["--json"], 8), *(pytest.param(form, 32, marks=pytest.mark.lab) for form in (["--json"], []))],
    )
    def test_one_line_of_many_megabytes(self, path: Path, form: list[str], megabytes: int) -> None:
        with Live("show", "-f", *form, path) as live:
            live.until(lambda live: "one" in live.out)
            append(path, ANSWER)
            for _ in range(megabytes):
                append(path, b"a" * (1024 * 1024))
                time.sleep(0.02)
            append(path, "<|return|>" + said("after"))
            live.until(lambda live: "after" in live.out)
            assert live.out.count("a" * (megabytes * 1024 * 1024)) == 1

    def test_a_header_of_10_mb(self, path: Path) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            append(path, "<|start|>assistant " + "x" * (10 * 1024 * 1024) + "<|message|>secret<|end|>\n" + said("two"))
            live.until_bodies("one", "two")
            assert "secret" not in live.out
            live.until(lambda live: any(line.get("code") == "E-PARSE-HEADER" for line in live.lines))

    @pytest.mark.share(test=2)
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
            live.poll_again()
            result = live.interrupted()
        if bodies:
            assert result.out == run("show", "--json", path).out

    @pytest.mark.parametrize("count", [5_000, pytest.param(200_000, marks=pytest.mark.lab)])
    def test_a_burst(self, path: Path, count: int) -> None:
        with json_of(path) as live:
            live.until_bodies("one")
            append(path, said("again and again") * count + said("after"))
            live.until(lambda live: live.ends_with('"after"'))
            assert live.out.count("\n") == count + 3
