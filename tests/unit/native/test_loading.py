"""The accelerator is used if it was built, and can be switched off."""

from __future__ import annotations

import sys
from pathlib import Path
from zlib import crc32

import pytest

from tests.support.native import LEVELS, needs_native, using
from viewer import native
from viewer.document.backend import forced_backend, load_backend
from viewer.errors import ViewerError

SOURCE = Path(native.__file__).with_name("_fast.c")
MOST_LINES = {
    SOURCE: 1300,
    SOURCE.with_name("_proof.c"): 140,
    SOURCE.with_name("_records.c"): 560,
    SOURCE.with_name("_strings.c"): 200,
}
CHECKED_IN = (15, 0x2A7FADCE)
"""The edition of the source, and its checksum."""


def test_the_source_stays_small_enough_to_be_reviewed_in_full() -> None:
    for path, most in MOST_LINES.items():
        lines = path.read_text("utf-8").splitlines()
        assert len(lines) <= most and max(map(len, lines)) <= 120
    assert f"#define EDITION {native.EDITION}\n" in SOURCE.read_text("utf-8")


def test_each_change_of_the_source_has_its_edition_so_that_no_older_module_is_used() -> None:
    assert (native.EDITION, crc32(b"".join(path.read_bytes() for path in MOST_LINES))) == CHECKED_IN, (
        "increase EDITION in both files, and note both here"
    )


@needs_native
def test_each_level_can_be_forced() -> None:
    assert native.LEVELS[: len(LEVELS)] == LEVELS
    for level in LEVELS:
        with using(level):
            assert native.load() is not None and load_backend().name == "native"
    with using("avx2"):
        assert native.load() is not None, "a processor without a level uses one below it"


def test_the_accelerator_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.SWITCH, "0")
    assert native.load() is None and load_backend().name == "numpy"
    monkeypatch.setenv(native.SWITCH, "1")
    for backend in ("plain", "numpy"):
        monkeypatch.setenv(native.BACKEND, backend)
        assert native.load() is None


def test_an_unknown_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.LEVEL, "fast")
    with pytest.raises(ViewerError, match=r"^unknown level fast: OCMLVIEW_NATIVE_LEVEL must be scalar, sse2, or avx2$"):
        forced_backend()


def test_everything_works_without_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    native._module.cache_clear()
    monkeypatch.delattr(native, "_fast", raising=False)
    monkeypatch.setitem(sys.modules, "viewer.native._fast", None)
    assert native.load() is None and load_backend().name == "numpy"
    native._module.cache_clear()


@needs_native
def test_a_module_of_an_older_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    native._module.cache_clear()
    monkeypatch.setattr(native, "EDITION", native.EDITION + 1)
    assert native.load() is None
    native._module.cache_clear()
