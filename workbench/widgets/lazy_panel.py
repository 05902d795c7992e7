"""A panel that is made when it is first shown, so that a start waits for none that is closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from PySide6.QtWidgets import QWidget

Side = Literal["left", "right"]
P = TypeVar("P", bound=QWidget)


@dataclass(frozen=True, slots=True)
class Dock:
    """The place of a panel in a window, as the panel's folder declares it.

    title      on the rail, over the panel, and in the menu of all panels
    place      at which side of the picture it opens
    setting    under what name the settings keep its choices; empty: it has none, else it is
               Remembered
    tip        what is in it, for the rail's tooltip and its action's
    keys       what opens and closes it, besides what View ▸ Panels has for each
    menu, text  where it has a line of its own besides; the keys are of that, then
    width_px   how wide it opens where the picture keeps its share, for usual letters; 0: as others
    """

    title: str
    place: Side = "right"
    setting: str = ""
    tip: str = ""
    keys: tuple[str, ...] = ()
    menu: str = ""
    text: str = ""
    width_px: int = 0


class LazyPanel(Generic[P]):
    """A panel that is made when it is first shown, or when somebody asks for it.

    Whoever tells it something regularly tells `made`, if there is one; what it has to know from
    the beginning, and the connections of its signals, stand in a function given to `when_made`.
    """

    def __init__(self, dock: Dock, make: Callable[[], P]) -> None:
        """Take what makes the panel.

        make  imports its modules, too, and connects nothing that the window has
        """
        self.dock = dock
        self._make = make
        self._made: P | None = None
        self._waiting: list[Callable[[P], object]] = []

    @property
    def made(self) -> P | None:
        """Return the panel; None until somebody wanted it."""
        return self._made

    def get(self) -> P:
        """Return the panel, which is made now if there is none yet."""
        if self._made is None:
            self._made = self._make()
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                each(self._made)
        return self._made

    def when_made(self, do: Callable[[P], object]) -> None:
        """Call `do` with the panel once it is made, in the order of these calls; now if it is."""
        if self._made is None:
            self._waiting.append(do)
        else:
            do(self._made)
