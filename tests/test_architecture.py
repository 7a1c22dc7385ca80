"""The architecture: layers, circles, I/O, owners of dependencies and attributes, values, and caught exceptions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "viewer"
NOT_INDENTED = re.compile(r"^(?:from|import) [^(\n]*(?:\([^)]*\))?", re.MULTILINE)

LAYERS = (
    "", "native", "model", "rules", "syntax", "columns", "reading", "index", "scan", "tools", "checks", "formats",
    "sources", "document", "insight", "render", "plugins", "corpus", "tap", "tui", "serve", "cli",
)  # fmt: skip
"""The folders below `viewer`, lowest first; the first entry is `viewer` itself. A module imports from its own folder
or from one that is lower."""
IN_CLI = ("__main__", "entry", "first", "first_looks", "first_paint", "first_reading")
"""Modules of `viewer` that belong to the highest layer."""
WITHOUT_IO = LAYERS.index("formats")
HAVE_IO = ("viewer.formats.tokens.vocabulary", "viewer.native")
"""The first loads a vocabulary; the second reads the environment variables that switch the accelerator off."""

OWNERS = {
    "numpy": ("viewer.numeric",),
    "viewer.numeric": (
        *("viewer.columns.numpy_backend", "viewer.scan", "viewer.checks.prefilter_numpy", "viewer.checks.batches"),
        *("viewer.checks.call_columns", "viewer.checks.hidden_numpy", "viewer.checks.kind_columns"),
        "viewer.document.search.block_search",
        "viewer.insight.hidden",
        "viewer.insight.leak_sources",
        "viewer.insight.lens",
    ),
    "watchfiles": ("viewer.sources",),
    "rich": ("viewer.render", "viewer.tui", "viewer.cli"),
    "textual": ("viewer.tui", "viewer.serve"),
    "textual_serve": ("viewer.serve",),
    "aiohttp": ("viewer.serve",),
    "yaml": ("viewer.syntax", "viewer.render.yaml_file", "viewer.tui.settings", "viewer.sources.containers.yaml_items"),
    "click": ("viewer.cli",),
    "platformdirs": ("viewer.tui.settings",),
    "jsonschema_rs": ("viewer.tools",),
    "re2": ("viewer.document",),
    "duckdb": ("viewer.corpus",),
    "pyarrow": ("viewer.corpus", "viewer.sources.containers.parquet"),
    "pebble": ("viewer.corpus",),
    "ray": ("viewer.corpus",),
}
INPUT_AND_OUTPUT = {
    "asyncio", "fileinput", "glob", "http", "io", "logging", "mmap", "multiprocessing", "os", "pathlib", "select",
    "selectors", "shutil", "signal", "socket", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
CALLS = {"open", "input", "print", "breakpoint", "eval", "exec"}
LARGEST_FOLDER = 20
"""The maximum number of Python files directly in one folder."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def paths() -> dict[str, Path]:
    """Return the file of each module, by its name."""
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(paths()[module].read_text("utf-8"))


def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each module, by its name."""
    return {name: parsed(name) for name in paths()}


def first_imports(module: str) -> ast.Module:
    """Return the imports that are not indented. Parsing nothing else takes a tenth of the time."""
    text = paths()[module].read_text("utf-8")
    try:
        return ast.parse("\n".join(NOT_INDENTED.findall(text)))
    except SyntaxError:  # a line of a docstring that begins with one of these words
        return at_module_level(parsed(module))


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree except contexts. They are cached, because many tests use them, and walking all modules
    takes a second."""
    return tuple(node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))


@cache
def imported(tree: ast.AST) -> tuple[str, ...]:
    """Return every module that is imported, including imports inside functions and for type checking."""
    names: list[str] = []
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            base = node.module or ""
            names += (f"{base}.{alias.name}" if f"{base}.{alias.name}" in paths() else base for alias in node.names)
    return tuple(names)


def own(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.split(".")[0] == "viewer"]


@cache
def layer(module: str) -> int:
    """Return the layer of a module. A folder that is not in the tuple raises a ValueError."""
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
    """Return the statements that run when the module is imported."""
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
    """Return the modules that import themselves through others."""
    left = {name: set(targets) for name, targets in arrows.items()}
    while free := [name for name, targets in left.items() if not targets & left.keys() - {name}]:
        for name in free:
            del left[name]
    return sorted(left)


@pytest.mark.slow
def test_a_module_imports_only_from_its_layer_or_a_lower_one() -> None:
    assert {name: found for name, tree in modules().items() if (found := upward(name, tree))} == {}


def test_no_imports_at_the_start_of_files_form_a_circle() -> None:
    assert circles({name: set(own(imported(first_imports(name)))) for name in paths()}) == []


@pytest.mark.slow
def test_there_is_no_import_circle() -> None:
    assert circles({name: set(own(imported(at_module_level(tree)))) for name, tree in modules().items()}) == []


@pytest.mark.slow
def test_each_dependency_stays_with_its_owner() -> None:
    wrong = [
        (module, name)
        for module, tree in modules().items()
        for name in imported(tree)
        if (places := OWNERS.get(name) or OWNERS.get(name.split(".")[0])) and not is_within(module, places)
    ]
    assert wrong == []


@pytest.mark.slow
def test_the_layers_up_to_formats_do_no_input_or_output() -> None:
    for module, tree in modules().items():
        if not 0 < layer(module) <= WITHOUT_IO:
            continue
        calls = (node.func for node in nodes(tree) if isinstance(node, ast.Call))
        assert {function.id for function in calls if isinstance(function, ast.Name)} & CALLS == set(), module
        names = list(imported(tree))
        used = {*names, *(name.split(".")[0] for name in names)} & INPUT_AND_OUTPUT
        assert used == set() or module in HAVE_IO, module


def test_commands_import_the_app_only_when_it_is_opened() -> None:
    for module in paths():
        if is_within(module, ("viewer.cli",)):
            found = imported(at_module_level(parsed(module)))
            assert not any(is_within(name, ("viewer.tui",)) for name in found), module


MAY_USE_TABLES = ("viewer.corpus", "viewer.cli.scan", "viewer.cli.sql", "viewer.cli.browse", "viewer.tui.browse")
"""The modules that may import the tables of scans, whose packages are an extra."""


@pytest.mark.slow
def test_the_viewer_and_check_do_without_tables() -> None:
    for module, tree in modules().items():
        if not is_within(module, MAY_USE_TABLES):
            assert not any(is_within(name, ("viewer.corpus",)) for name in imported(tree)), module


@pytest.mark.slow
def test_nothing_is_caught_broadly() -> None:
    for module, tree in modules().items():
        caught = [node.type for node in nodes(tree) if isinstance(node, ast.ExceptHandler)]
        names = {name.id for type_ in caught if type_ for name in ast.walk(type_) if isinstance(name, ast.Name)}
        assert None not in caught, module
        assert names & {"Exception", "BaseException"} == set(), module


SCALARS = {"int", "str", "bool", "float", "bytes", "None", "SafeText", "Span", "tuple[int, int]"}
"""Types of fields that the garbage collector may skip, in addition to enumerations, because they cannot be part of a
cycle."""
ENUMERATIONS = {"Enum", "Fixed", "Flag", "IntEnum", "StrEnum"}


def structs(tree: ast.AST) -> Iterator[tuple[str, dict[str, object], list[ast.expr]]]:
    """Yield the name, the options and the field types of each `Struct`."""
    for node in nodes(tree):
        if isinstance(node, ast.ClassDef) and "Struct" in map(ast.unparse, node.bases):
            options = {word.arg or "": ast.literal_eval(word.value) for word in node.keywords}
            yield node.name, options, [field.annotation for field in node.body if isinstance(field, ast.AnnAssign)]


def enumerations(trees: Iterable[ast.AST]) -> set[str]:
    classes = (node for tree in trees for node in nodes(tree) if isinstance(node, ast.ClassDef))
    return {node.name for node in classes if any(ast.unparse(base) in ENUMERATIONS for base in node.bases)}


def tracked(tree: ast.AST, known: set[str]) -> list[str]:
    """Return the structs that the garbage collector skips although a field may hold a container."""
    return [
        name
        for name, options, types in structs(tree)
        if options.get("gc") is False
        and not {part.strip() for each in types for part in ast.unparse(each).split("|")} <= known
    ]


@pytest.mark.slow
def test_values_are_structs() -> None:
    for module, tree in modules().items():
        names = {name.id for name in nodes(tree) if isinstance(name, ast.Name)}
        assert "NamedTuple" not in names, module
        assert not any(name.split(".")[0] == "dataclasses" for name in imported(tree)), module


@pytest.mark.slow
def test_values_that_the_garbage_collector_skips_hold_no_container() -> None:
    known = SCALARS | enumerations(modules().values())
    assert {module: found for module, tree in modules().items() if (found := tracked(tree, known))} == {}


FLAT = {PACKAGE / "cli", PACKAGE / "formats" / "tables"}
"""Folders with one file for each row of a table."""


def test_folders_stay_small() -> None:
    folders = [folder for folder in PACKAGE.rglob("*") if folder.is_dir() and folder not in FLAT]
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    assert {str(folder): size for folder, size in sizes.items() if size > LARGEST_FOLDER} == {}


OF_TEXTUAL = {"styles", "display", "disabled", "border_title", "border_subtitle", "theme", "_clipboard"}
"""Attributes of Textual that are meant to be assigned from outside."""
OF_OTHERS = {"threading.excepthook", "OutputGuard.caught"}
"""Attributes of other packages that are meant to be assigned, and one counter of a class."""
MOST_ANCESTORS = 2
MOST_LINES_OF_MAIN_SCREEN = 300
MOST_LINES_OF_A_CLASS = 450
"""The maximum number of lines of a class in `viewer`, including its bases."""


def app_modules() -> dict[str, ast.Module]:
    return {name: parsed(name) for name in paths() if is_within(name, ("viewer.tui",))}


def assigned(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Yield every attribute that is assigned or deleted, including by a loop, a `with`, or `setattr`."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("setattr", "__setattr__"):
            name = node.args[1]
            yield ast.Attribute(node.args[0], ast.unparse(name).strip("'"))


def is_own(target: ast.Attribute) -> bool:
    return isinstance(target.value, ast.Name) and target.value.id == "self"


def foreign_writes(tree: ast.AST) -> list[str]:
    """Return the attributes that something other than their object assigns."""
    written = [(target, ast.unparse(target)) for target in assigned(tree) if not is_own(target)]
    return [
        words
        for target, words in written
        if target.attr not in OF_TEXTUAL and ".styles." not in words and words not in OF_OTHERS
    ]


def classes_of(trees: Iterable[ast.AST]) -> dict[str, ast.ClassDef]:
    return {node.name: node for tree in trees for node in nodes(tree) if isinstance(node, ast.ClassDef)}


def bases_of(name: str, classes: dict[str, ast.ClassDef]) -> list[str]:
    """Return the ancestors of a class that are ours."""
    direct = [base.id for base in classes[name].bases if isinstance(base, ast.Name) and base.id in classes]
    return direct + [far for base in direct for far in bases_of(base, classes)]


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Return the module from which each name is imported, at any level."""
    found = (node for node in nodes(tree) if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name: node.module or "" for node in found for alias in node.names}


def class_lines(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Return the number of lines of each `module.Class`, including its bases in these modules."""
    classes: dict[str, ast.ClassDef] = {}
    bases: dict[str, list[str]] = {}
    for module, tree in trees.items():
        imports = imported_names(tree)
        for node in nodes(tree):
            if isinstance(node, ast.ClassDef):
                names = [ast.unparse(base).split("[")[0] for base in node.bases]
                classes[f"{module}.{node.name}"] = node
                bases[f"{module}.{node.name}"] = [f"{imports.get(name, module)}.{name}" for name in names]

    def ancestors(name: str) -> set[str]:
        return {name}.union(*(ancestors(base) for base in bases[name] if base in classes))

    def length(node: ast.ClassDef) -> int:
        return (node.end_lineno or 0) - node.lineno + 1

    return {name: sum(length(classes[each]) for each in ancestors(name)) for name in classes}


@cache
def own_writes(node: ast.ClassDef) -> set[str]:
    return {target.attr for target in assigned(node) if is_own(target)}


def shared_writes(classes: dict[str, ast.ClassDef]) -> list[str]:
    """Return the attributes that both a class and one of its bases assign."""
    return [
        f"{name}.{attribute}"
        for name, node in classes.items()
        for base in bases_of(name, classes)
        for attribute in own_writes(node) & own_writes(classes[base])
    ]


def lonely_bases(classes: dict[str, ast.ClassDef]) -> list[str]:
    """Return the base classes with a single subclass."""
    direct = [base.id for node in classes.values() for base in node.bases if isinstance(base, ast.Name)]
    return [name for name in classes if direct.count(name) == 1]


@pytest.mark.slow
def test_an_attribute_of_the_app_has_one_writer() -> None:
    assert {name: found for name, tree in app_modules().items() if (found := foreign_writes(tree))} == {}
    assert shared_writes(classes_of(app_modules().values())) == []


FILLED = {"Draft", "Frame", "JsonMember", "JsonNode", "Part"}
"""Values that the steps of a reader fill in one after another."""


def shared_attributes(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return the modules that assign an attribute of one class, if there are several. Attributes whose name occurs in
    several classes are left out, and so are assignments in constructors."""
    owners: dict[str, set[str]] = {}
    writers: dict[str, set[str]] = {}
    for module, tree in trees.items():
        outside = {id(target): target for target in assigned(tree) if not is_own(target)}
        for node in (each for each in nodes(tree) if isinstance(each, ast.ClassDef)):
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    owners.setdefault(part.target.id, set()).add(node.name)
                for target in filter(is_own, assigned(part)):
                    owners.setdefault(target.attr, set()).add(node.name)
                    if getattr(part, "name", "") != "__init__":
                        outside[id(target)] = target
        for target in outside.values():
            writers.setdefault(target.attr, set()).add(module)
    return {
        attribute: modules
        for attribute, modules in writers.items()
        if len(modules) > 1 and len(owners.get(attribute, ())) == 1 and not owners[attribute] & FILLED
    }


@pytest.mark.slow
def test_an_attribute_has_one_writer() -> None:
    found = shared_attributes(modules())
    assert {name: where for name, where in found.items() if name not in OF_TEXTUAL} == {}


@pytest.mark.slow
def test_a_base_class_of_the_app_has_several_subclasses() -> None:
    classes = classes_of(app_modules().values())
    assert lonely_bases(classes) == []
    assert [name for name in classes if len(bases_of(name, classes)) > MOST_ANCESTORS] == []
    raised = [
        node.exc for tree in app_modules().values() for node in nodes(tree) if isinstance(node, ast.Raise) and node.exc
    ]
    assert [words for each in raised if "NotImplementedError" in (words := ast.unparse(each))] == []


@pytest.mark.slow
def test_no_class_is_too_long() -> None:
    found = class_lines(modules())
    assert {name: lines for name, lines in found.items() if lines > MOST_LINES_OF_A_CLASS} == {}


def test_the_main_screen_stays_wiring() -> None:
    path = PACKAGE / "tui" / "main" / "screen.py"
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES_OF_MAIN_SCREEN
    assert bases_of("MainScreen", classes_of(app_modules().values())) == []


def test_these_tests_find_planted_faults() -> None:
    assert foreign_writes(ast.parse("def f(self):\n    self.a.b, c = 1, 2\n    self.a += 1")) == ["self.a.b"]
    hidden = "for a.b in c:\n    with d as (e.f, *g.h): setattr(i, 'j', 1)\ndel k.l"
    assert sorted(foreign_writes(ast.parse(hidden))) == ["a.b", "e.f", "g.h", "i.j", "k.l"]
    assert foreign_writes(ast.parse("pane.styles.width = pane.display = 1\nthreading.excepthook = f")) == []
    base = "class A:\n    def f(self): self.x = 1\nclass B(A):\n    def f(self): self.x = self.y = 2\n"
    tower = classes_of([ast.parse(base + "class C(B): ...\nclass D(B): ...")])
    assert shared_writes(tower) == ["B.x"]
    assert lonely_bases(tower) == ["A"]
    owner = "class A:\n    def __init__(self): self.x = self.y = self.z = 0\n    def f(self): self.x = 1\n"
    writer = "def f(a):\n    a.y += 1\n    a.z = 1\n    (a.x, [*b.w]) = 1, 2\n    for a.v in a: ..."
    trees = {"owner": ast.parse(owner + "class B:\n    y: int\n    v: int\n    w: int"), "writer": ast.parse(writer)}
    assert shared_attributes(trees) == {"x": {"owner", "writer"}}
    assert sorted(foreign_writes(trees["writer"])) == ["a.v", "a.x", "a.y", "a.z", "b.w"]
    assert shared_attributes({**trees, "third": trees["writer"]}).keys() == {"x", "z", "w", "v"}
    assert bases_of("C", tower) == ["B", "A"]
    low, high = ast.parse("class A:\n    x = 1\n"), ast.parse("from low import A\nclass B(A):\n    y = 1\n    z = 1\n")
    far = ast.parse("from yaml import A\nclass C(A): ...\nclass D(A[int]): ...\nclass E(C, D): ...")
    found = class_lines({"low": low, "high": high, "far": far})
    assert found == {"low.A": 2, "high.B": 5, "far.C": 1, "far.D": 1, "far.E": 3}
    assert upward("viewer.reading.cursor", ast.parse("def f():\n    from viewer.render import style")) == [
        "viewer.render.style"
    ]
    assert upward("viewer.sources.follow", ast.parse("import viewer.document.document")) == ["viewer.document.document"]
    assert upward("viewer.cli.show", ast.parse("from viewer.render import style")) == []
    odd = (
        "class A(Struct, gc=False):\n    a: int | None\n    b: list[int]\nclass B(Struct, gc=False):\n    a: int | None"
    )
    assert tracked(ast.parse(odd), SCALARS) == ["A"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
