"""Rules for the inputs and outputs of model calls: messages, lists of messages, requests, responses, and plain text."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.formats.tables.langchain_messages import TYPES
from viewer.formats.tables.model import RecordRule, When, has, is_, lacks, printed
from viewer.formats.tables.traced_messages import TRACED
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_ALTERNATIVE = (RecordRule((), Kind.UNKNOWN, "assistant"),)
"""The rule for an answer that no user received."""


def exchange(
    asked: str, answered: str, when: tuple[When, ...], times: tuple[str, str], rules: tuple[RecordRule, ...] = TRACED
) -> tuple[RecordRule, ...]:
    """Return the rules for the input and the output of a model call, which are at these paths."""
    return (*request(asked, when, times[0], rules), *response(answered, when, times[1], rules))


def _under(at: str, *names: str) -> str:
    return "|".join(f"{at}.{name}" for name in names)


def request(at: str, when: tuple[When, ...], time: str, rules: tuple[RecordRule, ...]) -> tuple[RecordRule, ...]:
    """Return the rules for the input of a model call."""
    instructions = _under(at, "system", "instructions", *_gemini_instructions())
    tools = _under(at, "tools", "config.tools")
    is_object = (*when, When(at, kind=JsonKind.OBJECT))
    lists, text = _under(at, "messages", "contents", "prompt", "input"), _under(at, "contents", "prompt", "input")
    of_list = (*is_object, When(lists, kind=JsonKind.ARRAY))
    of_message = (*is_object, lacks(lists), has(_under(at, "role", "type", "parts")))
    return (
        RecordRule((*when, has(instructions)), Kind.INSTRUCTION, "system", instructions, time=time),
        RecordRule((*when, has(tools)), Kind.INSTRUCTION, "system", tools, time=time),
        RecordRule((*when, When(at, kind=JsonKind.STRING)), Kind.SAID, "user", at, time=time, classify=True),
        RecordRule((*when, When(at, kind=JsonKind.ARRAY)), each=f"{at}[]", rules=rules, time=time),
        RecordRule(of_list, each="|".join(f"{each}[]" for each in lists.split("|")), rules=rules, time=time),
        RecordRule(
            (*is_object, When(lists, kind=JsonKind.OBJECT)),
            each=lists,
            rules=rules,
            time=time,
        ),
        RecordRule(
            (*is_object, lacks(f"{at}.messages"), When(text, kind=JsonKind.STRING)),
            Kind.SAID,
            "user",
            text,
            time=time,
            classify=True,
        ),
        RecordRule(of_message, each=at, rules=rules, time=time),
        RecordRule(
            (*is_object, lacks(lists), lacks(_under(at, "role", "type", "parts"))),
            Kind.UNKNOWN,
            "user",
            at,
            time=time,
        ),
    )


def _gemini_instructions() -> tuple[str, ...]:
    names = ("systemInstruction", "system_instruction")
    return tuple(f"{holder}{name}" for holder in ("", "config.") for name in names)


def response(at: str, when: tuple[When, ...], time: str, rules: tuple[RecordRule, ...]) -> tuple[RecordRule, ...]:
    """Return the rules for the output of a model call."""
    messages, output = f"{at}.messages", f"{at}.output"
    answers = (is_(f"{at}.role", "assistant", "model"), is_(f"{at}.type", *TYPES["ai"]))
    choices = ((f"{at}.choices", "message"), (f"{at}.candidates", "content"))
    is_object = (*when, When(at, kind=JsonKind.OBJECT))
    no_answer = (
        *(lacks(f"{at}.{name}[0]") for name in ("messages", "choices", "candidates", "generations")),
        When(f"{at}.role", not_equals=frozenset({"assistant", "model"})),
        When(f"{at}.type", not_equals=frozenset(TYPES["ai"])),
        When(f"{output}.message.role", not_equals=frozenset({"assistant"})),
        When(f"{at}.message.role", not_equals=frozenset({"assistant", "model"})),
        When(f"{at}.content.role", not_equals=frozenset({"model"})),
        lacks(f"{output}[0].type"),
    )
    return (
        RecordRule((*when, printed(at)), Kind.UNKNOWN, "assistant", at, time=time),
        RecordRule((*when, When(at, kind=JsonKind.STRING, printed=False)), Kind.SAID, "assistant", at, time=time),
        RecordRule((*when, When(at, kind=JsonKind.ARRAY)), each=f"{at}[]", rules=rules, time=time),
        *(RecordRule((*is_object, answer), each=at, rules=rules, time=time) for answer in answers),
        RecordRule(
            (*is_object, is_(f"{at}.message.role", "assistant", "model")), each=f"{at}.message", rules=rules, time=time
        ),
        RecordRule(
            (*is_object, is_(f"{output}.message.role", "assistant")), each=f"{output}.message", rules=rules, time=time
        ),
        RecordRule((*is_object, is_(f"{at}.content.role", "model")), each=f"{at}.content", rules=rules, time=time),
        *(
            rule
            for choice, member in choices
            for rule in (
                RecordRule((*when, has(f"{choice}[0]")), each=f"{choice}[0].{member}", rules=rules, time=time),
                RecordRule(
                    (*when, has(f"{choice}[1]")), each=f"{choice}[1:].{member}", rules=rules, time=time, unused=True
                ),
            )
        ),
        *_generations(f"{at}.generations", (*is_object, lacks(messages)), time, rules),
        RecordRule((*is_object, has(messages)), each=f"{messages}[]", rules=rules, time=time),
        RecordRule((*is_object, has(f"{output}[0].type")), each=f"{output}[]", rules=rules, time=time),
        RecordRule((*is_object, *no_answer), Kind.UNKNOWN, "assistant", at, time=time),
    )


def _generations(at: str, when: tuple[When, ...], time: str, rules: tuple[RecordRule, ...]) -> Iterator[RecordRule]:
    """Yield the rules for the result of a LangChain model: a list of alternatives for each prompt, or one
    such list. Text outside a message continues a prompt that a template made, so it may contain the steps of an
    agent."""
    yield RecordRule((*when, has(f"{at}[0][1]")), each=f"{at}[0][1:]", rules=_ALTERNATIVE, time=time, unused=True)
    yield RecordRule(
        (*when, has(f"{at}[0][0]"), has(f"{at}[1]")), each=f"{at}[1:][]", rules=_ALTERNATIVE, time=time, unused=True
    )
    yield RecordRule(
        (*when, lacks(f"{at}[0][0]"), has(f"{at}[1]")), each=f"{at}[1:]", rules=_ALTERNATIVE, time=time, unused=True
    )
    for first in (f"{at}[0][0]", f"{at}[0]"):
        alone = (*when, has(first), lacks(f"{first}.message"), lacks(f"{first}[0]"))
        yield RecordRule((*when, has(f"{first}.message")), each=f"{first}.message", rules=rules, time=time)
        yield RecordRule(alone, Kind.UNKNOWN, "assistant", first, time=time)


def unknown_values(
    asked: str, answered: str, when: tuple[When, ...], times: tuple[str, str], parent: str
) -> tuple[RecordRule, ...]:
    """Return the rules for the input and the output of a span that is not a model call. Only the input of a span
    without a parent may begin a turn."""
    start, end = times
    return (
        RecordRule((*when, has(asked), lacks(parent)), Kind.UNKNOWN, "user", asked, time=start),
        RecordRule((*when, has(asked), has(parent)), Kind.UNKNOWN, "assistant", asked, time=start),
        RecordRule((*when, has(answered)), Kind.UNKNOWN, "assistant", answered, time=end),
    )
