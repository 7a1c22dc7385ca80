"""`APIS`, the table of the APIs whose requests are logged: paths, request members, and response readers."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from viewer.tap.apis.chat import ChatAnswer
from viewer.tap.apis.messages import MessagesAnswer
from viewer.tap.apis.ollama import OllamaAnswer
from viewer.tap.apis.responses import ResponsesAnswer
from viewer.tap.apis.texts import TextAnswer
from viewer.tap.deltas import Answer, Ending


class Api(Struct, frozen=True):
    """An API with requests that are logged."""

    name: str
    """The name in the log, which selects the rules of the format `tap`."""
    path: str
    """A pattern for the end of the path, without the query."""
    answer: Callable[[Ending], Answer]
    items: str = ""
    """The request member that contains the messages; empty if there is none. Each request repeats the messages of the
    previous request."""
    others: tuple[str, ...] = ()
    """Other request members with text. Members that are not listed are not logged."""
    is_text: bool = False
    """True if an answer is plain text, so a whole answer is a single event."""


APIS = (
    Api("chat", r"/chat/completions", ChatAnswer, "messages", ("functions",)),
    Api("responses", r"/responses", ResponsesAnswer, "input", ("instructions", "prompt")),
    Api("messages", r"/messages", MessagesAnswer, "messages", ("system",)),
    Api("ollama-chat", r"/api/chat", OllamaAnswer, "messages"),
    Api("ollama-generate", r"/api/generate", TextAnswer, others=("system", "prompt", "suffix"), is_text=True),
    Api("completions", r"/completions?", TextAnswer, others=("prompt", "suffix"), is_text=True),
)
_PATHS = tuple((api, re.compile(rf".*{api.path}/?")) for api in APIS)


def api_of(method: str, target: str) -> Api | None:
    """Return the API that a request belongs to, or None if the request is not logged."""
    if method != "POST":
        return None
    path = target.partition("?")[0]
    return next((api for api, pattern in _PATHS if pattern.fullmatch(path)), None)
