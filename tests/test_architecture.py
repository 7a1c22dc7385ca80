"""Layers, import circles, I/O, owners of dependencies, and what is caught: each test walks all modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "viewer"

LAYERS = (
    "", "native", "model", "rules", "syntax", "columns", "reading", "index", "scan", "tools", "checks", "formats",
    "sources", "document", "insight", "render", "plugins", "corpus", "tui", "serve", "cli",
)  # fmt: skip
"""The folders below `viewer`, lowest first; the first entry is `viewer` itself. A module imports from its own folder
or from one that is lower."""
IN_CLI = ("__main__",)
"""Modules of `viewer` that belong to the highest layer."""
WITHOUT_IO = LAYERS.index("formats")
LOADS_A_VOCABULARY = "viewer.formats.tokens.vocabulary"

OWNERS = {
    "numpy": (
        *("viewer.index", "viewer.scan", "viewer.checks.prefilter_numpy", "viewer.checks.batches"),
        *("viewer.document", "viewer.tui.search", "viewer.tui.panes", "viewer.checks.queue"),
    ),
    "watchfiles": ("viewer.sources",),
    "rich": ("viewer.render", "viewer.tui", "viewer.cli"),
    "textual": ("viewer.tui",),
    "yaml": ("viewer.syntax", "viewer.render.yaml_file", "viewer.tui.settings"),
    "click": ("viewer.cli",),
    "platformdirs": ("viewer.tui.settings",),
    "jsonschema_rs": ("viewer.tools",),
}
INPUT_AND_OUTPUT = {
    "asyncio", "fileinput", "glob", "http", "io", "logging", "mmap", "multiprocessing", "os", "pathlib", "select",
    "selectors", "shutil", "signal", "socket", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
CALLS = {"open", "input", "print", "breakpoint", "eval", "exec"}
LARGEST_FOLDER = 32
"""Python files directly in one folder."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, also inside functions and for type checking."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            base = node.module or ""
            yield from (f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names)


def own(names: Iterator[str]) -> list[str]:
    return [name for name in names if name.split(".")[0] == "viewer"]


def layer(module: str) -> int:
    """The layer of a module; a folder that is not in the tuple is a ValueError."""
    parts = module.split(".")
    if parts[1:] and parts[1] in IN_CLI:
        return LAYERS.index("cli")
    is_folder = (PACKAGE / parts[1]).is_dir() if parts[1:] else False
    return LAYERS.index(parts[1]) if is_folder else 0


def is_within(module: str, places: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in places)


def upward(module: str, tree: ast.AST) -> list[str]:
    return [name for name in own(imported(tree)) if layer(name) > layer(module)]


def at_module_level(tree: ast.Module) -> ast.Module:
    """The statements that run when the module is imported."""
    found: list[ast.stmt] = []
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return ast.Module(found, [])


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """The modules that import themselves through others."""
    left = {name: set(targets) for name, targets in arrows.items()}
    while free := [name for name, targets in left.items() if not targets & left.keys() - {name}]:
        for name in free:
            del left[name]
    return sorted(left)


def test_a_module_imports_only_from_its_layer_or_a_lower_one() -> None:
    assert {name: found for name, tree in MODULES.items() if (found := upward(name, tree))} == {}


def test_there_is_no_import_circle() -> None:
    assert circles({name: set(own(imported(at_module_level(tree)))) for name, tree in MODULES.items()}) == []


def test_each_dependency_stays_with_its_owner() -> None:
    wrong = [
        (module, name)
        for module, tree in MODULES.items()
        for name in imported(tree)
        if (places := OWNERS.get(name.split(".")[0])) and not is_within(module, places)
    ]
    assert wrong == []


def test_the_layers_up_to_formats_do_no_input_or_output() -> None:
    for module, tree in MODULES.items():
        if not 0 < layer(module) <= WITHOUT_IO:
            continue
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        assert {function.id for function in calls if isinstance(function, ast.Name)} & CALLS == set(), module
        names = list(imported(tree))
        used = {*names, *(name.split(".")[0] for name in names)} & INPUT_AND_OUTPUT
        assert used == set() or module == LOADS_A_VOCABULARY, module


def test_commands_import_the_app_only_when_it_is_opened() -> None:
    for module, tree in MODULES.items():
        if is_within(module, ("viewer.cli",)):
            assert not any(is_within(name, ("viewer.tui",)) for name in imported(at_module_level(tree))), module


def test_nothing_is_caught_broadly() -> None:
    for module, tree in MODULES.items():
        caught = [node.type for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
        names = {name.id for type_ in caught if type_ for name in ast.walk(type_) if isinstance(name, ast.Name)}
        assert None not in caught, module
        assert names & {"Exception", "BaseException"} == set(), module


def test_folders_stay_small_enough_to_look_through() -> None:
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in PACKAGE.rglob("*") if folder.is_dir()}
    assert {str(folder): size for folder, size in sizes.items() if size > LARGEST_FOLDER} == {}


def test_these_tests_would_notice() -> None:
    assert upward("viewer.reading.cursor", ast.parse("def f():\n    from viewer.render import style")) == [
        "viewer.render.style"
    ]
    assert upward("viewer.sources.follow", ast.parse("import viewer.document.document")) == ["viewer.document.document"]
    assert upward("viewer.cli.show", ast.parse("from viewer.render import style")) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
