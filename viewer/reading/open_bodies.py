"""The end of a body that still grows: bytes that are held back, because what comes next decides what they are."""

from __future__ import annotations

from collections.abc import Container

from viewer.cache import lazy_regex
from viewer.reading.bodies import Body

LONGEST_TAIL = 32
"""The longest control token or mark of any format has 30 bytes."""

_TAIL = lazy_regex(rb"(?:<<?(?:\||/)?(?:[A-Za-z_][A-Za-z0-9_:=-]{0,27})?\|?|\[/?[A-Z_]{0,14})\Z")
"""What may begin a control token or a mark of some format."""


class OpenMessages(set[int]):
    """The numbers of the messages that are still open."""

    is_tentative = False
    """The format of the input is not settled: a later token may show that it is another one."""


def hold_back(body: Body, numbers: Container[int]) -> None:
    """Cut what is not certain from the end of the body of an open message, one of these."""
    if body.pending:
        body.data = body.data[: -body.pending]
    if isinstance(numbers, OpenMessages) and numbers.is_tentative:
        found = _TAIL.search(body.data[-LONGEST_TAIL:])
        if found:
            body.data = body.data[: found.start() - min(LONGEST_TAIL, len(body.data))]
