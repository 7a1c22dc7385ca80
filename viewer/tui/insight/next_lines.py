"""Content of the next-prompt screen: the policies, what each one does with every message, and the prefix cache."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import zip_longest

from viewer.document.projection import Projection
from viewer.insight.history import History, is_analysis, is_assistant, is_final, is_instruction, is_reply
from viewer.insight.next_prompt import POLICIES, REFUSALS, Policy
from viewer.insight.simulator import Outcome, Simulator, groups
from viewer.model.messages import Header
from viewer.render.blocks.call_words import tool_words
from viewer.render.blocks.cards import first_words
from viewer.render.blocks.json_rows import arguments_line
from viewer.render.number_format import byte_size
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells
from viewer.tui.panes.columns import fitted, spread

_NUMBER, _NAME = 4, 12
_LEAST_WORDS = 16
"""The minimum room for words, in cells. A row with less room omits the remark at its end."""
_BEGINNING = 120
"""How many characters of a body a row shows."""
_CHANGES = {
    "recipient-moved": "recipient moved",
    "return-to-end": "<|return|> → <|end|>",
    "re-encoded": "encoded again",
    "reply-renamed": "another tool",
    "renamed": "renamed",
    "preamble-to-analysis": "becomes analysis",
    "empty-final": "empty final",
    "to-final": "becomes final",
}
_LOST = {"second-call-lost": "second call lost"}


class Comparison:
    """The prompts of all policies for one history, as lines. It has no outcomes until all bodies have been read."""

    def __init__(self, projection: Projection, simulator: Simulator, style: Style) -> None:
        self.simulator = simulator
        self.outcomes: dict[str, Outcome] = {}
        self._projection = projection
        self._style = style
        self._numbers = self._history.numbers()
        self._gone: dict[str, Sequence[int]] = {}
        self._cuts: dict[str, int] = {}
        self._changed: dict[str, dict[int, str]] = {}

    @property
    def _history(self) -> History:
        return self.simulator.history

    @property
    def count(self) -> int:
        """The number of rows: one per message, and one for the end of the prompt."""
        return len(self._numbers) + 1

    def number(self, row: int) -> int:
        """Return the message number of a row, or 0 for the end of the prompt."""
        return self._numbers[row] if 0 <= row < len(self._numbers) else 0

    def row_of(self, number: int) -> int:
        """Return the row of a message, or the nearest one before it."""
        return max(0, bisect_right(self._numbers, number) - 1)

    def take(self, outcomes: Sequence[Outcome]) -> None:
        """Store the outcomes."""
        self.outcomes = {outcome.policy.name: outcome for outcome in outcomes}
        self._changed = {
            name: {change.number: change.what for change in outcome.changed} for name, outcome in self.outcomes.items()
        }
        self._gone.clear()

    def summary(self) -> str:
        """Return the numbers of policies, different prompts, and refusals."""
        if not self.outcomes:
            return "reading"
        found = list(self.outcomes.values())
        refused = sum(outcome.refused is not None for outcome in found)
        words = f"{len(found)} policies · {len(groups(found))} groups"
        return words + (f", {refused} refused" if refused else "")

    def kept(self, policy: Policy) -> str:
        """Return how many messages the policy keeps, such as `5/7`, or where it refuses the history; an ellipsis until
        this is known."""
        outcome = self.outcomes.get(policy.name)
        if outcome is None:
            return "…"
        if outcome.refused:
            return f"refused at #{outcome.refused.number}"
        return f"{len(outcome.kept):,}/{len(outcome.kept) + len(outcome.dropped):,}"

    def size(self, policy: Policy) -> str:
        """Return the size of the prompt in bytes; empty if it is not known."""
        outcome = self.outcomes.get(policy.name)
        return "" if outcome is None or outcome.bytes is None else f"{outcome.bytes:,}"

    def policy_line(self, policy: Policy, width: int, *, is_chosen: bool) -> Line:
        """Return one row of the policy list."""
        look = StyleRole.STRONG if is_chosen else StyleRole.PLAIN
        sign = Part(trusted(self._style.signs.gutter if is_chosen else " "), StyleRole.FOCUS)
        left = sign, Part(self._style.words(f" {policy.name}"), look)
        room = max(1, width - len(left[1].text) - 3)
        words = f"{self.kept(policy)} {self.size(policy):>7}".rstrip()
        return spread(left, (Part(self._style.words(words[:room] + " "), StyleRole.QUIET),), width)

    def line(self, policy: Policy, row: int, width: int) -> Line:
        """Return the row of a message under a policy: its beginning or why it is dropped and, at the right, how it
        changes."""
        number = self.number(row)
        if not number:
            return (Part(trusted("   <|start|>assistant"), StyleRole.QUIET),)
        header = self._history.header(number)
        outcome = self.outcomes.get(policy.name)
        if outcome is not None and outcome.refused is not None:
            is_there = number == outcome.refused.number
            words = f"refused: {REFUSALS[outcome.refused.reason]}" if is_there else ""
            return self._row("!" if is_there else " ", number, words, StyleRole.ERROR, "", width)
        if self._is_dropped(policy, number):
            right = f"-{byte_size(self._projection.headline(number).body_bytes)}"
            return self._row("-", number, self._why(policy, outcome, number), StyleRole.QUIET, right, width)
        change, other = self._change(policy, number), self._dropped_by(policy, number, header)
        sign = "~" if change else "!" if other else " "
        right = change or (f"{other} drops it" if other else "")
        beginning = self._projection.beginning(number, _BEGINNING)
        is_call = header.recipient is not None and is_assistant(header)
        words = str(arguments_line(beginning) or beginning if is_call else first_words(beginning))
        return self._row(sign, number, words, StyleRole.PLAIN, right, width)

    def _row(self, sign: str, number: int, words: str, look: StyleRole, right: str, width: int) -> Line:
        """Return a row: how the message changes, its number, who wrote it, words, and a remark."""
        style, header = self._style, self._history.header(number)
        name, voice = _voice(header)
        signed = StyleRole.PLAIN if sign == " " else StyleRole.ERROR if sign == "-" else StyleRole.WARNING
        lead = (
            Part(trusted(f" {sign} "), signed),
            Part(trusted(f"#{number:<{_NUMBER}}"), StyleRole.QUIET),
            Part(fitted(style.name(name), _NAME, style), voice),
            Part(trusted("  ")),
        )
        used = sum(cells(part.text) for part in lead)
        if width - used - len(right) < _LEAST_WORDS:
            right = ""  # the sign already shows the change
        room = max(1, width - used - len(right) - (3 if right else 1))
        body = Part(fitted(style.name(" ".join(words.split())), room, style), look)
        return spread((*lead, body), (Part(style.words(f"{right} "), StyleRole.INFO),) if right else (), width)

    def cache_lines(self, policy: Policy) -> list[str]:
        """Describe the common prefix of the next prompt and the previous prompt."""
        outcome = self.outcomes.get(policy.name)
        cache = outcome.cache if outcome else None
        if cache is None or not cache.previous:
            return ["cache: no answer yet" if outcome and not policy.template else "cache: -"]
        share = 100 * cache.shared // cache.previous
        lines = [f"cache: {share}% of {cache.previous:,} {cache.unit} reused"]
        if cache.first_difference is not None:
            lines.append(f"lost from #{cache.first_difference} ({(cache.cause or '').replace('-', ' ')})")
        return lines

    def difference(self, policy: Policy, other: Policy) -> str:
        """Describe the first message that only one of two policies drops; empty if there is none."""
        pairs = zip_longest(self._dropped(policy), self._dropped(other))
        apart = next(((one, another) for one, another in pairs if one != another), None)
        if apart is None:
            return ""
        return f"differs from {other.name} at #{min(each for each in apart if each is not None)}"

    def _is_dropped(self, policy: Policy, number: int) -> bool:
        gone = self._dropped(policy)
        place = bisect_left(gone, number)
        return place < len(gone) and gone[place] == number

    def _dropped(self, policy: Policy) -> Sequence[int]:
        if policy.name not in self._gone:
            outcome = self.outcomes.get(policy.name)
            if outcome is None and policy.template is not None:
                return ()
            self._gone[policy.name] = outcome.dropped if outcome else self.simulator.dropped(policy)
        return self._gone[policy.name]

    def _cut(self, policy: Policy) -> int:
        if policy.name not in self._cuts:
            self._cuts[policy.name] = policy.cut(self._history)
        return self._cuts[policy.name]

    def _why(self, policy: Policy, outcome: Outcome | None, number: int) -> str:
        if outcome is not None and number in outcome.why:
            return _LOST.get(outcome.why[number], policy.why_words)
        return policy.why_words.replace("#", f"#{self._cut(policy)}")

    def _change(self, policy: Policy, number: int) -> str:
        """Describe how a policy changes a message that it keeps; empty if it does not."""
        return _CHANGES.get(self._changed.get(policy.name, {}).get(number, ""), "")

    def _dropped_by(self, policy: Policy, number: int, header: Header) -> str:
        """Return the name of another common policy that drops this thought; empty if there is none."""
        others = (name for name in ("last-final", "harmony-0.0.8") if name != policy.name)
        if not is_analysis(header):
            return ""
        return next((name for name in others if self._is_dropped(POLICIES[name], number)), "")


def _voice(header: Header) -> tuple[str, StyleRole]:
    """Return the name and color of a message's author."""
    if is_assistant(header):
        if header.recipient is not None:
            return str(tool_words(header.recipient)), StyleRole.TOOL
        if is_analysis(header):
            return "thought", StyleRole.ANALYSIS
        return ("Assistant", StyleRole.ASSISTANT) if is_final(header) else ("commentary", StyleRole.COMMENTARY)
    if is_reply(header):
        return "reply", StyleRole.TOOL
    if header.role.startswith("user"):
        return "User", StyleRole.USER
    return header.role, StyleRole.SYSTEM if is_instruction(header) else StyleRole.UNKNOWN
