"""An editor of plans: the dimensions that vary, their values, and the implementations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QPalette, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLineEdit,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QToolButton,
    QWidget,
)

from kernels.core.device import Device, NoDevice
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import Plan
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.model.plan_dimensions import BY_FIELD, DIMENSIONS, Dimension, words_of
from workbench.model.plan_draft import Draft, UnclearError, texts_of
from workbench.widgets.boxes import Flow, HBox, VBox
from workbench.widgets.buttons import make_button, tab_button
from workbench.widgets.tile import MUTED, scaled_font

LABEL_PX = 88
MAX_TEXT = 1000  # characters of a line of values


class ValuesRow(QWidget):
    """A label, a line of values, and below it the problem with them.

    more  the button of a menu of values; Tab leaves the row from it

    Signals:
        edited(): the user changed the line.
    """

    edited = Signal()

    def __init__(self, dimension: Dimension) -> None:
        super().__init__()
        self.dimension = dimension
        name = dimension.field.replace("_", "-")
        label = Label(dimension.name)
        label.setFixedWidth(theme.in_letters(LABEL_PX))
        self._line = QLineEdit(dimension.start)
        self._line.setObjectName(f"values-{name}")
        self._line.setAccessibleName(f"Values of {dimension.name.lower()}")
        self._line.setMaxLength(MAX_TEXT)
        self._line.setToolTip(tip_text(f"{dimension.tip}\nKey: Alt+Down for what may stand here"))
        self._line.textEdited.connect(lambda _: self.edited.emit())
        shortcut = QShortcut(QKeySequence("Alt+Down"), self._line, self._choose)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)  # each line has its own
        tip, title = f"What may stand here.  {dimension.tip}", dimension.name.lower()
        self.more = tab_button(f"choose-{name}", "▾", tip, f"Choose values of {title}")
        self.more.setProperty("flat", True)
        self.more.clicked.connect(self._choose)
        self._wrong = Label(name=f"wrong-{name}", font=scaled_font(0.9), wraps=True)
        self._wrong.setForegroundRole(QPalette.ColorRole.BrightText)
        self._wrong.hide()
        line = HBox(spacing=4)
        line.add(label, (self._line, 1), self.more)
        VBox(self, 0, 2).add(line, self._wrong)
        self.setFocusProxy(self._line)

    @property
    def text(self) -> str:
        """The line as it is written."""
        return self._line.text()

    def show_text(self, text: str) -> None:
        """Show `text` in the line, cut after MAX_TEXT characters."""
        with QSignalBlocker(self._line):
            self._line.setText(text[:MAX_TEXT])
            self._line.setCursorPosition(0)

    def show_wrong(self, sentence: str) -> None:
        """Show the problem with the line; empty: there is none."""
        self._wrong.setText(sentence)
        self._wrong.setVisible(bool(sentence))
        self._line.setAccessibleDescription(sentence)

    @Slot()
    def _choose(self) -> None:
        self.menu().popup(self._line.mapToGlobal(self._line.rect().bottomLeft()))

    def menu(self) -> QMenu:
        """Make a menu of whole lines, and of words to tick as the line has them."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for text, meaning in self.dimension.lines:
            action = menu.addAction(f"{text}\t{meaning}" if len(text) < 28 else text)
            action.setToolTip(tip_text(meaning))
            action.triggered.connect(partial(self._set_text, text))
        listed = words_of(self.text)
        for word, meaning in self.dimension.ticks:
            action = menu.addAction(f"{word}\t{meaning}" if meaning else word)
            action.setCheckable(True)
            action.setChecked(word in listed)
            action.setToolTip(tip_text(meaning or word))
            action.triggered.connect(partial(self._tick, word))
        return menu

    def _set_text(self, text: str) -> None:
        self._line.setText(text)
        self.edited.emit()

    def _tick(self, word: str) -> None:
        """Add `word` to the line, in the menu's order, or remove it."""
        listed = words_of(self.text)
        wanted = [each for each in listed if each != word] if word in listed else [*listed, word]
        order = [each for each, _ in self.dimension.ticks]
        known = [each for each in order if each in wanted]
        self._set_text(", ".join([*known, *(each for each in wanted if each not in order)]))


ROWS_SEEN = 4.6  # the piece of a row says that there are more
MIN_PX = 90


class Tick(QCheckBox):
    """A box to tick whose words are cut with an ellipsis where they are too long."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._whole = text
        self.setFont(scaled_font(0.93))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(MIN_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        style = self.style()
        box_px = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, self)
        gap_px = style.pixelMetric(QStyle.PixelMetric.PM_CheckBoxLabelSpacing, None, self)
        room = self.width() - box_px - gap_px - 12  # padding and border of theme.qss, twice
        mode = Qt.TextElideMode.ElideRight
        self.setText(self.fontMetrics().elidedText(self._whole, mode, room))


class TickList(QScrollArea):
    """Columns of boxes below headings: a column may have several groups, each with its own."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_columns(self, *columns: dict[str, list[Tick]]) -> None:
        """Replace all boxes by those of `columns`, by their headings."""
        inside = QWidget()
        beside = HBox(inside, (0, 0, 4, 0))
        high = 0
        for number, groups in enumerate(columns):
            column = VBox(spacing=0)
            for title, ticks in groups.items():
                if ticks:
                    heading = Label(title, font=scaled_font(0.9))
                    heading.setForegroundRole(MUTED)
                    column.add(heading, *ticks)
                    seen = min(len(ticks), ROWS_SEEN)
                    row_px = ticks[0].sizeHint().height()
                    high = max(high, heading.sizeHint().height() + int(row_px * seen) + 2)
            column.addStretch(1)
            beside.addLayout(column, 5 + 2 * number)  # CUDA's names are longer
        self.setWidget(inside)
        self.setFixedHeight(high)


KINDS = {"cpu": "CPU", "own": "Yours", "cuda": "CUDA"}
COLUMNS = (("CPU", "Yours"), ("CUDA",))
TRANSFERS_TIP = (
    "Upload and download, from ordinary and from page-locked memory:\n"
    "only with them can be said from which size on the GPU pays off"
)
FIRST = ("sizes",)  # what varies by default


class PlanEditor(QWidget):
    """The editor of a plan: buttons for the dimensions, a line for each that varies, ticks.

    Signals:
        edited(): the user changed something.
    """

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._base: Plan | None = None
        self._ticks: dict[str, tuple[Tick, Implementation | OwnKernel]] = {}
        # By key: to be ticked where it can run; by default all but user kernels are.
        self._wanted: dict[str, bool] = {}
        self._buttons: dict[str, QToolButton] = {}
        self._rows: dict[str, ValuesRow] = {}
        chips = Flow(4)
        for dimension in DIMENSIONS:
            button = _chip(dimension.title, dimension.field, dimension.tip)
            button.clicked.connect(lambda on, name=dimension.field: self._vary(name, on))
            chips.addWidget(button)
            self._buttons[dimension.field] = button
        caption = Label("Vary (all combinations)", font=scaled_font(0.9), is_muted=True)
        self._lines = VBox(spacing=4)
        for dimension in DIMENSIONS:
            row = ValuesRow(dimension)
            row.edited.connect(self.edited)
            row.setVisible(dimension.field in FIRST)
            self._buttons[dimension.field].setChecked(dimension.field in FIRST)
            self._lines.addWidget(row)
            self._rows[dimension.field] = row
        self._implementations = TickList()
        self._transfers = QCheckBox("Measure transfers too")
        self._transfers.setObjectName("sweep-transfers")
        self._transfers.setToolTip(TRANSFERS_TIP)
        self._transfers.clicked.connect(self.edited)
        VBox(self, 0, 6).add(caption, chips, self._lines, self._implementations, self._transfers)

    # -- what it holds

    def draft(self) -> Draft:
        """The choices, from which a plan can be made."""
        chosen = tuple(key for key, (tick, _) in self._ticks.items() if tick.isChecked())
        transfers = self._transfers.isChecked() and self._transfers.isEnabled()
        every = (each for _, each in self._ticks.values())
        own = (each.rung for each in every if isinstance(each, OwnKernel) and each.key in chosen)
        return Draft(self._base, self.texts(), chosen, transfers, tuple(own))

    def texts(self) -> dict[str, str]:
        """The lines of the dimensions that vary, by field."""
        return {
            name: self._rows[name].text
            for name, button in self._buttons.items()
            if button.isChecked()
        }

    def show_plan(self, plan: Plan) -> None:
        """Show `plan`, whose fixed fields stay as they are."""
        self._base = plan
        self._show_texts(texts_of(plan))
        every = (each.key for each in all_implementations())  # show_implementations may come later
        known = (*every, *self._ticks, *plan.implementations)
        self._wanted = {key: key in plan.implementations for key in known}
        self._transfers.setChecked(plan.transfers)
        self._show_ticks()

    def show_own(self, texts: Mapping[str, str], turned: Iterable[str], *, transfers: bool) -> None:
        """Show the user's own plan; other fields are as in the State."""
        self._base = None
        self._show_texts(texts)
        others = set(turned)
        self._wanted = {key: is_own(key) == (key in others) for key in (*self._ticks, *others)}
        self._transfers.setChecked(transfers)
        self._show_ticks()

    @property
    def turned(self) -> list[str]:
        """Keys of implementations ticked or unticked against the default, runnable or not."""
        return sorted(key for key, wanted in self._wanted.items() if wanted == is_own(key))

    @property
    def transfers(self) -> bool:
        """Transfers are measured too."""
        return self._transfers.isChecked()

    @property
    def unable(self) -> list[str]:
        """Keys in the plan that cannot run here."""
        wanted = self._base.implementations if self._base else ()
        gone = [key for key in wanted if is_own(key) and key not in self._ticks]
        unable = (key for key, (tick, _) in self._ticks.items() if not tick.isEnabled())
        return [*(key for key in unable if key in wanted), *gone]

    # -- what it shows

    def show_implementations(
        self, implementations: Iterable[tuple[Implementation | OwnKernel, str | None]]
    ) -> None:
        """Offer all implementations, each with the reason why it cannot run here, or None."""
        offered = tuple(implementations)
        if [each.key for each, _ in offered] != list(self._ticks):
            self._make_ticks([each for each, _ in offered])
        for implementation, reason in offered:
            tick, _ = self._ticks[implementation.key]
            self._ticks[implementation.key] = tick, implementation  # it may have another text
            tick.setEnabled(reason is None)
            tick.setToolTip(tip_text(f"{implementation.title}: {reason or implementation.idea}"))
        self._show_ticks()

    def show_device(self, device: Device | NoDevice) -> None:
        """Enable measuring transfers where there is a device to transfer to."""
        self._transfers.setEnabled(isinstance(device, Device))
        reason = device.reason if isinstance(device, NoDevice) else ""
        self._transfers.setToolTip(tip_text(reason or TRANSFERS_TIP))

    def show_wrong(self, problem: UnclearError | None) -> bool:
        """Show the problem below its line; False where that line is hidden."""
        named = problem.field if problem else ""
        for name, row in self._rows.items():
            row.show_wrong(str(problem) if name == named else "")
        return named in self.texts()

    # -- inside

    def _show_texts(self, texts: Mapping[str, str]) -> None:
        for name, row in self._rows.items():
            is_varied = name in texts
            with QSignalBlocker(self._buttons[name]):
                self._buttons[name].setChecked(is_varied)
            if is_varied:
                row.show_text(texts[name])
            row.setVisible(is_varied)

    def _vary(self, name: str, is_varied: bool) -> None:
        row = self._rows[name]
        row.setVisible(is_varied)
        if is_varied:
            base = getattr(self._base, name) if self._base else ()
            row.show_text(BY_FIELD[name].text(base) if len(base) > 1 else BY_FIELD[name].start)
            row.setFocus()
        self.edited.emit()

    def _make_ticks(self, implementations: Iterable[Implementation | OwnKernel]) -> None:
        """Make a box for each implementation, below the heading of its kind."""
        groups: dict[str, list[Tick]] = {title: [] for title in KINDS.values()}
        self._ticks = {}
        for each in implementations:
            tick = Tick(each.title)
            tick.setObjectName(f"sweep-{each.key}")
            tick.setAccessibleName(f"Measure {each.title}")
            tick.clicked.connect(lambda on, key=each.key: self._want(key, on))
            groups[KINDS[each.kind]].append(tick)
            self._ticks[each.key] = tick, each
        columns = ({title: groups[title] for title in column} for column in COLUMNS)
        self._implementations.show_columns(*columns)
        last_line = self._rows[DIMENSIONS[-1].field].more
        in_order = (tick for ticks in groups.values() for tick in ticks)
        for before, after in pairwise((last_line, *in_order, self._transfers)):
            QWidget.setTabOrder(before, after)

    def _want(self, key: str, is_wanted: bool) -> None:
        self._wanted[key] = is_wanted
        self.edited.emit()

    def _show_ticks(self) -> None:
        """Tick what is wanted and can run here; the rest is only remembered."""
        for key, (tick, _) in self._ticks.items():
            tick.setChecked(tick.isEnabled() and self._wanted.setdefault(key, not is_own(key)))


def _chip(title: str, name: str, tip: str) -> QToolButton:
    tip = f"{tip}\nOff: as it is set in the window, or in the plan"
    key, spoken = f"vary-{name.replace('_', '-')}", f"Vary: {title.replace('&', '')}"
    button = make_button(key, title, tip, spoken)
    button.setFont(scaled_font(0.88))
    button.setProperty("chip", True)
    button.setCheckable(True)
    return button
