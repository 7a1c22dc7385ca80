"""Value classes like those of `dataclass(slots=True)`, at a fortieth of its cost at startup.

The methods that all classes share are written once, and `__init__` is generated on the first call of a class. `fields`,
`replace` and `asdict` of `dataclasses` accept these values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

__all__ = ["field", "frozen", "mutable"]

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(plain: type[Made]) -> type[Made]:
    """Make a frozen value class: equality and hash by content."""
    return _made(plain, _COMMON | _FROZEN)


@dataclass_transform(field_specifiers=(field,))
def mutable(plain: type[Made]) -> type[Made]:
    """Make a mutable value class: equality by content, no hash."""
    return _made(plain, _COMMON | {"__hash__": None})


def _made(plain: type[Made], methods: dict[str, Any]) -> type[Made]:
    """Build the class with slots for its attributes, and the methods it does not define itself."""
    names = tuple(plain.__annotations__)
    body = {name: member for name, member in vars(plain).items() if name not in ("__dict__", "__weakref__")}
    defaults = {name: body.pop(name) for name in names if name in body}
    is_frozen = "__setattr__" in methods
    if any(isinstance(default, Field) and default.default_factory is MISSING for default in defaults.values()):
        raise TypeError(f"of `field`, {plain.__qualname__} may use `default_factory` alone")
    given = {
        "__slots__": names,
        "__match_args__": names,
        "__key__": attrgetter(*names) if names else type,
        "__init__": _unmade(lambda: made, defaults, is_frozen),
        "__dataclass_fields__": _Fields(defaults),
        "__qualname__": plain.__qualname__,
    }
    kind: type[Any] = type(plain)
    made: type[Made] = kind(plain.__name__, plain.__bases__, {**methods, **body, **given})
    return made


def _unmade(made: Callable[[], type], defaults: dict[str, Any], is_frozen: bool) -> Callable[..., None]:
    """The placeholder for `__init__` until the first call of the class."""

    def make_and_call(self: object, *given: object, **named: object) -> None:
        init = _init(made(), defaults, is_frozen)
        made().__init__ = init  # type: ignore[misc]
        init(self, *given, **named)

    return make_and_call


def _init(made: type, defaults: dict[str, Any], is_frozen: bool) -> Callable[..., None]:
    """Generate the real `__init__`."""
    names: tuple[str, ...] = made.__match_args__  # type: ignore[attr-defined]
    known: dict[str, Any] = {"_MISSING": MISSING}
    given, lines = [], []
    for name in names:
        stored = name
        default = defaults.get(name, MISSING)
        if isinstance(default, Field):
            known[f"_make_{name}"] = default.default_factory
            stored = f"_make_{name}() if {name} is _MISSING else {name}"
            default = MISSING
            given.append(f"{name}=_MISSING")
        elif default is not MISSING:
            known[f"_default_{name}"] = default
            given.append(f"{name}=_default_{name}")
        else:
            given.append(name)
        known[f"_set_{name}"] = vars(made)[name].__set__
        lines.append(f" _set_{name}(self, {stored})" if is_frozen else f" self.{name} = {stored}")
    exec(f"def __init__({', '.join(['self', *given])}):\n" + "\n".join(lines or [" pass"]), known)
    init: Callable[..., None] = known["__init__"]
    return init


class _Fields:
    """The fields as `dataclasses` expects them, built on first access."""

    def __init__(self, defaults: dict[str, Any]) -> None:
        self._defaults = defaults

    def __get__(self, instance: object, owner: type) -> dict[str, Field[Any]]:
        body = {
            "__annotations__": owner.__annotations__,
            "__doc__": "given",
            "__module__": owner.__module__,
        }
        like: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(type("", (), body | self._defaults))
        fields: dict[str, Field[Any]] = like.__dataclass_fields__
        owner.__dataclass_fields__ = fields  # type: ignore[attr-defined]
        return fields


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    key = self.__key__
    return key(self) == key(other)


def _hash(self: Any) -> int:
    return hash(self.__key__(self))


def _shown(self: Any) -> str:
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({said})"


def _reduced(self: Any) -> tuple[type, tuple[Any, ...]]:
    return type(self), tuple(getattr(self, name) for name in self.__match_args__)


def _refuse_change(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_removal(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_COMMON: dict[str, Any] = {"__eq__": _equal, "__repr__": _shown, "__reduce__": _reduced}
_FROZEN: dict[str, Any] = {"__hash__": _hash, "__setattr__": _refuse_change, "__delattr__": _refuse_removal}
