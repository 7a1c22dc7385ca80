"""Samples of record formats, read in several ways: whole, in pieces, truncated, and with a renamed type."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.support.json_cases import body, messages, read
from tests.support.printing import SURFACES, some
from tests.support.program import run
from tests.support.samples import Sample, samples
from viewer.formats import FORMATS, detect
from viewer.model.events import Event, Found
from viewer.model.messages import Message
from viewer.model.visibility import is_user_safe

SECRET = "SECRET_"


def samples_of(name: str) -> list[Sample]:
    """Return the samples of a format."""
    found = samples(f"valid/{name}")
    assert len(found) >= 8
    return found


def events_of(name: str, data: bytes, sizes: list[int] | None = None) -> list[Event]:
    return read(FORMATS[name], data, sizes)


def seen(events: list[Event], data: bytes) -> list[str]:
    """Return the text of each message that the end user sees."""
    return [body(message, data).strip() for message in messages(events) if is_user_safe(message)]


def told(value: object, name: str) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Return the visible text of a value, the hidden parts with their kinds, and the codes."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    events = events_of(name, data)
    codes = [event.code + (f"/{event.reason}" if event.reason else "") for event in events if isinstance(event, Found)]
    hidden = [_hidden(message, data) for message in messages(events) if not is_user_safe(message)]
    return seen(events, data), hidden, codes


def _hidden(message: Message, data: bytes) -> tuple[str, str]:
    return message.header.kind.value, body(message, data).strip()


def cuts(data: bytes) -> Iterator[int]:
    """Yield about forty offsets to cut at, each at a different distance from the start of a line."""
    step = max(1, len(data) // 40)
    yield from range(1, len(data), step + (step % 2 == 0))


def assert_read_as_expected(sample: Sample) -> None:
    """Check that a sample is detected, reads the same in pieces, and shows what is expected on every surface."""
    data, name = sample.text, sample.path.parent.name
    assert detect(data).format == name
    whole = events_of(name, data)
    assert seen(whole, data) == sample.seen["seen"]
    assert events_of(name, data, [1] * len(data)) == whole
    everything = run("show", "--json", "--reveal", "all", "--threads", "all", str(sample.path)).out
    for hidden in set(sample.seen["hidden"]).difference(sample.seen.get("opaque", ())):
        assert hidden in everything
    for command, *options in some(SURFACES, sample.name, 6):
        done = run(command, str(sample.path), *options)
        assert SECRET not in done.out + done.err, (command, options)


def assert_cuts_show_nothing_hidden(sample: Sample) -> None:
    """Check that a sample that is cut anywhere shows nothing hidden."""
    for cut in cuts(sample.text):
        data = sample.text[:cut]
        assert SECRET not in "".join(seen(events_of(sample.path.parent.name, data), data)), (sample.name, cut)
