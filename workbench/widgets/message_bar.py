"""Messages and questions to the user, and what floats over the pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QGuiApplication,
    QIcon,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QTextOption,
)
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QTextEdit,
    QWidget,
)

from workbench.base import theme
from workbench.base.paths import asset
from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, make_button, push_button
from workbench.widgets.tile import scaled_font
from workbench.widgets.watch import Watch

EDGE = 8  # px from the view's edges
AROUND = 4  # px of a card around what is on it


class Floating(QFrame):
    """A frame over the view that is its parent, as large as its content; moves nothing there."""

    def __init__(
        self,
        over: QWidget,
        content: QWidget,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight,
        *,
        is_opaque: bool = False,
    ) -> None:
        """Put `content` at the lower edge of `over`, hidden; is_opaque: on a card."""
        super().__init__(over)
        self._over, self._side = over, side
        # Else all of it would be painted anew with whatever moves below.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, is_opaque)
        HBox(self, AROUND if is_opaque else 0).add(content)
        Watch(over, QEvent.Type.Resize).seen.connect(self.place)
        Watch(self, QEvent.Type.LayoutRequest, QEvent.Type.Show).seen.connect(self.place)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if self.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent):
            painter = QPainter(self)
            painter.fillRect(event.rect(), QColor(theme.colors(self.palette()).panel))

    def place(self) -> None:
        room = self._over.rect()
        box = QRect(QPoint(), self.sizeHint().boundedTo(room.size()))
        box.moveBottomLeft(QPoint(room.left() + EDGE, self._over.height() - 1 - EDGE))
        if self._side == Qt.AlignmentFlag.AlignHCenter:
            box.moveLeft(room.center().x() - box.width() // 2)
        elif self._side != Qt.AlignmentFlag.AlignLeft:
            box.moveRight(room.right() - EDGE)
        self.setGeometry(box)


MAX_NAME = 32  # letters of the name of what is being opened


class OpeningCard(QWidget):
    """What is being opened, how far that is, and a button to stop it."""

    def __init__(self) -> None:
        super().__init__()
        self._words = Label(name="opening")
        self._bar = described(QProgressBar(), "opening-progress", "Share that has been read")
        tip = "Stop opening it; the picture in view stays"
        self.cancel = make_button("opening-cancel", "Cancel", tip, "Stop opening the picture")
        HBox(self, (6, 2, 2, 2), 10).add(self._words, self._bar, self.cancel)

    def show_opening(self, name: str, share: float) -> None:
        """Show its name and the share that has been read, from 0 to 1; 0: not known."""
        short = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        self._words.setText(f"Opening {short}…")
        self._bar.setRange(0, 100 if share else 0)
        self._bar.setValue(round(100 * share))


Kind = Literal["info", "warning", "error"]
Act = tuple[str, Callable[[], None]]  # what a button says, and what it does

WORDS: dict[Kind, str] = {"info": "Note", "warning": "Warning", "error": "Error"}
INFO_MS = 3000  # at least
READING_MS = 60  # for each character
WIDEST = 900
READABLE = 240  # for the sentence: with less it gets a row of its own
MAX_OF_BUG = 240  # characters
SMALL = 0.85  # letters of two lines where there is room for one
RING_PX = 2  # around a sentence that has the keyboard; see the style sheet
_MARGIN = 18
_BARS = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAlwaysOn
_PLACED = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class MessageBar(QFrame):
    """A bar that lies over part of a line of the window, or above that, and moves nothing there.

    Hidden while there is nothing to say.
    An info goes by itself, but not from under the pointer; a warning or an error stays until it
    is dismissed (the button, or Esc) or another message takes its place, and so does an info that
    is to stay.

    Signals:
        cleared(kind): a message of this kind is gone, with none in its place.
    """

    cleared = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.kind: Kind | None = None  # of the message in view
        self._over = self._home = window
        self._lines: tuple[QWidget, ...] = ()
        self._details = ""
        self._stays = False
        self._offered: tuple[Act, ...] = ()
        self._icon = Label()
        self._word = Label(name="message-kind")
        self._sentence = Sentence()
        self._sentence.setObjectName("sentence")
        self._more = push_button("details", "Deta&ils…", "What happened, in full, to read or copy")
        self._more.clicked.connect(lambda: DetailsDialog(self.sentence, self._details, self).open())
        tip, title = "Do this about what the message speaks of", "Do what the message offers"
        self._acts = [push_button(name, "", tip, title) for name in ("act", "act-1")]
        for number, button in enumerate(self._acts):
            button.clicked.connect(lambda _=False, number=number: self._offered[number][1]())
        self._dismiss = make_button("dismiss", "", "Dismiss (Esc)", "Dismiss the message")
        self._dismiss.clicked.connect(lambda: self.clear())
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(lambda: self.clear("info"))
        self._age = QElapsedTimer()
        self._dismiss.setProperty("flat", True)
        self._dismiss.setIcon(QIcon(str(asset("icons/close.svg"))))
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, lambda: self.clear())
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 0, 8, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setColumnStretch(2, 1)
        self._is_folded = True
        self._fold(False)  # before the others, as Tab goes
        self._beside = (self._icon, self._word, *self._acts, self._more, self._dismiss)
        for column, part in zip((0, 1, 3, 4, 5, 6), self._beside, strict=True):
            self._grid.addWidget(part, 0, column)
        self.hide()
        Watch(self, QEvent.Type.LayoutRequest).seen.connect(self._place)
        Watch(self, QEvent.Type.Enter).seen.connect(self._timer.stop)
        Watch(self, QEvent.Type.Leave).seen.connect(self._wait)
        window.installEventFilter(self)

    def lie_over(self, part: QWidget, line: QWidget, home: QWidget) -> None:
        """Lie over `part` of a bar where the sentence has room there, else just above `line`.

        What has the keyboard here gives it to `home`.
        """
        self._lines, self._home = (part, line), home
        for each in self._lines:
            each.installEventFilter(self)

    @property
    def sentence(self) -> str:
        """The message in view; empty: there is none."""
        return self._sentence.toPlainText()

    def show_message(
        self,
        kind: Kind,
        sentence: str,
        details: str = "",
        actions: Sequence[Act] = (),
        *,
        stays: bool = False,
    ) -> None:
        """Show `sentence` instead of whatever was said.

        `details` are one click away, and so is what can be done about it: `actions`, two at most.

        stays  also an info waits until it is dismissed
        """
        self.kind, self._details, self._stays = kind, details, stays
        self._age.start()
        self._offered = tuple(actions)
        for number, button in enumerate(self._acts):
            button.setVisible(number < len(actions))
            if number < len(actions):
                button.setText(actions[number][0])
                button.setAccessibleName(actions[number][0].replace("&", ""))
        icon = QIcon(str(asset(f"icons/{kind}.svg")))
        self._icon.setPixmap(icon.pixmap(QSize(22, 22), self.devicePixelRatioF()))
        self._word.setText(WORDS[kind])
        self.setProperty("kind", kind)
        for part in (self, self._word):  # in the colours of this kind
            self.style().unpolish(part)
            self.style().polish(part)
        self._more.setVisible(bool(details))
        self._write(sentence)
        self.show()
        self.raise_()
        self._place()  # hidden, the sentence would not know its height yet
        event = QAccessibleAnnouncementEvent(self, self.accessibleName())
        if kind == "error":
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)
        self._timer.stop()
        self._wait()

    def show_error(self, error: Exception) -> None:
        """Show the sentence of an expected failure."""
        self.show_message("error", str(error))

    def show_bug(self, sentence: str, details: str) -> None:
        """Show a bug, with a traceback to copy.

        A sentence that would fill the window is cut: the traceback has all of it.
        """
        shown = sentence if len(sentence) <= MAX_OF_BUG else f"{sentence[:MAX_OF_BUG]}…"
        self.show_message("error", f"Something went wrong here: {shown}", details)

    def clear(self, kind: Kind | None = None) -> None:
        """Hide the message; with `kind`, only if it is of that kind."""
        if kind in (None, self.kind):
            self._timer.stop()
            gone, self.kind = self.kind, None
            self._sentence.clear()
            if self.isAncestorOf(QApplication.focusWidget() or self):
                self._home.setFocus()  # else whatever comes next would have a ring
            self.hide()
            self.cleared.emit(gone)

    def outdate(self, least_ms: int = 0) -> None:
        """Hide an info that would go by itself: its subject was undone or is past.

        least_ms  it stays where it was shown more recently
        """
        if not self._stays and self._age.isValid() and self._age.elapsed() >= least_ms:
            self.clear("info")

    def dismiss(self, sentence: str) -> None:
        """Hide `sentence`, which holds no longer, if it is the message in view."""
        if self.kind is not None and self.sentence == sentence:
            self.clear()

    def _write(self, sentence: str) -> None:
        self._sentence.setPlainText(sentence)
        self.setAccessibleName(f"{WORDS[self.kind or 'info']}: {sentence}")

    def _wait(self) -> None:
        if self.kind == "info" and not self._stays and not self.underMouse():
            self._timer.start(max(INFO_MS, READING_MS * len(self.sentence)))

    def _place(self) -> None:
        lines = [each for each in self._lines if each.isVisible()]
        bottom = self._over.rect().bottom()
        # In the bar there is room for one line, or two in smaller letters; above it for more.
        tries = [(line, scale) for line in lines[:-1] for scale in (1.0, SMALL)]
        for line, scale in [*tries, *((line, 1.0) for line in lines[-1:])]:
            area, is_last = QRect(line.mapTo(self._over, QPoint()), line.size()), line is lines[-1]
            self._sentence.setFont(scaled_font(scale))
            room_px = (line.parentWidget() or line).height() - 2 * self.frameWidth()
            two_px = 2 * (self._sentence.fontMetrics().lineSpacing() + RING_PX)
            self._fit_into(area.width(), max(area.height(), two_px) if is_last else room_px)
            box = QRect(0, 0, area.width(), max(self.sizeHint().height(), area.height()))
            box.moveCenter(area.center())
            box.moveBottom(area.top() - 1 if is_last else min(box.bottom(), bottom))
            if self._sentence.is_whole and not self._is_folded:
                break
        if not lines:
            window = self._over.rect()
            width = min(window.width() - 2 * _MARGIN, WIDEST)
            self._fit_into(width, window.height())
            box = QRect(0, 0, width, self.sizeHint().height())
            box.moveCenter(window.center())
            box.moveBottom(window.bottom() - EDGE)
        self.setGeometry(box)

    def _fit_into(self, width: int, most_px: int) -> None:
        margins, gap = self._grid.contentsMargins(), self._grid.horizontalSpacing()
        shown = [part.sizeHint().width() + gap for part in self._beside if not part.isHidden()]
        self._sentence.most_px = most_px
        self._sentence.fit_height()
        self._fold(width - margins.left() - margins.right() - sum(shown) < READABLE)
        self.resize(width, self.height())
        self._grid.activate()  # which tells the sentence its width, and it its height

    def _fold(self, is_narrow: bool) -> None:
        if self._is_folded != is_narrow:
            self._is_folded = is_narrow
            self._grid.removeWidget(self._sentence)
            place = (1, 0, 1, 7) if is_narrow else (0, 2, 1, 1)
            self._grid.addWidget(self._sentence, *place)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() in _PLACED and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)


class Sentence(QTextEdit):
    """A text to read and select, as high as its width makes it; breaks long paths anywhere.

    most_px   what is higher scrolls
    is_whole  nothing does
    """

    def __init__(self) -> None:
        super().__init__(readOnly=True, acceptRichText=False, tabChangesFocus=True)
        self.setAccessibleName("Message")
        self.setFrameShape(QTextEdit.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.most_px = 1 << 15
        self.is_whole = True
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setProperty("sentence", True)  # for the style sheet
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self.fit_height)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.fit_height()

    def fit_height(self) -> None:
        needed = round(self.document().size().height()) + 2 * RING_PX
        height, self.is_whole = min(needed, self.most_px), needed <= self.most_px
        self.setVerticalScrollBarPolicy(_BARS[needed > height])
        if height != self.height():
            self.setFixedHeight(height)


class DetailsDialog(QDialog):
    """A sentence and the whole story, to read and to copy."""

    def __init__(
        self, sentence: str, details: str, parent: QWidget, title: str = "Details"
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(theme.window_size(760, 420))
        headline = Sentence()
        headline.setPlainText(sentence)
        text = QPlainTextEdit(details, readOnly=True)
        described(text, "detailsText", "Details")
        text.setFont(theme.fixed_font())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("&Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.setObjectName("copy")
        whole = f"{sentence}\n\n{details}"
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(whole))
        buttons.rejected.connect(self.reject)
        VBox(self).add(headline, (text, 1), buttons)
        copy.setFocus()  # else the sentence has a ring


Answer = tuple[str, str, Callable[[], None]]  # what a button says, its tooltip, what it does


class Question(QWidget):
    """A line that is hidden while there is nothing to ask; any answer ends it.

    name  of the object; its buttons are called name-0, name-1
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._sentence = Label(name=f"{name}-sentence", font=scaled_font(0.9), wraps=True)
        self._row = HBox(spacing=6)
        self._buttons: list[QPushButton] = []
        VBox(self, 0, 4).add(self._sentence, self._row)
        self.hide()

    @property
    def sentence(self) -> str:
        """The question; empty while there is none."""
        return self._sentence.text()

    def ask(self, sentence: str, *answers: Answer) -> None:
        """Ask this instead of whatever was asked."""
        self._sentence.setText(sentence)
        self.setAccessibleName(sentence)
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [self._button(at, answer) for at, answer in enumerate(answers)]
        self.show()

    def take_focus(self) -> None:
        """Let the keyboard give the first answer."""
        self._buttons[0].setFocus()

    def _button(self, at: int, answer: Answer) -> QPushButton:
        text, tip, do = answer
        title = f"{text.replace('&', '')}: {self.sentence}"
        button = push_button(f"{self.objectName()}-{at}", text, tip, title)
        button.clicked.connect(self.hide)
        button.clicked.connect(lambda: do())
        self._row.addWidget(button, 1)
        return button
