"""Every private member of Textual and Rich that we use is listed here, still exists, and is still called.

If Textual renamed one, nothing would fail visibly: for example, the crash report would silently print locals again."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import textual
from rich.segment import Segment
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.widget import Widget

from tests.support.running import running
from tests.test_architecture import modules, nodes
from viewer.tui.app import ViewerApp
from viewer.tui.terminal.driver import resilient
from viewer.tui.terminal.resume_screen import resume_screen

FOREIGN = ("textual", "rich")
PRIVATE = re.compile(r"_[a-z][a-z_0-9]*")

METHODS = {
    ("textual.app.App", "_fatal_error"): "(self) -> 'None'",
    ("textual.app.App", "_handle_exception"): "(self, error: 'Exception') -> 'None'",
    ("textual.message_pump.MessagePump", "_close_messages_no_wait"): "(self) -> 'None'",
    ("textual.drivers.linux_driver.LinuxDriver", "_run_input_thread"): "(self) -> 'None'",
    ("textual.drivers.linux_driver.LinuxDriver", "_sigtstp_application"): "(self, *_) -> 'None'",
    ("textual.drivers.linux_driver.LinuxDriver", "_sigcont_application"): "(self, *_) -> 'None'",
    ("textual.screen.Screen", "_on_timer_update"): "(self) -> 'None'",
    ("textual._compositor.Compositor", "render_strips"): "(self, size: 'Size | None' = None) -> 'list[Strip]'",
    (
        "textual._compositor.Compositor",
        "_render_chops",
    ): ("(self, crop: 'Region', is_rendered_line: 'Callable[[int], bool]') -> 'Sequence[Mapping[int, Strip]]'"),
    (
        "textual._compositor.Compositor",
        "_regions_to_spans",
    ): ("(regions: 'Iterable[Region]') -> 'Iterable[tuple[int, int, int]]'"),
}
"""For each private method: its owner, its name, and its signature."""

ATTRIBUTES = {
    ("textual._compositor.Compositor", "_dirty_regions"),
    ("textual.app.App", "_clipboard"),
    ("textual.app.App", "_driver"),
    ("textual.app.App", "_exception"),
    ("textual.app.App", "_exception_event"),
    ("textual.app.App", "_exit"),
    ("textual.app.App", "_return_code"),
    ("textual.dom.DOMNode", "_bindings"),
    ("textual.css.stylesheet.Stylesheet", "_variables"),
    ("textual.driver.Driver", "_app"),
    ("textual.driver.Driver", "_auto_restart"),
    ("textual.driver.Driver", "_loop"),
    ("textual.drivers.linux_driver.LinuxDriver", "_file"),
    ("textual.drivers.linux_driver.LinuxDriver", "_must_signal_resume"),
    ("textual.drivers.linux_driver.LinuxDriver", "_writer_thread"),
    ("textual.screen.Screen", "_compositor"),
    ("textual.strip.Strip", "_cell_count"),
    ("textual.strip.Strip", "_cell_length"),
    ("textual.strip.Strip", "_crop_cache"),
    ("textual.strip.Strip", "_crop_extend_cache"),
    ("textual.strip.Strip", "_divide_cache"),
    ("textual.strip.Strip", "_filter_cache"),
    ("textual.strip.Strip", "_line_length_cache"),
    ("textual.strip.Strip", "_link_ids"),
    ("textual.strip.Strip", "_offsets_cache"),
    ("textual.strip.Strip", "_render_cache"),
    ("textual.strip.Strip", "_segments"),
    ("textual.strip.Strip", "_style_cache"),
    ("textual.widgets._input.Input", "_value"),
    ("rich.segment.Segment", "_split_cells"),
}

NOT_THROUGH_SELF = {
    ("viewer.tui.crash_handler", "_handle_exception"),
    ("viewer.tui.terminal.clipboard", "_clipboard"),
    ("viewer.tui.terminal.paint", "_split_cells"),
    ("viewer.tui.themes.switcher", "_installed_screens"),
}
"""Modules that use a private member of an object of Textual or Rich, found by reading the code."""

CALLED = ("_handle_exception", "_fatal_error", "_close_messages_no_wait", "_run_input_thread", "_sigcont_application")


def is_foreign(class_: type) -> bool:
    return class_.__module__.split(".")[0] in FOREIGN


@cache
def source_of(class_: type) -> ast.ClassDef:
    return classes_in(class_.__module__)[class_.__qualname__]


@cache
def classes_in(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes of a module by their qualified names. `inspect` would parse the module for each of them."""
    tree = modules().get(module) or ast.parse(inspect.getsource(import_module(module)))
    found: dict[str, ast.ClassDef] = {}
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.ClassDef):
                found[prefix + child.name] = child
                inner = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{prefix}{child.name}.<locals>."
            waiting.append((inner, child))
    return found


@cache
def members_of(class_: type) -> frozenset[str]:
    """Return the private names that a class defines, or assigns to `self`."""
    names = {name for name in vars(class_) if PRIVATE.fullmatch(name)}
    return frozenset(names | {name for name, is_stored in accesses(source_of(class_)) if is_stored})


def accesses(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the private names on `self` or `super()`, and whether they are assigned."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and PRIVATE.fullmatch(node.attr):
            is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            if is_self or isinstance(node.value, ast.Call):
                yield node.attr, is_self and isinstance(node.ctx, ast.Store)


def our_classes() -> Iterator[type]:
    """Yield the classes of the product that have a base of Textual or Rich."""
    for name in modules():
        if name.startswith(("viewer.tui", "viewer.render", "viewer.cli")):
            module = import_module(name)
            for class_ in vars(module).values():
                if inspect.isclass(class_) and class_.__module__ == name and any(map(is_foreign, class_.__mro__)):
                    yield class_
    yield resilient(LinuxDriver)
    yield resume_screen(LinuxDriver, lambda: None)


def used_through_self() -> set[tuple[str, str]]:
    used = set()
    for class_ in our_classes():
        tree = source_of(class_)
        defined = {node.name for node in nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        for name in {name for name, _ in accesses(tree)} | {name for name in defined if PRIVATE.fullmatch(name)}:
            owners = [base for base in class_.__mro__ if is_foreign(base) and name in members_of(base)]
            if owners:
                used.add((f"{owners[-1].__module__}.{owners[-1].__qualname__}", name))
    return used


@pytest.mark.slow
def test_every_private_name_in_use_is_listed() -> None:
    others = {
        ("textual.app.App", "_clipboard"),
        ("textual.screen.Screen", "_compositor"),
        ("rich.segment.Segment", "_split_cells"),
    }
    others.add(("textual._compositor.Compositor", "render_strips"))
    assert used_through_self() | others == {*METHODS, *ATTRIBUTES}


@pytest.mark.slow
def test_no_other_private_name_of_an_object_is_used() -> None:
    ours = {name for tree in modules().values() for name in defined_in(tree)}
    found = set()
    for module, tree in modules().items():
        for node in nodes(tree):
            if not (isinstance(node, ast.Attribute) and PRIVATE.fullmatch(node.attr)):
                continue
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "os", "sys"):
                continue
            if node.attr not in ours and node.attr != "_replace":
                found.add((module, node.attr))
    assert found | {("viewer.tui.crash_handler", "_handle_exception")} == NOT_THROUGH_SELF


def defined_in(tree: ast.AST) -> Iterator[str]:
    """Yield the private names that the product defines itself."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            if node.value.id == "self":
                yield node.attr
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def owner_of(path: str) -> type:
    module, _, name = path.rpartition(".")
    found: type = getattr(import_module(module), name)
    return found


@pytest.mark.parametrize(("owner", "name"), METHODS, ids=lambda word: word)
def test_a_method_exists_with_its_signature(owner: str, name: str) -> None:
    assert str(inspect.signature(getattr(owner_of(owner), name))) == METHODS[owner, name]


@pytest.mark.slow
def test_the_attributes_exist() -> None:
    assert [(owner, name) for owner, name in sorted(ATTRIBUTES) if name not in members_of(owner_of(owner))] == []


def calls_of(name: str, package: ModuleType) -> int:
    """Return the number of places at which Textual calls a method or passes it as a callback."""
    assert package.__file__
    texts = (path.read_text("utf-8") for path in Path(package.__file__).parent.rglob("*.py"))
    return sum(len(re.findall(rf"\.{name}\b", text)) for text in texts)


@pytest.mark.parametrize("name", CALLED)
def test_a_method_is_still_called(name: str) -> None:
    assert calls_of(name, textual) > 0
    assert calls_of("_no_such_method", textual) == 0


def test_the_cache_of_split_cells_can_be_cleared() -> None:
    Segment._split_cells.cache_clear()


class Broken(Widget):
    """Raises an exception while it is drawn."""

    def render(self) -> str:
        raise ValueError("a secret of the transcript")


async def test_an_error_in_a_widget_reaches_our_handler() -> None:
    apps: list[ViewerApp] = []
    with pytest.raises(ValueError, match="a secret"):
        async with running() as pilot:
            assert isinstance(pilot.app, ViewerApp)
            apps.append(pilot.app)
            await pilot.app.screen.mount(Broken())
            while pilot.app.crash.kind is None:
                await asyncio.sleep(0)
    assert apps[0].crash.kind is ValueError


def test_the_app_overrides_what_prints_locals() -> None:
    for name in ("_handle_exception", "_fatal_error"):
        assert name in vars(ViewerApp)
        assert name in vars(App)
    assert issubclass(Screen, Widget)
