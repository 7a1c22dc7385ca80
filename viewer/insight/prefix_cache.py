"""Prefix cache: how much of the last prompt and its answer a server can reuse for the next prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from viewer.formats.tokens.vocabulary import Encoder
from viewer.insight.harmony_prompt import Part, prompt_head, prompt_parts, sampled_head, sampled_parts
from viewer.insight.history import History, is_assistant_final
from viewer.insight.prompt_tokens import messages_of, token_ids


class Cache(Struct, frozen=True, gc=False):
    """The prefix that the next prompt shares with the last prompt and its answer."""

    unit: str
    """`tokens` with a vocabulary, otherwise `bytes`."""
    previous: int
    shared: int
    first_difference: int | None
    """The number of the message at the first difference; None if nothing is lost."""
    cause: str | None
    """Why the prompts differ: `dropped`, `restored`, `recipient-moved`, or `return-to-end`; None if nothing is lost."""


def prefix_cache(
    history: History,
    run: list[int],
    gone_before: frozenset[int],
    gone: frozenset[int],
    size: Callable[[int], int],
    end: Sequence[Part],
    encoder: Encoder | None,
) -> Cache:
    """Compare the next prompt with what the server has in its cache.

    The cache contains the prompt before `run`, except `gone_before`, and the run as it was sampled. `size` returns the
    size of a message in the next prompt."""
    numbers = history.numbers()
    asked = [each for each in numbers if each < run[0] and each not in gone_before]
    answer = list(_measured(sampled_parts(history, run, is_whole=True), encoder))
    previous = sum(map(size, asked)) + sum(map(len, answer))
    found = _first_difference(history, run, gone_before ^ gone, gone)
    unit = "bytes" if encoder is None else "tokens"
    if found is None:
        return Cache(unit, previous, previous, None, None)
    number, cause = found
    same = sum(size(each) for each in numbers if each < number and each not in gone)
    if number < run[0]:
        rest = _measured(prompt_parts(history, (each for each in asked if each >= number)), encoder)
        before: Iterator[Sequence[int]] = (each for part in (rest, answer) for each in part)
    else:
        before = iter(answer[sum(each < number for each in run) :])
    after = _measured(
        (*prompt_parts(history, (each for each in numbers if each >= number and each not in gone)), *end), encoder
    )
    return Cache(unit, previous, same + _common(before, after), number, cause)


def _first_difference(
    history: History, run: list[int], differing: frozenset[int], gone: frozenset[int]
) -> tuple[int, str] | None:
    """Find the first message that only one of the prompts contains, or that is written differently, and the cause.
    Return None if there is none."""
    numbers = [number for number in differing if number <= run[-1]]
    at = min(numbers) if numbers else None
    finals = [number for number in run if is_assistant_final(history.header(number))]
    for number in run:
        if at is not None and number >= at:
            break
        header = history.header(number)
        if prompt_head(header) != sampled_head(header):
            return number, "recipient-moved"
        if finals and number == finals[-1]:
            return number, "return-to-end"
    if at is None:
        return None
    return at, "dropped" if at in gone else "restored"


def _measured(parts: Iterable[Part], encoder: Encoder | None) -> Iterator[Sequence[int]]:
    """Yield each message of a prompt as bytes, or as token IDs."""
    for message in messages_of(parts):
        yield (
            "".join(part.text for part in message).encode("utf-8", "replace")
            if encoder is None
            else token_ids(message, encoder)
        )


def _common(left: Iterator[Sequence[int]], right: Iterator[Sequence[int]]) -> int:
    """Return the length of the common prefix of two sequences that arrive in pieces."""
    total, one, other = 0, next(left, None), next(right, None)
    while one is not None and other is not None:
        size = min(len(one), len(other))
        if one[:size] != other[:size]:
            return total + next(place for place in range(size) if one[place] != other[place])
        total += size
        one = one[size:] or next(left, None)
        other = other[size:] or next(right, None)
    return total
