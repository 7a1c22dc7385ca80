"""The wheel and the sdist contain everything: installed outside the checkout, the program runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.native import needs_compiler
from tests.support.program import CHAT, ROOT

pytestmark = pytest.mark.slow
HAS_PIP = find_spec("pip") is not None
"""Without pip in the environment of the tests, the new environment gets its own, which takes longer."""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the sdist. A warning of the compiler prevents the accelerator."""
    compiler = {"CC": f"{os.environ.get('CC') or 'cc'} -Werror"}
    return build(tmp_path_factory.mktemp("build"), environment={**without("OCMLVIEW_NATIVE"), **compiler})


def build(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> Path:
    """Build in the checkout, including any leftover files, and return the folder with the results."""
    done(sys.executable, "-m", "hatchling", "build", "-d", folder, *arguments, cwd=ROOT, environment=environment)
    return folder


@pytest.fixture(scope="module")
def program(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed from the wheel. Dependencies come from the environment, so no network is needed."""
    home = tmp_path_factory.mktemp("fresh")
    make = [sys.executable, "-m", "venv", *(["--without-pip"] if HAS_PIP else []), str(home / "venv")]
    if subprocess.run(make, capture_output=True, check=False).returncode:
        pytest.skip("this Python cannot create an environment with pip")
    python = home / "venv" / "bin" / "python"
    wheel = next(dist.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "--python", str(python)] if HAS_PIP else [str(python), "-m", "pip"]
    done(*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel, cwd=home)
    packages = Path(done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = done(python, "-c", "import viewer; print(viewer.__file__)", cwd=home)
    assert Path(where.strip()).is_relative_to(packages)
    return home / "venv" / "bin" / "ocmlview"


def done(*command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a command that must exit with 0. Its path excludes the checkout."""
    variables = {name: value for name, value in (environment or os.environ).items() if name != "PYTHONPATH"}
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_wheel_has_code_data_and_the_man_page_and_nothing_else(dist: Path) -> None:
    names = zipfile.ZipFile(next(dist.glob("*.whl"))).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name and ".data/" not in name}
    assert tops == {"viewer"}
    for wanted in (
        "viewer/themes/dark.yaml",
        "viewer/themes/viewer.tcss",
        "viewer/samples/tour.ocml",
        "viewer/py.typed",
    ):
        assert wanted in names
    assert any(name.endswith("share/man/man1/ocmlview.1") for name in names)
    assert not [name for name in names if "__pycache__" in name]


def modules_in(wheel: Path) -> list[str]:
    return [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]


@needs_compiler
def test_the_source_has_no_warnings_and_the_wheel_of_a_machine_with_a_compiler_has_the_accelerator(
    dist: Path, program: Path
) -> None:
    wheel = next(dist.glob("*.whl"))
    assert re.fullmatch(r"ocmlview-[\d.]+-cp311-abi3-\w+\.whl", wheel.name)
    assert modules_in(wheel) == ["viewer/native/_fast.abi3.so"]
    script = "from viewer.native import load; print(load().find(b'abc', b'c', b'C'))"
    out = done(program.with_name("python"), "-c", script, cwd=dist, environment=without("OCMLVIEW_NATIVE"))
    assert out == repr((2).to_bytes(8, sys.byteorder)) + "\n"


@pytest.mark.share(test=9)  # `compile_module` has tests of its own for each
@pytest.mark.parametrize("setting", ["CC=/nonexistent", "CC=false", "OCMLVIEW_NATIVE=0"])
def test_a_wheel_without_the_accelerator_is_pure(tmp_path: Path, setting: str) -> None:
    name, _, value = setting.partition("=")
    build(tmp_path, "-t", "wheel", environment={**without("CC", "OCMLVIEW_NATIVE"), name: value})
    wheel = next(tmp_path.glob("*.whl"))
    assert wheel.name.endswith("-py3-none-any.whl") and modules_in(wheel) == []


def without(*names: str) -> dict[str, str]:
    """Return the environment without these variables."""
    return {name: value for name, value in os.environ.items() if name not in names}


def test_the_sdist_has_what_tests_and_another_build_need(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("Makefile", ".ci/install", "constraints.txt", "docs/ocmlview.1", "tests/test_wheel.py", "LICENSE"):
        assert wanted in names
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "themes/dark.yaml", "samples/tour.ocml"} <= names
    sources = {f"viewer/native/{name}" for name in ("_fast.c", "_proof.c", "_records.c", "_strings.c", "_fast.pyi")}
    assert {"hatch_build.py", *sources} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/")) or name.endswith(".so")]


def test_a_wheel_built_from_the_sdist_is_identical(dist: Path, tmp_path: Path) -> None:
    done("tar", "-xzf", next(dist.glob("*.tar.gz")), cwd=tmp_path)
    project = next(tmp_path.iterdir())
    source = Path("viewer/native/_fast.c")
    assert (project / source).read_bytes() == (ROOT / source).read_bytes()
    preprocess = f"{os.environ.get('CC') or 'cc'} -E"  # compiling the same source again would double the time
    done(
        *(sys.executable, "-m", "hatchling", "build", "-t", "wheel"),
        cwd=project,
        environment={**os.environ, "CC": preprocess},
    )
    again, first = (zipfile.ZipFile(next(folder.glob("*.whl"))) for folder in (project / "dist", dist))
    assert sorted(again.namelist()) == sorted(first.namelist())


def test_the_installed_demo_is_shown(program: Path, tmp_path: Path) -> None:
    assert "▌ User" in done(program, "demo", cwd=tmp_path)


def test_the_themes_are_installed(program: Path, tmp_path: Path) -> None:
    out = done(program, "themes", cwd=tmp_path)
    assert all(name in out for name in ("dark", "light", "ansi", "colorblind"))


def test_the_installed_program_exports_and_checks(program: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.ocml").write_text(CHAT)
    done(program, "export", "chat.ocml", cwd=tmp_path)
    assert "Yes, it is." in (tmp_path / "chat.safe.html").read_text("utf-8")
    assert done(program, "check", "chat.ocml", cwd=tmp_path) == "No problems in 6 messages.\n"


def test_the_viewer_opens_with_a_theme(program: Path, tmp_path: Path) -> None:
    python = program.with_name("python")
    script = """
import asyncio
from viewer.resources import bundled
from viewer.tui.app import ViewerApp, ViewOptions
async def main():
    app = ViewerApp([str(bundled("samples", "tour.ocml"))], ViewOptions(theme="light"))
    async with app.run_test(size=(120, 40)) as pilot:
        while "umbrella" not in app.export_screenshot(simplify=True):
            await pilot.pause(0.05)
        print(app.theme)
asyncio.run(main())
"""
    assert done(python, "-c", script, cwd=tmp_path).split()[-1] == "viewer-light"


def test_the_version_and_the_man_page_are_installed(program: Path, tmp_path: Path) -> None:
    assert done(program, "--version", cwd=tmp_path).startswith("ocmlview ")
    assert (program.parent.parent / "share" / "man" / "man1" / "ocmlview.1").is_file()
