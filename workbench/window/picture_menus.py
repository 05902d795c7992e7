"""Menus of the picture in view: what is done with a part of it, and how bright it is shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractSpinBox, QMenu, QWidget, QWidgetAction

from kernels.core.job import Region
from workbench.base.plain_text import Label
from workbench.imaging import analyses
from workbench.imaging.display_mapping import BARE, Tone
from workbench.imaging.pictures import ONE_PAGE, Picture
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.part_selection import PartSelection
from workbench.session.tasks import AnalysisThread
from workbench.widgets.actions import Action, Actions, Do, MenuTree
from workbench.widgets.boxes import HBox
from workbench.widgets.chips import CHIPS_HEIGHT
from workbench.widgets.number_boxes import DecimalBox, WholeBox
from workbench.window.window_layout import Parts

SELECT = "Select a part"
OF_PART = (
    *("Filter all of the picture", "Feather the part…", "Crop to the part"),
    *("Zoom to the part", "Copy the part's numbers"),
)
HINT = (
    "Drag over the picture to select the part that is filtered; a click lets go of it. Arrow keys "
    "move it, with Shift they resize it, and Esc ends selecting."
)
NO_PART = "First select a part of the picture (G)."
CROPPED = "Cropped to {}×{}; Undo brings the whole back."
A_COPY = "Only a reduced copy of this picture is in memory, too little to go on with."
NO_RESULT = "There is no result of this picture yet."
MAX_FEATHER = 200
FEATHER_TIP = "Pixels inside the edges over which the filter fades in: 0 to 200"


class PartMenu(QObject):
    """A menu on the part of the picture, in the menu bar and under the right button."""

    def __init__(self, parts: Parts, inspection: Inspection, steps: AnalysisThread) -> None:
        super().__init__(parts.window)
        self._store, self._live, self._compare = parts.store, parts.live, parts.compare
        self._reading, self._messages = parts.reading, parts.messages
        self._inspection, self._steps = inspection, steps
        self._selection = PartSelection(parts.store, parts.compare, self)
        self._selection.toggled.connect(self._tell)
        parts.store.changed.connect(self._follow)
        self._compare.read_out_row.part.clicked.connect(self._selection.turn)

    def actions(self) -> Actions:
        take_all: Callable[[], None] = partial(self._store.choose, region=None)
        does = (take_all, self._feather, self._crop, self._zoom, self._copy_numbers)
        found = {name: Action(do, self._why_not) for name, do in zip(OF_PART, does, strict=True)}
        turn = self._selection.turn
        zoom = {"Zoom to a rectangle": partial(turn, True, zooms=True)}
        return {SELECT: lambda: turn(not self._selection.is_on), **zoom, **found}

    def fill(self, tree: MenuTree) -> None:
        """Let the line of the mode say whether it is on."""
        select = tree.action(SELECT)
        select.setCheckable(True)
        self._selection.toggled.connect(select.setChecked)

    @property
    def _state(self) -> State:
        return self._store.state

    @property
    def _part(self) -> Region | None:
        return intents.part_of(self._state)

    def _why_not(self) -> str:
        return NO_PART if self._state.region is None else ""

    def _tell(self, is_on: bool) -> None:
        self._compare.read_out_row.part.setChecked(is_on)
        if is_on:
            self._messages.show_message("info", HINT)
        else:
            self._messages.dismiss(HINT)

    def _follow(self, old: State, new: State) -> None:
        if old.region != new.region:
            self._messages.dismiss(HINT)  # which is understood, and stands over the picture

    def _feather(self) -> None:
        box = WholeBox("part-feather", "Feather, in pixels", FEATHER_TIP)
        box.setRange(0, MAX_FEATHER)
        box.setValue(self._state.region[4] if self._state.region else 0)
        box.valueChanged.connect(self._set_feather)
        place = self._compare.mapToGlobal(QPoint(8, CHIPS_HEIGHT))
        pop_up(self._compare, place, Label("Feather"), box, Label("pixels"))
        box.setFocus(Qt.FocusReason.TabFocusReason)  # which selects what is in it

    def _set_feather(self, pixels: int) -> None:
        if (region := self._state.region) is not None:
            self._store.choose(region=(*region[:4], pixels))

    def _crop(self) -> None:
        picture, part = self._state.picture, self._part
        if picture is None or part is None or picture.large is not None:
            self._messages.show_message("info", A_COPY if picture and picture.large else NO_PART)
            return

        def take(cropped: Picture) -> None:
            if self._state.picture is picture:
                self._selection.turn(False)
                self._store.update(**intents.with_picture(cropped, self._state) | {"region": None})
                self._messages.show_message("info", CROPPED.format(part.width, part.height))

        self._reading.run(partial(_cropped, picture, part), take, self._messages.show_error)

    def _zoom(self) -> None:
        if (part := self._part) is not None:
            self._compare.show_area(QRectF(part.x, part.y, part.width, part.height))

    def _copy_numbers(self) -> None:
        found, part = self._live.of_view, self._part
        if found is None or part is None:
            self._messages.show_message("info", NO_PART if part is None else NO_RESULT)
            return
        samples, names = self._inspection.other(found[0])
        pair = part.of(samples), part.of(found[1].picture)
        head = f"{found[0].name}: {part}, {part.width * part.height:,} pixels"
        inform: Callable[[str], None] = partial(self._messages.show_message, "info")

        def copy(counted: tuple[tuple[analyses.Histogram, ...], ...]) -> None:
            from workbench.panels.analysis.curves import as_text  # a start needs no charts

            QGuiApplication.clipboard().setText(f"{head}\n{as_text(counted, names)}")
            inform("Copied the numbers of the part, as a table.")

        self._steps.ask("numbers of the part", partial(analyses.counting, pair), copy, inform)


class _Row(QWidget):
    """Boxes in a menu, which would take Tab past them to its next line."""

    def focusNextPrevChild(self, is_next: bool) -> bool:  # noqa: N802
        boxes = self.findChildren(QAbstractSpinBox)
        at = [box.hasFocus() for box in boxes].index(True) + (1 if is_next else -1)
        if not 0 <= at < len(boxes):
            return super().focusNextPrevChild(is_next)
        boxes[at].setFocus(Qt.FocusReason.TabFocusReason)
        return True


def pop_up(parent: QWidget, place: QPoint, *parts: QWidget, lines: Sequence[QAction] = ()) -> None:
    """Show widgets in a row, and lines below, at a place on the screen, until a click beside."""
    menu, row = QMenu(parent), _Row()
    HBox(row, (10, 4, 10, 4)).add(*parts)
    action = QWidgetAction(menu)
    action.setDefaultWidget(row)
    menu.addActions([action, *lines])
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(place)


def _cropped(picture: Picture, part: Region) -> Picture:
    original = picture.original
    return replace(
        picture,
        name=f"{Path(picture.name).stem} part",  # without a suffix: it has no file
        samples=np.ascontiguousarray(part.of(picture.samples)),
        original=None if original is None else np.ascontiguousarray(part.of(original)),
        path=None,
        page=ONE_PAGE,
        notes=(),
        built_in=None,
        beyond=0,
    )


BOXES = (  # field of a Tone, title, tip, range, step; stops: as many as float32 has
    ("ev", "EV", "Stops: each doubles the light; the samples stay", -149.0, 149.0, 0.5),
    ("gamma", "Gamma", "Above 1 dark parts get lighter; 2.2 suits linear light", 0.2, 5.0, 0.1),
)
SWITCHES = {"False colour": "is_false_colour", "Mark clipped pixels": "marks_clipped"}
SHALLOW = "Exposure is for pictures of 16 bits or floats: 8 bits hold no more than is shown."
NOTHING = "Auto exposure: no value of this picture is above black."


class ExposureMenu(QObject):
    """A menu on the tone of the picture, which keeps it for when the picture comes back."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._parts, self._store = parts, parts.store
        self._kept: dict[object, Tone] = {}
        self._acts: dict[str, QAction] = {}
        parts.store.changed.connect(self._follow)
        parts.compare.exposure.clicked.connect(self._adjust)

    def actions(self) -> Actions:
        store, choose = self._store, self._store.choose
        does: dict[str, Do] = {
            "Adjust exposure…": self._adjust,
            "Auto exposure": self._find,
            **{title: partial(self._switch, name) for title, name in SWITCHES.items()},
            "Reset exposure": lambda: choose(
                tone=getattr(store.state.picture, "opening_tone", BARE)
            ),
        }
        chip = self._parts.compare.exposure
        return {name: Action(do, lambda: SHALLOW * chip.isHidden()) for name, do in does.items()}

    def fill(self, tree: MenuTree) -> None:
        """Let the switches say whether they are on."""
        self._acts = {name: tree.action(name) for name in (*self.actions(),)[1:]}
        for name in SWITCHES:
            self._acts[name].setCheckable(True)

    def _set(self, field: str, value: Any) -> None:
        self._store.choose(tone=replace(self._store.state.tone, **{field: value}))

    def _switch(self, field: str) -> None:
        self._set(field, not getattr(self._store.state.tone, field))

    def _follow(self, old: State, new: State) -> None:
        picture, last = new.picture, old.picture
        key = picture and (picture.path or picture.built_in)
        is_made = not key and last and picture and picture.metadata is last.metadata  # of the last
        if picture is not None and picture is not last and not is_made:
            tone = key and self._kept.get(key)
            with self._parts.undo.quietly():
                self._store.update(tone=tone or picture.opening_tone)
        tone = self._kept[key] = self._store.state.tone
        for title, field in SWITCHES.items():
            self._acts[title].setChecked(getattr(tone, field))

    def _adjust(self) -> None:
        row: list[QWidget] = []
        for field, title, tip, low, high, step in BOXES:
            box = DecimalBox(f"exposure-{field}", title, tip)
            box.show_range(low, high, 2, step)
            box.show_value(getattr(self._store.state.tone, field))
            box.valueChanged.connect(lambda value, field=field: self._set(field, value))
            row += Label(title), box
        place = self._parts.compare.exposure.mapToGlobal(QPoint(0, 0))
        pop_up(self._parts.compare, place, *row, lines=list(self._acts.values()))
        row[1].setFocus(Qt.FocusReason.TabFocusReason)  # which selects what is in it

    def _find(self) -> None:
        """Expose for the picture: see `analyses.auto_ev`."""
        state, messages = self._store.state, self._parts.messages
        picture = state.picture
        assert picture is not None

        def take(ev: float | None) -> None:
            if ev is None:
                messages.show_message("info", NOTHING)
            elif self._store.state.picture is picture:
                self._set("ev", math.floor(100 * ev) / 100)  # rounded up it would clip

        search = partial(analyses.auto_ev, picture.samples, state.levels or (0.0, picture.white))
        self._parts.reading.run(search, take, messages.show_error)
