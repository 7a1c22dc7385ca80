"""The plug-in template passes its verification unchanged."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from viewer.plugins.loading import PLUGINS, Plugins
from viewer.plugins.testing import verify

TEMPLATE = Path(__file__).parents[2] / "docs" / "plugin-template"


@pytest.mark.slow
def test_the_unchanged_template_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in vars(Plugins()).items():
        monkeypatch.setattr(PLUGINS, name, value)
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]["ocmlview.formats"]
    info = tmp_path / "ocmlview_acme-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text(
        "[ocmlview.formats]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(TEMPLATE / "src"))
    assert verify("acme") == ["expected", "splits", "leaks", "markers", "speed"]
    sys.modules.pop("ocmlview_acme")
