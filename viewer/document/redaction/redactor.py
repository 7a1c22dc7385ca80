"""The redactor: replaces each secret with a mask. Equal secrets always get the same mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from viewer.document.redaction.finder import Finder, Secret
from viewer.document.redaction.kinds import BY_NAME, Shape
from viewer.document.values import ShownCall, ShownMessage, ShownStray, ShownTranscript
from viewer.model.messages import Header

if TYPE_CHECKING:
    from viewer.document.projection import Projection

FoundSecret = tuple[str, str]
"""The kind and the text of a secret."""
LEAST_KNOWN = 8
"""The minimum length of a secret that, once found, is masked everywhere."""


class Redactor:
    """Replaces the secrets in the output of one command with masks, which it numbers."""

    def __init__(self, custom: Mapping[str, str] | None = None) -> None:
        self._finder = Finder(custom)
        self._masks: dict[tuple[str, str], str] = {}
        self._numbers = Counter[str]()
        self._known: dict[str, str] = {}
        """The kind of each secret that grants access to something, by the text of the secret."""
        self._cleaned: dict[str, str] = {}
        self._learned: Projection | None = None
        """The projection that was learned last, so that its reading is not learned twice."""
        self._knows_all = False
        self.counts = Counter[str]()
        """The number of secrets found while learning, by kind."""

    def learn(self, text: str) -> None:
        """Remember the secrets in the text so that they are masked even where nothing around them gives them away."""
        self.learn_found([(secret.kind, secret.text) for secret in self._finder.find(text)])

    def learn_found(self, secrets: Iterable[FoundSecret]) -> None:
        """Remember these secrets."""
        for name, text in secrets:
            self.counts[name] += 1
            self._mask(name, text)
            kind = BY_NAME.get(name)
            if len(text) >= LEAST_KNOWN and (kind is None or kind.shape is not Shape.PERSONAL):
                if text not in self._known:
                    self._cleaned.clear()
                self._known.setdefault(text, name)

    def learn_shown(self, projection: Projection) -> None:
        """Learn the secrets in everything that the audience sees, but only once per reading."""
        is_learned = self._learned is not None and projection.is_of_same_reading(self._learned)
        if not self._knows_all and not is_learned:
            self._learned = projection
            self.learn_found(self.find_shown(projection))

    def learn_no_more(self) -> None:
        """Stop learning, because everything that the inputs show has been learned."""
        self._knows_all = True

    def find_shown(self, projection: Projection) -> list[FoundSecret]:
        """Return the secrets in everything that the audience sees, in order, without learning them."""
        texts: list[str | None] = []
        for item in projection.items():
            if isinstance(item, ShownMessage):
                texts += (item.body, item.name, item.recipient, item.call_id, *item.extra.values())
            elif isinstance(item, ShownStray):
                texts.append(item.body)
        return [(secret.kind, secret.text) for text in texts if text for secret in self._finder.find(text)]

    @property
    def mask_count(self) -> int:
        """The number of masks so far."""
        return len(self._masks)

    def clean(self, text: str) -> str:
        """Replace the secrets in text with masks."""
        if text in self._cleaned:
            return self._cleaned[text]
        cleaned = "".join(self._pieces(text))
        if len(self._cleaned) > _MOST_CACHED:
            self._cleaned.clear()
        self._cleaned[text] = cleaned
        return cleaned

    def name(self, name: str) -> str:
        """Mask the secrets in a file name, with masks that contain no brackets."""
        return self.clean(name).replace("[redacted:", "redacted-").replace("]", "") if name else name

    def header(self, header: Header) -> Header:
        """Mask the secrets in a message header."""
        return replace(
            header,
            role=self.clean(header.role),
            name=self._optional(header.name),
            recipient=self._optional(header.recipient),
            channel_given=self._optional(header.channel_given),
            intent=self._optional(header.intent),
            call_id=self._optional(header.call_id),
            content_type=self._optional(header.content_type),
            extra=tuple((self.clean(key), self.clean(value)) for key, value in header.extra),
        )

    def transcript(self, shown: ShownTranscript) -> ShownTranscript:
        """Mask the secrets in the document header of a transcript."""
        header = (
            None
            if shown.header is None
            else {self.clean(key): self._value(value) for key, value in shown.header.items()}
        )
        return replace(shown, version=self._optional(shown.version), model=self._optional(shown.model), header=header)

    def call(self, call: ShownCall) -> ShownCall:
        """Mask the secrets in the ID and the tool name of a call."""
        return replace(call, call_id=self._optional(call.call_id), tool=self.clean(call.tool))

    def _optional(self, text: str | None) -> str | None:
        return text if text is None else self.clean(text)

    def _value(self, value: object) -> object:
        if isinstance(value, dict):
            return {self._value(key): self._value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(each) for each in value]
        return self.clean(value) if isinstance(value, str) else value

    def _pieces(self, text: str) -> Iterator[str]:
        at = 0
        for secret in self._secrets(text):
            yield text[at : secret.start]
            yield self._mask(secret.kind, secret.text)
            at = secret.end
        yield text[at:]

    def _secrets(self, text: str) -> list[Secret]:
        found = self._finder.find(text)
        known = [each for each in self._known if each in text]
        if not known:
            return found
        taken = bytearray(len(text))
        for secret in found:
            taken[secret.start : secret.end] = b"\1" * (secret.end - secret.start)
        for each in known:
            start = text.find(each)
            while start >= 0:
                end = start + len(each)
                if taken.find(1, start, end) < 0:
                    found.append(Secret(self._known[each], start, end, each))
                    taken[start:end] = b"\1" * len(each)
                start = text.find(each, end)
        return sorted(found, key=lambda secret: secret.start)

    def _mask(self, kind: str, text: str) -> str:
        kind = self._known.get(text, kind)
        key = kind, text
        if key not in self._masks:
            self._numbers[kind] += 1
            self._masks[key] = f"[redacted:{kind}-{self._numbers[kind]}]"
        return self._masks[key]

    @property
    def sentence(self) -> str:
        """Summarize what was masked: for each kind, the number of occurrences and of distinct strings."""
        if not self._masks:
            return "Redacted nothing."
        kinds = sorted(self._numbers, key=lambda kind: (-self.counts[kind], kind))
        parts = (
            f"{kind} {max(self.counts[kind], self._numbers[kind]):,} ({self._numbers[kind]:,} different)"
            for kind in kinds
        )
        return f"Redacted: {', '.join(parts)}."


_MOST_CACHED = 2000
