"""JSON Lines export: the objects of `show --json`, hidden counts, and a first line that names the view."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.document.projection import Projection
from viewer.render.exports.view_words import badge, revealed_names
from viewer.render.json_lines import encode, projection_lines


def json_lines(projection: Projection, title: str) -> Iterator[str]:
    """Yield the lines of the export."""
    audience, rows = projection.audience, projection.rows()
    first = {
        "kind": "export",
        "title": title,
        "view": badge(audience),
        "reveals": revealed_names(audience),
        "messages": rows.shown_count,
        "hidden": None if audience.strict else rows.hidden_count,
    }
    yield f"{encode(first)}\n"
    for line in projection_lines(projection, hidden_runs=True):
        yield f"{line}\n"
