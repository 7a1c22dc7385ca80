"""Find the handlers of messages faster: most widgets have none for most messages, but Textual searches all classes of
the widget each time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from textual.message import Message
from textual.message_pump import MessagePump

_find = MessagePump._get_dispatch_methods
_has_any: dict[tuple[type, str, type], bool] = {}


def find_handlers_once() -> None:
    """Remember which classes have no handler for a message."""

    def find(
        self: MessagePump, method_name: str, message: Message
    ) -> Iterable[tuple[type, Callable[[Message], Awaitable[None]]]]:
        key = (type(self), method_name, type(message))
        if key not in _has_any:
            _has_any[key] = _has_handler(*key)
        return _find(self, method_name, message) if _has_any[key] else ()

    MessagePump._get_dispatch_methods = find  # type: ignore[method-assign]


def _has_handler(pump: type, name: str, message: type) -> bool:
    """True if a class defines a method of this name, or a decorated one for this message or one of its bases."""
    for each in pump.__mro__:
        members = vars(each)
        decorated = members.get("_decorated_handlers") or {}
        if name in members or f"_{name}" in members or any(base in decorated for base in message.__mro__):
            return True
    return False
