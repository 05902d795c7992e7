"""Previews for the list of filters, computed off the GUI thread."""

from __future__ import annotations

import weakref
from typing import Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QImage

from kernels import filters
from kernels.filters import Filter
from workbench.base.background import Background
from workbench.imaging.filter_previews import preview, reduced
from workbench.model.intents import has_parameter
from workbench.model.state import State
from workbench.panels.controls.filter_box import FilterBox
from workbench.session.store import Store

MAX_KSIZE = 7  # in a picture this small larger ones leave nothing to tell filters apart by


class FilterPreviews(QObject):
    """The previews of the picture in view, one per filter, for as long as a list asks for them."""

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
        """Compute all previews, unless the list has them: width × height, `ratio` pixels each."""
        state = self._store.state
        picture = state.picture
        if picture is None:
            return
        of = weakref.ref(picture)  # it may be large, and closed before the list is opened again
        asked = (of, *_parameters(state), width, height, ratio)
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


def _parameters(state: State) -> tuple[Any, ...]:
    return state.ksize, state.sigma, state.amount, state.matrix


def _weights(chosen: Filter, state: State) -> Any:
    if has_parameter(chosen, "matrix"):
        ksize = len(state.matrix)
    else:
        ksize = chosen.nearest_size(min(state.ksize, MAX_KSIZE))
    return chosen.weights(ksize, sigma=state.sigma, amount=state.amount, matrix=state.matrix)
