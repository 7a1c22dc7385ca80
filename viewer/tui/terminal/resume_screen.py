"""Driver that starts in the alternate screen, so the first page stays visible until the app draws."""

from __future__ import annotations

from collections.abc import Callable

from textual.driver import Driver

ENTER = "\x1b[?1049h"


def resume_screen(driver: type[Driver], taken: Callable[[], None]) -> type[Driver]:
    """Return a version of a driver that does not enter the alternate screen the first time."""

    class InPlace(driver):  # type: ignore[misc, valid-type]
        """Does not enter the alternate screen the first time, because some terminals would clear it."""

        is_entered = True

        def start_application_mode(self) -> None:
            if self.is_entered:
                taken()
            super().start_application_mode()

        def write(self, data: str) -> None:
            if self.is_entered and data == ENTER:
                self.is_entered = False
                return
            super().write(data)

    return InPlace
