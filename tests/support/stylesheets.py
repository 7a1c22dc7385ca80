"""Share the parsed rules of a stylesheet between the apps of one process, because each test starts a new app. Find
them by their identity, as Textual does, but without calling Python each time."""

from __future__ import annotations

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def share_parsed_rules() -> None:
    """Parse the text once for each set of variables. Text with an error is parsed every time."""

    def parse(
        self: Stylesheet, css: str, read_from: tuple[str, str], *options: object, **named: object
    ) -> list[RuleSet]:
        key = (css, read_from, options, *named.items(), *self._variables.items())
        rules = _parsed.get(key)
        if rules is None:
            rules = _parse(self, css, read_from, *options, **named)  # type: ignore[arg-type]
            if not any(rule.errors for rule in rules):
                _parsed[key] = rules
        return rules

    Stylesheet._parse_rules = parse  # type: ignore[method-assign]
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
