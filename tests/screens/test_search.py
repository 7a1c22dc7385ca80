"""Search: only in shown text, in slices, resumable, and never blocked by a pattern."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.transcripts import END_USER, EVERYTHING, STRICT, document_of, view
from viewer.document.document import Document
from viewer.document.rows import RowKind
from viewer.model.visibility import Audience
from viewer.sources.files import open_source
from viewer.tui.search.engine import Query, Searcher
from viewer.tui.search.faults import fault_of_filter, fault_of_search
from viewer.tui.search.matchers import WINDOW

HEAD = "version: 2.2\n\n"


def body(text: str, role: str = "user") -> str:
    return f"<|start|>{role}<|message|>{text}<|end|>\n"


def searched(document: Document, typed: str, audience: Audience = END_USER, **options: int | float) -> Searcher:
    projection, rows = view(document, audience)
    searcher = Searcher(projection, rows, Query.parse(typed), **options)  # type: ignore[arg-type]
    finish(searcher)
    return searcher


def finish(searcher: Searcher, budget: float = 0.02) -> None:
    give_up = time.monotonic() + 30
    while searcher.step(budget):
        assert time.monotonic() < give_up


def places(searcher: Searcher) -> list[tuple[int, int, int]]:
    return [(hit.number, hit.start, hit.end) for hit in searcher.matches]


class TestQuery:
    @pytest.mark.parametrize(
        ("typed", "query"),
        [
            ("warm", Query("warm")),
            ("Warm", Query("Warm", False, False)),
            ("/wa+rm", Query("wa+rm", True, True)),
            ("re:wa+rm", Query("wa+rm", True, True)),
            (r"/\Wa\S", Query(r"\Wa\S", True, True)),
            ("/[A-Z]", Query("[A-Z]", True, False)),
            (r"\/etc", Query("/etc")),
            (r"\re:x", Query("re:x")),
            (r"\n", Query(r"\n")),
            ("", Query("")),
        ],
    )
    def test_a_leading_sign_makes_a_pattern_and_a_capital_makes_case_matter(self, typed: str, query: Query) -> None:
        assert Query.parse(typed) == query


class TestHits:
    def test_matches_are_offsets_in_the_shown_text(self, tmp_path: Path) -> None:
        document = document_of(tmp_path)
        searcher = searched(document, "warm")
        projection = document.project(END_USER)
        assert [number for number, _, _ in places(searcher)] == [2, 2, 6, 8]
        for number, start, end in places(searcher):
            shown = projection.message(number)
            assert shown is not None and shown.body[start:end].lower() == "warm"
        assert list(searcher.messages()) == [2, 6, 8]

    def test_with_a_capital_letter_case_matters(self, tmp_path: Path) -> None:
        assert [hit.number for hit in searched(document_of(tmp_path), "Warm").matches] == [2]

    @pytest.mark.parametrize("audience", [END_USER, STRICT])
    @pytest.mark.parametrize("typed", ["plums", "city", "/plum.", "brief"])
    def test_hidden_text_is_never_found(self, tmp_path: Path, audience: Audience, typed: str) -> None:
        assert not searched(document_of(tmp_path), typed, audience).matches

    def test_revealed_text_is_found(self, tmp_path: Path) -> None:
        assert [hit.number for hit in searched(document_of(tmp_path), "plums", EVERYTHING).matches] == [1, 3]

    def test_thoughts_that_are_cut_are_not_found_and_shift_no_match(self, tmp_path: Path) -> None:
        text = HEAD + body("<think>plums</think>warm", "assistant<|channel|>final")
        assert not searched(document_of(tmp_path, text), "plums").matches
        assert places(searched(document_of(tmp_path, text), "warm")) == [(1, 0, 4)]

    def test_text_outside_any_message_is_found_if_it_is_shown(self, tmp_path: Path) -> None:
        document = document_of(tmp_path, HEAD + body("a") + "plums\n" + body("b"))
        assert not searched(document, "plums").matches
        searcher = searched(document, "plums", EVERYTHING)
        _, rows = view(document, EVERYTHING)
        assert [(hit.number, rows.kind(hit.row)) for hit in searcher.matches] == [(1, RowKind.STRAY)]
        assert not searcher.messages()

    @pytest.mark.parametrize(
        ("text", "typed", "found"),
        [
            ("aaaaa", "aa", [(0, 2), (2, 4)]),
            ("É é", "é", [(0, 1), (2, 3)]),
            ("😀x😀", "x", [(1, 2)]),
            ("one\ntwo", "/^t", [(4, 5)]),
            ("one\ntwo", "/e$", [(2, 3)]),
            ("bab", "/a*", [(1, 2)]),
            ("a.b", ".", [(1, 2)]),
            ("\u212a", "k", []),
        ],
    )
    def test_each_kind_of_match(self, tmp_path: Path, text: str, typed: str, found: list[tuple[int, int]]) -> None:
        searcher = searched(document_of(tmp_path, HEAD + body(text)), typed)
        if found or text.isascii():
            assert [(hit.start, hit.end) for hit in searcher.matches] == found

    def test_only_a_limited_number_of_matches_is_kept(self, tmp_path: Path) -> None:
        searcher = searched(document_of(tmp_path, HEAD + body("a" * 100)), "a", most_matches=7)
        assert (len(searcher.matches), searcher.more, searcher.is_done) == (7, True, True)

    def test_an_empty_query_finds_nothing(self, tmp_path: Path) -> None:
        assert [len(searched(document_of(tmp_path), typed).matches) for typed in ("", "/", "re:")] == [0, 0, 0]


class TestMoving:
    def test_the_search_wraps_around_at_the_ends(self, tmp_path: Path) -> None:
        searcher = searched(document_of(tmp_path), "warm")
        hits = list(searcher.matches)
        assert searcher.next_from(1) == hits[0]
        assert searcher.next_from(2, hits[0].start + 1) == hits[1]
        assert searcher.next_from(3) == hits[2]
        assert searcher.next_from(8, hits[3].start + 1) == hits[0]
        assert searcher.previous_from(2, hits[1].start) == hits[0]
        assert searcher.previous_from(2) == hits[3]
        assert [searcher.after(hit) for hit in hits] == [*hits[1:], hits[0]]
        assert [searcher.after(hit, -1) for hit in hits] == [hits[3], *hits[:3]]
        assert [searcher.index_of(hit) for hit in hits] == [0, 1, 2, 3]

    def test_a_match_that_disappeared_leads_to_its_neighbors(self, tmp_path: Path) -> None:
        searcher = searched(document_of(tmp_path), "warm")
        hits = list(searcher.matches)
        gone = replace(hits[1], start=hits[1].start - 1)
        assert (searcher.after(gone), searcher.after(gone, -1), searcher.index_of(gone)) == (hits[1], hits[0], None)

    def test_without_matches_nothing_moves(self, tmp_path: Path) -> None:
        searcher = searched(document_of(tmp_path), "nowhere")
        assert (searcher.next_from(1), searcher.previous_from(1)) == (None, None)

    def test_a_row_knows_its_matches(self, tmp_path: Path) -> None:
        document = document_of(tmp_path)
        _, rows = view(document)
        assert len(searched(document, "warm").matches.in_row(rows.row_of(2))) == 2


class TestSlices:
    @pytest.mark.parametrize("typed", ["warm", "/w[a]rm"])
    @pytest.mark.parametrize("start", range(7))
    def test_the_start_of_a_search_does_not_change_its_matches(self, tmp_path: Path, typed: str, start: int) -> None:
        document = document_of(tmp_path)
        assert places(searched(document, typed, start_row=start)) == places(searched(document, "warm"))

    @pytest.mark.slow
    def test_the_search_begins_at_the_cursor(self, tmp_path: Path) -> None:
        document = document_of(tmp_path, HEAD + "".join(body("warm " * 200_000) for _ in range(4)))
        projection, rows = view(document)
        searcher = Searcher(projection, rows, Query.parse("warm"), start_row=2)
        searcher.step(0)
        assert {hit.number for hit in searcher.matches} == {3}
        assert 0 < searcher.progress < 1

    @pytest.mark.share(quick=0, test=6)
    @pytest.mark.parametrize("typed", ["needle", "Needle", "/need[l]e", r"/needle\b|needle"])
    @pytest.mark.parametrize("unit", ["x", "é", "x\n"])
    def test_a_body_of_many_blocks_gives_the_same_matches(self, tmp_path: Path, typed: str, unit: str) -> None:
        text = list(unit * (4 * WINDOW // len(unit)))
        for at in range(100, len(text), 65_521):
            text[at : at + 6] = "Needle" if at % 2 else "needle"
        joined = "".join(text)
        document = document_of(tmp_path, HEAD + body(joined))
        wanted = "Needle" if "N" in typed else "needle"
        haystack = joined if "N" in typed else joined.lower()
        expected = [at for at in range(100, len(joined), 65_521) if haystack.startswith(wanted, at)]
        assert [hit.start for hit in searched(document, typed).matches] == expected

    @pytest.mark.slow
    def test_a_match_over_a_border_is_found_once(self, tmp_path: Path) -> None:
        text = "x" * (WINDOW - 3) + "needle" + "x" * (2 * WINDOW) + "aaaaaa"
        document = document_of(tmp_path, HEAD + body(text))
        assert [hit.start for hit in searched(document, "needle").matches] == [WINDOW - 3]
        assert len(searched(document, "xx").matches) == (WINDOW - 3) // 2 + WINDOW

    @pytest.mark.slow
    def test_escapes_and_thoughts_in_a_huge_body(self, tmp_path: Path) -> None:
        filler = "x" * (3 * WINDOW)
        escaped = document_of(tmp_path, HEAD + body(f"<<|end|>{filler}needle"))
        assert [hit.start for hit in searched(escaped, "needle").matches] == [len("<|end|>") + len(filler)]
        thought = f"<think>needle{filler}</think>needle"
        document = document_of(tmp_path, HEAD + body(thought, "assistant<|channel|>final"), "other.ocml")
        assert places(searched(document, "needle")) == [(1, 0, 6)]

    @pytest.mark.slow
    def test_no_slice_takes_long(self, tmp_path: Path) -> None:
        document = document_of(tmp_path, HEAD + body("lorem ipsum dolor " * 2_000_000))
        projection, rows = view(document)
        searcher = Searcher(projection, rows, Query.parse("dolores"))
        longest, more = 0.0, True
        while more:
            began = time.process_time()
            more = searcher.step(0.005)
            longest = max(longest, time.process_time() - began)
        assert longest < 0.5, "the bound is generous, because test machines are slow"

    def test_the_search_continues_when_the_document_grows(self, tmp_path: Path) -> None:
        path = tmp_path / "live.ocml"
        texts = ["warm warm", "cold", "warm", "warm"]
        path.write_text(HEAD + "".join(map(body, texts)))
        document = Document(open_source(str(path)), "openchatml-2.2")
        projection = document.project(END_USER)
        rows = projection.rows()
        searcher = Searcher(projection, rows, Query.parse("warm"), start_row=1)
        while not document.is_complete:
            document.read_some(7)
            searcher.resume(rows.extend())
            finish(searcher)
            assert searcher.progress == 1
        assert places(searcher) == [(1, 0, 4), (1, 5, 9), (3, 0, 4), (4, 0, 4)]

    @pytest.mark.slow
    def test_a_change_drops_the_current_block(self, tmp_path: Path) -> None:
        document = document_of(tmp_path, HEAD + body("warm " * 300_000) + body("warm"))
        projection, rows = view(document)
        searcher = Searcher(projection, rows, Query.parse("warm"))
        searcher.step(0)
        searcher.resume(0)
        finish(searcher)
        assert len(searcher.matches) == 300_001


class TestPatterns:
    def test_a_slow_search_is_stopped(self, tmp_path: Path) -> None:
        document = document_of(tmp_path, HEAD + body("ab z" * 100_000) + body("warm"))
        projection, rows = view(document)
        searcher = Searcher(projection, rows, Query.parse("/(.{0,100}a){5}Q"), pattern_seconds=0.0)
        finish(searcher, 0.0)
        assert searcher.fault == "The pattern takes too long. Simplify it."
        assert not searcher.matches

    def test_a_notoriously_slow_pattern_is_fast(self, tmp_path: Path) -> None:
        searcher = searched(document_of(tmp_path, HEAD + body("a" * 30)), "/(a+)+$")
        assert places(searcher) == [(1, 0, 30)]

    def test_offsets_count_code_points_and_patterns_know_unicode(self, tmp_path: Path) -> None:
        document = document_of(tmp_path, HEAD + body("😀 é1 日本 x"))
        assert places(searched(document, r"/\w+")) == [(1, 2, 4), (1, 5, 7), (1, 8, 9)]
        assert places(searched(document, "/É")) == []
        assert places(searched(document, "/(?i)É")) == [(1, 2, 3)]

    @pytest.mark.parametrize("typed", ["/(", "/secret[", "/*", "/a{99999999999999}", "/" + "(" * 900])
    def test_an_invalid_pattern_is_reported_in_one_sentence_without_its_text(self, tmp_path: Path, typed: str) -> None:
        searcher = searched(document_of(tmp_path), typed)
        assert searcher.fault is not None
        assert searcher.fault.startswith("Invalid regular expression at character ")
        assert not searcher.matches

    def test_a_fault_names_its_column_and_reason_without_the_text(self) -> None:
        faults = {
            "(": "", "/": "", "re:": "", "/wa+rm": "", r"\/(": "",
            "/(a+": "column 2: missing )",
            "re:a[": "column 5: missing ]",
            "/a)": "column 3: missing ( before )",
            "/*a": "column 2: nothing to repeat",
            "/a**": "column 4: repeated twice",
            "/a{3,2}": "column 4: the minimum exceeds the maximum",
            "/a\\": "column 3: unfinished escape",
            r"/\qsecret": "column 2: unknown escape",
            r"/\x1": "column 2: unfinished escape",
            "/[z-a]": "column 3: the range ends before it begins",
            "/(?": "column 4: unfinished group",
            "/(?<s": "column 3: unknown kind of group",
            "/(?secret": "column 5: unknown flag",
            "/(?P<": "column 6: missing name of the group",
            "/(?P<se(cret>a)": "column 6: invalid here",
            "/" + "(" * 900: "column 2: invalid here",
            "/(?=a)": "Look-around and backreferences are not supported.",
            "/a{1001}": "The pattern is too large. Simplify it.",
        }  # fmt: skip
        assert {typed: fault_of_search(typed) for typed in faults} == faults

    def test_a_fault_of_a_filter_waits_while_the_rest_may_be_typed(self) -> None:
        typed = {
            "": ("", ""),
            "role:user warm": ("", ""),
            "rolle:user": ('column 1: unknown field "rolle"; did you mean "role"?',) * 2,
            "role:": ("", 'column 6: "role:" lacks a value'),
            "role: warm": ('column 6: "role:" lacks a value',) * 2,
            '"warm': ("", 'column 1: unclosed quote; end it with "'),
            "turn>": ("", 'column 6: "turn>" lacks a value'),
            "re:(a": ("", "column 4: Invalid regular expression at character 1."),
        }
        found = {text: tuple(fault_of_filter(text, is_complete=done) for done in (False, True)) for text in typed}
        assert found == typed

    @pytest.mark.parametrize("typed", ["/secret(?=x)", r"/(secret)\1"])
    def test_look_around_and_backreferences_are_refused(self, tmp_path: Path, typed: str) -> None:
        searcher = searched(document_of(tmp_path), typed)
        assert searcher.fault == "Look-around and backreferences are not supported."
        assert not searcher.matches

    def test_closing_ends_it(self, tmp_path: Path) -> None:
        projection, rows = view(document_of(tmp_path))
        searcher = Searcher(projection, rows, Query.parse("/warm"))
        searcher.step(0)
        searcher.close()
        searcher.close()
