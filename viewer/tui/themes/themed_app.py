"""The theme of the app: the current one, choosing another one, and reloading a theme when its file changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.binding import Binding, BindingsMap

from viewer.render.style import Style
from viewer.render.theme import Theme, ThemeError, find_theme, load_theme, theme_names, theme_path
from viewer.sources.watcher import FolderWatcher
from viewer.tui.keys import by_id
from viewer.tui.main.parts import ThemeWanted
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.paint import Painter
from viewer.tui.themes.textual_theme import textual_theme

if TYPE_CHECKING:
    from viewer.tui.dialogs.themes import ThemeScreen

LOOK_AGAIN_SECONDS = 1.0
"""The interval of polling the files if no event arrives."""

Stamps = tuple[tuple[int, int, int] | None, ...]


class ThemedApp(App[int], inherit_bindings=False):
    """An app in the colors of a theme."""

    def __init__(self, theme: str, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        palette = ",".join(by_id("palette", settings.actions).keys)
        self._bindings = BindingsMap([Binding(palette, "command_palette", show=False, priority=True)])
        first = load_theme(theme, self._folders)
        self.theme_notice = first.notice
        self._wanted = theme
        self._painter = Painter(first.styles)
        self._put_on(first)
        self._watching: asyncio.Task[None] | None = None

    def action_command_palette(self) -> None:
        """Show the command palette, unless it is open."""
        from viewer.tui.dialogs.dismiss_once import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    @property
    def _folders(self) -> Sequence[Path]:
        return self.settings.theme_folders

    def remark(self, sentence: str) -> None:
        """Show a sentence about the theme."""
        raise NotImplementedError

    def use_theme(self, theme: Theme) -> None:
        """Redraw everything in the colors of this theme."""
        self._painter.use(theme.styles)
        self._put_on(theme)
        for screen in {*self.screen_stack, *self._installed_screens.values()}:
            if not callable(screen) and screen.is_attached:
                for widget in screen.walk_children(with_self=True):
                    widget.refresh()

    def _put_on(self, theme: Theme) -> None:
        made = textual_theme(theme)
        self.register_theme(made)
        if self.theme == made.name:
            self.mutate_reactive(App.theme)
        else:
            self.theme = made.name

    # Choosing a theme.

    def on_theme_wanted(self, event: ThemeWanted) -> None:
        """Show the list of themes; if none is chosen, restore the current one."""
        from viewer.tui.dialogs.themes import ThemeScreen

        printing = Style(color=True, ascii=self.screen.has_class("-ascii"))
        names = theme_names(self._folders)
        self.push_screen(ThemeScreen(self._painter, names, self._wanted, printing), self._chosen)

    def on_theme_screen_looked(self, event: ThemeScreen.Looked) -> None:
        """Preview the theme at the cursor."""
        self._apply_by_name(event.name)

    def _chosen(self, name: str | None) -> None:
        if name is None:
            self.use_theme(load_theme(self._wanted, self._folders))
            return
        self._wanted = name
        if self._apply_by_name(name):
            self.remark(f"theme {name}; to keep it: `theme: {name}` in the settings (ocmlview config)")
        self.watch_own_theme()

    def _apply_by_name(self, name: str) -> bool:
        """True if the theme can be used; otherwise the colors stay the same."""
        try:
            theme = find_theme(name, self._folders)
        except ThemeError as error:
            self.remark(f"{error}; the colors stay the same")
            return False
        self.use_theme(theme)
        return True

    # Reloading your own theme.

    def watch_own_theme(self) -> None:
        """Reload the theme when its file in your own folder changes, while the app runs."""
        if self._watching is not None:
            self._watching.cancel()
        own = [path for path in self._files() if path.parent in self._folders]
        self._watching = asyncio.create_task(self._watch(own[0])) if own else None

    def on_unmount(self) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self, path: Path) -> None:
        wake = FolderWatcher(str(path))
        seen = _stamps(self._files())
        try:
            while True:
                await wake.wait_async(LOOK_AGAIN_SECONDS)
                now = _stamps(self._files())
                if now != seen and path.is_file():
                    seen = now
                    if self._apply_by_name(self._wanted):
                        self.remark(f"theme {self._wanted} was read again")
        finally:
            wake.close()

    def _files(self) -> list[Path]:
        """The files of your own theme and of the themes that it is like; if it cannot be used, only its own."""
        path = theme_path(self._wanted, self._folders)
        if path is None or path.parent not in self._folders:
            return []
        try:
            return list(find_theme(self._wanted, self._folders).files)
        except ThemeError:
            return [path]


def _stamps(files: Sequence[Path]) -> Stamps:
    """The stamps of files, to detect changes."""
    return tuple(map(_stamp, files))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_ino, known.st_size, known.st_mtime_ns
