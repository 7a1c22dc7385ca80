"""Every export format names its view, and shows the whole view and nothing hidden."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.screens.test_nothing_hidden import hidden_pieces
from tests.support.cases import each
from tests.support.samples import Sample, samples
from tests.unit.render.exports.exported import AUDIENCES, STRICT, Page, export, own_words, project_text, projected
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal
from viewer.render.exports import EXPORTERS, default_name, exporter_of
from viewer.render.exports.view_words import counts_words
from viewer.rules import RULES

EVERY_FORM = pytest.mark.parametrize("form", EXPORTERS)
TOUR = next(sample for sample in samples() if sample.name == "tour.ocml")
ANALYSIS = Audience(frozenset({Reveal.ANALYSIS, Reveal.TOOL}))
HIDDEN = "version: 2.2\n<|start|>system<|message|>Be brief.<|end|>\n"
OWN_WORDS = "\n".join(map(repr, RULES.values()))


@pytest.mark.share(quick=3)
@EVERY_FORM
def test_the_beginning_names_the_view(form: str) -> None:
    said = {name: export(projected(TOUR, audience), form)[:14_000] for name, audience in AUDIENCES.items()}
    assert "SAFE" in said["safe"]
    assert "DEBUG" not in said["safe"].replace(".debug", "").replace("--debug", "")
    assert "SAFE" in said["strict"]
    assert "DEBUG" in said["debug"]
    some = export(projected(TOUR, ANALYSIS), form)
    assert "analysis, tool" in some or '"analysis","tool"' in some


@each("sample", samples(), ids=lambda sample: sample.name, quick=468, test=60)
def test_no_form_contains_hidden_text(sample: Sample) -> None:
    pieces = [piece for piece in hidden_pieces(sample) if piece not in OWN_WORDS]
    for form in EXPORTERS:
        for audience in (END_USER, STRICT):
            made = export(projected(sample, audience), form, "title")
            apart = made.replace(">", ">\n").replace("<", "\n<") if form in ("html", "svg") else made
            texts = [apart, Page(made).text] if form == "html" else [apart]
            for text in texts:
                assert not [piece for piece in pieces if piece in text and piece not in own_words(form)], form


@pytest.mark.parametrize("form", ["html", "md"])
def test_only_a_developer_gets_notes(form: str) -> None:
    sample = next(each for each in samples("broken") if each.base.startswith("I-HARMONY-STRICT-channel-space"))
    assert "I-HARMONY-STRICT" in export(projected(sample, EVERYTHING), form)
    assert "I-HARMONY-STRICT" not in export(projected(sample, END_USER), form)


@EVERY_FORM
def test_a_strict_view_does_not_distinguish_hidden_from_empty(form: str, tmp_path: Path) -> None:
    texts = (HIDDEN, "version: 2.2\n")
    made = [export(project_text(tmp_path / "chat.ocml", text, STRICT), form) for text in texts]
    assert made[0] == made[1]
    tour = export(projected(TOUR, STRICT), form)
    assert " hidden" not in tour.split("</style>")[-1]


@EVERY_FORM
def test_hidden_messages_are_counted_as_in_the_app(form: str) -> None:
    made = export(projected(TOUR, END_USER), form)
    if form == "jsonl":
        lines = [json.loads(line) for line in made.splitlines()]
        assert (lines[0]["messages"], lines[0]["hidden"]) == (11, 22)
        assert sum(line["count"] for line in lines if line["kind"] == "hidden") == 22
    else:
        assert "4 hidden" in made
    assert counts_words(projected(TOUR, END_USER).rows(), END_USER) == "11 messages, 22 hidden"
    assert counts_words(projected(TOUR, STRICT).rows(), STRICT) == "11 messages"


@EVERY_FORM
def test_everything_is_exported_when_all_is_revealed(form: str) -> None:
    made = export(projected(TOUR, EVERYTHING), form)
    for words in ("Two questions in one", "get_rain_chance", "Be brief and friendly", "Osaka"):
        assert words in made, words


@EVERY_FORM
def test_an_empty_input_gives_a_complete_file(form: str, tmp_path: Path) -> None:
    assert export(project_text(tmp_path / "empty.ocml", "", END_USER), form).endswith("\n")


@EVERY_FORM
def test_each_form_has_its_suffix(form: str) -> None:
    exporter = EXPORTERS[form]
    assert exporter_of(f"dir/a{exporter.ending}") is exporter
    assert exporter_of(f"A{exporter.ending.upper()}") is exporter


@pytest.mark.parametrize(
    ("document", "audience", "name"),
    [
        ("/logs/tour.ocml", END_USER, "tour.safe.html"),
        ("tour.ocml", EVERYTHING, "tour.DEBUG.html"),
        ("tour.jsonl.gz", STRICT, "tour.safe.html"),
        ("-", END_USER, "transcript.safe.html"),
        (".hidden", ANALYSIS, "hidden.DEBUG.html"),
        ("a\x1b[31m.ocml", END_USER, "a␛[31m.safe.html"),
    ],
)
def test_the_default_name_names_the_view(document: str, audience: Audience, name: str) -> None:
    assert default_name(document, audience, EXPORTERS["html"]) == name


def test_a_name_without_a_suffix_selects_no_form() -> None:
    assert exporter_of("a.pdf") is None
    assert exporter_of("-") is None


def chats(count: int, lines: int = 1) -> str:
    chat = "version: 2.2\n<|start|>user<|message|>{}<|end|>\n<|start|>assistant<|message|>Yes {}<|return|>\n"
    return "".join(chat.format("\n".join(["Hello"] * lines), number) for number in range(1, count + 1))


@EVERY_FORM
def test_several_transcripts_are_separated(form: str, tmp_path: Path) -> None:
    made = export(project_text(tmp_path / "chats.ocml", chats(3), END_USER), form)
    for number in (1, 2, 3):
        assert f"Yes {number}" in made
        if number > 1 or form not in ("text", "svg"):  # a boundary has a title only before a second transcript
            assert f"ranscript {number}" in made or f'"kind":"transcript","number":{number}' in made
    if form == "html":
        assert Page(made).wrong == []
        assert {"t1-1", "t2-1", "t3-1"} <= set(Page(made).ids)


def test_a_picture_marks_where_it_is_cut(tmp_path: Path) -> None:
    cut, whole = (export(project_text(tmp_path / "a.ocml", chats(1, lines), END_USER), "svg") for lines in (1200, 20))
    assert "Truncated after 1,000 lines" in cut
    assert cut.count(">Hello<") < 1000
    assert "Truncated after" not in whole
    assert "Yes 1" in whole


def test_json_lines_equal_those_of_show(tmp_path: Path) -> None:
    from viewer.render.json_lines import projection_lines

    for audience in AUDIENCES.values():
        shown = projected(TOUR, audience)
        lines = export(shown, "jsonl").splitlines()[1:]
        assert [line for line in lines if json.loads(line)["kind"] != "hidden"] == list(projection_lines(shown))


@EVERY_FORM
def test_a_title_from_the_input_is_sanitized(form: str) -> None:
    made = export(projected(TOUR, END_USER), form, "\x1b]0;x\x07<b>`\n# a")
    assert "\x1b" not in made
    assert "\x07" not in made
    assert "\n# a" not in made
