"""Display ▸ Auto levels: a black and a white point that span what is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from workbench.base.background import Background
from workbench.imaging.display import Display
from workbench.imaging.fitted_levels import Levels, around_zero, spanning
from workbench.model import intents
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.controls.controls_panel import ControlPanel

NOTHING = "Auto levels: what is shown has one value only, so there is nothing to spread."


class AutoLevels(QObject):
    """The search for levels that span what is shown, run when the panel asks for it."""

    def __init__(
        self,
        store: Store,
        live: Live,
        controls: LazyPanel[ControlPanel],
        background: Background,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._live, self._messages = store, live, messages
        self._controls, self._background = controls, background
        controls.when_made(self._connect)
        live.after_ready.connect(self._tell)

    def _connect(self, controls: ControlPanel) -> None:
        controls.auto_levels_wanted.connect(self._search)
        if self._live.of_view is not None:
            controls.show_levels(self._live.of_view[2].levels)

    @Slot(object, object)
    def _tell(self, _result: object, display: Display) -> None:
        """Let the panel show the levels that only the samples could tell."""
        if self._controls.made is not None:
            self._controls.made.show_levels(display.levels)

    @Slot()
    def _search(self) -> None:
        """Fit the result where it swings around zero, else the pictures before and after."""
        state, of_view = self._store.state, self._live.of_view
        if state.picture is None:
            return
        look = intents.look_for(state)
        samples = state.picture.samples
        if of_view is None:
            self._find("levels", lambda: spanning(samples))
        elif intents.is_around_zero(state):
            result = of_view[1].picture
            self._find("result_levels", lambda: around_zero(result, look.negative_display))
        else:
            result = of_view[1].picture
            self._find("levels", lambda: spanning(samples, result))

    def _find(self, name: str, search: Callable[[], Levels | None]) -> None:
        """Run `search` off the GUI thread, and put what it finds into the State's field `name`."""
        asked = self._store.state

        def show(levels: Levels | None) -> None:
            now = self._store.state  # another picture or filter may have been chosen meanwhile
            if now.picture is not asked.picture or intents.needs_run(asked, now):
                return
            if levels is None:
                self._messages.show_message("info", NOTHING)
            else:
                self._store.update(**{name: levels})

        self._background.run(
            search, show, lambda error: self._messages.show_message("error", str(error))
        )
