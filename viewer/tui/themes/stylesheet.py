"""Stylesheet that keeps what has been parsed when Textual reads the sources again for the same colors."""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class KeptStylesheet(Stylesheet):
    """Avoids parsing all sources twice at the start, when Textual sets the theme's colors again."""

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the theme's variables. Parsed rules stay valid if the variables do not change."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse the sources, except those that have already been parsed. The sources are ours or Textual's, and free of
        errors."""
        self.parse()
