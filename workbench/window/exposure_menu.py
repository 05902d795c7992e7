"""The menu View ▸ Exposure: how bright a picture of 16 bits or floats is shown."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.base.plain_text import Label
from workbench.imaging.analyses import auto_ev
from workbench.imaging.display_mapping import BARE, Tone
from workbench.model.state import State
from workbench.widgets.actions import Action, Actions, Do, MenuTree
from workbench.widgets.number_boxes import DecimalBox
from workbench.window.part_menu import pop_up
from workbench.window.window_layout import Parts

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

        search = partial(auto_ev, picture.samples, state.levels or (0.0, picture.white))
        self._parts.reading.run(search, take, messages.show_error)
