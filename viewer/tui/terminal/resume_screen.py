"""A driver that finds the alternate screen entered: what stands there stays until the app draws over it."""

from __future__ import annotations

from collections.abc import Callable

from textual.driver import Driver

ENTER = "\x1b[?1049h"


def resume_screen(driver: type[Driver], taken: Callable[[], None]) -> type[Driver]:
    """This driver, which says so when it takes the terminal over; suspended and back, it enters the screen itself."""

    class InPlace(driver):  # type: ignore[misc, valid-type]
        """Does not enter the alternate screen the first time: some terminals would clear it."""

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
