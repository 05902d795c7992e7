"""The screen for a room: the picture before and after, its time and speed-up, and nothing small."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QFont, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.imaging.display import Display
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.view_transform import ViewTransform, fit
from workbench.panels.compare.wipe_view import WipeView
from workbench.widgets.tile import MUTED, TEXT, ElidedLabel
from workbench.window.presenter.figures import Figures

USUAL_PX = (1280, 720)  # of a projector; on a larger screen everything grows with it
SMALL, MIDDLE, TITLE, LARGE = 24, 28, 38, 84  # letters in pixels there; nothing is smaller
POINTS_AN_INCH = 72
FORWARD = {
    *(Qt.Key.Key_PageDown, Qt.Key.Key_Right, Qt.Key.Key_Down),
    *(Qt.Key.Key_Return, Qt.Key.Key_Enter),
}
BACK = {Qt.Key.Key_PageUp, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Backspace}
BLANK = {Qt.Key.Key_B, Qt.Key.Key_Period}  # what clickers send
ZOOM = {Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_0, Qt.Key.Key_1}
HINT = "→ PgDn next   ← PgUp back   W wipe   Space original   + − 0 zoom   B blank   Esc leave"


class Stage(QWidget):
    """A window of its own over the whole screen; meanwhile no other takes keys or the mouse.

    Signals:
        stepped(steps): 1 for the next step, -1 for the one before.
        jumped(is_last): to the first step, or the last.
        left(): it is closed; all is to be as it was.
    """

    stepped = Signal(int)
    jumped = Signal(bool)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("stage")
        self.setWindowTitle("Presenter")
        self.setWindowModality(Qt.WindowModality.ApplicationModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._before: Display | None = None
        self._after: Display | None = None
        self._look = ""
        self._transform: ViewTransform | None = None  # None: the whole picture
        self._is_held = False
        self._is_right: bool | None = None
        self._make_words()
        self._make_pictures()
        self._lay_out()
        self._size_letters()

    # -- what it is told

    def show_step(self, name: str, number: int, count: int) -> None:
        """Show a step's name and its number, from 1; a blank stage is lit again."""
        self._title.show_text(name)
        self._hint.show_text(HINT if number == 1 else "")
        self._count.setText(f"{number} / {count}")
        self._unblank()

    def show_figures(self, figures: Figures) -> None:
        """Show time, speed-up and verdict, muted until the answer is known to be right."""
        for label, text in (
            (self._time, figures.time),
            (self._time_note, figures.time_note),
            (self._speedup, figures.speedup),
            (self._speedup_note, figures.speedup_note),
            (self._verdict, figures.verdict),
        ):
            label.setText(text)
        self._work.show_text(figures.work)
        self._how.show_text(figures.how)
        is_sure = figures.is_right is True
        for label in (self._time, self._speedup):
            label.setForegroundRole(TEXT if is_sure else MUTED)
        self._is_right = figures.is_right
        self._color_verdict()
        self.setAccessibleDescription(f"{self._title.whole_text}: {figures.in_words}")

    def show_pictures(self, before: Display | None, after: Display | None, look: str) -> None:
        """Show the picture before and after filtering.

        after  None: there is none yet; the picture before stands in for it
        look   how values below zero are shown, where there are any
        """
        if before is None or self._before is None or before.size != self._before.size:
            self._transform = None
        self._before, self._after, self._look = before, after, look
        self._refresh()

    def say(self, sentence: str) -> None:
        """Say why there is nothing new to see."""
        self._hint.show_text(sentence)

    # -- what the presenter does

    @property
    def is_blank(self) -> bool:
        """Return whether the stage is black."""
        return self._layers.currentWidget() is self._black

    @property
    def is_wipe(self) -> bool:
        """Return whether before and after lie over each other with a divider."""
        return self._stack.currentWidget() is self._wipe

    def toggle_wipe(self) -> None:
        """Swap side by side and wipe."""
        self._stack.setCurrentIndex(0 if self.is_wipe else 1)
        self._arrange()

    def toggle_blank(self) -> None:
        """Turn the stage black, or light it again."""
        self._layers.setCurrentIndex(0 if self.is_blank else 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = Qt.Key(event.key())
        if key in BLANK:
            self.toggle_blank()
        elif key == Qt.Key.Key_Escape:
            self.close()
        elif key in FORWARD | BACK:
            self.stepped.emit(1 if key in FORWARD else -1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.jumped.emit(key == Qt.Key.Key_End)
        elif key == Qt.Key.Key_W:
            self.toggle_wipe()
        elif key in ZOOM:
            (self._wipe if self.is_wipe else self._left).keyPressEvent(event)
        elif key == Qt.Key.Key_Space:
            self._hold(True)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._hold(False)
        else:
            super().keyReleaseEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        super().closeEvent(event)
        self.left.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._size_letters()

    # -- how it is built

    def _make_words(self) -> None:
        self._title, self._count = _line("stage-title"), _words("stage-count", MUTED)
        self._time, self._time_note = _words("stage-time"), _words("stage-time-note", MUTED)
        self._speedup = _words("stage-speedup")
        self._speedup_note = _words("stage-speedup-note", MUTED)
        right = Qt.AlignmentFlag.AlignRight
        self._work, self._how = _line("stage-work", right), _line("stage-how", right)
        self._verdict = _words("stage-verdict")
        self._hint = _line("stage-hint")
        self._hint.setForegroundRole(MUTED)
        self._letters: list[tuple[QWidget, int, bool]] = [
            (self._title, TITLE, True),
            *((each, LARGE, True) for each in (self._time, self._speedup)),
            *((each, MIDDLE, False) for each in (self._count, self._work, self._how)),
            (self._verdict, MIDDLE, True),
            *((each, SMALL, False) for each in (self._time_note, self._speedup_note, self._hint)),
        ]
        self._verdict.setAlignment(right | Qt.AlignmentFlag.AlignVCenter)

    def _make_pictures(self) -> None:
        self._left, self._right = PictureView("Before", ""), PictureView("After", "")
        self._wipe = WipeView("Before and after", "")
        side = QWidget()
        row = QHBoxLayout(side)
        row.setContentsMargins(0, 0, 0, 0)
        for view in (self._left, self._right):
            row.addWidget(view, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(side)
        self._stack.addWidget(self._wipe)
        for view in (self._left, self._right, self._wipe):
            view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # all keys are the stage's
            view.moved.connect(self._move)
            view.resized.connect(self._arrange)
            self._letters.append((view, SMALL, False))
        self._wipe.divider.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def _lay_out(self) -> None:
        lit = QWidget()
        above = QHBoxLayout()
        above.addWidget(self._title, 1)
        above.addWidget(self._count)
        below = QGridLayout()
        below.setHorizontalSpacing(36)
        below.setVerticalSpacing(0)
        below.addWidget(self._time, 0, 0, 2, 1)
        below.addWidget(self._speedup, 0, 1, 2, 1)
        below.addWidget(self._time_note, 2, 0)
        below.addWidget(self._speedup_note, 2, 1)
        for line, label in enumerate((self._work, self._how, self._verdict)):
            below.addWidget(label, line, 2)
        below.setColumnStretch(2, 1)
        column = QVBoxLayout(lit)
        column.setContentsMargins(28, 14, 28, 12)
        column.setSpacing(8)
        column.addLayout(above)
        column.addWidget(self._stack, 1)
        column.addLayout(below)
        column.addWidget(self._hint)
        self._black = QWidget()
        self._black.setObjectName("stage-black")
        self._black.setAccessibleName("Blank")
        self._black.setAutoFillBackground(True)
        palette = QPalette(self._black.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor("#000000"))
        self._black.setPalette(palette)
        self._layers = QStackedLayout(self)
        self._layers.addWidget(lit)
        self._layers.addWidget(self._black)

    def _size_letters(self) -> None:
        across, down = self.width() / USUAL_PX[0], self.height() / USUAL_PX[1]
        factor = max(min(across, down), 1.0)
        for widget, px, is_bold in self._letters:
            font = theme.numbers_font()
            font.setPointSizeF(round(px * factor) * POINTS_AN_INCH / self.logicalDpiY())
            font.setWeight(QFont.Weight.DemiBold if is_bold else QFont.Weight.Normal)
            widget.setFont(font)
            widget.updateGeometry()

    # -- what happens

    def _hold(self, is_held: bool) -> None:
        if is_held != self._is_held:
            self._is_held = is_held
            self._refresh()

    def _unblank(self) -> None:
        self._layers.setCurrentIndex(0)

    def _refresh(self) -> None:
        after, caption = self._after, "\n".join(filter(None, ("After", self._look)))
        if self._is_held or after is None:
            after, caption = self._before, "Original"
        self._left.show_picture(self._before, "Before")
        self._right.show_picture(after, caption)
        self._wipe.show_picture(after, caption)
        is_covered = self._after is not None and not self._is_held
        self._wipe.show_before(self._before if is_covered else None, "Before")
        self._arrange()

    def _move(self, transform: ViewTransform | None) -> None:
        if self._before is not None:
            self._transform = transform and transform.kept_within(self._before.size)
            self._arrange()

    def _arrange(self) -> None:
        if self._before is None:
            return
        views = (self._wipe,) if self.is_wipe else (self._left, self._right)
        widths, heights = zip(*(view.device_size for view in views), strict=True)
        whole = fit(self._before.size, (min(widths), min(heights)))
        for view in views:
            view.show_transform(self._transform or whole)

    def _color_verdict(self) -> None:
        colors = theme.colors()
        tints = {True: colors.good, False: colors.bad, None: colors.muted}
        palette = self._verdict.palette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(tints[self._is_right]))
        self._verdict.setPalette(palette)


def _line(name: str, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> ElidedLabel:
    """Return a label for words that may be too long for the screen, and are then elided."""
    label = ElidedLabel(1.0, align)
    label.setObjectName(name)
    label.setForegroundRole(TEXT)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _words(name: str, role: QPalette.ColorRole = TEXT) -> QLabel:
    label = Label()
    label.setObjectName(name)
    label.setForegroundRole(role)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    label.setMinimumWidth(1)
    return label
