"""Mutants: a module in memory with one condition changed, as a mistake might change it."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Change = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True)
class Slot:
    """The place of a node in the tree: a field of its parent, or an item of a list in that field."""

    parent: ast.AST
    field: str
    index: int | None

    def put(self, node: ast.AST) -> ast.AST:
        """Put a node into this slot and return the previous one."""
        if self.index is None:
            before = getattr(self.parent, self.field)
            setattr(self.parent, self.field, node)
        else:
            nodes = getattr(self.parent, self.field)
            before, nodes[self.index] = nodes[self.index], node
        return _is(before, ast.AST)


@dataclass(frozen=True)
class Mutant:
    """One change to one node."""

    module: str
    line: int
    words: str
    """The original source, and the change."""
    tree: ast.Module
    """The original module, shared by all its mutants."""
    slot: Slot | None = None
    changed: ast.AST | None = None
    """The node that replaces the one in the slot."""

    def __str__(self) -> str:
        return f"{self.module.rpartition('.')[2]}: {self.words}"

    def compile(self) -> CodeType:
        """Compile the module with the change, and restore the shared tree."""
        if self.slot is None or self.changed is None:
            return compile(self.tree, self.module, "exec")
        before = self.slot.put(self.changed)
        try:
            return compile(self.tree, self.module, "exec")
        finally:
            self.slot.put(before)


@contextmanager
def standing_for(mutant: Mutant, *users: str) -> Iterator[dict[str, ModuleType]]:
    """Reload a changed module and the modules that use it. Restore the originals at the end of the block."""
    names = [mutant.module, *users]
    kept = {name: import_module(name) for name in names}
    codes = {name: mutant.compile() if name == mutant.module else _compiled(name) for name in names}
    made: dict[str, ModuleType] = {}
    try:
        for name in names:
            module = ModuleType(name)
            sys.modules[name] = made[name] = module
            exec(codes[name], module.__dict__)
        yield made
    finally:
        sys.modules.update(kept)


def unchanged(module: str) -> Mutant:
    """Return the unchanged module, as a control."""
    return Mutant(module, 0, "unchanged", _tree(module))


def mutants(module: str) -> list[Mutant]:
    """Return mutants of a module: every condition negated, dropped, and forced; every table row, and each side of every
    `|`, left out."""
    tree = _tree(module)
    slots = dict(_slots(tree))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    made: list[Mutant] = []
    for target, done, change in _changes(tree):
        line = getattr(target, "lineno", 0)
        words = f"{_function_at(functions, line)}: {_short(ast.unparse(target))}: {done}"
        changed = ast.fix_missing_locations(ast.copy_location(change(copy.deepcopy(target)), target))
        made.append(Mutant(module, line, words, tree, slots[target], changed))
    return made


def _slots(tree: ast.Module) -> Iterator[tuple[ast.AST, Slot]]:
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield value, Slot(parent, field, None)
            elif isinstance(value, list):
                yield from ((node, Slot(parent, field, index)) for index, node in enumerate(value))


def _short(source: str) -> str:
    return source if len(source) <= 90 else source[:87] + "…"


def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module))


@cache
def _compiled(module: str) -> CodeType:
    return compile(_tree(module), module, "exec")


@cache
def _source(module: str) -> str:
    path = import_module(module).__file__
    assert path
    return Path(path).read_text("utf-8")


def _function_at(functions: list[ast.FunctionDef], line: int) -> str:
    """Return the innermost function that contains a line."""
    around = [node for node in functions if node.lineno <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno).name if around else "module"


def _changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Change]]:
    """Yield nodes with the description and function of each change. Annotations are skipped: they are not evaluated."""
    noted = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    annotations = {id(part) for note in noted if isinstance(note, ast.AST) for part in ast.walk(note)}
    for node in ast.walk(tree):
        if id(node) in annotations:
            continue
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield from _of_condition(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _of_condition(test)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.BoolOp | ast.Compare | ast.UnaryOp):
            yield from _of_condition(node.value)
        if isinstance(node, ast.BoolOp):
            yield from _of_parts(node)
        elif isinstance(node, ast.Compare):
            yield from _of_choices(node)
        elif isinstance(node, ast.Dict):
            yield from _of_rows(node)
        elif isinstance(node, ast.Set):
            yield from _of_members(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            yield node, "the left side alone", lambda old: _is(old, ast.BinOp).left
            yield node, "the right side alone", lambda old: _is(old, ast.BinOp).right
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "_class_of":
            yield from _of_ranges(node)


def _of_condition(test: ast.expr) -> Iterator[tuple[ast.AST, str, Change]]:
    yield test, "negated", lambda old: ast.UnaryOp(ast.Not(), _is(old, ast.expr))
    yield test, "always", lambda old: ast.Constant(True)
    yield test, "never", lambda old: ast.Constant(False)


def _of_parts(node: ast.BoolOp) -> Iterator[tuple[ast.AST, str, Change]]:
    other = ast.Or if isinstance(node.op, ast.And) else ast.And
    yield node, "and for or" if other is ast.And else "or for and", lambda old: _with(old, op=other())
    for place, value in enumerate(node.values):
        yield node, f"without {_short(ast.unparse(value))}", partial(_without, name="values", place=place)
        yield value, "negated", lambda old: ast.UnaryOp(ast.Not(), _is(old, ast.expr))


def _of_choices(node: ast.Compare) -> Iterator[tuple[ast.AST, str, Change]]:
    """Yield a change for each of the allowed values."""
    for choices in node.comparators:
        if isinstance(choices, ast.Tuple):
            for place, value in enumerate(choices.elts):
                words = f"without {ast.unparse(value)}"
                yield choices, words, partial(_without, name="elts", place=place)


def _of_rows(node: ast.Dict) -> Iterator[tuple[ast.AST, str, Change]]:
    for place, key in enumerate(node.keys):
        words = f"without {ast.unparse(key) if key else '**'}"
        yield node, words, partial(_without_row, place=place)


def _of_members(node: ast.Set) -> Iterator[tuple[ast.AST, str, Change]]:
    for place, value in enumerate(node.elts):
        if len(node.elts) > 1:
            yield node, f"without {ast.unparse(value)}", partial(_without, name="elts", place=place)


def _of_ranges(call: ast.Call) -> Iterator[tuple[ast.AST, str, Change]]:
    """Yield a change for each range in a class of code points."""
    written = call.args[0]
    if isinstance(written, ast.Constant):
        ranges = str(written.value).split()
        for place, name in enumerate(ranges):
            left = " ".join(_but(ranges, place))
            yield written, f"without {name}", partial(_constant, value=left)


def _but(values: list[Any], place: int) -> list[Any]:
    return [*values[:place], *values[place + 1 :]]


def _is(node: ast.AST, kind: type[Node]) -> Node:
    assert isinstance(node, kind)
    return node


def _constant(old: ast.AST, value: str) -> ast.AST:
    return ast.Constant(value)


def _without_row(old: ast.AST, place: int) -> ast.AST:
    rows = _is(old, ast.Dict)
    return _with(rows, keys=_but(rows.keys, place), values=_but(rows.values, place))


def _with(node: ast.AST, **changes: object) -> ast.AST:
    for name, value in changes.items():
        setattr(node, name, value)
    return node


def _without(node: ast.AST, name: str, place: int) -> ast.AST:
    left = _but(getattr(node, name), place)
    if isinstance(node, ast.BoolOp) and len(left) == 1:
        return _is(left[0], ast.AST)
    return _with(node, **{name: left})
