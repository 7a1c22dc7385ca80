"""The generated parts of the pages match the code, and links have targets."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from tests.docs.made import MADE, remade
from tests.docs.written import DOCS, is_as_made
from tests.support import signatures
from tests.support.cases import each
from tests.support.program import ROOT
from viewer.formats import record_formats
from viewer.formats.engine.detect import rows_of

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")


@each("page", PAGES, ids=lambda page: page.name)
def test_generated_parts_match_the_code(page: Path) -> None:
    assert is_as_made(page, remade(page.read_text("utf-8"))), "run `make docs`"


def test_every_generated_part_is_on_a_page() -> None:
    assert sorted(re.findall(r"<!-- made: (\w+) -->", "".join(map(Path.read_text, PAGES)))) == sorted(MADE)


def test_generated_signatures_match_the_tables() -> None:
    made = signatures.made()
    assert is_as_made(ROOT / "viewer" / "formats" / "signatures.py", made), "run `make docs`"
    names: dict[str, object] = {}
    exec(made, names)
    assert names["ROWS"] == rows_of(record_formats())


@each("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_existing_files_and_headings(page: Path) -> None:
    for link in LINK.findall(outside_code(page.read_text("utf-8"))):
        assert "://" not in link, "pages must not link to external sites"
        name, _, heading = link.partition("#")
        target = (page.parent / unquote(name)) if name else page
        assert target.is_file(), link
        if heading:
            assert heading in anchors(target), link


def outside_code(page: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", page, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the headings as links name them."""
    heads = re.findall(r"^#+ (.*)$", outside_code(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_is_reached_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert {page.name for page in DOCS.glob("*.md")} <= {Path(link).name for link in LINK.findall(readme)}
