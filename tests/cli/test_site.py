"""`ocmlview export --to site`: its files, its refusals, and what it replaces."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from tests.support.program import CHAT, ROOT, run
from viewer.cli import site
from viewer.model.visibility import END_USER
from viewer.render.exports.site import index_page
from viewer.render.exports.site.rows import SiteRow
from viewer.render.exports.site.terms import fold, normal_text, shard_of, terms_of

pytestmark = pytest.mark.slow

SECRETS = ("plums", "Be brief", "functions.weather", '"city"')
LINK = re.compile(r'href="([^"#]+)"')
IMPOLITE = "</script><img src=x onerror=alert(1)><b>bold</b> \u202eright\u202c & 'quoted' \"words\" </title> __proto__"
HEAD = "version: 2.2\n<|start|>user<|message|>"
ANSWER = "<|end|>\n<|start|>assistant<|channel|>final<|message|>Yes.<|return|>\n"


def chat(said: str) -> str:
    return f"{HEAD}{said}{ANSWER}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "a" / "b").mkdir(parents=True)
    for name, text in {
        "run.ocml": CHAT, "a/run.ocml": chat("¿Dónde está el naïve Straße?"), "a/b/run.ocml": chat("東京の天気は"),
        "a/</script><img src=x>.ocml".replace("/s", "∕s"): chat(IMPOLITE), "notes.txt": "nothing",
    }.items():  # fmt: skip
        (tmp_path / "in" / name).write_text(text, "utf-8")
        os.utime(tmp_path / "in" / name, (1_700_000_000, 1_700_000_000))
    return tmp_path


def files(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_a_site_has_an_index_a_search_and_one_page_for_each_transcript(folder: Path) -> None:
    result = run("export", "--to", "site", "in", "-o", "out")
    assert (result.code, result.out) == (0, "")
    assert "in/notes.txt is not a transcript; it was omitted" in result.err
    assert "Exported out: 4 transcripts. SAFE view." in result.err
    made = files(folder / "out")
    manifest = json.loads(made["site.json"])
    assert manifest["counts"]["transcripts"] == 4
    assert (manifest["audience"], manifest["pages"][0]) == ("safe", "index.html")
    pages = [name for name in made if name.startswith("t/")]
    assert sorted(pages) == sorted(manifest["pages"][1:])
    assert len({name.rpartition("-")[2] for name in pages}) == 4
    assert [name for name in pages if re.fullmatch(r"t/run\.ocml-[0-9a-f]{8}\.html", name)] == sorted(
        name for name in pages if name.startswith("t/run.ocml-")
    )
    index = made["index.html"].decode()
    assert set(LINK.findall(index)) == set(pages)
    assert all("../index.html" in LINK.findall(made[page].decode()) for page in pages)
    assert len([name for name in made if name.startswith("search/")]) == 256
    for data in made.values():
        assert b"http:" not in data and b"https:" not in data
        assert not [secret for secret in SECRETS if secret.encode() in data]
        assert str(folder).encode() not in data
    assert "style=" not in index and index.count("<script") == 1 and "<img" not in index


def test_every_shown_word_is_in_its_shard(folder: Path) -> None:
    assert run("export", "--to", "site", "in", "-o", "out").code == 0
    made = files(folder / "out")
    held = {name: json.loads(made[f"{name}.js"].decode().partition("=")[2][:-2]) for name in shards(made)}
    rows = json.loads(made["rows.js"].decode().partition("=")[2][:-2])
    for row, values in enumerate(rows):
        text = json.loads(made[f"text/{values[1][2:-5]}.js"].decode().partition("=")[2][:-2])
        for number, said in text.items():
            for term in terms_of(said):
                assert [row, *_numbers(held[f"search/{shard_of(term):02x}"][term], row)].count(int(number)) >= 1
    assert {"東", "東京", "京の", "天気"} <= terms_of("東京の天気は")
    assert "straße" in terms_of("Straße") or fold("Straße") in terms_of("STRASSE")
    assert terms_of(normal_text("Cafe\u0301")) == {"café"}


def _numbers(places: list[list[int]], row: int) -> list[int]:
    return next(numbers for at, *numbers in places if at == row)


def shards(made: dict[str, bytes]) -> list[str]:
    return [name.removesuffix(".js") for name in made if name.startswith("search/")]


def test_equal_input_gives_equal_bytes_in_one_process_and_in_several(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, least in (("one", 1000), ("two", 1000), ("three", 0)):
        monkeypatch.setattr(site, "ALONE", least)
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2})
        assert run("export", "--to", "site", "in", "-o", name).code == 0
    shutil.copytree("in", "elsewhere/deeper/in", copy_function=shutil.copy2)
    assert run("export", "--to", "site", "elsewhere/deeper/in", "-o", "four").code == 0
    assert run("export", "--to", "site", "in/run.ocml", "in/a", "-o", "five").code == 0
    made = [files(folder / name) for name in ("one", "two", "three", "four", "five")]
    assert all(each == made[0] for each in made)


def test_a_process_that_fails_leaves_its_work_to_this_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("export", "--to", "site", "in", "-o", "one").code == 0
    mine, write = os.getpid(), site._written

    def failing(*given: object) -> object:
        if os.getpid() != mine:
            raise RuntimeError
        return write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(site, "ALONE", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    monkeypatch.setattr(site, "_written", failing)
    assert run("export", "--to", "site", "in", "-o", "two").code == 0
    assert files(folder / "one") == files(folder / "two")


def test_a_revealed_site_says_so_everywhere(folder: Path) -> None:
    refused = run("export", "-d", "--to", "site", "in", "-o", "out")
    assert (refused.code, refused.err) == (
        2, "ocmlview: out was not written: the name of a DEBUG site must end in .DEBUG\n"
    )  # fmt: skip
    assert run("export", "--reveal", "brief", "--to", "site", "in", "-o", "out").code == 2
    assert run("export", "--strict-safe", "--to", "site", "in", "-o", "strict").code == 0
    assert "hidden" not in json.loads(Path("strict/site.json").read_text())["counts"]
    assert not re.search(r"\d hidden", Path("strict/index.html").read_text("utf-8"))
    for options, name, badge in ((["-d"], "out.DEBUG", "DEBUG"), (["--level", "brief"], "out.brief", "BRIEF")):
        assert run("export", *options, "--to", "site", "in", "-o", name).code == 0
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o700
        pages = [path.read_text("utf-8") for path in Path(name).rglob("*.html")]
        assert len(pages) == 5
        assert all(f'class="badge">{badge}<' in page for page in pages)
    assert "plums" in "".join(path.read_text("utf-8") for path in Path("out.DEBUG").rglob("*.js"))


def test_an_existing_folder_is_replaced_only_if_it_is_a_site_and_with_force(folder: Path) -> None:
    Path("mine").mkdir()
    Path("mine/kept").write_text("kept")
    for options in ([], ["--force"]):
        assert "is not a site; choose another folder" in run("export", *options, "--to", "site", "in", "-o", "mine").err
    assert Path("mine/kept").read_text() == "kept"
    assert run("export", "--to", "site", "in/run.ocml", "-o", "out").code == 0
    assert "use --force" in run("export", "--to", "site", "in", "-o", "out").err
    assert len(list(Path("out/t").iterdir())) == 1
    assert run("export", "--force", "--to", "site", "in", "-o", "out").code == 0
    assert len(list(Path("out/t").iterdir())) == 4
    assert not [path for path in folder.iterdir() if path.name not in ("in", "mine", "out")]
    shutil.copy("out/site.json", "in/site.json")
    for files in (["in"], ["in/a/run.ocml"]):
        assert "contains the input" in run("export", "--force", "--to", "site", *files, "-o", "in").err
    assert run("export", "--to", "site", "in", "-o", "in/out").code == 0  # inside the input, and never part of it
    assert run("export", "--force", "--to", "site", "in", "-o", "in/out").code == 0
    assert len(list(Path("in/out/t").iterdir())) == 4


def test_mistakes_are_reported_in_one_sentence_and_leave_nothing(folder: Path) -> None:
    for words, sentence in (
        (["--to", "site", "in"], "A site needs an output folder: -o DIR."),
        (["--to", "site", "-o", "-", "in"], "A site needs an output folder: -o DIR."),
        (["--to", "site", "-o", "out", "-"], "A site needs files or folders."),
        (["--single", "in/run.ocml"], "--single needs --to site."),
        (["--to", "site", "--limit-size", "1MB", "-o", "out", "in"], "--limit-size needs --single."),
        (["--to", "site", "--single", "--limit-size", "huge", "-o", "out", "in"], "use a size such as 50MB."),
        (["--to", "site", "--single", "--limit-size", "10KB", "-o", "out", "in"], "more than the limit of 10.2 kB"),
        (["--to", "site", "-o", "out", "in/notes.txt"], "no transcript could be read; the site was not written"),
        (["--to", "site", "-o", "nowhere/out", "in"], "nowhere/out.tmp cannot be created"),
    ):
        result = run("export", *words)
        assert result.code == 2, words
        assert sentence in result.err, result.err
    assert [path.name for path in folder.iterdir()] == ["in"]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(folder: Path) -> None:
    result = run("export", "--to", "site", "in/run.ocml", "in/missing.ocml", "in/notes.txt", "-o", "out")
    assert result.code == 2
    assert "in/missing.ocml" in result.err and "in/notes.txt: no transcript was recognized" in result.err
    assert len(list(Path("out/t").iterdir())) == 1


def test_limits_are_refused_before_a_site_gets_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "LARGEST_SITE", 1000)
    assert "a site can hold at most 1.0 kB" in run("export", "--to", "site", "in", "-o", "out").err
    monkeypatch.setattr(site, "MOST_TRANSCRIPTS", 3)
    assert "4 transcripts: a site can hold at most 3" in run("export", "--to", "site", "in", "-o", "out").err
    assert not Path("out").exists() and not Path("out.tmp").exists()


def test_a_long_index_has_several_pages_that_link_to_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_page, "ROWS_A_PAGE", 2)
    assert run("export", "--to", "site", "in", "-o", "out").code == 0
    first, second = (Path(f"out/index{end}.html").read_text("utf-8") for end in ("", "-2"))
    assert (first.count("<tr>"), second.count("<tr>")) == (3, 3)
    assert 'href="index-2.html"' in first and 'href="index.html"' in second
    rows = [SiteRow("n" * 150, "t/p.html", "f" * 60, "", 1, 0, [], "2026-01-01 00:00")] * 2500
    monkeypatch.setattr(index_page, "ROWS_A_PAGE", 1000)
    pages = [page for _, page in index_page.index_pages(rows, END_USER)]
    assert all(len(page.encode()) <= index_page.LARGEST_PAGE for page in pages)
    assert sum(page.count("n" * 150) for page in pages) == 2500


def test_the_samples_make_a_site(tmp_path: Path) -> None:
    samples = [ROOT / "samples" / name for name in ("tour.ocml", "tour.json")]
    result = run("export", "--to", "site", *samples, "-o", tmp_path / "out")
    assert result.code == 0
    page = next((tmp_path / "out" / "t").glob("tour.ocml-*")).read_text("utf-8")
    texts = next((tmp_path / "out" / "text").glob("tour.ocml-*")).read_text("utf-8")
    for number in json.loads(texts.partition("=")[2][:-2]):
        assert f'id="m{number}"' in page
