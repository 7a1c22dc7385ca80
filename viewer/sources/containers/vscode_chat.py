"""Chats of VS Code as logs of changes: a line with the whole chat, and a line for each later change of a value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from viewer.sources.containers.parts import DAMAGED, LARGEST_TEXT, TOO_LARGE, PartFault, Parts, as_json

_FIRST = re.compile(rb'\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')
_ALL, _SET, _PUSH, _DELETE = range(4)
"""The kinds of lines."""


def is_log(path: str, first: bytes) -> bool:
    """True if the first line of a file contains the whole chat."""
    return _FIRST.match(first) is not None


def read_log(path: str, item: str) -> Parts:
    """Return the chat after all changes, on one line. A line that cannot be read changes nothing and is reported."""
    with Path(path).open("rb") as file:
        chat: Any = None
        is_damaged = False
        while line := file.readline(LARGEST_TEXT + 1):
            if len(line) > LARGEST_TEXT:
                yield PartFault(TOO_LARGE)
                break
            try:
                if line.strip():
                    chat = _changed(chat, _json(line))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                is_damaged = True
    if is_damaged:
        yield PartFault(DAMAGED)
    if chat is not None:
        text = as_json(chat)
        yield PartFault(TOO_LARGE) if len(text) > LARGEST_TEXT else text + b"\n"


def _json(line: bytes) -> Any:
    return json.loads(line, object_pairs_hook=_members, parse_constant=_no_constant)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raise ValueError for repeated members, because their meaning is unclear."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _no_constant(name: str) -> None:
    raise ValueError


def _changed(chat: Any, change: dict[str, Any]) -> Any:
    """Return the chat after a change. `k` is the path of the changed value."""
    kind, path = change["kind"], change.get("k", [])
    if kind == _ALL or (kind == _SET and not path):
        return change["v"]
    *holders, last = path
    holder = chat
    for name in holders:
        holder = holder[_index(holder, name)]
    if kind == _PUSH:
        items = holder.setdefault(last, []) if isinstance(holder, dict) else holder[_index(holder, last)]
        added, kept = change.get("v", []), change.get("i", len(items))
        if not isinstance(items, list) or not isinstance(added, list) or type(kept) is not int or kept < 0:
            raise ValueError
        items[kept:] = added
    elif kind == _SET and isinstance(holder, list) and last == len(holder):
        holder.append(change["v"])
    elif kind == _SET:
        holder[_index(holder, last) if isinstance(holder, list) else last] = change["v"]
    elif kind == _DELETE and isinstance(holder, dict):
        holder.pop(last, None)
    elif kind == _DELETE:
        holder[_index(holder, last)] = None
    else:
        raise ValueError
    return chat


def _index(holder: Any, name: Any) -> Any:
    """Return the name of a member or the index of an item. Raise ValueError if a list does not have the index."""
    if isinstance(holder, list) and (type(name) is not int or not 0 <= name < len(holder)):
        raise ValueError
    return name
