"""A site in headless Chromium, opened from disk: its search, its table, hostile text, and no requests to other
hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_site import IMPOLITE, chat
from tests.support.browser import Browser, browser, found
from tests.support.program import CHAT, run
from viewer.render.exports.site import index_page
from viewer.render.exports.site.terms import fold, normal_text, terms_of

pytestmark = pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
TEXTS = {
    "a.ocml": CHAT,
    "b.ocml": chat("Das naïve CAFÉ in der Straße, ΟΔΟΣ, İstanbul, Cafe\u0301 10.5 " + "z" * 60),
    "c.ocml": chat("東京の天気は晴れです。ภาษาไทย"),
    "d.ocml": chat(IMPOLITE + " constructor hasOwnProperty"),
}


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser(found() or "") as running:
        yield running


def made(folder: Path, *options: str) -> Path:
    (folder / "in").mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (folder / "in" / name).write_text(text, "utf-8")
    out = folder / ("single" if options else "out")
    assert run("export", "--to", "site", *options, folder / "in", "-o", out).code == 0
    return out


def result(tab: Browser, code: str) -> Any:
    """Return the value of a promise in the page."""
    answer = tab.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


def searched(tab: Browser, query: str) -> list[list[str]]:
    """Search, and return the link and the text of each result."""
    cells = "[e.querySelector('a').getAttribute('href'), e.textContent]"
    listed = f"[...document.querySelectorAll('#results li')].map(e => {cells})"
    found: list[list[str]] = result(tab, f"search({json.dumps(query)}).then(() => {listed})")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--single",)], ids=["folder", "single"])
def test_the_search_finds_each_shown_word_and_loads_only_the_site(
    tab: Browser, options: tuple[str, ...], tmp_path: Path
) -> None:
    out = made(tmp_path, *options)
    seen = tab.open(out / "index.html")
    for query, name, quoted in (
        ("Yes", "a.ocml", "Yes, it is"), ("cafe\u0301 NAÏVE", "b.ocml", "Das naïve CAFÉ"),
        ("STRASSE", "b.ocml", "Straße"), ("οδοσ", "b.ocml", "ΟΔΟΣ"), ("İSTANBUL", "b.ocml", "İstanbul"),
        ("10.5", "b.ocml", "10.5"), ("z" * 60, "b.ocml", "zzz"), ("天気", "c.ocml", "天気は"),
        ("京の天気は晴", "c.ocml", "東京の"), ("晴", "c.ocml", "晴れ"), ("ไทย", "c.ocml", "ไทย"),
        ("onerror", "d.ocml", "<img src=x onerror"), ("constructor", "d.ocml", "constructor"),
        ("c.oc", "c.ocml", "c.ocml"),
    ):  # fmt: skip
        found = searched(tab, query)
        assert [text for _, text in found if text.startswith(name) and quoted in text], (query, found)
    for text in TEXTS.values():
        said = normal_text(text.partition("user<|message|>")[2].partition("<|end|>")[0])
        for term in sorted(terms_of(said))[::5]:
            assert len(searched(tab, term)) >= 1, term
    for absent in ("plums", "nothing", "toString", "__proto__q", "-", "valueOf"):
        assert searched(tab, absent) == [], absent
    assert searched(tab, "") == []
    assert tab.value("document.querySelectorAll('main img, main b, iframe, object').length") == 0
    home = out.resolve().as_uri()
    assert all(each.startswith(home) for each in seen.requests)
    assert (len(seen.requests) == 1) is bool(options)
    assert seen.complaints == []
    href, text = searched(tab, "Yes")[0]
    tab.value(f"location.href = {json.dumps(href)}")
    if not options:
        tab.open(out / href.partition("#")[0])
        tab.value(f"location.hash = {json.dumps('#' + href.partition('#')[2])}")
    assert "Yes" in tab.value("document.querySelector(':target').textContent")
    assert tab.value("document.querySelector(':target').getBoundingClientRect().height") > 0


@pytest.mark.slow
def test_the_table_sorts_all_pages_and_works_without_a_script(
    tab: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_page, "ROWS_A_PAGE", 3)
    out = made(tmp_path)
    names = "[...document.querySelectorAll('#rows td:first-child')].map(e => e.textContent)"
    tab.open(out / "index-2.html")
    assert tab.value(names) == ["d.ocml"]
    assert result(tab, f"sort('Name', 0).then(() => {names})") == ["a.ocml", "b.ocml", "c.ocml"]
    assert result(tab, f"sort('Name', 3).then(() => {names})") == ["d.ocml"]
    assert result(tab, f"sort('Name', 0).then(() => {names})") == ["d.ocml", "c.ocml", "b.ocml"]
    assert tab.value("document.querySelector('th').ariaSort") == "descending"
    for column in ("Format", "Model", "Messages", "Problems", "Date"):
        assert len(result(tab, f"sort('{column}', 0).then(() => {names})")) == 3
    cells = "document.querySelector('#rows').innerHTML.replace(/\\n/g, '')"
    tab.open(out / "index.html")
    written = tab.value(cells)
    assert result(tab, f"sort('Name', 0).then(() => {cells})") == written
    tab.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        seen = tab.open(out / "index.html")
        assert tab.value(names) == ["a.ocml", "b.ocml", "c.ocml"]
        assert tab.value("document.querySelector('#search').hidden")
        assert tab.value("[...document.querySelectorAll('#pager a')].map(e => e.href.split('/').pop())") == [
            "index-2.html"
        ]
        assert len(seen.requests) == 1
        page = next((out / "t").glob("d.ocml-*"))
        seen = tab.open(page)
        assert "<img src=x onerror=alert(1)>" in seen.text
        assert (seen.requests, seen.complaints) == ([page.resolve().as_uri()], [])
    finally:
        tab.ask("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.slow
def test_words_are_split_and_folded_as_the_index_does(tab: Browser, tmp_path: Path) -> None:
    tab.open(made(tmp_path) / "index.html")
    text = " ".join([*TEXTS.values(), "ﬁne ŉ ǆ ẞ ß ς Ⅷ ① ² ½ ª ʼn ñ Ω 한국어 文字,列 x_y 𝒳 𐐀 ᾳ ﷺ ꙮ"])
    for word in text.split():
        assert result(tab, f"fold({json.dumps(word)})") == fold(word), word
    split = result(tab, f"split({json.dumps(text)}).flatMap(each => each.keys)")
    terms = terms_of(normal_text(text))
    assert {each for each in terms if len(each) > 2} <= set(split) <= terms
