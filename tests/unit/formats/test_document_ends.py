"""`BracketCount` finds the end of a document, wherever the input is cut."""

from __future__ import annotations

from random import Random

from viewer.formats.containers.documents import BracketCount


def end_of(data: bytes, depth: int) -> int | None:
    """Return the end of a document, counting its brackets one by one."""
    in_string = escaped = False
    for at, byte in enumerate(data):
        if escaped:
            escaped = False
        elif in_string:
            escaped, in_string = byte == ord("\\"), byte != ord('"')
        elif byte == ord('"'):
            in_string = True
        elif byte in b"[]{}":
            depth += 1 if byte in b"[{" else -1
            if depth == 0:
                return at + 1
    return None


def test_documents_end_where_their_brackets_are_balanced() -> None:
    ended = 0
    for seed in range(6000):
        chance = Random(seed)
        depth = chance.choice((0, 0, 1))
        data = b"[" + bytes(chance.choice(b'[]{}""\\\\ax, ') for _ in range(chance.randint(1, 40)))
        wanted, count = end_of(data, depth), BracketCount(depth)
        cuts = sorted(chance.randrange(1, len(data) + 1) for _ in range(chance.choice((0, 1, 3, 8))))
        for cut in (*cuts, len(data)):
            assert count.end(data[:cut], 0) == (wanted if wanted is not None and wanted <= cut else None), (data, cuts)
            if wanted is not None and wanted <= cut:
                ended += 1
                break
    assert ended > 1500
