"""Record tree of a session: find the branches that a rewind superseded."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from viewer.formats.engine.paths import string_at
from viewer.formats.tables.model import Branches, Threads
from viewer.syntax.json_text import JsonNode


class _Node(Struct):
    id: str
    parent: str | None
    first: int
    last: int
    """The number of the last message of the record, or `first - 1` if the record has no messages."""
    is_prompt: bool
    """True if the user typed the record."""
    prompt: str | None = None
    """The ID of the latest prompt that follows this record."""


class RecordTree:
    """The records of one transcript, by ID."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._nodes: dict[str, _Node] = {}
        self._is_broken = False

    def parent_of(self, node: JsonNode) -> str | None:
        """Return the ID of the parent that a record names, or None if it names none."""
        return string_at(node, self._threads.parent)

    def knows(self, id: str | None) -> bool:
        """True if a record with this ID was added and has not been superseded since."""
        return id in self._nodes

    def fault(self, node: JsonNode) -> str | None:
        """Return why the position of a record in the tree is uncertain (`cycle` or `parent-missing`). Return None if it
        is certain, or if a fault has already been returned."""
        parent = self.parent_of(node)
        if self._is_broken or parent is None or not self._nodes:
            return None
        reason = None if parent in self._nodes else "parent-missing"
        if parent == string_at(node, self._threads.id):
            reason = "cycle"
        self._is_broken = reason is not None
        return reason

    def add(self, node: JsonNode, first: int, last: int, *, is_prompt: bool) -> Iterator[tuple[int, int]]:
        """Add a record with its messages and yield the runs of messages that it supersedes."""
        id = string_at(node, self._threads.id)
        if id is None or id in self._nodes:
            return
        added = _Node(id, self.parent_of(node), first, last, is_prompt)
        if is_prompt:
            yield from self._branches(added)
        self._nodes[id] = added

    def takes(self, id: str | None, parent: str | None) -> bool:
        """True if a record with this ID and parent would cause no new fault."""
        return self._is_broken or parent is None or not self._nodes or (parent in self._nodes and parent != id)

    def takes_prompt(self, parent: str | None) -> bool:
        """True if a prompt with this parent replaces no earlier prompt."""
        place = self._nodes.get(self._place(parent) or "")
        return place is None or place.prompt is None or place.prompt not in self._nodes

    def put(self, id: str, parent: str | None, first: int, last: int, *, is_prompt: bool) -> None:
        """Add a record that supersedes nothing."""
        if id in self._nodes:
            return
        place = self._nodes.get(self._place(parent) or "") if is_prompt else None
        if place is not None:
            place.prompt = id
        self._nodes[id] = _Node(id, parent, first, last, is_prompt)

    def rewind_to(self, id: str) -> Iterator[tuple[int, int]]:
        """Abandon all records after this one, and yield the runs of their messages."""
        if id in self._nodes:
            names = [*self._nodes]
            yield from self._leave({*names[names.index(id) + 1 :]})

    def _branches(self, prompt: _Node) -> Iterator[tuple[int, int]]:
        """Yield the runs of messages on the branch of the earlier prompt that this prompt replaces."""
        place = self._nodes.get(self._place(prompt.parent) or "")
        if place is None:
            return
        earlier, place.prompt = place.prompt, prompt.id
        if earlier is None or earlier not in self._nodes:
            return
        branch = {earlier}
        names = [*self._nodes]
        for name in names[names.index(earlier) + 1 :]:
            if self._nodes[name].parent in branch:
                branch.add(name)
        yield from self._leave(branch)

    def _place(self, parent: str | None) -> str | None:
        """Return the ID of this record or of its nearest ancestor that has a message, or None if there is none.
        Attachments and notices have no messages."""
        seen: set[str] = set()
        while parent is not None and parent in self._nodes and parent not in seen:
            node = self._nodes[parent]
            if node.last >= node.first:
                return parent
            seen.add(parent)
            parent = node.parent
        return None

    def _leave(self, branch: set[str]) -> Iterator[tuple[int, int]]:
        """Yield the messages of a branch, in runs, and drop its records."""
        run: tuple[int, int] | None = None
        for name in [name for name in self._nodes if name in branch]:
            node = self._nodes.pop(name)
            if node.last < node.first:
                continue
            if run is not None and node.first == run[1] + 1:
                run = run[0], node.last
                continue
            if run is not None:
                yield run
            run = node.first, node.last
        if run is not None:
            yield run


def branch_order(tree: Branches, records: list[JsonNode], outer: JsonNode) -> tuple[list[tuple[int, bool]], str | None]:
    """Return the indexes of the records of a tree in order, and why the tree is broken, if it is.

    Each index is paired with a flag: True if the record is on an older branch. Older branches come before the newest
    one, right after the record where they fork."""
    ids: dict[str, int] = {}
    for index, record in enumerate(records):
        ids.setdefault(string_at(record, tree.id) or "", index)
    ids.pop("", None)
    fault: str | None = None
    children: dict[int, list[int]] = {}
    parents: dict[int, int] = {}
    roots: list[int] = []
    top = tree.top
    for index, record in enumerate(records):
        parent = string_at(record, tree.parent)
        if parent is not None and parent in ids:
            parents[index] = ids[parent]
            children.setdefault(ids[parent], []).append(index)
            continue
        if parent and tree.has_hidden_top and not roots:
            top |= {parent}
        fault = fault or ("parent-missing" if parent and parent not in top else None)
        roots.append(index)
    newest = _ancestors(ids.get(string_at(outer, tree.newest) or "", -1), parents)
    if not newest and roots:
        newest = _last_branch(roots[-1], children)
    has_versions = bool(children) and fault is None and all(record.closed for record in records[-1:])
    order = [*_branches(roots, children, newest, are_versions=has_versions)]
    if len(order) < len(records):
        known = {index for index, _ in order}
        order += [(index, False) for index in range(len(records)) if index not in known]
        fault = "cycle"
    return order, fault


def _ancestors(index: int, parents: dict[int, int]) -> set[int]:
    """Return the indexes of a record and all its ancestors, or none if the index is negative."""
    found: set[int] = set()
    while index >= 0 and index not in found:
        found.add(index)
        index = parents.get(index, -1)
    return found


def _last_branch(index: int, children: dict[int, list[int]]) -> set[int]:
    """Return the indexes of the records from this one down to a leaf, always following the last child."""
    found = {index}
    while index in children:
        index = children[index][-1]
        found.add(index)
    return found


def _branches(
    roots: list[int], children: dict[int, list[int]], newest: set[int], *, are_versions: bool
) -> Iterator[tuple[int, bool]]:
    """Yield the index of each record and whether the record is on an older branch. The roots of a complete tree are
    versions of the first record."""
    if are_versions:
        roots = sorted(roots, key=lambda root: root in newest)
    waiting = [(root, are_versions and root not in newest) for root in reversed(roots)]
    while waiting:
        index, is_left = waiting.pop()
        yield index, is_left
        below = sorted(children.get(index, ()), key=lambda child: child in newest)
        is_older = is_left or index in newest
        waiting += [(child, is_older and child not in newest) for child in reversed(below)]
