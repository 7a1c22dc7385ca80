"""Token ids of o200k_harmony: control tokens and header words built in, other text through an optional vocabulary."""

from __future__ import annotations

import hashlib
import importlib
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType

Vocabulary = Callable[[int], bytes]
"""A function that returns the bytes of a token, or raises KeyError for an unknown id."""

LAST_ID = 201087
"""The highest id of o200k_harmony."""

CONTROL: dict[int, bytes] = {
    200002: b"<|return|>",
    200003: b"<|constrain|>",
    200005: b"<|channel|>",
    200006: b"<|start|>",
    200007: b"<|end|>",
    200008: b"<|message|>",
    200012: b"<|call|>",
}

WORDS: dict[int, bytes] = {
    17360: b"system",
    77944: b"developer",
    1428: b"user",
    173781: b"assistant",
    17952: b"tool",
    35644: b"analysis",
    12606: b"comment",
    815: b"ary",
    17196: b"final",
    316: b" to",
    4108: b"json",
}

_BASE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def text_of_id(number: int, vocabulary: Vocabulary | None) -> bytes:
    """The text of an id that is not a control token, or the number in brackets if it is unknown."""
    if number in WORDS:
        return WORDS[number]
    if vocabulary is not None and number <= LAST_ID:
        try:
            return vocabulary(number)
        except KeyError:
            pass
    return f"⟨{number}⟩".encode()


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary | None:
    """Load the vocabulary of the extra `tokens`, if it is installed and its data is on this machine; nothing is
    fetched."""
    try:
        tiktoken = importlib.import_module("tiktoken")
        cache = importlib.import_module("tiktoken.load")
    except ImportError:
        return None
    if not _is_on_this_machine(cache):
        return None
    try:
        encoding = tiktoken.get_encoding("o200k_harmony")
    except (OSError, ValueError):
        return None
    spell: Vocabulary = encoding.decode_single_token_bytes
    return spell


def _is_on_this_machine(cache: ModuleType) -> bool:
    folder = _cache_folder(cache)
    name = hashlib.sha1(_BASE.encode(), usedforsecurity=False).hexdigest()
    return folder is not None and (folder / name).is_file()


def _cache_folder(cache: ModuleType) -> Path | None:
    """The cache folder of tiktoken."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    default: Callable[[], str] | None = getattr(cache, "_default_cache_dir", None)
    return Path(default()) if default else Path(tempfile.gettempdir()) / "data-gym-cache"
