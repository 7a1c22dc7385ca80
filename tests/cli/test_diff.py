"""`ocmlview diff`: what it prints, its exit codes, Git, folders, and that hidden messages never influence it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from tests.support.edited_runs import a_run
from tests.support.program import CHAT, run

OTHER = CHAT.replace("A hidden thought about plums", "Some other idea").replace(
    "Yes, it is.", "Yes, it is\n20 degrees."
)
BY_SERVER = json.dumps(
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it warm in Tokyo?"},
        {
            "role": "assistant",
            "reasoning_content": "A hidden thought about plums.",
            "tool_calls": [
                {"id": "x", "type": "function", "function": {"name": "weather", "arguments": '{"city": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "x", "content": '{"ok":true}'},
        {"role": "assistant", "content": "Yes, it is."},
    ]
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    a, b = tmp_path / "a.ocml", tmp_path / "b.ocml"
    a.write_text(CHAT, "utf-8")
    b.write_text(OTHER, "utf-8")
    return a, b


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_equal_transcripts_print_nothing_and_exit_with_0(files: tuple[Path, Path]) -> None:
    done = run("diff", files[0], files[0])
    assert (done.code, done.out, done.err) == (0, "", "")
    assert run("diff", "-d", files[0], files[0]).out == ""


def test_differences_are_printed_and_exit_with_1(files: tuple[Path, Path]) -> None:
    done = run("diff", *files)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"--- A {files[0]}  2 messages",
        f"+++ B {files[1]}  2 messages",
        "  #1  User       Is it warm in Tokyo?",
        "~ #2  Assistant  Yes, it is",
        "      [+20 degrees+].",
        "1 same, 1 changed · first difference at A#2, B#2",
    ]
    assert run("diff", "--exit-zero", *files).code == 0


def test_the_debug_form_compares_everything(files: tuple[Path, Path]) -> None:
    done = run("diff", "-d", *files)
    assert done.code == 1
    assert "thought" in done.out
    assert done.err == "DEBUG view: the comparison includes hidden messages.\n"
    assert lines(run("diff", "-d", "--json", *files).out)[-1] == {
        "kind": "diff-summary",
        "same": 4,
        "changed": 1,
        "only_a": 1,
        "only_b": 1,
        "first": [3, None],
    }


def test_a_server_and_its_raw_tokens_have_no_difference(files: tuple[Path, Path], tmp_path: Path) -> None:
    server = tmp_path / "b.json"
    server.write_text(BY_SERVER, "utf-8")
    assert run("diff", "-d", files[0], server).code == 0
    server.write_text(BY_SERVER.replace('{\\"city\\": 1}', '{\\"city\\": 2}').replace("plums.", "plums. "), "utf-8")
    found = lines(run("diff", "-d", "--json", files[0], server).out)
    assert [each["kind"] for each in found] == ["pair", "arguments", "call-ids", "diff-summary"]
    assert found[1]["paths"] == [{"path": ".city", "change": "changed", "old": 1, "new": 2}]
    assert found[2]["map"] == {"c1": "x"}


def test_a_preamble_equals_the_text_that_a_server_has_with_the_call(tmp_path: Path) -> None:
    said = "<|start|>assistant intent=preamble<|channel|>commentary<|message|>Let me look.<|end|>"
    call = "<|start|>assistant to=functions.wx call_id=a1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>"
    raw, harmony, answer, server = (tmp_path / name for name in ("a.ocml", "a.harmony", "b.ocml", "c.json"))
    raw.write_text(f"version: 2.2\n{said}\n{call}\n", "utf-8")
    harmony.write_text(f"{said}{call}".replace(" intent=preamble", "").replace(" call_id=a1", ""), "utf-8")
    answer.write_text(raw.read_text().replace(" intent=preamble", "").replace("commentary", "final", 1), "utf-8")
    function = {"id": "k1", "type": "function", "function": {"name": "wx", "arguments": "{}"}}
    server.write_text(json.dumps([{"role": "assistant", "content": "Let me look.", "tool_calls": [function]}]), "utf-8")
    assert [run("diff", *option, raw, server).code for option in ((), ("-d",), ("--strict",))] == [0, 0, 1]
    assert run("diff", "-d", "--preambles", "harmony", harmony, server).code == 0
    assert run("diff", harmony, server).code == 1, "the reader of Harmony hides it"
    assert run("diff", raw, answer).code == 1, "in one format, it is another channel"


@pytest.mark.parametrize("option", [[], ["--json"], ["--stat"], ["--side"], ["--strict"], ["--strict-safe"]])
def test_hidden_text_decides_nothing(option: list[str], files: tuple[Path, Path], tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.ocml"
    hidden.write_text(
        CHAT.replace("A hidden thought about plums.", "Pears.")
        .replace('{"city":1}', '{"city":[1,2]}')
        .replace("Be", "B"),
        "utf-8",
    )
    assert run("diff", *option, files[0], hidden).code == 0
    before, after = (run("diff", *option, each, files[1]) for each in (files[0], hidden))
    assert before.code == after.code == 1
    assert before.out.replace("a.ocml", "") == after.out.replace("hidden.ocml", "")
    assert before.err == after.err


def test_numbers_are_printed_as_written(files: tuple[Path, Path]) -> None:
    for path, number in zip(files, ("1e999", "20"), strict=True):
        path.write_text(CHAT.replace('{"city":1}', f'{{"city":{number}}}'), "utf-8")
    assert "city       [-1e999-] [+20+]\n" in run("diff", "-d", *files).out
    found = lines(run("diff", "-d", "--json", *files).out)
    assert found[0]["paths"] == [{"path": ".city", "change": "changed", "old": "1e999", "new": 20}]


def test_channels_and_kinds_can_be_chosen(files: tuple[Path, Path]) -> None:
    assert run("diff", "-d", "--channel", "commentary", *files).code == 0
    assert run("diff", "-d", "--channel", "final,analysis", *files).code == 1
    assert "Tokyo" not in run("diff", "--only", "changed", *files).out
    assert "ƒ weather" in run("diff", "-d", "--only", "calls", *files).out
    done = run("diff", "--channel", "finale", *files)
    assert done.code == 2
    assert "unknown channel 'finale'; known channels: final, analysis, commentary, other." in done.err


def test_totals_are_a_table(files: tuple[Path, Path]) -> None:
    out = run("diff", "--stat", *files).out.splitlines()
    assert out[2].split() == ["channel", "same", "changed", "only", "A", "only", "B"]
    assert out[3].split() == ["final", "1", "1", "0", "0"]


def test_git_gets_0_and_its_two_files_are_compared(files: tuple[Path, Path]) -> None:
    a, b = files
    done = run("diff", "name.ocml", a, "0" * 40, "100644", b, "1" * 40, "100644")
    assert done.code == 0
    assert "20 degrees" in done.out
    added = run("diff", "name.ocml", "/dev/null", ".", ".", b, "1" * 40, "100644", "other.ocml", "renamed")
    assert added.code == 0
    assert "+ #1" in added.out


def test_folders_are_compared_by_name(files: tuple[Path, Path], tmp_path: Path) -> None:
    for folder, text in (("old", CHAT), ("new", OTHER)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.ocml").write_text(text, "utf-8")
    (tmp_path / "new/more.ocml").write_text(CHAT, "utf-8")
    done = run("diff", tmp_path / "old", tmp_path / "new")
    assert done.code == 1
    assert done.out.startswith("Only in B: more.ocml\n━━ run.ocml ")
    found = lines(run("diff", "--json", tmp_path / "old", tmp_path / "new").out)
    assert [(each["kind"], each["file"]) for each in found] == [
        ("only-file", "more.ocml"),
        ("pair", "run.ocml"),
        ("diff-summary", "run.ocml"),
    ]
    (tmp_path / "new/more.ocml").unlink()
    assert run("diff", tmp_path / "old", tmp_path / "old").code == 0


def test_a_mistake_is_reported_in_one_sentence_and_exits_with_2(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "junk.json").write_text('{"a":1}', "utf-8")
    for words in (
        [files[0]],
        [*files, files[0]],
        ["-", "-"],
        [files[0], tmp_path / "missing.ocml"],
        [files[0], tmp_path / "folder"],
        [files[0], tmp_path / "junk.json"],
        ["--format-b", "nonsense", *files],
        [tmp_path / "folder", tmp_path / "folder"],
    ):
        done = run("diff", *words)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), words


def test_the_viewer_compares_two_files_on_a_terminal_only(files: tuple[Path, Path]) -> None:
    for words, sentence in (
        ([*files], "ocmlview: --diff needs a terminal; `ocmlview diff` prints the differences\n"),
        ([files[0]], "--diff needs two files and cannot be used with -f. Try 'ocmlview view --help'."),
    ):
        done = run("view", "--diff", *words)
        assert (done.code, done.out) == (2, "")
        assert sentence in done.err


def test_one_side_can_be_standard_input(files: tuple[Path, Path]) -> None:
    assert run("diff", files[0], "-", stdin=CHAT).code == 0
    assert run("diff", "-", files[0], stdin=OTHER).code == 1


def test_escapes_in_transcripts_stay_marks(files: tuple[Path, Path]) -> None:
    files[1].write_text(CHAT.replace("Yes", "\x1b[31mNo"), "utf-8")
    for option in ([], ["--side"], ["--json"], ["-d"]):
        assert "\x1b" not in run("diff", *option, *files).out


def test_a_loss_between_raw_tokens_and_server_json_is_reported_alone(tmp_path: Path) -> None:
    run_of_model = a_run(Random(17), 3)
    raw = tmp_path / "run.ocml"
    raw.write_text("version: 2.2\n" + "".join(piece.harmony("a") for piece in run_of_model), "utf-8")
    items = [piece.item("z") for piece in run_of_model]
    at = {piece.kind: place for place, piece in enumerate(run_of_model)}

    def rows(kind: str, **changes: object) -> list[dict[str, object]]:
        """Return the differences if an item is dropped, or has other members."""
        place, server = at[kind], tmp_path / "run.json"
        changed = [{**items[place], **changes}] if changes else []
        server.write_text(json.dumps({"model": "m", "input": [*items[:place], *changed, *items[place + 1 :]]}), "utf-8")
        done = run("diff", "-d", "--json", raw, server)
        found = [line for line in lines(done.out) if line["kind"] not in ("call-ids", "diff-summary")]
        assert {line.get("a") or line["number"] for line in found} <= {place + 1, at["reply"] + 1}
        return found

    for kind in ("user", "thought", "final", "reply"):
        (only,) = rows(kind)
        assert (only["kind"], only["side"]) == ("only", "a")
    only, reply = rows("call")
    assert (only["kind"], reply["kind"], list(dict(reply["fields"]))) == ("only", "pair", ["tool"])  # type: ignore[call-overload]
    (cut,) = rows("call", arguments=str(items[at["call"]]["arguments"])[:-2])
    assert cut["a"] == at["call"] + 1
    (changed,) = rows("final", content=str(items[at["final"]]["content"])[:-1] + "?")
    assert (changed["kind"], changed["change"]) == ("pair", "text")
    (lost,) = rows("reply", call_id=None)
    assert (lost["kind"], lost["change"]) == ("pair", "header")
