"""The YAML document header: what it says of version and model, what is wrong with it, and its Harmony profile."""

from __future__ import annotations

from dataclasses import field

from viewer.syntax.yaml_reader import MALFORMED, YamlFault, YamlReading, read_yaml
from viewer.syntax.yaml_writer import write_yaml
from viewer.values import frozen

__all__ = [
    "DocumentHeader",
    "HarmonyProfile",
    "YamlFault",
    "YamlReading",
    "profile",
    "read_document_header",
    "read_yaml",
    "write_yaml",
]

VERSION_MISSING = "version-missing"

_FALSE = frozenset({"false", "no", "off", "n"})


@frozen
class DocumentHeader:
    """What a transcript says before its first message."""

    values: dict[str, object] = field(default_factory=dict)
    version: str | None = None
    model: str | None = None
    faults: tuple[YamlFault, ...] = ()


@frozen
class HarmonyProfile:
    """The keys of `profiles.harmony` that decide what is reported."""

    require_channels: bool = False
    tool_calls_in: str = "commentary"
    builtins_in: tuple[str, ...] = ("analysis", "commentary")


def read_document_header(data: bytes, base: int = 0) -> DocumentHeader:
    """The header that these bytes are; an empty one is a header without a version."""
    reading = read_yaml(data, base)
    values = {} if reading.value == "" else reading.value
    if not isinstance(values, dict):
        faults = reading.faults or (YamlFault(MALFORMED, *reading.span),)
        return DocumentHeader(faults=faults)
    version = _text(values.get("version"))
    faults = reading.faults
    if version is None and not faults:
        faults = (YamlFault(VERSION_MISSING, base, base),)
    return DocumentHeader(values, version, _text(values.get("model")), faults)


def profile(values: dict[str, object]) -> HarmonyProfile:
    """The Harmony profile of a header; its keys count unless it says `enabled: false`."""
    profiles = values.get("profiles")
    keys = profiles.get("harmony") if isinstance(profiles, dict) else None
    if not isinstance(keys, dict) or _is_false(keys.get("enabled", "")):
        return HarmonyProfile()
    default = HarmonyProfile()
    required = keys.get("require_channels")
    calls = _texts(keys.get("tool_calls_in"))
    return HarmonyProfile(
        bool(required) and not _is_false(required),
        calls[0] if calls else default.tool_calls_in,
        _texts(keys["builtins_in"]) if "builtins_in" in keys else default.builtins_in,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str) and item)


def _is_false(value: object) -> bool:
    return isinstance(value, str) and value.casefold() in _FALSE
