"""Exit codes and streams: data on stdout, one clear sentence on stderr, no traceback."""

from __future__ import annotations

import gzip
import io
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.idle import wait_until_idle
from tests.support.program import BROKEN, CHAT, ROOT, Result, run
from viewer.cli import run as run_here
from viewer.cli.exits import complain
from viewer.render.crash import report_crash, take_faults


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT)
    return path


def one_sentence(result: Result, *words: str) -> None:
    """Check that the error is one line that begins with the name of the program."""
    assert result.err.startswith("ocmlview: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


def test_success_exits_with_0_and_prints_no_message(chat: Path) -> None:
    result = run("show", chat)
    assert (result.code, result.err) == (0, "")
    assert "Yes, it is." in result.out


def test_exit_callbacks_run_and_output_is_complete(chat: Path) -> None:
    start = "import atexit, sys; from viewer.cli import main; sys.argv[0] = 'ocmlview'; "
    for callback, last in (("", "Yes, it is.\n"), ("atexit.register(print, 'done'); ", "done\n")):
        line = [sys.executable, "-c", f"{start}{callback}main()", "show", str(chat)]
        done = subprocess.run(line, capture_output=True, cwd=ROOT, timeout=60, check=True, text=True)
        assert done.stdout.endswith(last)
        assert "Yes, it is." in done.stdout


def test_problems_exit_with_1(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ocml"
    broken.write_text(BROKEN)
    assert run("check", broken).code == 1
    assert run("check", "--exit-zero", broken).code == 0
    assert run("show", broken).code == 0


def test_warnings_count_if_strict(tmp_path: Path) -> None:
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT.removeprefix("version: 2.2\n"))
    assert run("check", "--format", "openchatml-2.2", path).code == 0
    assert run("check", "--format", "openchatml-2.2", "--strict", path).code == 1
    path.write_text(CHAT)
    assert run("check", "--strict", path).code == 0


@pytest.mark.slow
def test_warnings_count_if_strict_while_following_too() -> None:
    followed = ["check", "--format", "openchatml-2.2", "-f", "-"]
    text = CHAT.removeprefix("version: 2.2\n")
    assert run(*followed, stdin=text).code == 0
    assert run(*followed, "--strict", stdin=text).code == 1
    assert run(*followed, "--strict", "--exit-zero", stdin=text).code == 0


def test_a_folder_exits_with_the_worst_code_of_its_files(tmp_path: Path) -> None:
    def codes(*options: str) -> list[int]:
        return [run(command, *options, tmp_path).code for command in ("show", "stats", "check")]

    assert codes() == [2, 2, 2]  # the tables are empty
    (tmp_path / "m.ocml").write_text(CHAT)
    assert codes() == [0, 0, 0]
    (tmp_path / "z.ocml").write_text(BROKEN)
    assert codes() == [0, 0, 1]
    (tmp_path / "a.ocml.gz").write_bytes(gzip.compress(CHAT.encode())[:-9])
    assert codes() == [1, 1, 1]
    (tmp_path / "b.ocml").symlink_to("nowhere")
    assert codes() == [2, 2, 2]
    (tmp_path / "b.ocml").unlink()
    assert codes("--format", "json") != [0, 0, 0]


@pytest.mark.parametrize("command", ["show", "check", "stats", "view"])
def test_a_missing_file_exits_with_2(command: str) -> None:
    result = run(command, "nowhere.ocml")
    assert (result.code, result.out.strip()) == (2, "")
    one_sentence(result, "nowhere.ocml")


@pytest.mark.parametrize("command", [["convert", "--to", "json"], ["export"]], ids=" ".join)
def test_a_directory_exits_with_2(command: list[str], tmp_path: Path) -> None:
    result = run(*command, tmp_path)
    assert result.code == 2
    one_sentence(result, "A folder needs an output folder: -o DIR.")


def test_without_a_screen_the_viewer_lists_a_directory(chat: Path) -> None:
    result = run("view", chat.parent)
    assert result.code == 0
    assert chat.name in result.out
    assert "openchatml-2.2" in result.out


def test_an_unreadable_file_exits_with_2(
    chat: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    code = run_here(["show", str(chat)])
    monkeypatch.undo()
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    one_sentence(Result(code, out, err), "ermission")


def test_a_binary_file_is_refused_without_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "image.bin"
    path.write_bytes(bytes(range(256)) * 40)
    result = run("show", path)
    assert result.code == 2
    one_sentence(result, "no transcript was recognized")


def test_an_empty_input_exits_with_0() -> None:
    assert run("show", "-").code == 0
    assert run("show", "--json", "-").code == 0


def test_a_misspelled_command_is_noticed() -> None:
    result = run("shwo", "chat.ocml")
    assert result.code == 2
    one_sentence(result, "Did you mean show?")


def test_help_names_the_option() -> None:
    result = run("help", "show")
    assert result.code == 2
    one_sentence(result, "Try 'ocmlview --help'")


def test_one_bad_file_does_not_stop_the_others(chat: Path) -> None:
    result = run("show", "nowhere.ocml", chat)
    assert result.code == 2
    assert "Yes, it is." in result.out
    one_sentence(result)


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "--nonsense"],
        ["show", "--reveal", "secrets", "x"],
        ["show", "--strict-safe", "--reveal", "all", "x"],
        ["convert", "x"],
        ["convert", "--to", "nonsense", "x"],
        ["explain", "E-NONSENSE"],
        ["show", "--format", "nonsense", "README.md"],
        ["show", "--color", "pink", "x"],
    ],
)
def test_mistakes_on_the_command_line_exit_with_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    one_sentence(result)


def test_a_sentence_never_carries_escape_sequences() -> None:
    result = run("show", "\x1b]52;c;aGk=\x07.ocml")
    assert result.code == 2
    assert "\x1b" not in result.err
    assert "\x07" not in result.err


@pytest.mark.share(test=2)
@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        *(pytest.param(other, marks=pytest.mark.slow) for other in (["show", "--json"], ["check"], ["explain"])),
    ],
)
def test_a_closed_pipe_exits_with_141_silently(tmp_path: Path, arguments: list[str]) -> None:
    path = tmp_path / "long.ocml"
    path.write_text("version: 2.2\n" + "<|start|>user<|message|>again and again<|end|>\n" * 5_000)
    command = [sys.executable, "-m", "viewer", *arguments, *([str(path)] if arguments != ["explain"] else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout and process.stderr
        if arguments[0] == "show":
            process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(60)
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_exits_with_2_and_one_sentence(chat: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "viewer", "show", str(chat)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, timeout=30, check=False)
    assert done.returncode == 2
    one_sentence(Result(2, "", done.stderr.decode()), "space")


def heed_interrupts() -> None:
    """Restore the handling of interrupts, which a shell disables for background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_an_interrupt_exits_with_130() -> None:
    command = [sys.executable, "-m", "viewer", "show", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, preexec_fn=heed_interrupts
    ) as process:
        assert process.stdin
        process.stdin.write(b"x" * 300_000)  # more than a pipe holds, so the program has read from it
        process.stdin.flush()
        wait_until_idle(process.pid)  # the program waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()


class Interrupted:
    """An object whose destructor is interrupted by a signal, so Python drops the exception of the handler."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __del__(self) -> None:
        raise self._error


@pytest.mark.parametrize(("error", "number"), [(KeyboardInterrupt(), 2), (SystemExit(143), 15)])
def test_a_signal_during_a_destructor_is_not_lost(
    error: BaseException, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    before = signal.getsignal(number)
    take_faults()
    try:
        with pytest.raises(type(error)) as raised:
            Interrupted(error)
            threading.Event().wait(10)
    finally:
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
        signal.signal(number, before)
    assert str(raised.value) == str(error)
    assert capsys.readouterr().err == ""


def test_without_arguments_on_a_terminal_it_prints_help_and_exits_with_2() -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "viewer"], stdin=slave, capture_output=True, cwd=ROOT, timeout=30, check=False
    )
    os.close(slave)
    os.close(master)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Commands:" in done.stderr


def test_without_arguments_a_pipe_is_read() -> None:
    assert "Yes, it is." in run(stdin=CHAT).out
    assert "Yes, it is." in run("show", stdin=CHAT).out
    assert "Yes, it is." in run("-", stdin=CHAT).out


class Gone(io.StringIO):
    """A standard error stream whose reader has closed it."""

    def flush(self) -> None:
        raise BrokenPipeError


def test_a_closed_standard_error_is_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Gone())
    complain("too late")
    assert report_crash(ValueError, None) == 70


def test_a_crash_report_has_the_position_but_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError("a secret of the transcript")
    except ValueError as error:
        assert report_crash(ValueError, error.__traceback__) == 70
    err = capsys.readouterr().err
    assert "ValueError" in err
    assert "test_exits.py" in err
    assert "secret" not in err


FAULTY = """\
import sys
import viewer.cli.{module} as module
from viewer.cli import main

def breaks(*_):
    secret = "SECRET-LOCAL"
    raise ValueError("SECRET-TEXT " + secret)

module.{name} = breaks
sys.argv = ["ocmlview", {arguments}]
main()
"""


@pytest.mark.share(quick=3)
@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [("show", "print_text", '"show", "chat.ocml"'), ("check", "Report", '"check", "chat.ocml"')],
)
def test_an_internal_error_exits_with_70_and_quotes_nothing(module: str, name: str, arguments: str, chat: Path) -> None:
    program = FAULTY.format(module=module, name=name, arguments=arguments)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=chat.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert done.stderr.startswith("ocmlview: this is a bug: ValueError\n")
    assert "SECRET" not in done.stdout + done.stderr


def test_core_dumps_are_disabled(chat: Path) -> None:
    program = (
        "import atexit, resource, sys; from viewer.cli import main\n"
        "atexit.register(lambda: print(resource.getrlimit(resource.RLIMIT_CORE)))\n"
        'sys.argv = ["ocmlview", "--version"]; main()'
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("(0, 0)\n")
