"""The man page is generated from the commands, and troff reports no problem in it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.docs.manual import loaded, manual
from tests.docs.written import DOCS, is_as_made
from viewer.cli import COMMANDS

PAGE = DOCS / "ocmlview.1"


def test_the_man_page_matches_the_code() -> None:
    assert is_as_made(PAGE, manual()), "run `make docs`"


def test_the_man_page_has_every_command_and_option() -> None:
    page = PAGE.read_text("utf-8").replace("\\-", "-")
    for name in COMMANDS:
        assert f".SS {name}" in page
        for parameter in loaded(name).params:
            assert all(option in page for option in parameter.opts if option.startswith("-")), (name, parameter.name)


def test_troff_accepts_the_man_page() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-k", "-man", "-Tutf8", "-ww", str(PAGE)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    assert "OCMLVIEW(1)" in done.stdout
