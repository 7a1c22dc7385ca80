"""`ocmlview next`: print the prompt that the model receives next under the policy of each server and library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import partial

import click

from viewer.cli import completion, options
from viewer.cli.exits import FINDINGS, FINE, fail_without_reveal, refuse, say
from viewer.cli.inputs import Inputs, retried
from viewer.cli.output import Cell, Output, table_lines
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.errors import ViewerError
from viewer.formats.tokens.vocabulary import Encoder, load_encoder
from viewer.insight.chat_view import Refusal
from viewer.insight.harmony_prompt import Part
from viewer.insight.history import History
from viewer.insight.next_prompt import NOTES, POLICIES, REFUSALS, Policy
from viewer.insight.prompt_tokens import messages_of, token_ids
from viewer.insight.simulator import Outcome, Simulator, are_different, groups, simulator_before
from viewer.model.visibility import EVERYTHING, Reveal
from viewer.render.json_lines import encode
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Line, Printable, StyleRole, trusted
from viewer.render.style import Part as Words
from viewer.render.title import rule

ALL = "all"
_HEADS = ("policy", "kept", "bytes", "tokens", "reused", "dropped")
_BLOCK = 64 * 1024
_MOST_NUMBERS = 12
"""The maximum number of dropped messages to list in a row of the table."""


def _policies(context: click.Context, parameter: click.Parameter, value: str) -> list[Policy]:
    if value == ALL:
        return list(POLICIES.values())
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if name not in POLICIES:
            near = get_close_matches(name, POLICIES, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Known policies: {', '.join(POLICIES)}."
            raise click.BadParameter(f"no policy {name}. {hint}", context, parameter)
    return [POLICIES[name] for name in dict.fromkeys(names)]


@click.command("next", short_help="Show the prompt that the model receives next.")
@options.reading
@options.reveal_option
@options.debug_option
@options.printing
@click.option(
    "--policy",
    "policies",
    metavar="LIST",
    default=ALL,
    callback=_policies,
    shell_complete=completion.parts_of([ALL, *POLICIES]),
    help="Policies to apply, or all.",
)
@click.option("--before", type=click.IntRange(min=1), metavar="N", help="Show the prompt that produced message N.")
@click.option("--text", "form", flag_value="text", help="Print the prompt as text.")
@click.option("--ids", "form", flag_value="ids", help="Print the prompt as token IDs; needs --vocab.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object per policy.")
@click.option(
    "--vocab",
    metavar="FILE",
    shell_complete=completion.files,
    help="The vocabulary file of o200k_harmony, for token counts.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the policies differ.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    color: str,
    ascii_only: bool,
    policies: list[Policy],
    before: int | None,
    form: str | None,
    vocab: str | None,
    exit_code: bool,
) -> int:
    """Show the prompt that the model receives next. Servers disagree about which reasoning goes back to the model: each
    policy keeps, drops, or changes different messages. Prints hidden messages, so it needs --reveal all."""
    if not options.audience_of(reveal, debug, False).reveals(Reveal.ALL):
        return fail_without_reveal("next")
    if form in ("text", "ids") and len(policies) != 1:
        raise click.UsageError(f"--{form} needs exactly one --policy.", click.get_current_context())
    if form == "ids" and vocab is None:
        raise click.UsageError("--ids needs --vocab FILE.", click.get_current_context())
    inputs = Inputs(options.inputs_of(files), format, options.reading_options(preambles))
    if form in ("text", "ids") and inputs.several:
        raise click.UsageError(f"--{form} needs one file.", click.get_current_context())
    encoder = load_encoder(vocab) if vocab is not None else None
    output = options.output_of(color, ascii_only)
    if form in ("text", "ids"):
        for document in inputs:
            code = retried(
                document, partial(_print_prompt, document, policies[0], before, encoder, form, output), output
            )
            return max(code, inputs.code)
        return inputs.code
    differ = has_said = False
    for document in inputs:
        found = retried(document, partial(_outcomes, document, policies, before, encoder))
        if form is None and not has_said:
            say("DEBUG view: these prompts include hidden messages.")
            has_said = True
        differ = differ or any(map(are_different, found))
        name = document.name if inputs.several else None
        if form == "json":
            output.write(_json(found, name))
        else:
            output.write_styled(_text(found, name, output))
    return inputs.code or (FINDINGS if exit_code and differ else FINE)


def _simulators(document: Document, before: int | None, encoder: Encoder | None) -> Iterator[Simulator]:
    """Yield a simulator for each transcript, or only one for the prompt that produced message `before`."""
    projection = document.project(EVERYTHING, withholds=False)
    if before is not None:
        yield _before(projection, before, encoder)
        return
    for number in range(1, max(1, len(projection.transcripts())) + 1):
        yield Simulator(History(projection, number), encoder=encoder)


def _before(projection: Projection, number: int, encoder: Encoder | None) -> Simulator:
    count = projection.message_count
    if number > count:
        raise ViewerError(f"No message {number:,}: the last one is {count:,}." if count else "There are no messages.")
    found = simulator_before(projection, number, encoder)
    if found is None:
        raise ViewerError(f"message {number:,} was not written by the model; --before needs an assistant message")
    return found


def _outcomes(
    document: Document, policies: list[Policy], before: int | None, encoder: Encoder | None
) -> list[list[Outcome]]:
    """Return the outcomes of these policies for each transcript."""
    return [simulator.outcomes(policies) for simulator in _simulators(document, before, encoder)]


def _print_prompt(
    document: Document, policy: Policy, before: int | None, encoder: Encoder | None, form: str, output: Output
) -> int:
    first, *more = _simulators(document, before, encoder)
    if more:
        raise ViewerError(f"{document.name} has {len(more) + 1} transcripts; choose one, for example {document.name}:1")
    try:
        parts = first.parts(policy)
    except Refusal as refusal:
        return refuse(f"{policy.name} refuses message {refusal.number}: {REFUSALS[refusal.reason]}")
    if form == "ids" and encoder is not None:
        for message in messages_of(parts):
            output.write_parts(f"{number}\n" for number in token_ids(message, encoder))
    else:
        for block in _blocks(parts):
            output.write_parts((sanitize(normalize_newlines(block)) if output.style.wrapped else block,))
    return FINE


def _blocks(parts: Iterable[Part]) -> Iterator[str]:
    """Join the parts into blocks that are large enough to write efficiently."""
    texts, size = list[str](), 0
    for part in parts:
        texts.append(part.text)
        size += len(part.text)
        if size >= _BLOCK:
            yield "".join(texts)
            texts, size = [], 0
    yield "".join(texts)


def _json(found: list[list[Outcome]], name: str | None) -> Iterator[Printable]:
    for outcomes in found:
        for outcome in outcomes:
            yield encode(_object(outcome, several=len(found) > 1), name)
        yield encode(
            {
                "kind": "next-summary",
                **({"transcript": outcomes[0].transcript} if len(found) > 1 else {}),
                "groups": groups(outcomes),
                "differ": are_different(outcomes),
            },
            name,
        )


def _object(outcome: Outcome, *, several: bool) -> dict[str, object]:
    policy, cache, refused = outcome.policy, outcome.cache, outcome.refused
    return {
        "kind": "next",
        **({"transcript": outcome.transcript} if several else {}),
        "policy": policy.name,
        "same_as": policy.same_as,
        "renderer": policy.renderer,
        "after": outcome.after,
        "kept": list(outcome.kept),
        "dropped": list(outcome.dropped),
        "why": {str(number): outcome.reason(number) for number in outcome.dropped},
        "changed": [{"number": change.number, "what": change.what} for change in outcome.changed],
        "refused": {"number": refused.number, "reason": refused.reason} if refused else None,
        "bytes": outcome.bytes,
        "tokens": outcome.tokens,
        "sha256": outcome.sha256,
        "cache": {name: getattr(cache, name) for name in cache.__struct_fields__} if cache else None,
        "notes": list(outcome.notes),
    }


def _text(found: list[list[Outcome]], name: str | None, output: Output) -> Iterator[Line]:
    style = output.style
    if name is not None:
        yield rule(style.name(name), trusted(""), output.width, style, heavy=True)
    for place, outcomes in enumerate(found):
        if place:
            yield ()
        yield (Words(trusted(_title(outcomes, several=len(found) > 1)), StyleRole.STRONG),)
        yield from table_lines(_HEADS, [_row(outcome) for outcome in outcomes], output.width, style)
        same = [group for group in groups(outcomes) if len(group) > 1]
        if same:
            yield ()
            yield from (_line("same prompt: ", ", ".join(group)) for group in same)
        notes = {note for outcome in outcomes for note in outcome.notes}
        if notes:
            yield ()
        for note, sentence in NOTES.items():
            if note in notes:
                yield _line(f"{note}: ", sentence)


def _line(lead: str, text: str) -> Line:
    return Words(trusted(lead), StyleRole.QUIET), Words(trusted(text))


def _title(outcomes: list[Outcome], *, several: bool) -> str:
    first = outcomes[0]
    where = f"transcript {first.transcript}, " if several else ""
    words = [
        f"next prompt after {where}#{first.after}" if first.after else f"next prompt {where}without messages",
        counted(len(outcomes), "policy", "policies"),
        _agreement(outcomes),
    ]
    return " · ".join(filter(None, words))


def _agreement(outcomes: list[Outcome]) -> str:
    """Describe how many policies refuse the history, and whether the others produce the same prompt."""
    refused = sum(outcome.refused is not None for outcome in outcomes)
    others, prompts = len(outcomes) - refused, len(groups(outcomes))
    if not others:
        return "refuses" if refused == 1 else "all refuse"
    refusing = f"{counted(refused, 'refuses', 'refuse')}, " if refused else ""
    if others == 1:
        return f"{refusing}the other one produces a prompt" if refused else ""
    if refused:
        return f"{refusing}the others produce {'the same prompt' if prompts == 1 else f'{prompts} different prompts'}"
    return "all produce the same prompt" if prompts == 1 else f"{prompts} different prompts"


def _row(outcome: Outcome) -> list[Cell]:
    name = trusted(outcome.policy.name)
    if outcome.refused:
        where = f"refuses #{outcome.refused.number}: {REFUSALS[outcome.refused.reason]}"
        return [name, trusted("-"), None, None, trusted(""), trusted(where)]
    count = len(outcome.kept) + len(outcome.dropped)
    kept = trusted(f"{len(outcome.kept):,}/{count:,}")
    return [name, kept, outcome.bytes, outcome.tokens, _reused(outcome), _dropped(outcome)]


def _reused(outcome: Outcome) -> SafeText:
    cache = outcome.cache
    if cache is None or not cache.previous:
        return trusted("")
    share = f"{100 * cache.shared // cache.previous}%"
    return trusted(share if cache.first_difference is None else f"{share} to #{cache.first_difference}")


def _dropped(outcome: Outcome) -> SafeText:
    numbers = [str(number) for number in outcome.dropped[:_MOST_NUMBERS]]
    more = len(outcome.dropped) - len(numbers)
    return trusted(" ".join(numbers) + (f" and {more:,} more" if more else ""))
