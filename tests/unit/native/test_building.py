"""The accelerator is compiled if possible. Otherwise, there is a reason and no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatch_build import compile_module
from tests.support.program import ROOT

SOURCE = ROOT / "viewer" / "native" / "_fast.c"


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("CC", "/nonexistent", "there is no C compiler"),
        ("CC", "false -O0", "false failed (no reason)"),
        ("OCMLVIEW_NATIVE", "0", "OCMLVIEW_NATIVE is 0"),
    ],
)
def test_what_cannot_be_compiled_leaves_no_file(
    name: str, value: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCMLVIEW_NATIVE", "1")
    monkeypatch.setenv(name, value)
    assert compile_module(SOURCE, tmp_path / "module.so") == reason
    assert not list(tmp_path.iterdir())
