"""Offer: one completion of the text in the prompt."""

from __future__ import annotations

from msgspec import Struct


class Offer(Struct, frozen=True):
    """A completion: the text for the prompt, its label in the box, and its help."""

    text: str
    shown: str
    help: str = ""
