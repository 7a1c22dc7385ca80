"""HTML as a type of its own: it is made of safe text, escaped, and of elements with names and attributes of ours."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import NewType

from viewer.render.sanitize import SafeText, sanitize_line

Html = NewType("Html", str)
"""Text that a browser may be given; pages are made of no other type."""

NOTHING = Html("")


def text(shown: SafeText) -> Html:
    """Text that has passed the border already, for any place inside an element."""
    return Html(escape(shown, quote=False))


def words(sentence: str) -> Html:
    """Words of the program itself, from its tables."""
    return Html(escape(sentence, quote=False))


def name(given: str) -> Html:
    """A name from outside (of a file, a tool, a role, an id) on one line, with a direction of its own."""
    return element("bdi", text(sanitize_line(given)))


def element(tag: str, *inside: Html, **attributes: str) -> Html:
    """An element; `class_` is the attribute `class`, and `http_equiv` is `http-equiv`. Values are our own."""
    return Html(f"{opening(tag, **attributes)}{''.join(inside)}</{tag}>")


@lru_cache(maxsize=1024)
def opening(tag: str, **attributes: str) -> Html:
    """The opening tag alone, or an element that has no end."""
    said = "".join(f' {key.strip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{tag}{said}>")


def closing(tag: str) -> Html:
    """The closing tag."""
    return Html(f"</{tag}>")


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Pieces one after the other, with a sign of ours between them."""
    return Html(escape(between, quote=False).join(parts))


def link(target: str, *inside: Html, class_: str = "") -> Html:
    """A link to another place of the same page; there are no others."""
    attributes = {"class_": class_} if class_ else {}
    return element("a", *inside, href=f"#{target}", **attributes)
