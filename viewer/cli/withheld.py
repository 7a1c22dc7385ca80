"""Report the header fields that safe output leaves out of conversions and exports."""

from __future__ import annotations

from viewer.cli.exits import say
from viewer.sources.projection import Projection


def say_what_is_withheld(projection: Projection) -> None:
    """List the loss on standard error."""
    count = projection.withheld_count
    if count:
        fields, them = ("field", "it") if count == 1 else ("fields", "them")
        say(f"dropped {count:,} unlisted {fields}; add --reveal all to keep {them}")
