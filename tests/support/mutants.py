"""A module with one of its conditions changed, in memory: each mutant is what a slip of the hand could make of it."""

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
from types import ModuleType
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Change = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True)
class Mutant:
    """One change in one place."""

    module: str
    line: int
    words: str
    """The source before the change, and what was done to it."""
    tree: ast.Module

    def __str__(self) -> str:
        return f"{self.module.rpartition('.')[2]}: {self.words}"


@contextmanager
def standing_for(mutant: Mutant, *users: str) -> Iterator[dict[str, ModuleType]]:
    """The changed module, and modules made anew upon it; those of the program are back when the block ends."""
    names = [mutant.module, *users]
    kept = {name: import_module(name) for name in names}
    trees = {name: mutant.tree if name == mutant.module else _tree(name) for name in names}
    made: dict[str, ModuleType] = {}
    try:
        for name in names:
            module = ModuleType(name)
            sys.modules[name] = made[name] = module
            exec(compile(trees[name], name, "exec"), module.__dict__)
        yield made
    finally:
        sys.modules.update(kept)


def unchanged(module: str) -> Mutant:
    """The module as it is: what is said of mutants holds of it."""
    return Mutant(module, 0, "unchanged", _tree(module))


def mutants(module: str) -> list[Mutant]:
    """Every condition negated, dropped and forced; every row of a table and every part of a sum left out."""
    made: dict[str, Mutant] = {}
    for place, (node, done, change) in enumerate(_changes(_tree(module))):
        del node
        tree = _tree(module)
        target = list(_changes(tree))[place][0]
        before = ast.unparse(target)
        line = getattr(target, "lineno", 0)
        changed = _Replaced(target, change(copy.deepcopy(target))).visit(tree)
        function = _function_at(tree, line)
        words = f"{function}: {_short(before)}: {done}"
        number = sum(1 for each in made if each.startswith(words))
        made[words + f" #{number}"] = Mutant(module, line, words, ast.fix_missing_locations(_is(changed, ast.Module)))
    return list(made.values())


def _short(source: str) -> str:
    return source if len(source) <= 90 else source[:87] + "…"


def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module))


@cache
def _source(module: str) -> str:
    path = import_module(module).__file__
    assert path
    return Path(path).read_text("utf-8")


def _function_at(tree: ast.Module, line: int) -> str:
    """The innermost function that a line stands in."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno).name if around else "module"


class _Replaced(ast.NodeTransformer):
    def __init__(self, target: ast.AST, by: ast.AST) -> None:
        self._target, self._by = target, by

    def visit(self, node: ast.AST) -> ast.AST:
        return self._by if node is self._target else super().visit(node)


def _changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Change]]:
    """Nodes, what is done to each, and how."""
    for node in ast.walk(tree):
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
    """Each of the values that are let through."""
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
    """Each range of a class of code points."""
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
