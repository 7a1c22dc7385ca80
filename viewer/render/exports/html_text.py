"""`Html`, the type of safe HTML: escaped text, and elements with the program's own names and attributes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import NewType

from viewer.render.sanitize import SafeText, sanitize_line

Html = NewType("Html", str)
"""Text that is safe for a browser. Pages consist only of this type."""

NOTHING = Html("")


def text(shown: SafeText) -> Html:
    """Escape sanitized text for any position inside an element."""
    return Html(escape(shown, quote=False))


def words(sentence: str) -> Html:
    """Escape the program's own text, from its tables."""
    return Html(escape(sentence, quote=False))


def name(given: str) -> Html:
    """Return an external name (of a file, tool, role, or ID) on one line, with its text direction isolated."""
    return element("bdi", text(sanitize_line(given)))


def element(tag: str, *inside: Html, **attributes: str) -> Html:
    """Return an element; `class_` sets the attribute `class`, and `http_equiv` sets `http-equiv`. All values must come
    from the program.
    """
    return Html(f"{opening(tag, **attributes)}{''.join(inside)}</{tag}>")


@lru_cache(maxsize=1024)
def opening(tag: str, **attributes: str) -> Html:
    """Return an opening tag, or an element that has no closing tag."""
    said = "".join(f' {key.strip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{tag}{said}>")


def closing(tag: str) -> Html:
    """Return the closing tag."""
    return Html(f"</{tag}>")


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Join pieces of HTML with a separator."""
    return Html(escape(between, quote=False).join(parts))


def link(target: str, *inside: Html, class_: str = "") -> Html:
    """Return a link within the page. Pages have no other links."""
    attributes = {"class_": class_} if class_ else {}
    return element("a", *inside, href=f"#{target}", **attributes)
