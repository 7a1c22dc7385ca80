"""The project around the code: pinned versions, bundled files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from viewer.resources import bundled

ROOT = Path(__file__).parent.parent


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [
        *project["project"]["dependencies"],
        *extras["test"],
        *extras["dev"],
        *project["build-system"]["requires"],
    ]
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+!]*", line) for line in lines)
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    own = re.compile(r"ocmlview\[(.*)\]")
    named = [extra for name in wanted if (found := own.fullmatch(name)) for extra in found[1].split(",")]
    wanted = [
        *(name for name in wanted if not own.fullmatch(name)),
        *(each for extra in named for each in extras[extra]),
    ]
    assert {re.split(r"[<>=\[]", name)[0].lower() for name in wanted} <= pinned


def test_bundled_files_are_found_in_a_checkout() -> None:
    assert bundled("samples", "tour.ocml").is_file()
    assert bundled("themes").is_dir()


def test_every_action_is_pinned_by_a_commit_and_names_its_version() -> None:
    for workflow in (ROOT / ".github").rglob("*.y*ml"):
        text = workflow.read_text("utf-8")
        used = re.findall(r"uses: *(.*)", text)
        assert used
        for line in used:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+", line), line
        assert "permissions:\n  contents: read\n" in text
        assert not re.search(r"secrets\.|: write|write-all", text)


def test_no_variable_of_the_makefile_is_also_a_switch() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    switches = set(re.findall(r"\$\(if \$\((\w+)\)", text))
    assert {"QUICK", "WRITE"} <= switches
    assert switches.isdisjoint(re.findall(r"(?m)^(\w+) *:?=", text))


def test_every_supported_python_is_tested_on_both_systems() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert 'python: ["3.11", "3.12", "3.13", "3.14"]' in workflow
    assert workflow.count("os: [ubuntu-latest, macos-latest]") == 2
    rules = set(re.findall(r"make (\w+)", workflow))
    assert {f"{rule}:" for rule in rules} <= set((ROOT / "Makefile").read_text("utf-8").split())
    assert "index" not in workflow
    assert "://" not in workflow
