"""Hand-written YAML files (themes, settings) as nodes with positions. Mistakes are reported like compiler errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from viewer.errors import ViewerError
from viewer.render.sanitize import sanitize_line
from viewer.syntax.yaml_reader import read_yaml

if TYPE_CHECKING:
    import yaml

_BOOLEANS = {"true": True, "false": False}
_LONGEST_QUOTE = 40


class MistakeError(ViewerError):
    """A mistake in the file. The message begins with `file:line:column:`."""


class YamlFile:
    """One file: its root, and typed access to its nodes. A mistake raises MistakeError with its position."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text.removeprefix("\ufeff")
        self._source = sanitize_line(source)

    def root(self) -> yaml.Node | None:
        """Return the root node, or None for an empty file. The file is first read with limits, so no node is too deep
        or refers to itself."""
        import yaml  # slow to import; simple files do not need it

        data = self._text.encode("utf-8", "replace")
        reading = read_yaml(data)
        for fault in reading.faults:
            index = len(data[: fault.start].decode("utf-8", "replace"))
            line, column = self._text.count("\n", 0, index) + 1, index - self._text.rfind("\n", 0, index)
            raise MistakeError(f"{self._source}:{line}:{column}: invalid YAML")
        value = data[: reading.span[1]].decode("utf-8", "replace")
        root: yaml.Node | None = yaml.compose(value, Loader=yaml.SafeLoader)
        return None if isinstance(root, yaml.ScalarNode) and not root.value else root

    def pairs(self, node: yaml.Node | None) -> Iterator[tuple[yaml.Node, str, yaml.Node]]:
        """Yield the entries of a mapping: the node of the key, the key, and the node of the value."""
        if node is None:
            return
        if self._kind(node) != "mapping":
            raise self.mistake(node, "expected keys and values")
        yield from ((key, str(key.value), value) for key, value in node.value)

    def entries(self, node: yaml.Node | None, known: Iterable[str]) -> Iterator[tuple[str, yaml.Node]]:
        """Yield the entries of a mapping that may have only these keys."""
        for key, name, value in self.pairs(node):
            if name not in known:
                raise self.unknown_key(key, known)
            yield name, value

    def is_word(self, node: yaml.Node) -> bool:
        """True if the node is a single value."""
        return self._kind(node) == "scalar"

    def word(self, node: yaml.Node) -> str:
        """Return a single value, as written."""
        if not self.is_word(node):
            raise self.mistake(node, "expected a single value")
        return str(node.value)

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        """Return the items of a list. A single value is treated as a list of one."""
        return list(node.value) if self._kind(node) == "sequence" else [node]

    def boolean(self, node: yaml.Node) -> bool:
        """Return a single value as a bool."""
        word = self.word(node)
        if word not in _BOOLEANS:
            raise self.mistake(node, f"{quoted(word)} is not true or false")
        return _BOOLEANS[word]

    def _kind(self, node: yaml.Node) -> str:
        """Return `scalar`, `sequence`, or `mapping`."""
        kind: str = getattr(node, "id", "")
        return kind

    def unknown_key(self, key: yaml.Node, known: Iterable[str]) -> MistakeError:
        """Return the error for an unknown key, with a suggestion."""
        name = str(key.value)
        return self.mistake(key, f"unknown key {quoted(name)}{did_you_mean(name, known)}")

    def mistake(self, node: yaml.Node, words: str) -> MistakeError:
        """Return the error for a mistake at this node."""
        return MistakeError(f"{self.place(node)}: {words}")

    def place(self, node: yaml.Node) -> str:
        """Return the start of a node as `file:line:column`, both counted from 1."""
        mark = node.start_mark
        return f"{self._source}:{mark.line + 1}:{mark.column + 1}"


class PlainFile:
    """The interface of `YamlFile`, for a file that is simple enough not to need the YAML library. Mistakes have no
    position; `YamlFile` finds their positions."""

    def __init__(self, values: dict[str, object]) -> None:
        self._values = values

    def root(self) -> Any:
        """Return the whole content."""
        return self._values

    def entries(self, node: object, known: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield the entries of a mapping that may have only these keys."""
        if node is None:
            return
        if not isinstance(node, dict) or not node.keys() <= set(known):
            raise self.mistake(node, "")
        yield from node.items()

    def is_word(self, node: object) -> bool:
        """True if the node is a single value."""
        return isinstance(node, str)

    def word(self, node: object) -> str:
        """Return a single value, as written."""
        if not isinstance(node, str):
            raise self.mistake(node, "")
        return node

    def boolean(self, node: object) -> bool:
        """Return a single value as a bool."""
        word = self.word(node)
        if word not in _BOOLEANS:
            raise self.mistake(node, "")
        return _BOOLEANS[word]

    def mistake(self, node: object, words: str) -> MistakeError:
        """Return the error for a mistake, without its position."""
        return MistakeError(words)

    def place(self, node: object) -> str:
        """Raise a MistakeError, because only `YamlFile` has positions."""
        raise self.mistake(node, "")


def quoted(word: str) -> str:
    """Return a word of the file in quotes, short and safe."""
    return f"'{sanitize_line(word, _LONGEST_QUOTE)}'"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question with the most similar known word, to append to a sentence; empty if none is similar."""
    import difflib  # slow to import, and mistakes are rare

    near = difflib.get_close_matches(word, list(known), 1)
    return f". Did you mean {near[0]}?" if near else ""
