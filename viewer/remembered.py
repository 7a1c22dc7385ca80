"""The key of a file in the state file, and a check for whether the state file may have an entry for a file.

This module imports little, because it is used by the first page, which is painted before anything else is imported."""

from __future__ import annotations

import os

DIGEST = 16
"""The number of bytes of a key."""
_FIRST = b'{"key":"'
_MOST_BYTES = 2 * 1024 * 1024


def key_of(name: str, secret: str) -> str:
    """Return the key of a file in the state file: a keyed hash of the real path, which does not disclose the path."""
    from _blake2 import blake2b  # the function in `hashlib`, without the 1 ms that its import takes

    real = os.path.realpath(name)  # a name may end with an item, `FILE:ITEM`
    return blake2b(os.fsencode(real), key=bytes.fromhex(secret), digest_size=DIGEST).hexdigest()


def may_remember(state: str, name: str) -> bool:
    """True if the state file may have an entry for a file. Always True if the state file has an unusual form."""
    try:
        descriptor = os.open(state, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # an unreadable state file has no entries
        return False
    try:
        content = os.read(descriptor, _MOST_BYTES + 1)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    secret = content[len(_FIRST) : len(_FIRST) + 2 * DIGEST]
    is_usual = content.startswith(_FIRST) and len(secret) == 2 * DIGEST and not secret.strip(b"0123456789abcdef")
    if not is_usual or b"\\" in content or len(content) > _MOST_BYTES:
        return True
    return key_of(name, secret.decode()).encode() in content
