"""Offer: one completion of what is typed into the prompt."""

from __future__ import annotations

from msgspec import Struct


class Offer(Struct, frozen=True):
    """A completion: what the prompt gets, what the box shows, and its help."""

    text: str
    shown: str
    help: str = ""
