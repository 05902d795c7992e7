"""The screen for a room: the picture, a panel beside it, its time and speed-up, nothing small."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QFont,
    QFontInfo,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPalette,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QStackedLayout, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.letters import set_factor
from workbench.widgets.tile import MUTED, TEXT, ElidedLabel
from workbench.window.presenter.figures import Figures
from workbench.window.presenter.ladder_so_far import LadderSoFar

USUAL_PX = (1280, 720)  # of a projector; on a larger screen everything grows with it
SMALL, MIDDLE, TITLE, LARGE = 24, 28, 38, 72  # letters in pixels there; nothing is smaller
PANEL_LETTERS_PX = 19  # of a panel to read in
NOTE_SHARE = 0.22  # of the height, at most
POINTS_AN_INCH = 72
FORWARD = ("PgDown", "Right", "Down", "Return", "Enter")
BACK = ("PgUp", "Left", "Up", "Backspace")
BLANK = ("B", ".")  # what clickers send
HINT = "→ PgDn next   ← PgUp back   Space original   + − 0 zoom   F7 notes   B blank   Esc leave"
PICTURE_SHARE = {"": 1, "chart": 0, "implementation": 0, "blocks": 1}  # to 1 of the panel
USUAL_SHARE = 1


class Stage(QWidget):
    """A window of its own over the whole screen; meanwhile no other takes keys or the mouse.

    Signals:
        stepped(steps): 1 for the next step, -1 for the one before.
        jumped(is_last): to the first step, or the last.
        notes_wanted(): the speaker's notes are to be shown elsewhere, or hidden.
        left(): it is closed; all is to be as it was.
    """

    stepped = Signal(int)
    jumped = Signal(bool)
    notes_wanted = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("stage")
        self.setWindowTitle("Presenter")
        self.setWindowModality(Qt.WindowModality.ApplicationModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._picture: QWidget | None = None
        self._panel: QWidget | None = None
        self._is_right: bool | None = None
        self._make_words()
        self._lay_out()
        self._size_letters()
        own: dict[str, Callable[[], object]] = {
            **dict.fromkeys(FORWARD, partial(self.stepped.emit, 1)),
            **dict.fromkeys(BACK, partial(self.stepped.emit, -1)),
            **dict.fromkeys(BLANK, self.toggle_blank),
            "Home": partial(self.jumped.emit, False),
            "End": partial(self.jumped.emit, True),
            "F7": self.notes_wanted.emit,
            "Esc": self.close,
        }
        self.add_keys(own)

    def add_keys(self, keys: Mapping[str, Callable[[], object]]) -> None:
        """Have keys do something here, whatever has the focus."""
        for key, do in keys.items():
            made = QShortcut(QKeySequence(key), self)
            made.activated.connect(lambda do=do: do())
            if key in (*FORWARD, *BACK, *BLANK):
                made.setAutoRepeat(False)

    # -- what it is told

    def hold_picture(self, picture: QWidget) -> None:
        """Take the view of the picture in."""
        self._picture = picture
        self._body.insertWidget(0, picture)
        picture.show()
        picture.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._size_letters()

    def hold_panel(self, panel: QWidget, name: str) -> None:
        """Show a panel beside the picture, or in its place; `name` as in a step.

        The figures give way to it: it is there to be read from the back row.
        """
        self._panel = panel
        self._numbers.hide()
        self._body.addWidget(panel)
        panel.show()
        share = PICTURE_SHARE.get(name, USUAL_SHARE)
        self._body.setStretchFactor(panel, 1)
        if self._picture is not None:
            self._picture.setVisible(share > 0)
            self._body.setStretchFactor(self._picture, max(share, 1))
        self._size_letters()

    def remove_panel(self) -> None:
        """Remove the panel for good, as it belongs to the stage."""
        if self._panel is not None:
            self._panel.hide()
            self._panel.deleteLater()

    def drop_panel(self) -> None:
        """Show the picture alone; the panel was taken away."""
        self._panel = None
        self._numbers.show()
        if self._picture is not None:
            self._picture.show()

    def show_step(self, name: str, number: int, count: int) -> None:
        """Show a step's name and its number, from 1; a blank stage is lit again."""
        self._title.show_text(name)
        self._hint.show_text(HINT if number == 1 else "")
        self._hint.setVisible(number == 1)
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
        self._time.setToolTip(tip_text(figures.time_more))
        self._work.show_text(" · ".join(filter(None, (figures.work, figures.how))))
        is_sure = figures.is_right is True
        for label in (self._time, self._speedup):
            label.setForegroundRole(TEXT if is_sure else MUTED)
        self._is_right = figures.is_right
        self._color_verdict()
        self.setAccessibleDescription(f"{self._title.whole_text}: {figures.in_words}")

    def show_note(self, note: str, is_shown: bool) -> None:
        """Show the speaker's note beneath the picture, or hide it."""
        self._note.setText(note)
        self._note.setVisible(is_shown and bool(note))

    def say(self, sentence: str) -> None:
        """Say why there is nothing new to see."""
        self._hint.show_text(sentence)
        self._hint.setVisible(bool(sentence))

    # -- what the presenter does

    @property
    def is_blank(self) -> bool:
        """Return whether the stage is black."""
        return self._layers.currentWidget() is self._black

    def toggle_blank(self) -> None:
        """Turn the stage black, or light it again."""
        self._layers.setCurrentIndex(0 if self.is_blank else 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space and self._picture is not None:
            QGuiApplication.sendEvent(self._picture, event)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space and self._picture is not None:
            QGuiApplication.sendEvent(self._picture, event)
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
        self._work, self._verdict = _line("stage-work"), _words("stage-verdict")
        self._note, self._hint = Label(), _line("stage-hint")
        self._note.setObjectName("stage-note")
        self._note.setWordWrap(True)
        self._note.hide()
        self._hint.setForegroundRole(MUTED)
        self.ladder = LadderSoFar()
        self._letters: list[tuple[QWidget, int, bool]] = [
            (self._title, TITLE, True),
            (self._time, LARGE, True),
            (self._speedup, TITLE, True),
            *((each, MIDDLE, False) for each in (self._count, self._work)),
            (self._verdict, MIDDLE, True),
            *((each, SMALL, False) for each in (self._time_note, self._speedup_note, self._hint)),
            *((each, SMALL, False) for each in (self._note, self.ladder)),
        ]
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self._verdict.setAlignment(right)

    def _lay_out(self) -> None:
        lit = QWidget()
        above, told = HBox(), HBox()
        above.add((self._title, 1), self._count)
        told.add((self._work, 1), self._verdict)
        held = QWidget()
        held.setMinimumSize(1, 1)  # a panel that needs more must not make the stage larger
        self._body = HBox(held, 0, 12)
        speed = HBox(margins=(0, 8, 0, 0), spacing=12)  # the note above belongs to the time
        speed.add(self._speedup, (self._speedup_note, 1))
        self._numbers = QWidget()
        below = QGridLayout(self._numbers)
        below.setContentsMargins(0, 0, 0, 0)
        below.setHorizontalSpacing(32)
        below.setVerticalSpacing(0)
        below.addWidget(self._time, 0, 0)
        below.addWidget(self._time_note, 1, 0)
        below.addLayout(speed, 2, 0)
        below.addWidget(self.ladder, 0, 1, 3, 1)
        below.setColumnStretch(1, 1)
        column = VBox(lit, (28, 12, 28, 10), 6)
        column.add(above, (held, 1), told, self._numbers, self._note, self._hint)
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

    @property
    def _factor(self) -> float:
        """Return how much larger this screen is than the usual projector's; at least 1."""
        return max(min(self.width() / USUAL_PX[0], self.height() / USUAL_PX[1]), 1.0)

    def _size_letters(self) -> None:
        factor = self._factor
        for widget, px, is_bold in self._letters:
            font = theme.numbers_font()
            font.setPointSizeF(round(px * factor) * POINTS_AN_INCH / self.logicalDpiY())
            font.setWeight(QFont.Weight.DemiBold if is_bold else QFont.Weight.Normal)
            widget.setFont(font)
            widget.updateGeometry()
        self._note.setMaximumHeight(round(NOTE_SHARE * self.height()))
        usual = QFontInfo(QGuiApplication.font()).pixelSize()
        for held, px in ((self._picture, SMALL), (self._panel, PANEL_LETTERS_PX)):
            if held is not None:
                set_factor(held, max(px * factor / usual, 1.0))

    # -- what happens

    def _unblank(self) -> None:
        self._layers.setCurrentIndex(0)

    def _color_verdict(self) -> None:
        colors = theme.colors()
        tints = {True: colors.good, False: colors.bad, None: colors.muted}
        palette = self._verdict.palette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(tints[self._is_right]))
        self._verdict.setPalette(palette)


def _line(name: str) -> ElidedLabel:
    """Return a label for words that may be too long for the screen, and are then elided."""
    label = ElidedLabel(1.0, name)
    label.setForegroundRole(TEXT)
    return label


def _words(name: str, role: QPalette.ColorRole = TEXT) -> QLabel:
    label = Label(name=name)
    label.setForegroundRole(role)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    label.setMinimumWidth(1)
    return label
