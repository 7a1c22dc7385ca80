"""The only names that a format plug-in may import from ocmlview: the types of a table and `PluginFormat`.

A distribution registers its `PluginFormat` in the entry point group `ocmlview.formats`."""

from __future__ import annotations

from viewer.formats.places import Place
from viewer.formats.tables.model import (
    Alone,
    Container,
    Copies,
    Fault,
    Hooks,
    Merge,
    Mode,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    When,
    Words,
    flag,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.model.messages import Channel, Kind
from viewer.plugins.loading import API_VERSION, PluginFormat, Sample
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

__all__ = [
    "API_VERSION",
    "W_RUN_ERROR",
    "W_RUN_INCOMPLETE",
    "Alone",
    "Channel",
    "Container",
    "Copies",
    "Fault",
    "Hooks",
    "JsonKind",
    "Kind",
    "Merge",
    "Mode",
    "Outcomes",
    "PartRule",
    "Place",
    "PluginFormat",
    "RecordFormat",
    "RecordRule",
    "Sample",
    "Signature",
    "Threads",
    "When",
    "Words",
    "flag",
    "has",
    "is_",
    "is_not",
    "lacks",
]
