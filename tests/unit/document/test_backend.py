"""A document chooses its backend once: small inputs stay plain, and a growing input switches without any difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import InMemory
from tests.support.reading import describe
from tests.support.source_following import Clock
from tests.unit.document.test_rows import transcript
from viewer.document import one_reading as module
from viewer.document.backend import VARIABLE
from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.errors import ViewerError
from viewer.sources.follow import FollowSource

DATA = transcript(7, 800)


def backend_of(document: Document) -> str:
    return document.index.columns.name


def test_only_small_inputs_use_the_plain_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backend_of(Document(InMemory(DATA)).load()) == "plain"
    monkeypatch.setattr(module, "BIG", len(DATA))
    assert backend_of(Document(InMemory(DATA)).load()) == "numpy"
    assert backend_of(Document(InMemory(DATA[1:])).load()) == "plain"


def test_many_messages_use_a_faster_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 100)
    document = Document(InMemory(DATA))
    while document.message_count < 100:
        assert not document.needs_backend
        document.read_some(900)
    assert document.needs_backend
    assert backend_of(document.load()) == "numpy"
    assert not document.needs_backend


def test_a_json_format_loads_a_faster_backend_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BIG", 1)
    document = Document(InMemory(b'{"role":"user","content":"Hello"}\n' * 3))
    assert document.needs_backend
    assert backend_of(document.load()) == "plain"
    document.load_backend()
    assert backend_of(document) == "numpy"


@pytest.mark.share(quick=4)
@pytest.mark.parametrize(
    ("name", "expected"), [("plain", "plain"), ("numpy", "numpy"), ("native", "numpy"), ("", "plain")]
)
def test_the_environment_forces_a_backend(name: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = describe(Document(InMemory(DATA)).load()._analysis, DATA)
    monkeypatch.setenv(VARIABLE, name)
    monkeypatch.setattr(module, "BIG", 1 if name else 1 << 40)
    document = Document(InMemory(DATA))
    assert document.needs_backend is False
    assert describe(document.load()._analysis, DATA) == plain
    assert backend_of(document) == expected


def test_an_unknown_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(ViewerError, match=r"^unknown backend fast: OCMLVIEW_BACKEND must be plain, numpy, or native$"):
        Document(InMemory(DATA))


@pytest.mark.slow
def test_a_followed_document_switches_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 100)
    path, clock = tmp_path / "run.log", Clock()
    path.write_bytes(b"")
    document = LiveDocument(FollowSource(str(path), clock=clock), clock=clock)
    names = []
    for end in range(0, len(DATA) + 700, 700):
        path.write_bytes(DATA[:end])
        document.load()
        names.append(backend_of(document))
        analysis, data = document._analysis, DATA[:end]
        assert [message.span[1] <= len(data) for message in analysis.index] == [True] * len(analysis.index)
    assert names == sorted(names, reverse=True)
    assert {"plain", "numpy"} == set(names)
    document.close()
    assert describe(document._analysis, DATA) == describe(Document(InMemory(DATA)).load()._analysis, DATA)
