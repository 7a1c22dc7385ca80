"""The HTML page: few kinds of tags, no requests, a title that names the view, and escaped text."""

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
from viewer.render.blocks.json_rows import decode_string, is_container
from viewer.render.exports import EXPORTERS
from viewer.render.exports.html_body import FOLD_FROM, SHORT_FOLD_FROM, Kind, body_html
from viewer.render.exports.html_page import policy
from viewer.render.exports.html_text import Html
from viewer.render.exports.palette import INKS
from viewer.render.markdown import DEEPEST
from viewer.render.sanitize import normalize_newlines, sanitize

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


@pytest.mark.slow
@each("sample", samples(), ids=lambda sample: sample.name, quick=80, test=40)
def test_a_page_uses_few_tags_and_its_links_have_targets(sample: Sample) -> None:
    for audience in AUDIENCES.values():
        page = Page(export(projected(sample, audience), "html"))
        assert page.wrong == []
        assert len(page.ids) == len(set(page.ids))
        assert set(page.targets) - set(page.ids) == set()
        assert page.meta["Content-Security-Policy"] == policy(Html(page.style))


def test_title_meta_and_banner_name_the_view() -> None:
    for name, audience in AUDIENCES.items():
        page = Page(export(projected(TOUR, audience), "html", "tour.ocml"))
        word = "DEBUG" if name == "debug" else "SAFE"
        assert page.title == f"{word} · tour.ocml"
        assert page.meta["ocmlview-view"].split()[0] == word
        assert page.text.lstrip().startswith(word)


def hostile_text(bad: str) -> str:
    """Return a transcript with hostile text wherever the page contains text from the transcript."""
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


@each("sample", samples(), ids=lambda sample: sample.name, quick=288, test=12)
def test_every_word_of_the_messages_is_in_the_page(sample: Sample) -> None:
    for audience in (END_USER, EVERYTHING):
        shown = projected(sample, audience)
        page = Page(export(shown, "html"))
        for item in shown.items():
            if isinstance(item, ShownMessage):
                drawn = letters("".join(page.texts_of[f"m{item.number}"]))
                assert lost(item.body, drawn) == "", (item.number, item.body)


def test_the_contents_show_words_without_the_marks_of_markdown(tmp_path: Path) -> None:
    text = "version: 2.2\n<|start|>user<|message|>Is `lint` **slow**?<|end|>\n"
    made = export(project_text(tmp_path / "chat.ocml", text, END_USER), "html")
    assert '<span class="snippet" dir="auto">Is lint slow?</span>' in made


@pytest.mark.slow
def test_no_piece_of_a_page_grows_with_the_number_of_messages(tmp_path: Path) -> None:
    call = (
        "<|start|>assistant to=functions.run call_id=c<|channel|>commentary<|message|>{}<|call|>\n"
        "<|start|>tool name=functions.run call_id=c to=assistant<|channel|>commentary<|message|>{}<|end|>\n"
        "<|start|>assistant<|channel|>final<|message|># Done<|return|>\n<|start|>user<|message|>More<|end|>\n"
    )
    largest = []
    for count in (10, 200):
        projection = project_text(tmp_path / "chat.ocml", "version: 2.2\n" + call * count, EVERYTHING)
        _, *pieces = sorted(map(len, EXPORTERS["html"].pieces(projection, "chat.ocml")))
        largest.append(pieces[-2])  # the last piece is the head with its style sheet
    assert largest[1] < largest[0] + 100


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def lost(text: str, drawn: str) -> str:
    """Return the letters of the text from the first one that is not drawn, in order."""
    while "\\" in text and is_container(text):
        text = decode_string(text)[0]
    wanted, at = letters(sanitize(normalize_newlines(text))), 0
    for number, letter in enumerate(wanted):
        at = drawn.find(letter, at) + 1
        if not at:
            return wanted[number:]
    return ""


def body(text: str, *faults: tuple[tuple[int, int], str], kind: Kind = Kind.PROSE, **changes: bool) -> str:
    options = {"short": False, "trim": False} | changes
    return "".join(body_html(text, faults, kind, **options))


class TestMarkdown:
    def test_blocks_and_inline_marks_become_elements(self) -> None:
        made = body("# A\n**b** *c* `d` <e>\n\n- f\n- g\n  1. h\n\n> i\n\n---\n\n|j|k|\n|-|-:|\n|l|m|\n")
        for part in (
            '<h3 dir="auto">A</h3>',
            '<strong class="strong">b</strong> <em class="emphasis">c</em> <code class="code">d</code> &lt;e&gt;',
            '<ul><li><p dir="auto">f</p></li>',
            '<ol><li><span class="marker">1.</span><p dir="auto">h</p></li></ol></li></ul>',
            '<blockquote><p dir="auto">i</p></blockquote><hr>',
            '<th class="right">k</th>',
            '<td class="right">m</td>',
        ):
            assert part in made, part

    def test_cells_with_bars_and_blocks_that_are_nested_too_deep_are_whole(self) -> None:
        assert '<td><code class="code">ls | wc</code></td><td>c | d</td>' in body("|a|b|\n|-|-|\n|`ls \\| wc`|c \\| d|")
        assert "word" in body("> " * (DEEPEST + 1) + "word")

    def test_no_link_leads_out_of_the_page(self) -> None:
        made = body("[a](https://x.example/y) <https://z.example> ![b](c.png)")
        assert "<a" not in made
        assert unescape(re.sub("<[^>]+>", "", made)) == "a (https://x.example/y) https://z.example b (c.png)"

    def test_code_with_a_known_language_has_tokens(self) -> None:
        made = body("```python\nx = <1>  # why\n```", ((15, 16), "error"))
        assert '<span class="code-note"># why</span>' in made
        assert '<span class="code-number"><mark class="bad-span">1</mark></span>&gt;' in made
        assert unescape(re.sub("<[^>]*>", "", made)) == "pythonx = <1>  # why"

    def test_a_problem_without_a_drawn_place_shows_the_source(self) -> None:
        made = body("# a\n\n```\nb\n```", ((11, 14), "error"))
        assert '<mark class="bad-span">```</mark>' in made
        assert unescape(re.sub("<[^>]*>", "", made)) == "# a\n\n```\nb\n```"


class TestBody:
    def test_json_is_a_tree_with_real_line_breaks(self) -> None:
        text = '{"big":12345678901234567890.10,"a":"x\\ny","a":null,"in":"{\\"b\\":[1,{}]}"}'
        made = body(text, kind=Kind.JSON)
        assert '<span class="json-number">12345678901234567890.10</span>' in made
        assert '<span class="key">a</span><span class="quiet">text, 2 lines, 4 B</span>' in made
        assert ">x\ny<" in made
        assert "JSON in a string, 1 key" in made
        assert made.count('<span class="key">a</span>') == 2

    def test_problems_are_marked_at_their_positions(self) -> None:
        assert '<mark class="bad-span">light</mark>' in body('{"a": light}', ((6, 11), "error"), kind=Kind.JSON)
        assert '<mark class="bad-span">b' in body(r'{"a": "\nb"}', ((9, 10), "error"), kind=Kind.JSON)
        assert '<mark class="noted-span">b</mark>' in body("abc", ((1, 2), "warning"))

    def test_marks_never_change_exact_text(self) -> None:
        text = "**bold** and `code`\nlast"
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                made = body(text, ((start, end), "error"), ((3, 12), "info"), kind=Kind.ASIDE)
                assert unescape(re.sub("<[^>]+>", "", made)) == text
                assert made.count("<mark") >= 1, (start, end)

    def test_marks_find_their_place_after_windows_line_ends(self) -> None:
        for kind in (Kind.PROSE, Kind.DATA):
            assert '<mark class="bad-span">b</mark>' in body("a\r\nb", ((3, 4), "error"), kind=kind)

    @pytest.mark.parametrize(("short", "most"), [(False, FOLD_FROM), (True, SHORT_FOLD_FROM)])
    def test_long_bodies_are_folded(self, short: bool, most: int) -> None:
        lines = [f"line {number}" for number in range(most)]
        assert "<details" not in body("\n".join(lines), short=short, kind=Kind.DATA)
        made = body("\n".join([*lines, "last"]), short=short, kind=Kind.DATA)
        assert made.count("<details") == 1
        assert [line for line in re.findall(r"line \d+|last", made) if "more" not in line] == [*lines, "last"]
        more = re.search(r"(\d+) more lines", made)
        assert more
        assert int(more[1]) == len(made.split("</summary>")[1].split("\n"))

    def test_layout_is_trimmed_and_empty_bodies_are_labeled(self) -> None:
        assert ">x<" in body("\nx\n", trim=True, kind=Kind.DATA)
        assert ">\nx<" in body("\nx\n", kind=Kind.DATA)
        assert "(empty)" in body("")
        assert "(empty)" in body("\n")

    def test_a_huge_body_is_whole_but_plain(self) -> None:
        text = "<b> " * 100_000
        made = body(text)
        assert made.count("&lt;b&gt;") == 100_000
        assert "more characters" in made

    def test_deep_and_wide_json_is_whole(self) -> None:
        for text in ("[" * 60 + "7" + "]" * 60, "[" + "1," * 9000 + "2]"):
            made = unescape(re.sub("<[^>]+>", "", body(text, kind=Kind.JSON)))
            assert lost(text, letters(made)) == ""
            assert len(made) < 4 * len(text) + 2000


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
    for words in ("✖ failed", "✖ bad JSON", "reply of get_weather #9", "E-CALL-SCHEMA/not-in-enum 86:134", "seen"):
        assert words in page.text
    assert {"problems", "calls", "m1", "m33", "t1-5", "p7"} <= set(page.ids)
    card = "".join(page.texts_of["m12"])
    for words in ("ƒ get_weather", "location=Osaka format=kelvin", "#12→13", "format must be celsius or fahrenheit"):
        assert words in card
