"""Report the fields that conversions and exports leave out for an audience that may not see them."""

from __future__ import annotations

from viewer.cli.exits import say
from viewer.document.projection import Projection


def say_what_is_withheld(projection: Projection) -> None:
    """List the loss on standard error."""
    count = projection.withheld_count
    if count:
        fields, them = ("field", "it") if count == 1 else ("fields", "them")
        say(f"dropped {count:,} unlisted {fields}; add --reveal all to keep {them}")
    if projection.withholds_header:
        say("dropped the document header except its version and model; add --reveal all to keep it")


def say_what_is_outside(projection: Projection) -> None:
    """List text outside any message, which no conversion writes."""
    count = projection.stray_count
    if count:
        say(f"{count:,} {'run' if count == 1 else 'runs'} of text outside any message left out.")
