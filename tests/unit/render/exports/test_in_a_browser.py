"""Exported pages in headless Chromium: they request nothing, cause no errors, and contain nothing hidden in the DOM."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.screens.test_nothing_hidden import hidden_pieces
from tests.support.browser import Browser, Seen, browser, found
from tests.support.cases import each
from tests.support.samples import Sample, samples
from tests.unit.render.exports.exported import AUDIENCES, export, own_words, project_text, projected
from tests.unit.render.exports.test_html_page import HOSTILE, hostile_text
from viewer.model.visibility import END_USER, EVERYTHING

pytestmark = pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
TOUR = next(sample for sample in samples() if sample.name == "tour.ocml")


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser(found() or "") as running:
        yield running


def seen(tab: Browser, text: str, folder: Path) -> Seen:
    """Return the result of loading the page, which must have requested only itself."""
    page = folder / "page.html"
    page.write_text(text, "utf-8")
    shown = tab.open(page)
    assert shown.requests == [page.resolve().as_uri()]
    assert shown.complaints == []
    return shown


def proof(tab: Browser, sample: Sample, folder: Path) -> None:
    pieces = [piece for piece in hidden_pieces(sample) if piece not in own_words("html") and "<" not in piece]
    for name, audience in AUDIENCES.items():
        shown = seen(tab, export(projected(sample, audience), "html", "title"), folder)
        assert tab.value("document.querySelector('.badge').textContent") == ("DEBUG" if name == "debug" else "SAFE")
        if name != "debug":
            dom = shown.dom.replace(">", ">\n")
            assert not [piece for piece in pieces if piece in shown.text or piece in dom]


@pytest.mark.slow
def test_the_tour(tab: Browser, tmp_path: Path) -> None:
    proof(tab, TOUR, tmp_path)


@each("sample", samples(), ids=lambda sample: sample.name, quick=0, test=48)
def test_every_sample(tab: Browser, sample: Sample, tmp_path: Path) -> None:
    proof(tab, sample, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["html", "svg"])
def test_hostile_text_stays_text(tab: Browser, form: str, tmp_path: Path) -> None:
    for bad in HOSTILE:
        made = export(project_text(tmp_path / "chat.ocml", hostile_text(bad), EVERYTHING), form, bad)
        page = tmp_path / f"page.{form}"
        page.write_text(made, "utf-8")
        shown = tab.open(page)
        assert shown.requests == [page.resolve().as_uri()]
        assert shown.complaints == []
        elements = tab.value("document.querySelectorAll('script,img,iframe,object,embed,form,link,base,b i').length")
        assert elements == 0
        assert tab.value(
            "[...document.querySelectorAll('*')].every(e => ![...e.attributes].some(a => /^on/.test(a.name)))"
        )


@pytest.mark.slow
def test_a_picture_is_well_formed(tab: Browser, tmp_path: Path) -> None:
    for audience in AUDIENCES.values():
        page = tmp_path / "page.svg"
        page.write_text(export(projected(TOUR, audience), "svg"), "utf-8")
        assert tab.open(page).complaints == []
        assert tab.value("document.documentElement.tagName") == "svg"
        assert tab.value("document.getElementsByTagName('parsererror').length") == 0


@pytest.mark.slow
def test_links_lead_to_messages_and_problems_are_visible(tab: Browser, tmp_path: Path) -> None:
    seen(tab, export(projected(TOUR, EVERYTHING), "html"), tmp_path)
    tab.value("document.querySelector('#m6 .numbers a:last-child').click()")
    assert tab.value("document.querySelector(':target').id") == "m9"
    assert tab.value("document.querySelector('#m6 details').open")
    assert tab.value("document.querySelector('#m9').getBoundingClientRect().top") >= 0
    assert tab.value("[...document.querySelectorAll('#m15 mark')].map(m => m.textContent)") == ["light"]
    assert tab.value("document.querySelector('#m1 details').open") is False
    assert tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.slow
def test_nothing_overflows_the_page(tab: Browser, tmp_path: Path) -> None:
    text = "version: 2.2\n<|start|>user<|message|>" + "word" * 500 + "<|end|>\n"
    for made in (
        export(projected(TOUR, EVERYTHING), "html"),
        export(project_text(tmp_path / "chat.ocml", text, END_USER), "html", "name" * 40),
    ):
        seen(tab, made, tmp_path)
        for width in (1400, 800, 360):
            tab.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
            assert tab.value("document.documentElement.clientWidth") == width
            assert tab.value("document.documentElement.scrollWidth") <= width
    tab.ask("Emulation.clearDeviceMetricsOverride")
