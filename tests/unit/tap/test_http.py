"""Where messages begin and end in the bytes of a connection."""

from __future__ import annotations

import random

import pytest

from tests.support.exchanges import exchange, pieces
from viewer.tap.http import Head, MalformedError, Messages, Part


def split(data: bytes, cuts: list[bytes], methods: list[str] | None = None) -> tuple[bytes, list[str], list[bytes]]:
    """Return the raw bytes, start lines, and bodies of messages."""
    left = [*methods] if methods is not None else None
    messages = Messages(None if left is None else lambda: left[0])
    raw, heads, bodies, body = b"", [], [], b""
    for cut in cuts:
        for part in messages.feed(cut):
            raw += part.raw
            body += part.body
            if part.head is not None:
                heads.append(f"{part.head.method}{part.head.status or ''}")
            if part.is_end:
                bodies.append(body)
                body = b""
                if left and (part.head is None or part.head.status >= 200):
                    left.pop(0)
    return raw, heads, bodies


@pytest.mark.slow
def test_any_split_gives_the_same_messages_and_bytes() -> None:
    for seed in range(16):
        rng = random.Random(seed)
        played = [exchange(rng) for _ in range(4)]
        requests = b"".join(each.request for each in played)
        answers = b"".join(each.answer for each in played)
        methods = [each.request.split(b" ")[0].decode() for each in played]
        for data, given in ((requests, None), (answers, methods)):
            whole = split(data, [data], given)
            assert whole[0] == data
            assert len(whole[2]) == len(whole[1])
            assert split(data, pieces(rng, data), given) == whole
            if len(data) < 6000:
                assert split(data, [data[at : at + 1] for at in range(len(data))], given) == whole
        assert split(requests, [requests])[1] == methods


@pytest.mark.parametrize(
    "request_",
    [
        b"PRI * HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\n",
        b"\x16\x03\x01\x02\x00\x01\n\n",
        b"GET /" + b"a" * 300_000,
    ],
)
def test_a_request_without_a_definite_end_is_malformed(request_: bytes) -> None:
    with pytest.raises(MalformedError):
        list(Messages().feed(request_))


def test_only_the_value_of_the_host_header_changes() -> None:
    [part] = Messages().feed(b"GET /a HTTP/1.1\r\nX-Host: h\r\nhOsT:\th:1 \r\nHost: h\r\n\r\n")
    head = part.head
    assert head is not None
    assert head.with_value("host", b"new") == b"GET /a HTTP/1.1\r\nX-Host: h\r\nhOsT:\tnew\r\nHost: new\r\n\r\n"


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    messages = Messages(lambda: "POST")
    parts = list(messages.feed(b"HTTP/1.1 200 OK\r\n\r\nabc"))
    assert [part.body for part in parts] == [b"", b"abc"]
    assert messages.close() == Part(b"", is_end=True)


def test_bytes_after_an_upgrade_are_not_read() -> None:
    messages = Messages(lambda: "GET")
    parts = list(messages.feed(b"HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"))
    assert messages.is_opaque
    assert isinstance(parts[0].head, Head)
    assert parts[1].head is None
