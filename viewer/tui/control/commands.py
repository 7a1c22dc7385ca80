"""Command controller: runs commands, goes to positions typed after `:`, and completes typed text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from functools import partial
from os.path import commonprefix

from msgspec import Struct

from viewer.document.filter.fields import FIELDS
from viewer.formats import FORMATS
from viewer.model.visibility import Level
from viewer.render.blocks.times import Times
from viewer.render.sanitize import sanitize_line
from viewer.render.theme import theme_names
from viewer.rules import RULES
from viewer.tui.control.lists import ListController
from viewer.tui.control.typed_count import TypedCount
from viewer.tui.go_to import HELP, Place, parse
from viewer.tui.host import Host, PromptKind
from viewer.tui.keys import Action, Served, offered
from viewer.tui.main.export import ExportController
from viewer.tui.main.filter import FilterController
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.program import ProgramController
from viewer.tui.main.search import SearchController
from viewer.tui.main.view import ViewController
from viewer.tui.offer import Offer
from viewer.tui.palette import COMMANDS as PALETTE_GROUP
from viewer.tui.palette import MOST_RECENT, Entry, action_entries
from viewer.tui.session import Session
from viewer.tui.settings.settings import Settings

MOST_VALUES = 30
"""The number of values beyond which a command has a single palette entry, which asks for the value."""
NO_COMMANDS = frozenset({"debug", "brief", "command", "open"})
"""Actions that cannot be run as commands."""

LEVELS = [level.value for level in Level]


class Command(Struct, frozen=True):
    """One row of the command table."""

    name: str
    argument: str
    """The placeholder for the argument in the completion; empty if there is none."""
    help: str
    run: Callable[[CommandController, str], None]
    values: Callable[[CommandController], Sequence[str]] | None = None
    """The possible arguments, if they are limited."""
    served: Served = Served.SAFE
    """The served views that offer the command."""


class CommandController:
    """Runs commands typed after `:` or chosen in the palette. Owns the list of recently chosen entries."""

    def __init__(
        self,
        session: Session,
        host: Host,
        navigator: Navigator,
        view: ViewController,
        search: SearchController,
        filter: FilterController,
        export: ExportController,
        program: ProgramController,
        lists: ListController,
        *,
        settings: Settings,
        run_action: Callable[[str], None],
    ) -> None:
        self.session = session
        self.host = host
        self.navigator = navigator
        self._typed_count = TypedCount(session, host, navigator)
        self.view = view
        self.search = search
        self.filter = filter
        self.export = export
        self.program = program
        self.lists = lists
        self._settings = settings
        self._actions = settings.actions
        self._run_action = run_action
        self._scope = settings.scope
        self._commands = [each for each in COMMANDS if settings.scope.has(each.served)]
        self._recent: list[str] = []

    def ask(self) -> None:
        """Ask for a position or a command."""
        self.host.prompt.ask(PromptKind.COMMAND)

    def submit(self, kind: PromptKind, text: str) -> None:
        """Run what the operator typed in the prompt."""
        match kind:
            case PromptKind.COMMAND:
                self.run(text)
            case PromptKind.LIST:
                self.lists.find(text)
            case PromptKind.EXPORT:
                self.export.export_to(text)
            case PromptKind.SEARCH | PromptKind.FILTER:
                self.filter.clear()
                self.view.unfold_branches()
                find = self.search.search_for if kind is PromptKind.SEARCH else self.filter.filter_for
                find(text)

    def run(self, typed: str) -> None:
        """Go to a position or run a command. Most actions are also commands, named by their IDs with hyphens."""
        typed = typed.strip()
        if not typed:
            return
        target = parse(typed)
        if not isinstance(target, str):
            if target.place is Place.AGENT:
                self.view.leave_open_agent()
            self.navigator.go_to(typed)
            if target.place is Place.AGENT:
                self.view.open_agent()
            return
        name, _, argument = typed.partition(" ")
        command = _BY_NAME.get(name)
        if command is not None:
            if not self._scope.has(command.served):
                self.host.notify(self._scope.refusal)
            elif command.argument.isupper() and not argument.strip():
                if any(each.id == name for each in self._named_actions):  # `:theme` lists the themes
                    self._run_action(name)
                    return
                self.host.notify(f":{name} needs an argument: {command.argument}.")
            else:
                command.run(self, argument.strip())
            return
        action = next((each for each in self._named_actions if each.id == name.replace("-", "_")), None)
        if action is not None:
            self._run_action(action.id)
            return
        known = [
            *(each.name for each in self._commands),
            *(each.id.replace("_", "-") for each in offered(self._actions)),
        ]
        near = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean :{near[0]}?" if near else f" {HELP}"
        self.host.notify(f"Unknown command or position: {sanitize_line(name, 40)}.{hint}")

    @property
    def _named_actions(self) -> list[Action]:
        """The actions that can be run as commands. The actions that change the level cannot: only `:level` reveals
        hidden messages."""
        return [each for each in self._actions if each.id not in NO_COMMANDS]

    def handle_typed(self, typed: str, kind: PromptKind) -> list[Offer]:
        """Count the matches of a search or filter as it is typed, and return the completions."""
        self._typed_count.start(kind, typed)
        return self.offers(typed, kind)

    def offers(self, typed: str, kind: PromptKind = PromptKind.COMMAND) -> list[Offer]:
        """Return the completions of the typed text. For a command line, commands come before actions. There are none
        for a position."""
        if kind is PromptKind.FILTER:
            return self._filter_offers(typed)
        if kind is not PromptKind.COMMAND:
            return []
        name, space, argument = typed.partition(" ")
        if space:
            command = next((each for each in self._commands if each.name == name), None)
            values = command.values(self) if command is not None and command.values is not None else ()
            return [Offer(f"{name} {value}", f":{name} {value}") for value in values if value.startswith(argument)]
        if not typed:
            return []
        found = [
            Offer(each.name + (" " if each.argument else ""), f":{each.name} {each.argument}".rstrip(), each.help)
            for each in self._commands
            if each.name.startswith(name)
        ]
        known = {each.name for each in COMMANDS}
        ids = ((each.id.replace("_", "-"), each.help) for each in offered(self._named_actions))
        return found + [Offer(id, f":{id}", help) for id, help in ids if id.startswith(name) and id not in known]

    def completion(self, typed: str, kind: PromptKind) -> str:
        """Return the first completion or, for a filter, the longest common prefix of all completions if that is longer
        than the typed text. Return an empty string if there is no completion."""
        texts = [offer.text for offer in self.offers(typed, kind)]
        common = commonprefix(texts) if kind is PromptKind.FILTER else ""  # noqa: RUF071 (these are not paths)
        return common if len(common) > len(typed) else next(iter(texts), "")

    def _filter_offers(self, typed: str) -> list[Offer]:
        """Return terms that match the message under the cursor or, once something is typed, the completions of the last
        term that this level allows."""
        if not typed:
            return [Offer(term, term) for term in self._terms_here()]
        from viewer.document.filter.grammar import completions  # only a filter needs its language

        found = completions(typed, self._values_of)
        allowed = [text for text in found if self._is_allowed(text.rpartition(" ")[2])]
        return [Offer(text, text.rpartition(" ")[2], _help_of(text)) for text in allowed]

    def _terms_here(self) -> list[str]:
        session, number = self.session, self.navigator.cursor.message
        if not number:
            return []
        headline = session.projection.headline(number)
        tools = [call.tool for call in session.calls.of(number)]
        terms = [f"tool:{tool.removeprefix('functions.')}" for tool in tools if _PLAIN.fullmatch(tool)][:1]
        row = self.navigator.cursor_row
        terms += [f"turn:{session.rows.turn(row)}"] if row is not None and session.rows.turn(row) else []
        return terms + ([f"role:{headline.role}"] if _PLAIN.fullmatch(headline.role) else [])

    def _values_of(self, field: str) -> list[str]:
        """Return the values to offer for a field: the names of the tools that this level shows; none for any other
        field."""
        calls = self.session.calls
        if field != "tool":
            return []
        found = {calls[row].tool for row in range(min(len(calls), MOST_LOOKED_AT))}
        return sorted(tool.removeprefix("functions.") for tool in found if _PLAIN.fullmatch(tool))

    def _is_allowed(self, term: str) -> bool:
        """True if a term has a known field and this level allows it or, if the term has a value, allows that value."""
        name, _, value = term.removeprefix("-").partition(":")
        field = FIELDS.get(name.casefold())
        if field is None or not self.session.projection.audience.is_safe:
            return field is not None
        return not field.need(value.rpartition(",")[2]) if value else not field.needs or "" in field.of_values.values()

    # The palette.

    def open_palette(self) -> None:
        """Show the palette with every action and every command."""
        self.program.show_palette(self.entries(), self._recent, self._run_entry)

    def entries(self) -> list[Entry]:
        """Return the actions, then the commands. A command with few values has an entry for each value; any other
        command has one entry, which asks for its argument.
        """
        found = action_entries(self._actions)
        for each in self._commands:
            values = each.values(self) if each.values is not None else ()
            title = each.help[:1].upper() + each.help[1:]
            if 0 < len(values) <= MOST_VALUES:
                own = f":{each.name}"
                found += [
                    Entry(f"{own} {one}", f"{own[1:].capitalize()}: {one}", f"{own} {one}", title, PALETTE_GROUP)
                    for one in values
                ]
            elif each.argument or each.name not in {known.id for known in found}:
                space = " " if each.argument else ""
                found.append(
                    Entry(
                        f":{each.name}{space}",
                        title,
                        f":{each.name} {each.argument}".rstrip(),
                        each.name,
                        PALETTE_GROUP,
                    )
                )
        return found

    def _run_entry(self, entry: Entry) -> None:
        self._recent[:] = [entry.id, *(id for id in self._recent if id != entry.id)][:MOST_RECENT]
        if not entry.id.startswith(":"):
            self._run_action(entry.id)
        elif entry.id.endswith(" "):
            self.host.prompt.ask(PromptKind.COMMAND, entry.id[1:])
        else:
            self.run(entry.id[1:])

    # The commands.

    def themes(self) -> Sequence[str]:
        """Return the names of all themes."""
        return theme_names(self._settings.theme_folders)

    def set_level(self, level: str) -> None:
        """Switch to a level, as its key does."""
        if level in LEVELS:
            self.view.set_level(Level(level))
        else:
            self.host.notify(f"Unknown level: use {', '.join(LEVELS[:-1])}, or {LEVELS[-1]}.")

    @property
    def choices(self) -> dict[str, Callable[[], None]]:
        """The values of `:set`, each with the function that applies it."""
        panes = {
            "pane=outline": "outline", "pane=inspector": "inspector", "pane=problems": "problems",
            "pane=calls": "calls", "pane=timeline": "timeline", "pane=side": "side_panes",
        }  # fmt: skip
        has = {action.id for action in offered(self._actions)}
        return {
            "wrap": lambda: self.view.wrap_lines(True),
            "nowrap": lambda: self.view.wrap_lines(False),
            "markdown": lambda: self.view.render_markdown(True),
            "source": lambda: self.view.render_markdown(False),
            **{f"times={times.value}": partial(self.view.show_times, times) for times in Times},
            **({"usage": lambda: self.view.show_usage(True)} if "usage" in has else {}),
            **({"nousage": lambda: self.view.show_usage(False)} if "usage" in has else {}),
            **{choice: partial(self._run_action, id) for choice, id in panes.items() if id in has},
        }

    def choose(self, word: str) -> None:
        """Apply one of the values of `:set`."""
        choice = self.choices.get(word)
        if choice is not None:
            choice()
        else:
            near = difflib.get_close_matches(word, self.choices, 1)
            hint = f"Did you mean {near[0]}?" if near else "Press tab after :set to list the choices."
            self.host.notify(f"Unknown choice: {sanitize_line(word, 40)}. {hint}")

    def explain(self, code: str) -> None:
        """Explain a diagnostic code."""
        rule = RULES.get(code.upper())
        if rule is None:
            near = difflib.get_close_matches(code.upper(), RULES, 1)
            hint = f"Did you mean {near[0]}?" if near else "Press tab after :explain to list the codes."
            self.host.notify(f"Unknown code: {sanitize_line(code, 40)}. {hint}")
        else:
            self.program.explain(rule)


COMMANDS: tuple[Command, ...] = (
    Command("diff", "FILE", "compare with another file", lambda own, file: own.program.compare_with(file)),
    Command("explain", "CODE", "explain a problem", lambda own, code: own.explain(code), lambda own: list(RULES)),
    Command("export", "FILE", "write this view to a file", lambda own, file: own.export.export_as(file),
            served=Served.NEVER),
    Command("filter", "EXPR", "show only matching messages", lambda own, text: own.filter.filter_for(text)),
    Command("format", "NAME", "read the file as another format", lambda own, name: own.program.read_as(name),
            lambda own: list(FORMATS)),
    Command("level", "LEVEL", "switch to safe, brief, or debug", lambda own, level: own.set_level(level),
            lambda own: LEVELS, served=Served.DEBUG),
    Command("next", "", "show the next prompt", lambda own, _: own.run("next-prompt"), served=Served.DEBUG),
    Command("open", "FILE", "open another file", lambda own, file: own.program.open_file(file)),
    Command("quit", "", "quit the program", lambda own, _: own.program.quit()),
    Command("sessions", "", "list the agent sessions of this machine", lambda own, _: own.program.list_sessions(),
            served=Served.NEVER),
    Command("set", "CHOICE", "set line wrapping, Markdown, times, usage, or a pane",
            lambda own, word: own.choose(word), lambda own: list(own.choices)),
    Command("theme", "NAME", "use a theme", lambda own, name: own.program.use_theme(name),
            lambda own: own.themes()),
    Command("timing", "", "show stalls, rates, and delays", lambda own, _: own.program.open_timing()),
)  # fmt: skip
"""The commands, sorted by name."""

MOST_LOOKED_AT = 1000
"""The maximum number of calls to search for tool names."""
_PLAIN = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")
"""A pattern for values that need no quotes in a filter."""


def _help_of(text: str) -> str:
    """Return the description of an offered field; empty for a value."""
    name, colon, value = text.rpartition(" ")[2].removeprefix("-").partition(":")
    field = FIELDS.get(name.casefold())
    return field.matches.replace("`", "") if field is not None and colon and not value else ""


_BY_NAME = {command.name: command for command in COMMANDS}
