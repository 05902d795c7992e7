"""Background work for the controls: previews of all filters, and levels that fit."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QImage

from kernels import filters
from kernels.filters import Filter
from workbench.base.background import Background
from workbench.imaging.analyses import Levels, around_zero, spanning
from workbench.imaging.display import Display
from workbench.imaging.filter_previews import preview, reduced
from workbench.model import intents
from workbench.model.intents import has_parameter
from workbench.model.state import State
from workbench.panels.controls.filter_popup import FilterBox
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.controls.controls_panel import ControlPanel

MAX_KSIZE = 7  # in a picture this small larger ones leave nothing to tell filters apart by


class FilterPreviews(QObject):
    """The previews of the picture in view, one per filter, computed when the list opens."""

    def __init__(
        self, store: Store, filter_box: FilterBox, background: Background, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._store, self._background = store, background
        self._filter_box = filter_box
        self._made_of: tuple[Any, ...] = ()
        self._filter_box.previews_wanted.connect(self._compute)

    @Slot(int, int, float)
    def _compute(self, width: int, height: int, ratio: float) -> None:
        state = self._store.state
        picture = state.picture
        if picture is None:
            return
        of = weakref.ref(picture)  # it may be large, and closed before the list is opened again
        parameters = state.ksize, state.sigma, state.amount, state.matrix
        asked = (of, *parameters, width, height, ratio)
        if asked == self._made_of:
            return
        self._made_of = asked
        size = round(width * ratio), round(height * ratio)

        def work() -> dict[str, QImage]:
            small = reduced(picture.samples, *size)
            return {
                each.key: preview(small, picture.white, _weights(each, state), each.gradient)
                for each in filters.all_filters()
            }

        def show(images: dict[str, QImage]) -> None:
            if self._made_of == asked:
                self._filter_box.show_previews(images, ratio)

        self._background.run(work, show, lambda _error: None)  # the list does without


def _weights(chosen: Filter, state: State) -> Any:
    if has_parameter(chosen, "matrix"):
        ksize = len(state.matrix)
    else:
        ksize = chosen.nearest_size(min(state.ksize, MAX_KSIZE))
    return chosen.weights(ksize, sigma=state.sigma, amount=state.amount, matrix=state.matrix)


NOTHING = "Auto levels: what is shown has one value only, so there is nothing to spread."


class AutoLevels(QObject):
    """The search for levels that span the pictures shown, started by the panel."""

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
        if self._controls.made is not None:
            self._controls.made.show_levels(display.levels)

    @Slot()
    def _search(self) -> None:
        """Fit the result where it swings around zero, else the pictures before and after."""
        state, of_view = self._store.state, self._live.of_view
        if state.picture is None:
            return
        results = () if of_view is None else (of_view[1].picture,)
        if results and intents.is_around_zero(state):
            way = intents.look_for(state).negative_display
            self._find("result_levels", partial(around_zero, *results, way))
        else:
            self._find("levels", partial(spanning, state.picture.samples, *results))

    def _find(self, name: str, search: Callable[[], Levels | None]) -> None:
        """Run `search` off the GUI thread, and put its levels into the State's field `name`."""
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
