"""A followed regular file: the reasons for which earlier text is no longer valid."""

from __future__ import annotations

import os
from pathlib import Path

from viewer.sources.changes import Reason
from viewer.sources.followed_file import FollowedFile

TEXT = b"Where is the umbrella shop?"


class Cut(FollowedFile):
    """A file that shrinks between the check of its size and the reading of its bytes."""

    def _holds(self, descriptor: int) -> bool:
        if self.offset:
            os.truncate(descriptor, 0)
        return super()._holds(descriptor)


def held(path: Path, kind: type[FollowedFile]) -> FollowedFile:
    path.write_bytes(TEXT)
    return kind(os.open(path, os.O_RDWR))


def test_a_file_may_become_shorter_during_a_poll(tmp_path: Path) -> None:
    file = held(tmp_path / "run", Cut)
    assert file.take(9) == b"Where is "
    assert file.take(9) is Reason.TRUNCATED


def test_changed_bytes_are_another_file(tmp_path: Path) -> None:
    file = held(tmp_path / "run", FollowedFile)
    assert file.take(9) == b"Where is "
    (tmp_path / "run").write_bytes(TEXT.replace(b"W", b"T"))
    assert file.take(9) is Reason.REWRITTEN
