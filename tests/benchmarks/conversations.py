"""Conversations of a user and an agent as values, independent of any format. Their bodies are cut from real text."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from msgspec import Struct

from tests.benchmarks.real_text import Texts, texts
from tests.benchmarks.words import FIRST, LAST, RARE, SEED

RARE_EVERY, FAR_APART = 20_000, 10_000
"""One turn in this many has the rare word. The first such turn comes earlier."""
TOOLS = ("bash", "read_file", "edit_file", "search", "fetch", "run_tests")
COMMANDS = ("ls -l src", "git status --short", "python -m pytest -q", "sed -n 1,80p setup.cfg", "make docs")
FOREIGN = (
    "Decoding stops at <|endoftext|>, as in the vocabulary.",
    "    SPECIAL = ('<|im_start|>', '<|im_end|>', \"<|pad|>\")",
    "let total = sum <| map f <| filter p xs",
    r"TOKEN = re.compile(rb'<\|(start|message|end)\|>')",
    'echo "<|$name|>" >> tokens.txt',
    "FIM = '<|fim_prefix|>' + before + '<|fim_suffix|>' + after",
)
"""Lines with `<|` but without a control token of OpenChatML or Harmony."""
EAST_ASIAN = "長い記録でもすぐに開く。工具的调用和回答都要一一对应。한국어 문장도 함께 있습니다. "
EMOJI = "🙂🚀👩‍💻🇯🇵✅👍🏽 ❤️ naïve café 1️⃣ Ægir – “so” ∑√ "


class Said(Struct, frozen=True):
    """One message before it is written in a format."""

    role: str
    body: str
    channel: str = ""
    tool: str = ""
    call_id: str = ""
    ends_turn: bool = False

    @property
    def is_call(self) -> bool:
        """True if the assistant calls a tool."""
        return self.role == "assistant" and self.tool != ""


class Conversation:
    """An endless series of turns: a question, thoughts, calls with their replies, and an answer; about 850 bytes per
    message."""

    def __init__(self, foreign_every: int = 0, *, multilingual: bool = False, tools: bool = True) -> None:
        """On average, one in `foreign_every` bodies has a foreign token; 0 means that none has."""
        self._texts: Texts = texts()
        self._chance = random.Random(SEED)
        self._every = foreign_every
        self._multilingual = multilingual
        self._tools = tools
        self._until_foreign = self._chance.randint(1, 2 * foreign_every) if foreign_every else 0
        self._calls = 0

    def turns(self) -> Iterator[list[Said]]:
        """Yield the turns in order."""
        yield [Said("user", f"{FIRST} is that?"), self._answer(0)]
        number = 0
        while True:
            number += 1
            steps = self._chance.choice((0, 1, 1, 2, 3, 5)) if self._tools else 0
            turn = [Said("user", self._body("prose", 250))]
            for _ in range(steps):
                turn += self._step()
            yield [*turn, self._answer(number)]

    def _answer(self, number: int) -> Said:
        code = f"\n```python\n{self._body('source', 300)}\n```" if self._chance.random() < 0.4 else ""
        rare = f" {RARE}" if number % RARE_EVERY == FAR_APART else ""
        return Said("assistant", self._body("prose", 600) + rare + code, "final", ends_turn=True)

    def _step(self) -> list[Said]:
        self._calls += 1
        tool, call_id = self._chance.choice(TOOLS), f"call_{self._calls:07x}"
        arguments = json.dumps(self._arguments(tool), ensure_ascii=False)
        return [
            Said("assistant", self._body("prose", 500), "analysis"),
            Said("assistant", arguments, "commentary", tool, call_id),
            Said("tool", self._output(), "commentary", tool, call_id),
        ]

    def _output(self) -> str:
        if self._chance.random() < 0.25:
            return json.dumps({"ok": True, "content": self._body("output", 1500)}, ensure_ascii=False)
        return self._body(self._chance.choice(("source", "source", "output", "output", "log", "diff", "json")), 3000)

    def _arguments(self, tool: str) -> dict[str, object]:
        chance = self._chance
        path = f"src/module{chance.randrange(90)}.py"
        match tool:
            case "edit_file":
                return {"path": path, "old": self._body("source", 250), "new": self._body("source", 300)}
            case "bash":
                return {"command": chance.choice(COMMANDS), "timeout": chance.randrange(1, 90)}
            case "read_file":
                return {"path": path, "start": chance.randrange(400)}
        return {"pattern": chance.choice(("foo", "bar.*", "def x")), "path": "."}

    def _body(self, kind: str, mean: int) -> str:
        """Cut a piece of text. The lengths are log-normal, as in real transcripts."""
        chance = self._chance
        text = chance.choice(self._texts[kind])
        size = max(20, int(chance.lognormvariate(0, 0.95) * mean / 1.5))
        first = chance.randrange(max(1, len(text) - size))
        body = text[first : first + size]
        if self._multilingual:
            body = self._mixed(body, size)
        self._until_foreign -= 1
        if self._every and self._until_foreign <= 0:
            self._until_foreign = chance.randint(1, 2 * self._every - 1)
            line = body.find("\n") + 1
            body = f"{body[:line]}{chance.choice(FOREIGN)}\n{body[line:]}"
        return body

    def _mixed(self, body: str, size: int) -> str:
        """Return text in other scripts and emoji, mixed with parts of the given text."""
        kinds = (EAST_ASIAN, EAST_ASIAN, EMOJI, "", "")
        parts = (self._chance.choice(kinds) + body[at : at + 20] for at in range(0, size, 60))
        return "".join(parts)


def last_message() -> Said:
    """Return the message that ends a transcript."""
    return Said("assistant", f"{LAST}.", "final", ends_turn=True)
