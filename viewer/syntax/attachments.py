"""Labels for images, audio, video, and files in content parts: `[image/png, 40 KB]`, never their data or address."""

from __future__ import annotations

import re

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.syntax.characters import plain_name
from viewer.syntax.json_text import JsonKind, JsonNode, read_json, string_body

LONGEST_FILE_NAME = 60
"""The maximum number of characters of a file name that a label shows."""

_KINDS = {
    "image": (
        "image",
        "image_url",
        "input_image",
        "output_image",
        "image_file",
        *("image_generation_call", "computer_screenshot", "image_asset_pointer"),
    ),
    "audio": (
        *("audio", "audio_url", "input_audio", "output_audio", "audio_asset_pointer"),
        "real_time_user_audio_video_asset_pointer",
    ),
    "video": ("video", "video_url", "input_video", "video_file"),
    "file": ("file", "file_url", "input_file", "document", "document_url", "media", "blob", "uri"),
}
_KIND_OF_TYPE = {name: kind for kind, names in _KINDS.items() for name in names}
_KIND_OF_MEMBER = {
    **dict.fromkeys(("inlineData", "inline_data", "fileData", "file_data"), "file"),
    **{name: name for name in ("image", "audio", "video")},
    "image_url": "image",
    "document": "file",
}
"""Members that reveal the kind of a part that has no type."""

_HOLDERS = frozenset({"source", *_KINDS, *_KIND_OF_TYPE, *_KIND_OF_MEMBER})
"""Members whose objects may describe the attachment. Objects in other members are ignored."""

_MEDIA_TYPE = lazy_regex(r"[a-z0-9.+-]{1,32}/[a-z0-9.+-]{1,64}")
_MEDIA_TYPE_KEYS = frozenset({"media_type", "mediaType", "mime_type", "mimeType", "mimetype"})
_NAME_KEYS = frozenset({"filename", "file_name", "fileName", "name"})
_DATA_KEYS = frozenset({"data", "bytes", "file_data", "fileData", "content", "blob", "result"})
_ADDRESS = lazy_regex(r"[A-Za-z][A-Za-z0-9+.-]+:")
_DATA_ADDRESS = lazy_regex(r"data:([^;,]*)([^,]*),", re.IGNORECASE)
_BASE64 = lazy_regex(r"[A-Za-z0-9+/_\s-]*={0,2}\s*")
_LONG_BASE64 = lazy_regex(r"[A-Za-z0-9+/_\s-]{64,}={0,2}\s*")
_PERCENT = lazy_regex(r"%[0-9A-Fa-f]{2}")
_NOT_DIGITS = lazy_regex(r"[^A-Za-z0-9+/_-]+")
_DEEPEST = 4
"""The maximum depth of nested objects that are searched in a part."""
_UNITS = ("B", "KB", "MB", "GB", "TB")


class _Facts(Struct, gc=False):
    """The known facts about an attachment."""

    media_type: str | None = None
    name: str | None = None
    size: int | None = None


def attachment_kind(part: JsonNode, part_type: str) -> str | None:
    """Return `image`, `audio`, `video`, or `file` if the part is such an attachment, otherwise None. `part_type` is
    empty if the part has no type."""
    if part_type:
        return _KIND_OF_TYPE.get(part_type)
    kinds = [kind for key, kind in _KIND_OF_MEMBER.items() if part.get(key) is not None]
    return kinds[0] if len(kinds) == 1 else None


def attachment_label(data: bytes) -> str:
    """Return the label for a content part, given its bytes."""
    part = read_json(data).node
    if data.startswith(b"{\\"):  # a part in a string that contains JSON
        part = read_json(string_body(b'"' + data + b'"').encode("utf-8", "replace")).node
    if part is None or part.kind is not JsonKind.OBJECT:
        return "[attachment]"
    given = part.get("type") or part.get("content_type")
    kind = attachment_kind(part, given.text if given is not None and given.kind is JsonKind.STRING else "")
    facts = _Facts()
    _collect(part, facts, _DEEPEST)
    if facts.name and (kind == "file" or (kind is None and facts.media_type is None)):
        return f"[file {facts.name}]"
    word = kind or "attachment"
    if facts.media_type is not None:
        word = facts.media_type if _MEDIA_TYPE.fullmatch(facts.media_type) else "attachment"
    return f"[{word}]" if facts.size is None else f"[{word}, {_rounded(facts.size)}]"


def opaque_label(length: int) -> str:
    """Return the label for encrypted data, given the length of its base64 text."""
    return f"[encrypted, {_rounded(max(0, length) * 3 // 4)}]"


def _collect(node: JsonNode, facts: _Facts, depth: int) -> None:
    for member in node.members:
        value = member.value
        if value.kind is JsonKind.STRING:
            _read_string(member.key, value.text, facts)
        elif value.kind is JsonKind.ARRAY and member.key in _DATA_KEYS and facts.size is None:
            facts.size = len(value.items) if all(item.kind is JsonKind.NUMBER for item in value.items) else None
        elif value.kind is JsonKind.OBJECT and depth and member.key in _HOLDERS:
            _collect(value, facts, depth - 1)


def _read_string(key: str, text: str, facts: _Facts) -> None:
    if key in _MEDIA_TYPE_KEYS:
        facts.media_type = text
    elif key in _NAME_KEYS:
        facts.name = facts.name or _file_name(text)
    elif found := _DATA_ADDRESS.match(text):
        facts.media_type = facts.media_type or found[1] or None
        rest = text[found.end() :]
        facts.size = _decoded_size(rest) if "base64" in found[2].lower() else _unquoted_size(rest)
    elif (key in _DATA_KEYS and not _ADDRESS.match(text)) or (key in _KINDS and _LONG_BASE64.fullmatch(text)):
        facts.size = _decoded_size(text)


def _file_name(text: str) -> str | None:
    """Return the last part of a path, or None for a URL."""
    if _ADDRESS.match(text) and not re.match(r"[A-Za-z]:[\\/]", text):
        return None
    last = re.split(r"[\\/]", text)[-1]
    return plain_name(last.replace("<", "_").replace("[", "(").replace("]", ")"), LONGEST_FILE_NAME) or None


def _decoded_size(text: str) -> int:
    """Return the decoded size of base64 text, or the size of other text."""
    if _BASE64.fullmatch(text):
        return len(_NOT_DIGITS.sub("", text)) * 3 // 4
    return len(text.encode("utf-8", "replace"))


def _unquoted_size(text: str) -> int:
    """Return the decoded size of percent-encoded text."""
    return len(text.encode("utf-8", "replace")) - 2 * len(_PERCENT.findall(text))


def _rounded(size: int) -> str:
    """Format a size with at most two significant digits: `40 KB`, `1.2 MB`."""
    value, unit = float(f"{size:.1e}"), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit and value < 10 and value % 1 else f"{value:.0f} {_UNITS[unit]}"
