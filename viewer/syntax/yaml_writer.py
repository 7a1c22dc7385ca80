"""Write canonical YAML that reads back as the same mappings, lists, and strings."""

from __future__ import annotations

from viewer.cache import lazy_regex
from viewer.syntax.characters import UNSEEN

_LONGEST_SIMPLE_KEY = 1000
"""The maximum length, in characters, of a key without a `?`. A longer key needs one, because YAML limits all other keys
to 1,024 characters."""
_PLAIN = lazy_regex(r"[\w/(](?>[^\s:]|:(?=\S)| (?=[^\s#]))*+")


def write_yaml(values: dict[str, object]) -> str:
    """Write values in block style, with quotes only if necessary."""
    return "".join(line + "\n" for line in _mapping_lines(values)) if values else "{}\n"


def _mapping_lines(values: dict[str, object]) -> list[str]:
    lines: list[str] = []
    for key, value in values.items():
        written = _scalar(key)
        if len(written) > _LONGEST_SIMPLE_KEY:
            lines.append(f"? {written}")
            written = ""
        lines += _entry_lines(f"{written}:", value)
    return lines


def _entry_lines(lead: str, value: object) -> list[str]:
    """Return the lines of a mapping or list entry after its `key:` or `-`."""
    if isinstance(value, dict) and value:
        return [lead, *("  " + line for line in _mapping_lines(value))]
    if isinstance(value, list) and value:
        return [lead, *("  " + line for item in value for line in _entry_lines("-", item))]
    if isinstance(value, dict | list):
        return [f"{lead} {'{}' if isinstance(value, dict) else '[]'}"]
    return [f"{lead} {_scalar(str(value))}"]


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.isprintable() and not UNSEEN.search(text):
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() and not UNSEEN.match(character):
        return character
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
