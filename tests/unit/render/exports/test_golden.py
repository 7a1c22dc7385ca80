"""The tour is unchanged in every text export. OCML_UPDATE=1 rewrites the files."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.support.samples import samples
from tests.unit.render.exports.exported import AUDIENCES, export, projected
from viewer import __version__
from viewer.model.visibility import BRIEF
from viewer.render.exports import EXPORTERS, default_name

TOUR = next(sample for sample in samples() if sample.name == "tour.ocml")
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("view", ["safe", "brief", "debug"])
@pytest.mark.parametrize("form", [form for form in EXPORTERS if form != "svg"])
def test_the_tour_is_exported_as_before(form: str, view: str) -> None:
    audience = BRIEF if view == "brief" else AUDIENCES[view]
    made = export(projected(TOUR, audience), form, "tour.ocml").replace(__version__, "VERSION")
    made = re.sub(r"<style>.*</style>", "<style></style>", made, flags=re.DOTALL)
    file = GOLDEN / default_name("tour.ocml", audience, EXPORTERS[form])
    if os.environ.get("OCML_UPDATE"):
        file.write_text(made, "utf-8")
    assert file.read_text("utf-8") == made
