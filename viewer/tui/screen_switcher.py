"""Screen switcher: owns the main screens of the open files, and replaces the visible screen with another one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING

from textual.app import App
from textual.screen import Screen

from viewer.tui.main.screen import MainScreen

if TYPE_CHECKING:
    from viewer.tui.files.screen import Choice, FilesScreen
    from viewer.tui.merged.screen import MergedScreen


class ScreenSwitcher:
    """Switches between content screens (file lists, the merged view, and main screens). One of them is on top of
    Textual's empty screen, and its dialogs are on top of it. Each change is awaited in a handler of the app, so later
    keys wait in the app's queue until the next screen is ready."""

    def __init__(self, app: App[int]) -> None:
        self.open: dict[str, MainScreen] = {}
        """The main screens by path. They stay mounted while another screen is shown."""
        self._app = app

    @property
    def content(self) -> Screen[object] | None:
        """The screen below all dialogs; None before the first screen is shown."""
        stack = self._app.screen_stack
        return stack[1] if len(stack) > 1 else None

    async def show(self, path: str, screen: MainScreen) -> None:
        """Show the main screen of a file in place of the content screen."""
        app = self._app
        await self._close_dialogs()
        if path not in self.open:
            app.install_screen(screen, _name(path))
        self.open[path] = screen
        if self.content is None:
            await app.push_screen(screen)
        else:
            await app.switch_screen(screen)

    async def show_merged(self, screen: MergedScreen) -> None:
        """Show the merged view in place of the content screen. It stays mounted while one of its files is shown."""
        app = self._app
        await self._close_dialogs()
        if not app.is_screen_installed(screen):
            app.install_screen(screen, "merged files")
        await (app.push_screen(screen) if self.content is None else app.switch_screen(screen))

    async def replace(self, path: str, screen: MainScreen) -> None:
        """Show another main screen of the open file and remove the earlier one."""
        app, before = self._app, self.open[path]
        await self._close_dialogs()
        switched = app.switch_screen(screen)
        app.uninstall_screen(before)
        app.install_screen(screen, _name(path))
        self.open[path] = screen
        app.workers.cancel_node(before)
        await switched

    async def show_list(self, files: FilesScreen, chosen: Callable[[Choice | None], Awaitable[None]]) -> None:
        """Show a list of files in place of the content screen. `chosen` receives the choice."""
        await self._close_dialogs()
        popped = None if self.content is None else self._app.pop_screen()
        await self._app.push_screen(files, chosen)
        if popped is not None:
            await popped

    async def close_files(self, kept: Collection[str] = ()) -> None:
        """Remove the main screens, except those of the kept files. The removed screens must no longer be shown."""
        screens = [self.open.pop(path) for path in [*self.open] if path not in kept]
        for screen in screens:
            self._app.uninstall_screen(screen)
            self._app.workers.cancel_node(screen)  # its tasks would draw on widgets that are already removed
            await screen.remove()

    async def _close_dialogs(self) -> None:
        """Close everything above the content screen, without a choice."""
        while len(self._app.screen_stack) > 2:
            await self._app.screen.dismiss(None)


def _name(path: str) -> str:
    return f"file {path}"
