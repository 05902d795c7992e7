"""The row under the toolbar: the original, a chip for each step, and what adds another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from kernels import filters
from kernels.core.job import Result
from workbench.base import theme
from workbench.base.background import Latest
from workbench.model import intents, step_files
from workbench.model.state import State, has_row
from workbench.panels.steps import list_edits, thumbnails
from workbench.panels.steps.list_edits import StepTime, StepTimes
from workbench.panels.steps.step_chip import LEAST_PX, PICTURE_PX, StepChip, StepLook
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import allow, described, make_button
from workbench.widgets.keyboard import enter, go_home
from workbench.widgets.watch import Watch

ORIGINAL_TIP = "The picture before all steps (Alt+0); a click on a step leads back."
ADD_TIP = "Add a step after the last (Ctrl+Shift+N)"
ROUND, ROUND_SHORT = "Round between steps", "Round"
ROUND_TIP = (
    "Round samples to the picture's type after each step, as programs do that keep bytes.\n"
    "Off: they are neither rounded nor clipped until the end."
)
SIDE_PX, GAP_PX, ARROW = 8, 16, "▸"


class StepRow(QFrame):
    """The steps as chips, in their order, and the list's own switch."""

    # (is_shown): show the original in place of the result, or no longer.
    original_wanted = Signal(bool)
    added = Signal()  # a step was added here; it is a blur, until another filter is chosen
    menu_wanted = Signal(QPoint)  # (place): the selected step's menu is wanted, on the screen

    def __init__(self, store: Store, live: Live) -> None:
        super().__init__()
        described(self, "step-row", "Steps")
        self._store, self._state = store, State()
        self._live, self._times = live, StepTimes()
        self.has_thumbnails = False
        self._thumbnails: dict[object, thumbnails.Thumbnail] = {}  # by what they depend on
        self._latest: Latest[tuple[State, Result]] = Latest(
            live.previews, thumbnails.make, self._take_thumbnails, lambda *_: None
        )
        live.settled.connect(self._ask_thumbnails)  # not while steps are timed
        self._dragged: tuple[int, int] | None = None  # the chip's number, and where it would go
        self._original = make_button("step-original", "Original", ORIGINAL_TIP)
        self._original.setCheckable(True)
        self._original.clicked.connect(self.show_original)
        self._add = make_button("step-add", "+", ADD_TIP, "Add a step")
        self._add.clicked.connect(self.add)
        self._round = described(QCheckBox(ROUND), "step-round", ROUND, ROUND_TIP)
        self._round.toggled.connect(lambda is_on: store.choose(is_rounded=is_on))
        self.chips: list[StepChip] = []
        Watch(self, QEvent.Type.Resize).seen.connect(self._share_room)
        self._line = HBox(self, (SIDE_PX, 0, SIDE_PX, 4), GAP_PX)
        self._line.add(self._original, self._add, 1, self._round)
        self.hide()

    def show_state(self, state: State) -> None:
        """Show the steps of `state`; nothing where there is one, which is on and not mixed.

        The keyboard stays with the selected step where that is on another chip now.
        """
        focused, number = self.window().focusWidget(), len(self._state.before)
        if self._original.isChecked() and intents.needs_run(self._state, state):
            self.show_original(False)
        self._state = state
        self._round.setChecked(state.is_rounded)
        allow(self._add, list_edits.why_no_more(state), ADD_TIP)
        self.setVisible(has_row(state))
        self._show_steps()
        if focused in self.chips and (len(state.before) != number or not focused.isVisible()):
            self._focus(len(state.before))
        self._ask_thumbnails()

    def _show_steps(self) -> None:
        state, is_original = self._state, self._original.isChecked()
        while len(self.chips) < len(state.steps):
            self._make_chip()
        looks = _looks(state, self._times.of(state), is_original)
        known = self._known_thumbnails
        if known:
            looks = [each._replace(thumbnail=known[each.number]) for each in looks]
        self._original.setIcon(_icon(known[0] if known else None))
        for chip, look in zip_longest(self.chips, looks):
            chip.setVisible(look is not None)
            if look is not None:
                chip.show_look(look)
                chip.setIcon(_icon(look.thumbnail))  # none until it is made: the old is another's
        self._share_room()
        self.update()

    def show_result(self, result: Result) -> None:
        """Show the times of the steps, and which of them are wrong."""
        self._times.take(result, self._state)
        if self.isVisible():
            self._show_steps()

    def show_thumbnails(self, is_on: bool) -> None:
        """Show on each chip what the list gives after its step, or no longer."""
        self.has_thumbnails = is_on
        style = Qt.ToolButtonStyle
        self._original.setToolButtonStyle(
            style.ToolButtonTextUnderIcon if is_on else style.ToolButtonTextOnly
        )
        self._original.setIconSize(PICTURE_PX)
        self.show_state(self._state)

    @property
    def _known_thumbnails(self) -> list[thumbnails.Thumbnail]:
        keys = thumbnails.needs(self._state) if self.has_thumbnails else []
        return [self._thumbnails.get(key, thumbnails.Thumbnail()) for key in keys]

    def _ask_thumbnails(self) -> None:
        state, result, known = self._state, self._live.result, self._known_thumbnails
        may_be_better = any(each.image.isNull() or each.is_reduced for each in known)
        if may_be_better and self.isVisible() and result and intents.is_answer(result, state):
            self._latest.request((state, result))

    def _take_thumbnails(self, _of: object, made: dict[object, thumbnails.Thumbnail]) -> None:
        known = self._thumbnails
        self._thumbnails = {k: known.get(k, e) if e.is_reduced else e for k, e in made.items()}
        self._show_steps()

    def show_original(self, is_shown: bool) -> None:
        """Have the original shown in place of the result, or no longer."""
        self._original.setChecked(is_shown)
        self.original_wanted.emit(is_shown)
        self._show_steps()

    def turn_original(self) -> None:
        self.show_original(not self._original.isChecked())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Size with the shortest words, so that the window may become narrow."""
        least = len(self._shown) * LEAST_PX
        return QSize(self._around(ROUND_SHORT) + least, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint an arrow between two chips, or where a dragged one would go."""
        super().paintEvent(event)
        painter, colors = QPainter(self), theme.colors(self.palette())
        shown: list[QWidget] = [self._original, *self._shown]
        number, to = self._dragged or (len(shown), -1)
        goes = to + (to > number)  # the gap, counted with the chip still in its place
        for gap, left in enumerate(shown[:-1]):
            area = QRectF(left.geometry().right(), 0, GAP_PX + 2, left.geometry().bottom() + 1)
            is_there = gap == goes
            painter.setPen(QColor(colors.accent if is_there else colors.muted))
            if gap != number:
                painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "▌" if is_there else ARROW)

    def add(self) -> None:
        """Add a step after the last, if there is room for one."""
        if not list_edits.why_no_more(self._store.state):
            self._store.update(**list_edits.adding(self._store.state))
            self.added.emit()

    def select(self, number: int) -> None:
        """Select a step, from 0, and show the picture after it; -1: show the original."""
        state = self._store.state
        if number == -1:
            self.show_original(True)
        elif 0 <= number < len(state.steps):
            self.show_original(False)
            self._store.update(**step_files.select(state.steps, number))

    def remove(self) -> None:
        """Take the selected step out, unless it is the only one."""
        if len(self._store.state.steps) > 1:
            self._store.update(**list_edits.removing(self._store.state))

    def switch(self, number: int) -> None:
        self._store.update(**list_edits.switching(self._store.state, number))

    def place_of(self, number: int) -> QPoint:
        """Place on the screen below a step's chip, or at the row's beginning."""
        chip: QWidget = self.chips[number] if number < len(self.chips) else self
        return chip.mapToGlobal(chip.rect().bottomLeft())

    @property
    def _shown(self) -> list[StepChip]:
        return self.chips[: len(self._state.steps)]

    def _make_chip(self) -> None:
        chip, number = StepChip(), len(self.chips)
        self.chips.append(chip)
        self._line.insertWidget(number + 1, chip)
        chip.clicked.connect(lambda: self.select(number))
        chip.switched.connect(lambda: self.switch(number))
        chip.removed.connect(lambda: self._remove(number))
        chip.stepped.connect(lambda by: self._step(number + by))
        chip.dragged.connect(lambda x: self._drag(number, x))
        chip.dropped.connect(self._drop)
        chip.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        chip.customContextMenuRequested.connect(lambda at: self._ask_menu(number, at))

    def _remove(self, number: int) -> None:
        self.select(number)
        self.remove()

    def _step(self, number: int) -> None:
        if number < 0:
            self._original.setFocus(Qt.FocusReason.TabFocusReason)
            return
        self.select(number)
        self._focus(len(self._state.before))

    def _focus(self, number: int) -> None:
        if self.isVisible():
            enter(self.chips[number])
        else:  # what is left is one plain step
            go_home(self)

    def _ask_menu(self, number: int, at: QPoint) -> None:
        self.select(number)
        self.menu_wanted.emit(self.chips[number].mapToGlobal(at))

    def _drag(self, number: int, x: int) -> None:
        chip, shown = self.chips[number], self._shown
        if self._dragged is None:
            chip.raise_()
        chip.move(min(max(x, 0), self.width() - chip.width()), chip.y())
        others = [each for each in shown if each is not chip]
        middle = chip.geometry().center().x()
        self._dragged = number, sum(each.geometry().center().x() < middle for each in others)
        self.update()

    def _drop(self) -> None:
        dragged, self._dragged = self._dragged, None
        self._line.invalidate()
        self._line.activate()
        self.update()
        if dragged is not None and dragged[0] != dragged[1]:
            self._store.update(**list_edits.moving(self._store.state, *dragged))
            self._focus(dragged[1])

    def _around(self, words: str) -> int:
        """Width of all but the chips, with these words for the switch."""
        switch = self._round.sizeHint().width() + self._round.fontMetrics().horizontalAdvance(words)
        switch -= self._round.fontMetrics().horizontalAdvance(self._round.text())
        ends = self._original.sizeHint().width() + self._add.sizeHint().width()
        return 2 * SIDE_PX + ends + switch + GAP_PX * (len(self._shown) + 3)

    def _share_room(self) -> None:
        """Leave out the times where there is no room for all; then cut the longest words first."""
        shown = self._shown
        full, words = ([c.width_of(has_time=has) for c in shown] for has in (True, False))
        text = ROUND if sum(words) <= self.width() - self._around(ROUND) else ROUND_SHORT
        self._round.setText(text)
        room = self.width() - self._around(text)
        widths = full if sum(full) <= room else words
        for chip, wide in zip(shown, _capped(widths, room), strict=True):
            chip.setFixedWidth(max(wide, LEAST_PX))


def _icon(of: thumbnails.Thumbnail | None) -> QIcon:
    return QIcon(QPixmap.fromImage(of.image)) if of else QIcon()


def _capped(widths: Sequence[int], room: int) -> list[int]:
    """Widths that take `room` together at most: the widest are cut to one width."""
    cap = left = room
    for number, wide in enumerate(sorted(widths)):
        cap = left // (len(widths) - number)
        if wide > cap:
            break
        left -= wide
    return [min(wide, cap) if sum(widths) > room else wide for wide in widths]


def _looks(state: State, times: list[StepTime | None], is_original: bool) -> list[StepLook]:
    known = [each.ms if each is not None and each.ms else 0.0 for each in times]
    total, looks = sum(known), []
    for number, (step, time) in enumerate(zip(state.steps, times, strict=True)):
        begin = sum(known[:number])
        share = (begin / total, (begin + known[number]) / total) if time and total else None
        size = f"{step.ksize}×{step.ksize}" + ("" if step.mix == 1 else f" {100 * step.mix:.0f} %")
        size += " · before" * (number == state.compared)
        looks.append(
            StepLook(
                *(number + 1, filters.get(step.filter).title, size, step.is_on),
                *(number == len(state.before), is_original or number > len(state.before)),
                *((time.ms, share, time.is_wrong, time.runs_on) if time else (None, None)),
            )
        )
    return looks
