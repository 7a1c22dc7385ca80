"""The HTML page: only a few tags, no requests, a title that names the view, and escaped text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.samples import Sample, samples
from tests.unit.render.exports.exported import AUDIENCES, Page, export, project_text, projected
from viewer.document.values import ShownMessage
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.render.body import laid_out
from viewer.render.exports.html_body import FOLD_FROM, SHORT_FOLD_FROM, body_html
from viewer.render.exports.html_page import POLICY
from viewer.render.exports.palette import INKS
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize

TOUR = next(sample for sample in samples() if sample.name == "tour.ocml")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</div></article></style></title><script>",
    "<!-- --><![CDATA[ ]]><?php ?>",
    "&lt;b&gt; &#x3c;script&#x3e;",
    "javascript:alert(1)",
    "[a](javascript:alert(1)) ![x](http://tracker.example/x.png)",
    "http://tracker.example/x.png",
    "\x1b]52;c;aGk=\x07\u202e\u200b\ud800",
    "`<b>` **<i>** *<u>*\n```\n</code><s>\n```\n# <h1>",
    "{{7*7}} ${7*7}",
)


@each("sample", samples(), ids=lambda sample: sample.name, quick=80, test=24)
def test_a_page_uses_few_tags_and_its_links_have_targets(sample: Sample) -> None:
    for audience in AUDIENCES.values():
        page = Page(export(projected(sample, audience), "html"))
        assert page.wrong == []
        assert len(page.ids) == len(set(page.ids))
        assert set(page.targets) - set(page.ids) == set()
        assert page.meta["Content-Security-Policy"] == POLICY


def test_title_meta_and_banner_name_the_view() -> None:
    for name, audience in AUDIENCES.items():
        page = Page(export(projected(TOUR, audience), "html", "tour.ocml"))
        word = "DEBUG" if name == "debug" else "SAFE"
        assert page.title == f"{word} · tour.ocml"
        assert page.meta["ocmlview-view"].split()[0] == word
        assert page.text.lstrip().startswith(word)


def hostile_text(bad: str) -> str:
    """A transcript with something hostile in every place that holds text from outside."""
    plain = re.sub(r"[\s<|]", "_", bad)
    return (
        f'version: 2.2\nmodel: "{plain!r}"\n"{plain[:20]!r}": [{{a: "{plain!r}"}}]\n'
        f"<|start|>user name={plain}<|message|>{bad}<|end|>\n"
        f"<|start|>{plain}<|channel|>{plain}<|message|>{bad}<|end|>\n{bad}\n"
        f"<|start|>assistant to=functions.{plain} call_id={plain} mood={plain} content_type={plain}"
        f'<|channel|>commentary<|constrain|>json<|message|>{{"a": "{bad}", {bad}<|call|>\n'
        f"<|start|>tool name=functions.{plain} call_id={plain} to={plain}<|channel|>commentary<|message|>{bad}<|end|>\n"
        f"<|start|>assistant intent={plain}<|channel|>analysis<|message|>{bad}<|end|>\n"
        f"<|start|>assistant<|channel|>final<|message|>{bad}<|return|>\n"
    )


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_text_is_text_in_every_place(bad: str, tmp_path: Path) -> None:
    for audience in AUDIENCES.values():
        made = export(project_text(tmp_path / "chat.ocml", hostile_text(bad), audience), "html", bad)
        page = Page(made)
        assert page.wrong == []
        assert not re.search(r"<(script|img|style|iframe|object|link|base|form)", made.split("</style>", 1)[1])
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", made)


@each("sample", samples(), ids=lambda sample: sample.name, quick=48, test=3)
def test_the_text_of_a_page_is_the_text_of_the_messages(sample: Sample) -> None:
    shown = projected(sample, END_USER)
    page = without_space(Page(export(shown, "html")).text)
    for item in shown.items():
        if isinstance(item, ShownMessage):
            assert without_space(sanitize(normalize_newlines(item.body))) in page


def without_space(text: str) -> str:
    return "".join(re.sub(r"\d+ more lines?", "", text).split())


def body(text: str, faults: tuple[tuple[tuple[int, int], str], ...] = (), **changes: bool) -> str:
    options = {"prose": True, "json": False, "short": False, "trim": False} | changes
    return "".join(body_html(text, faults, **options))


class TestBody:
    def test_markdown_is_styled_in_place(self) -> None:
        made = body("# A\n**b** *c* `d` <e>")
        assert '<span class="heading"># A</span>' in made
        assert '<strong class="strong">**b**</strong>' in made
        assert '<em class="emphasis">*c*</em>' in made
        assert '<code class="code">`d`</code> &lt;e&gt;' in made

    def test_code_with_a_known_language_has_tokens_inside_its_block(self) -> None:
        made = body("```python\nx = <1>  # why\n```", (((15, 16), "error"),))
        assert made.count('<code class="block">') == 1
        assert '<span class="code-note"># why</span>' in made
        assert '<span class="code-number"><mark class="bad-span">1</mark></span>&gt;' in made
        assert unescape(re.sub("<[^>]*>", "", made)) == "```python\nx = <1>  # why\n```"

    def test_a_block_of_code_takes_the_end_of_its_line(self) -> None:
        assert '<code class="block">```\nx\n```\n</code>after' in body("```\nx\n```\nafter")

    def test_json_is_laid_out_token_by_token(self) -> None:
        text = '{"big":12345678901234567890.10,"a":"' + "x" * 80 + '","a":null}'
        made = body(text, prose=False, json=True)
        assert unescape(re.sub("<[^>]+>", "", made)) == laid_out(SafeText(text))
        assert '<span class="json-number">12345678901234567890.10</span>' in made

    def test_problems_are_marked_at_their_positions(self) -> None:
        made = body('{"a": light}', (((6, 11), "error"),), prose=False, json=True)
        assert '<mark class="bad-span">light</mark>' in made
        assert '<mark class="noted-span">b</mark>' in body("abc", (((1, 2), "warning"),))

    def test_marks_never_change_the_text(self) -> None:
        text = "**bold** and `code`\nlast"
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                made = body(text, (((start, end), "error"), ((3, 12), "info")))
                assert unescape(re.sub("<[^>]+>", "", made)) == text
                assert made.count("<mark") >= 1, (start, end)

    def test_marks_find_their_place_after_windows_line_ends(self) -> None:
        assert '<mark class="bad-span">b</mark>' in body("a\r\nb", (((3, 4), "error"),))

    @pytest.mark.parametrize(("short", "most"), [(False, FOLD_FROM), (True, SHORT_FOLD_FROM)])
    def test_long_bodies_are_folded(self, short: bool, most: int) -> None:
        lines = [f"line {number}" for number in range(most)]
        assert "<details" not in body("\n".join(lines), short=short)
        made = body("\n".join([*lines, "last"]), short=short)
        assert made.count("<details") == 1
        assert [line for line in re.findall(r"line \d+|last", made) if "more" not in line] == [*lines, "last"]
        more = re.search(r"(\d+) more lines", made)
        assert more
        assert int(more[1]) == len(made.split("</summary>")[1].split("\n"))

    def test_layout_is_trimmed_and_empty_bodies_are_labeled(self) -> None:
        assert ">x<" in body("\nx\n", trim=True)
        assert ">\nx<" in body("\nx\n")
        assert "(empty)" in body("")
        assert "(empty)" in body("\n")

    def test_a_huge_body_is_whole_but_plain(self) -> None:
        text = "<b> " * 100_000
        made = body(text)
        assert made.count("&lt;b&gt;") == 100_000
        assert "more characters" in made


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def color(name: str, night: bool) -> str:
    return INKS[name].dark if night else INKS[name].light


@pytest.mark.parametrize("night", [False, True], ids=["light", "dark"])
@each("name", [name for name in INKS if not name.endswith(("page", "line", "surface", "-ink"))])
def test_every_text_color_is_readable_on_every_background(name: str, night: bool) -> None:
    for ground in ("page", "surface"):
        assert contrast(color(name, night), color(ground, night)) >= 4.5, ground


@pytest.mark.parametrize("night", [False, True], ids=["light", "dark"])
def test_badges_and_marks_are_readable(night: bool) -> None:
    for name, ground in (
        ("safe-ink", "safe-page"),
        ("debug-ink", "debug-page"),
        ("plain", "bad-page"),
        ("plain", "noted-page"),
    ):
        assert contrast(color(name, night), color(ground, night)) >= 4.5, ground


def test_the_debug_page_has_links_states_and_positions() -> None:
    page = Page(export(projected(TOUR, EVERYTHING), "html"))
    for words in (
        "reply ↓9 · ok",
        "call ↑6 · ok",
        "reply ↓13 · failed",
        "E-CALL-SCHEMA/not-in-enum 86:134",
        "user saw it",
    ):
        assert words in page.text
    assert {"problems", "calls", "m1", "m33", "t1-5", "p7"} <= set(page.ids)
