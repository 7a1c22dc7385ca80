"""Finds a regular expression in texts that are piped in, so that a pattern that never ends can be killed.

Run as a file and in isolation, it imports the standard library alone. Messages are JSON behind their length."""

from __future__ import annotations

import json
import re
import signal
import sys
from typing import IO, Any

SECONDS = 30
"""The last resort, for when nobody is there any more to kill it."""
MOST = 1_000_000


def main() -> None:
    """The first message is the pattern, answered with nothing or the place of its fault; then texts follow."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    pattern, ignores_case = read_message(source)
    flags = re.MULTILINE | (re.IGNORECASE if ignores_case else 0)
    try:
        compiled = re.compile(pattern, flags)
    except re.error as error:
        write_message(target, error.pos or 0)
        return
    except (RecursionError, OverflowError):
        write_message(target, 0)
        return
    write_message(target, None)
    while True:
        asked = read_message(source)
        if asked is None:
            return
        _limit_time()
        write_message(target, [_found(compiled, *one) for one in asked])


def _found(pattern: re.Pattern[str], text: str, start: int, limit: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for match in pattern.finditer(text, start):
        if match.start() >= limit or len(found) >= MOST:
            break
        if match.end() > match.start():
            found.append(match.span())
    return found


def _limit_time() -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(SECONDS)


def read_message(source: IO[bytes]) -> Any:
    """The next message; None at the end."""
    size = source.read(8)
    if len(size) < 8:
        return None
    data = source.read(int.from_bytes(size, "big"))
    return json.loads(data) if len(data) == int.from_bytes(size, "big") else None


def write_message(target: IO[bytes], message: object) -> None:
    """Send a message."""
    data = json.dumps(message).encode()
    target.write(len(data).to_bytes(8, "big") + data)
    target.flush()


if __name__ == "__main__":
    main()
