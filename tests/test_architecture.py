"""Imports point one way, I/O stays in its folder, and each dependency has its field."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "viewer"

# Lowest first. The longest name that a module begins with decides.
LAYERS = [
    ["viewer", "viewer.errors", "viewer.resources", "viewer.signals", "viewer.values"],
    ["viewer.core"],
    ["viewer.formats"],
    ["viewer.sources"],
    [
        "viewer.sources.boundaries",
        "viewer.sources.call_watch",
        "viewer.sources.document",
        "viewer.sources.finds",
        "viewer.sources.live",
        "viewer.sources.many_calls",
        "viewer.sources.projection",
        "viewer.sources.seen_calls",
        "viewer.sources.shown",
        "viewer.sources.shown_diagnostics",
        "viewer.sources.seen_diagnostics",
        "viewer.sources.shown_lists",
        "viewer.sources.skim",
        "viewer.sources.stats",
        "viewer.sources.tail",
        "viewer.sources.teller",
        "viewer.sources.told",
        "viewer.sources.vault",
    ],
    ["viewer.render"],
    ["viewer.tui"],
    ["viewer.cli", "viewer.__main__"],
]
RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names}

FIELDS = {
    "watchfiles": ["viewer.sources"],
    "rich": ["viewer.render", "viewer.tui", "viewer.cli"],
    "textual": ["viewer.tui"],
    "yaml": ["viewer.core", "viewer.tui"],
    "click": ["viewer.cli"],
    "jsonschema_rs": ["viewer.core"],
}

INPUT_AND_OUTPUT = {
    "asyncio", "fileinput", "glob", "http", "io", "logging", "mmap", "multiprocessing", "os", "pathlib", "select",
    "selectors", "shutil", "signal", "socket", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
CALLS = {"open", "input", "print", "breakpoint", "eval", "exec"}
LOADS_A_VOCABULARY = "viewer.formats.vocabulary"


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            base = node.module or ""
            yield from (f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names)


def rank(module: str) -> int:
    parts = module.split(".")
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next(RANKS[name] for name in names if name in RANKS)


def is_within(module: str, places: list[str]) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in places)


def upward(module: str, tree: ast.AST) -> list[str]:
    own = [name for name in imports(tree) if name.split(".")[0] == "viewer"]
    return [name for name in own if rank(name) > rank(module)]


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_its_layer_or_the_ones_below(module: str) -> None:
    assert upward(module, MODULES[module]) == []


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("module", MODULES)
def test_each_dependency_stays_in_its_field(module: str) -> None:
    wrong = [
        name
        for name in imports(MODULES[module])
        if name.split(".")[0] in FIELDS and not is_within(module, FIELDS[name.split(".")[0]])
    ]
    assert wrong == []


@pytest.mark.parametrize("module", [name for name in MODULES if is_within(name, ["viewer.core", "viewer.formats"])])
def test_core_and_formats_do_no_input_or_output(module: str) -> None:
    tree = MODULES[module]
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called & CALLS == set()
    if module != LOADS_A_VOCABULARY:
        names = list(imports(tree))
        assert {*names, *(name.split(".")[0] for name in names)} & INPUT_AND_OUTPUT == set()


@pytest.mark.parametrize("module", [name for name in MODULES if is_within(name, ["viewer.cli"])])
def test_commands_import_the_app_only_when_it_is_opened(module: str) -> None:
    at_import = ast.Module([node for node in MODULES[module].body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    assert not any(is_within(name, ["viewer.tui"]) for name in imports(at_import))


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_caught_broadly(module: str) -> None:
    caught = [node.type for node in ast.walk(MODULES[module]) if isinstance(node, ast.ExceptHandler)]
    names = {name.id for type_ in caught if type_ for name in ast.walk(type_) if isinstance(name, ast.Name)}
    assert None not in caught
    assert names & {"Exception", "BaseException"} == set()


def test_these_tests_would_notice() -> None:
    assert upward("viewer.core.tokens", ast.parse("def f():\n    from viewer.render import style")) == [
        "viewer.render.style"
    ]
    assert upward("viewer.sources.follow", ast.parse("import viewer.sources.document")) == ["viewer.sources.document"]
    assert upward("viewer.cli.show", ast.parse("from viewer.render import style")) == []


def test_files_stay_short_enough_to_read() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > 400} == {}
