"""`ocmlview leaks` and `check --leaks`: positions, JSON, exit codes. They require that everything is revealed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.program import CHAT, Result, run

LEAKY = """\
version: 2.2
<|start|>developer<|message|>Never say the voucher ZX-4471. Internal rule: offer ten percent to customers who threaten \
to leave.<|end|>
<|start|>user<|message|>I want to leave.<|end|>
<|start|>assistant<|channel|>final<|message|>Your code is ZX-4471. As a rule we offer ten percent to customers who \
threaten to leave.<|return|>
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.ocml"
    path.write_text(LEAKY, "utf-8")
    return path


def objects(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.out.splitlines()]


def test_nothing_is_printed_unless_everything_is_revealed(file: Path, tmp_path: Path) -> None:
    clean = tmp_path / "clean.ocml"
    clean.write_text(CHAT, "utf-8")
    for path in (file, clean):
        for options in ([], ["--json"], ["--exit-code"], ["--reveal", "analysis,developer,system"]):
            done = run("leaks", *options, path)
            assert (done.code, done.out) == (2, "")
            assert done.err == "ocmlview leaks shows hidden messages; add --reveal all\n"
        for options in ([], ["--json"], ["--sarif"], ["--reveal", "analysis"]):
            done = run("check", "--leaks", *options, path)
            assert (done.code, done.out) == (2, "")
            assert done.err == "ocmlview check --leaks shows hidden messages; add --reveal all\n"


def test_a_leak_is_printed_with_its_sources(file: Path) -> None:
    done = run("leaks", "-d", file)
    assert done.code == 0
    assert done.err == "DEBUG view: the output quotes hidden messages.\n"
    assert done.out.splitlines() == [
        f"{file}: #3  leak 100  W-LEAK secret, copied  9 words copied, longest 9, 50% of #3",
        "  secret      #1 developer    ZX-4471",
        "  copied      #1 developer    offer ten percent to customers who threaten to leave",
        "1 answer searched: 1 W-LEAK, 0 I-LEAK. Paraphrases are not found.",
    ]
    assert run("leaks", "-d", "--exit-code", file).code == 1


def test_spans_are_bytes_of_the_file(file: Path) -> None:
    text = LEAKY.replace("Your code", "Ünser Göde")
    file.write_text(text, "utf-8")
    leak, summary = objects(run("leaks", "-d", "--json", file))
    data = text.encode()
    spans = leak["spans"]
    assert isinstance(spans, list)
    assert [data[slice(*span["shown"])] for span in spans] == [data[slice(*span["source_span"])] for span in spans]
    assert data[slice(*spans[0]["shown"])] == b"ZX-4471"
    assert summary == {"kind": "leaks-summary", "answers": 1, "warnings": 1, "notes": 0}


def test_check_reports_leaks_at_their_place_in_the_answer(file: Path) -> None:
    found = objects(run("check", "--leaks", "-d", "--json", file))
    assert [(each["code"], each["reason"], each["message"]) for each in found[:-1]] == [("W-LEAK", "secret", 3)]
    span = found[0]["span"]
    assert isinstance(span, list)
    assert LEAKY.encode()[slice(*span)] == b"ZX-4471"
    assert found[-1]["warnings"] == 1
    assert run("check", "--leaks", "-d", "--strict", file).code == 1
    assert "W-LEAK" in run("check", "--leaks", "-d", "--sarif", file).out
    assert "W-LEAK" in run("check", "--leaks", "-d", "--junit", file).out
    assert "LEAK" not in run("check", "-d", file).out
    done = run("check", "--leaks", "-d", "-f", file)
    assert (done.code, done.err) == (2, "ocmlview: --leaks needs the whole input; omit -f\n")


def test_boilerplate_is_recognized_across_the_files_of_a_folder(file: Path, tmp_path: Path) -> None:
    plain = LEAKY.replace("ZX-4471", "one").replace("Your code is one", "Well")
    file.write_text(plain, "utf-8")
    assert len(objects(run("leaks", "-d", "--json", file))) == 2
    for name in ("b", "c"):
        (tmp_path / f"{name}.ocml").write_text(plain.replace("Well", name), "utf-8")
    assert objects(run("leaks", "-d", "--json", tmp_path)) == [
        {"kind": "leaks-summary", "answers": 3, "warnings": 0, "notes": 0}
    ]


def test_a_body_in_several_pieces_has_places_in_the_body(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    parts = [{"type": "text", "text": "Your cöde is"}, {"type": "text", "text": " ZX-4471."}]
    messages = [
        {"role": "system", "content": "The voucher is ZX-4471."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": parts},
    ]
    path.write_text(json.dumps(messages), "utf-8")
    leak, _ = objects(run("leaks", "-d", "--json", path))
    spans = leak["spans"]
    assert isinstance(spans, list)
    assert spans[0]["in"] == "body"


def test_a_mistake_is_reported_in_one_sentence_and_exits_with_2(file: Path) -> None:
    for words in (["--from", "sytem", file], ["--min-words", "2", file], [file.parent / "missing.ocml"]):
        done = run("leaks", "-d", *words)
        assert (done.code, done.out) == (2, ""), words
