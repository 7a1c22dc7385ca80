"""Cassettes: requests and answers in YAML, JSON, or HTTP (VCR, nock, httprr, and similar tools), read as a HAR file."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

from viewer.sources.containers.parts import DAMAGED, LARGEST_TEXT, TOO_LARGE, UNREAD, PartFault, Parts, as_json

_YAML = re.compile(
    rb"(?>\xef\xbb\xbf)?(?>(?:---[^\n]*|#[^\n]*|[ \t\r]*|[\"']?(?:version|recorded_with)[\"']?:[^\n]*)\n)*"
    rb"(?:[\"']?(?:http_)?interactions[\"']?:[ \t\r]*\n[ \t]*-[ \t\r\n]"
    rb"|-[ \t\r\n]\s*[\"']?(?:request|response)[\"']?:[ \t\r]*\n|when:[ \t\r]*\n[ \t]+(?:path|method):)"
)
_JSON = re.compile(
    rb'(?>\xef\xbb\xbf)?\s*(?:\{\s*(?:"(?:version|recorded_with|replay_id)"\s*:\s*(?:[0-9.]+|"[^"\\]*")\s*,\s*){0,2}'
    rb'"(?:http_)?interactions"\s*:\s*\[\s*\{\s*"(?:request|response|recorded_at)"\s*:\s*["{]'
    rb'|\[\s*\{\s*"scope"\s*:\s*"https?:)'
)
_LISTS = frozenset(("interactions", "http_interactions"))
_SIDES = frozenset(("when", "then"))
"""The members of a YAML document that is a recording (httpmock)."""
_TRACE = b"httprr trace v1\n"
"""The first line of a file of httprr."""
_PACKED, _PACKED_NAME = b"\x1f\x8b", ".httprr.gz"
"""How a compressed trace begins, and how its name ends."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:?\d\d)?")
_STATUS = re.compile(r"([1-5]\d\d)(?![0-9])")
_START, _END = b'{"log":{"creator":{"name":"cassette"},"entries":[', b"]}}\n"


def is_cassette(path: str, first: bytes) -> bool:
    """True if a file begins with a list of recorded requests."""
    if first.startswith(_PACKED):
        return path.endswith(_PACKED_NAME)
    return first.startswith(_TRACE) or _YAML.match(first) is not None or _JSON.match(first) is not None


def read_cassette(path: str, item: str) -> Parts:
    """Return the entries of a HAR file, or a line for each event of a recorded web socket. Everything that cannot be
    read is reported."""
    with open(path, "rb") as file:  # noqa: PTH123 (loads less)
        data = file.read(LARGEST_TEXT + 1)
    if data.startswith(_PACKED):
        unpacker = zlib.decompressobj(31)
        try:
            data = unpacker.decompress(data, LARGEST_TEXT + 1)
            is_damaged = not unpacker.eof and not unpacker.unconsumed_tail
        except zlib.error:
            data, is_damaged = b"", True
        if is_damaged:
            yield PartFault(DAMAGED)
    if len(data) > LARGEST_TEXT:
        yield PartFault(TOO_LARGE)
    count = 0
    try:
        for recorded in _items(data[:LARGEST_TEXT]):
            if isinstance(recorded, dict) and "data" in recorded and not {"request", "response"} & recorded.keys():
                yield from () if count else _event(recorded["data"])
                continue
            faults: list[PartFault] = []
            entry = _entry(recorded, faults)
            yield from faults
            yield (b"," if count else _START) + entry
            count += 1
    except (ValueError, RecursionError):
        yield PartFault(DAMAGED)
    if count:
        yield _END


def _items(data: bytes) -> Iterator[object]:
    """Yield the recordings."""
    if data.startswith(_TRACE):
        from viewer.sources.containers.http_trace import read_exchanges  # few cassettes are traces

        yield from read_exchanges(data, len(_TRACE))
        return
    if not _JSON.match(data):
        from viewer.sources.containers.yaml_items import read_items  # JSON does not need YAML

        yield from read_items(data, _LISTS, _SIDES)
        return
    value = json.loads(data)
    if isinstance(value, dict):
        value = value.get("interactions") or value.get("http_interactions")
    yield from value if isinstance(value, list) else ()


def _event(data: object) -> Parts:
    """Yield the line for an event of a web socket."""
    try:
        yield as_json(json.loads(data) if isinstance(data, str) else data) + b"\n"
    except (ValueError, TypeError, RecursionError):
        yield PartFault(UNREAD)


def _entry(recorded: object, faults: list[PartFault]) -> bytes:
    """Return a recording as an entry of a HAR file, and add the parts that cannot be read to `faults`."""
    from viewer.sources.containers.cassette_bodies import Unread, read_body  # most files are no cassettes

    item: dict[str, Any] = recorded if isinstance(recorded, dict) else {}
    asked, answered = item.get("request", item.get("when")), item.get("response", item.get("then"))
    if "scope" in item:  # nock: request and response are members of one object
        asked, answered = item, {"body": answered, "status": item.get("status"), "headers": _pairs(item)}
    entry: dict[str, Any] = {"request": {"method": "POST"}, "response": {}}
    time = item.get("recorded_at")
    if isinstance(time, str) and _TIME.fullmatch(time):
        entry["startedDateTime"] = time
    for side, holder, name in ((asked, "request", "postData"), (answered, "response", "content")):
        try:
            text = read_body(side)
        except Unread:
            faults.append(PartFault(UNREAD))
            continue
        if text is not None:
            entry[holder][name] = {"text": _with_model(text) if holder == "request" else text}
    status = _status(answered)
    if status:
        entry["response"]["status"] = status
    return as_json(entry)


def _with_model(text: str) -> str:
    """Return a request that names a model, as every entry of a HAR file must. Some services have it in the address."""
    try:
        body = json.loads(text) if '"messages"' in text else None
    except (ValueError, RecursionError):
        return text
    return json.dumps({"model": "", **body}) if isinstance(body, dict) and "model" not in body else text


def _pairs(item: dict[str, Any]) -> dict[str, object]:
    """Return the headers of a response, which nock stores as an object or as a list of names and values."""
    headers = item.get("rawHeaders") or item.get("responseHeaders") or {}
    if isinstance(headers, list):
        return dict(zip(map(str, headers[::2]), headers[1::2], strict=False))
    return headers if isinstance(headers, dict) else {}


def _status(answered: object) -> int:
    """Return the status code of a response, or 0 if there is none."""
    if not isinstance(answered, dict):
        return 0
    status = answered.get("status", answered.get("code", answered.get("status_code")))
    if isinstance(status, dict):
        status = status.get("code", status.get("status_code"))
    found = _STATUS.match(str(status))
    return int(found[1]) if found else 0
