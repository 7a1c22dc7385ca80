"""The sidecar with the times at which the parts of an input arrived."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewer.errors import ViewerError
from viewer.sources.follow import FollowSource
from viewer.sources.replay.recorded_times import TimeRecorder, read_recorded_times


class Ticking:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.ms = 1000

    def __call__(self) -> int:
        return self.ms


def test_arrivals_are_recorded_at_most_once_per_ten_milliseconds_and_none_is_lost(tmp_path: Path) -> None:
    path, clock = tmp_path / "run.times", Ticking()
    recorder = TimeRecorder(str(path), clock)
    for after, offset in ((0, 10), (3, 20), (3, 30), (20, 40), (1, 50)):
        clock.ms += after
        recorder.arrive(offset)
    recorder.close()
    assert path.read_text() == '{"b":10,"t":1000}\n{"b":30,"t":1006}\n{"b":40,"t":1026}\n{"b":50,"t":1027}\n'
    assert path.stat().st_mode & 0o777 == 0o600
    times = read_recorded_times(str(path), 50)
    assert [times.at(offset) for offset in (1, 10, 11, 50, 51)] == [1000, 1000, 1006, 1027, None]
    assert [*times.between(10, 40)] == [30]


def test_a_followed_file_is_recorded_and_a_new_content_begins_again(tmp_path: Path) -> None:
    file, path, clock = tmp_path / "run", tmp_path / "run.times", Ticking()
    file.write_text("one\n")
    source = FollowSource(str(file), recorder=TimeRecorder(str(path), clock))
    source.poll()
    clock.ms += 100
    with file.open("a") as more:
        more.write("two\n")
    source.poll()
    clock.ms += 100
    file.write_text("3\n")
    source.poll()
    source.close()
    assert path.read_text().splitlines() == [
        '{"b":4,"t":1000}',
        '{"b":8,"t":1100}',
        '{"reset":true}',
        '{"b":2,"t":1200}',
    ]
    TimeRecorder(str(path), clock).close()
    assert path.read_text().endswith('{"reset":true}\n')
    assert read_recorded_times(str(path), 2).at(1) is None


def test_a_file_that_is_followed_again_keeps_its_times_and_another_one_begins_again(tmp_path: Path) -> None:
    file, path, clock = tmp_path / "run", tmp_path / "run.times", Ticking()
    recorder = TimeRecorder(str(path), clock)
    for content in ("one\n", "one\ntwo\n", "1\n"):
        file.write_text(content)
        source = FollowSource(str(file), recorder=recorder)
        source.poll()
        source.close()
        clock.ms += 100
    lines = ['{"b":4,"t":1000}', '{"b":8,"t":1100}', '{"reset":true}', '{"b":2,"t":1200}']
    assert path.read_text().splitlines() == lines


def test_a_sidecar_that_cannot_be_written_any_more_does_not_end_the_reading(tmp_path: Path) -> None:
    file = tmp_path / "run"
    file.write_text("one\n")
    recorder = TimeRecorder("/dev/full", Ticking())
    source = FollowSource(str(file), recorder=recorder)
    source.poll()
    assert source.size == 4
    source.close()
    assert recorder.fault == "/dev/full cannot be written: No space left on device; times are no longer recorded"


def test_only_lines_after_the_last_reset_count_and_no_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "run.times"
    path.write_text('{"b":4,"t":1}\n{"b":9{"reset":true}\n{"reset":true}\n{"b":7,"t":3}\n{"b":9,"t')
    times = read_recorded_times(str(path), 50)
    assert (times.at(7), times.at(8)) == (3, None)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"b":4,"t":1}\n{"b":3,"t":2}\n', "line 2 is not a recorded time"),
        ('{"b":4,"t":-1}\n', "line 1 is not a recorded time"),
        ('{"b":4,"t":1,"x":2}\n', "line 1 is not a recorded time"),
        ("\xff\n", "line 1 is not a recorded time"),
        ('{"b":400,"t":1}\n', "belongs to another file: its times go up to byte 400, but the input has 50 bytes"),
    ],
)
def test_a_sidecar_that_does_not_fit_is_refused_in_one_sentence(content: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "run.times"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ViewerError, match=sentence):
        read_recorded_times(str(path), 50)


def test_a_sidecar_that_cannot_be_opened_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ViewerError, match="cannot be read: No such file"):
        read_recorded_times(str(tmp_path / "none"), 1)
    with pytest.raises(ViewerError, match="cannot be written: Is a directory"):
        TimeRecorder(str(tmp_path))
