"""Theme switcher: applies and previews themes, and reloads a theme when its file changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from viewer.errors import ViewerError
from viewer.render.sanitize import sanitize_line
from viewer.render.theme import Theme, ThemeError, find_theme, load_theme, theme_names, theme_path
from viewer.sources.watcher import FolderWatcher
from viewer.tui.host import as_sentence
from viewer.tui.terminal.paint import Painter
from viewer.tui.themes.textual_theme import textual_theme

LOOK_AGAIN_SECONDS = 1.0
"""Seconds between checks of the files, in case no file event arrives."""

if TYPE_CHECKING:
    from viewer.tui.dialogs.themes import ThemeChoice

Stamps = tuple[tuple[int, int, int] | None, ...]


class ThemeSwitcher:
    """Owns the theme of an app, and the painter that all widgets share."""

    def __init__(
        self,
        app: App[int],
        theme: str,
        folders: Sequence[Path],
        *,
        notify: Callable[[str], None],
        redraw: Callable[[], None],
        can_save: bool = True,
    ) -> None:
        """`folders` contain the operator's own themes, which take precedence over the bundled ones. `redraw` redraws
        all screens."""
        first = load_theme(theme, folders)
        self.notice = first.notice
        """The problem with the theme; empty if there is none."""
        self.painter = Painter(first.styles)
        self.wanted = theme
        self._app = app
        self._folders = folders
        self._notify = notify
        self.can_save = can_save
        """True if the settings file belongs to the screen's operator."""
        self._redraw = redraw
        self._watcher: asyncio.Task[None] | None = None
        self._apply_colors(first)

    @property
    def names(self) -> list[str]:
        """The names of all themes."""
        return list(theme_names(self._folders))

    def preview(self, name: str) -> bool:
        """Apply a theme temporarily. Return False if it cannot be used; the colors then stay the same."""
        try:
            theme = find_theme(name, self._folders)
        except ThemeError as error:
            self._notify(as_sentence(f"Theme not applied: {error}"))
            return False
        self._use(theme)
        return True

    def choose(self, name: str | None) -> None:
        """Apply a theme until another one is chosen; with None, return to the theme before the preview."""
        if name is None:
            self._use(load_theme(self.wanted, self._folders))
            return
        self.wanted = name
        if self.preview(name):
            self._notify(f"Theme {name}.{' To keep it, press s in the list of themes.' if self.can_save else ''}")
        self.watch()

    def choose_named(self, name: str) -> None:
        """Apply the theme with this name, or suggest a similar one."""
        if name in self.names:
            self.choose(name)
            return
        near = get_close_matches(name, self.names, 1)
        self._notify(f"Unknown theme: {name}. " + (f"Did you mean {near[0]}?" if near else ":theme lists the themes."))

    def take(self, choice: ThemeChoice | None) -> None:
        """Apply the choice made in the list of themes and, if requested, write it to the settings file."""
        self.choose(choice.name if choice is not None else None)
        if choice is None or not choice.is_saved:
            return
        from viewer.tui.settings.places import config_file, themes_folder, tilde
        from viewer.tui.settings.saving import save_theme

        path = config_file()
        try:
            save_theme(path, choice.name, next(iter(self._folders), themes_folder()))
        except ViewerError as refusal:
            self._notify(as_sentence(f"Theme not saved: {refusal}"))
        else:
            self._notify(f"Saved the theme {choice.name} in {sanitize_line(tilde(path))}.")

    def watch(self) -> None:
        """Reload the current theme whenever one of its files changes, if it is one of the operator's own."""
        self.stop_watching()
        own = [path for path in self._files() if path.parent in self._folders]
        self._watcher = asyncio.create_task(self._reload_on_change(own[0])) if own else None

    def stop_watching(self) -> None:
        """Stop reloading."""
        if self._watcher is not None:
            self._watcher.cancel()

    async def _reload_on_change(self, path: Path) -> None:
        watcher = FolderWatcher(str(path))
        seen = _stamps(self._files())
        try:
            while True:
                await watcher.wait_async(LOOK_AGAIN_SECONDS)
                now = _stamps(self._files())
                if now != seen and path.is_file():
                    seen = now
                    if self.preview(self.wanted):
                        self._notify(f"Reloaded the theme {self.wanted}.")
        finally:
            watcher.close()

    def _use(self, theme: Theme) -> None:
        """Redraw all screens in a theme's colors."""
        self.painter.use(theme.styles)
        self._apply_colors(theme)
        self._redraw()

    def _apply_colors(self, theme: Theme) -> None:
        colors = textual_theme(theme)
        self._app.register_theme(colors)
        if self._app.theme == colors.name:
            self._app.mutate_reactive(App.theme)
        else:
            self._app.theme = colors.name

    def _files(self) -> list[Path]:
        """Return all files of the current theme if it is one of the operator's own; if that theme is broken, only its
        main file."""
        path = theme_path(self.wanted, self._folders)
        if path is None or path.parent not in self._folders:
            return []
        try:
            return list(find_theme(self.wanted, self._folders).files)
        except ThemeError:
            return [path]


def _stamps(files: Sequence[Path]) -> Stamps:
    """Return values that differ if any file has changed."""
    return tuple(map(_stamp, files))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_ino, known.st_size, known.st_mtime_ns


def redraw_screens(app: App[int]) -> None:
    """Redraw all widgets of all screens, including screens that are covered."""
    for screen in {*app.screen_stack, *app._installed_screens.values()}:
        if not callable(screen) and screen.is_attached:
            for widget in screen.walk_children(with_self=True):
                widget.refresh()
