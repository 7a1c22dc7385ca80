"""Vocabulary of o200k_harmony: control tokens and header words are built in; other text needs an optional file."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType

from msgspec import Struct

from viewer.errors import ViewerError

Vocabulary = Callable[[int], bytes]
"""A function that returns the bytes of a token, or raises KeyError for an unknown ID."""
Encode = Callable[[str], list[int]]
"""A function that returns the token IDs of the text."""


class Encoder(Struct, frozen=True):
    """A vocabulary that turns text into token IDs."""

    marked: Encode
    """Encodes text with control tokens."""
    plain: Encode
    """Encodes text in which control tokens are ordinary text."""


LAST_ID = 201087
"""The highest ID of o200k_harmony."""

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

_OTHERS = {"<|startoftext|>": 199998, "<|endoftext|>": 199999} | {
    f"<|reserved_{number}|>": number for number in range(200000, 201089) if number not in CONTROL
}
"""The control tokens that transcripts do not use."""
_LETTERS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
)
_PATTERN = "|".join(
    (
        *(_LETTERS % ("*", "+"), _LETTERS % ("+", "*"), r"\p{N}{1,3}"),
        *(r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"),
    )
)
"""How o200k splits text into words before it merges bytes."""

_BASE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def text_of_id(number: int, vocabulary: Vocabulary | None) -> bytes:
    """Return the text of an ID that is not a control token, or the number in brackets if the ID is unknown."""
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
    """Load the vocabulary if the extra `tokens` is installed and the data is on this machine; otherwise, return None.
    Nothing is downloaded."""
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


def load_encoder(path: str) -> Encoder:
    """Return the encoder for a vocabulary file, which has a base64 token and its ID on each line. Raise `ViewerError`
    if the file is unusable or the extra `tokens` is missing."""
    try:
        tiktoken = importlib.import_module("tiktoken")
    except ImportError:
        raise ViewerError('--vocab needs the extra "tokens": pip install "ocmlview[tokens]"') from None
    try:
        ranks = dict(map(_token, Path(path).read_bytes().splitlines()))
    except OSError as error:
        raise ViewerError(f"{path}: {error.strerror}") from None
    except ValueError:
        ranks = {}
    if not ranks:
        raise ViewerError(f"{path} is not a vocabulary: each line must be a token in base64 and its ID")
    special = {text.decode(): number for number, text in CONTROL.items()} | _OTHERS
    encoding = tiktoken.Encoding("o200k_harmony", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=special)
    return Encoder(partial(encoding.encode, allowed_special="all"), encoding.encode_ordinary)


def _token(line: bytes) -> tuple[bytes, int]:
    token, _, number = line.partition(b" ")
    return base64.b64decode(token, validate=True), int(number)


def _is_on_this_machine(cache: ModuleType) -> bool:
    folder = _cache_folder(cache)
    name = hashlib.sha1(_BASE.encode(), usedforsecurity=False).hexdigest()
    return folder is not None and (folder / name).is_file()


def _cache_folder(cache: ModuleType) -> Path | None:
    """Return the cache folder of tiktoken, or None if its cache is turned off."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    default: Callable[[], str] | None = getattr(cache, "_default_cache_dir", None)
    return Path(default()) if default else Path(tempfile.gettempdir()) / "data-gym-cache"
