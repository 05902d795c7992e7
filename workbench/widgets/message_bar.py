"""Messages and questions to the user, and what floats over the pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QIcon,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QTextEdit,
    QWidget,
)

from workbench.base import theme
from workbench.base.paths import asset
from workbench.base.plain_text import Label, tip_text
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
READABLE = 200  # for the sentence: with less it covers more of the bar than the part it lies over
MAX_LINES = 2
MAX_OF_BUG = 240  # characters
SMALL = 0.85  # letters of two lines where there is room for one
RING_PX = 2  # around a sentence that has the keyboard; see the style sheet
_MARGIN = 18
# Kind in words beside the icon, and size of the letters: the first that shows all is taken.
_WAYS = ((True, 1.0), (True, SMALL), (False, SMALL))
_ELIDED = Qt.TextElideMode.ElideRight
_PLACED = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


@dataclass(frozen=True, slots=True)
class _Filling:
    """What a bar shows of its sentence, and what beside it."""

    has_word: bool
    font: QFont
    words: str
    is_cut: bool
    room_px: int


class MessageBar(QFrame):
    """A bar that lies over part of a bar of the window, and moves nothing there.

    Hidden while there is nothing to say.  What two lines do not hold is in a tooltip, and in a
    dialog behind a button.
    An info goes by itself, but not from under the pointer; with a button it waits for `outdate`.
    A warning or an error stays until it is dismissed (the button, or Esc) or another message takes
    its place, and so does an info that is to stay.

    Signals:
        cleared(kind): a message of this kind is gone, with none in its place.
    """

    cleared = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.kind: Kind | None = None  # of the message in view
        self._over = self._home = window
        self._part: QWidget | None = None
        self._behind = window
        self._whole = self._details = ""
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
        self._beside = (self._icon, self._word, *self._acts, self._more, self._dismiss)
        self._row = HBox(self, (16, 0, 8, 0), 10)
        self._row.add(*self._beside[:2], (self._sentence, 1), *self._beside[2:])
        self.hide()
        Watch(self, QEvent.Type.LayoutRequest).seen.connect(self._place)
        Watch(self, QEvent.Type.Enter).seen.connect(self._timer.stop)
        Watch(self, QEvent.Type.Leave).seen.connect(self._wait)
        window.installEventFilter(self)

    def lie_over(self, part: QWidget, behind: QWidget, home: QWidget) -> None:
        """Lie over `part` of a bar; where that is narrow, over more of it, but not over `behind`.

        What has the keyboard here gives it to `home`.
        """
        self._part, self._behind, self._home = part, behind, home
        for each in (part, behind):
            each.installEventFilter(self)

    @property
    def sentence(self) -> str:
        """The message in view; empty: there is none."""
        return self._whole

    def show_message(
        self,
        kind: Kind,
        sentence: str,
        details: str = "",
        actions: Sequence[Act] = (),
        *,
        stays: bool = False,
    ) -> None:
        """Show `sentence` instead of whatever was said; `details`, `actions`: a click away.

        actions  two at most
        stays    also an info waits until it is dismissed
        """
        self.kind, self._details, self._stays = kind, details, stays
        self._more.setText("Deta&ils…" if details else "&More…")
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
            gone, self.kind, self._whole = self.kind, None, ""
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
        self._whole = sentence
        self.setAccessibleName(f"{WORDS[self.kind or 'info']}: {sentence}")

    def _wait(self) -> None:
        if self.kind == "info" and not (self._stays or self._offered or self.underMouse()):
            self._timer.start(max(INFO_MS, READING_MS * len(self.sentence)))

    def _place(self) -> None:
        window, part = self._over.rect(), self._part
        bar = part and part.parentWidget()
        if part and bar and bar.isVisible():  # the part itself may be hidden by a status message
            box = QRect(part.mapTo(self._over, QPoint()), part.size())
            height_px = bar.height() - 2 * self.frameWidth()
            most = self._behind.mapTo(self._over, QPoint()).x() - 1
            for end in (min(box.right(), most), most):
                box.setRight(end)
                filling = self._filling(box.width(), height_px, _WAYS)
                if not filling.is_cut or filling.room_px >= READABLE:
                    break
            middle, lowest = box.center(), window.bottom()
        else:  # nothing but the picture is in view
            box = QRect(0, 0, min(window.width() - 2 * _MARGIN, WIDEST), 0)
            filling = self._filling(box.width(), window.height(), _WAYS[:1])
            middle, lowest = QPoint(window.center().x(), window.bottom()), window.bottom() - EDGE
        self._fill(box.width(), filling)
        box.setHeight(max(self.sizeHint().height(), box.height()))
        box.moveCenter(middle)
        box.moveBottom(min(box.bottom(), lowest))
        self.setGeometry(box)

    def _filling(self, width: int, px: int, ways: Sequence[tuple[bool, float]]) -> _Filling:
        """Find the first way to show all of the sentence in a bar of this size, else cut it.

        No widget is changed to find it: a change requests the layout, which leads here again.
        """
        margins, gap = self._row.contentsMargins(), self._row.spacing()
        room_px = width - margins.left() - margins.right() - 2 * self.frameWidth()
        for has_word, scale, is_cut in (*((*way, False) for way in ways), (*ways[-1], True)):
            seen = {self._word: has_word, self._more: bool(self._details) or is_cut}
            shown = [each for each in self._beside if seen.get(each, not each.isHidden())]
            left_px = room_px - sum(each.sizeHint().width() + gap for each in shown)
            font = scaled_font(scale)
            words, is_whole = self._sentence.words_within(self._whole, font, left_px, px)
            if is_whole:
                break
        return _Filling(has_word, font, words, not is_whole, left_px)

    def _fill(self, width: int, filling: _Filling) -> None:
        self._word.setVisible(filling.has_word)
        self._more.setVisible(bool(self._details) or filling.is_cut)
        self._sentence.setFont(filling.font)
        self._sentence.show_words(filling.words, self._whole if filling.is_cut else "")
        self.resize(width, self.height())
        self._row.activate()  # which tells the sentence its width, and it its height

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() in _PLACED and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)


class Sentence(QTextEdit):
    """A text to read and select, as high as its width makes it; breaks long paths anywhere."""

    def __init__(self) -> None:
        super().__init__(readOnly=True, acceptRichText=False, tabChangesFocus=True)
        self.setAccessibleName("Message")
        self.setFrameShape(QTextEdit.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setProperty("sentence", True)  # for the style sheet
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self.fit_height)

    def words_within(self, text: str, font: QFont, width: int, height: int) -> tuple[str, bool]:
        """Return what of `text` two lines at most of this size show, and whether that is all."""
        text, metrics = " ".join(text.split("\n")), QFontMetrics(font)
        width, height = (px - 2 * RING_PX for px in (width, height))
        layout = QTextLayout(text, font)
        layout.setTextOption(self.document().defaultTextOption())
        layout.beginLayout()
        starts = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(width, 1))
            starts.append(line.textStart())
        layout.endLayout()
        count = max(1, min(MAX_LINES, height // metrics.lineSpacing()))
        if len(starts) <= count:
            return text, True
        last = starts[count - 1]
        return text[:last] + metrics.elidedText(text[last:], _ELIDED, width), False

    def show_words(self, words: str, whole: str) -> None:
        """Show `words`, and in a tooltip the `whole` that they were cut from, if any."""
        self.setToolTip(tip_text(whole))
        if words != self.toPlainText():  # else a selection would go
            self.setPlainText(words)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.fit_height()

    def fit_height(self) -> None:
        height = round(self.document().size().height()) + 2 * RING_PX
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
        headline.setVisible(bool(details))
        text = QPlainTextEdit(details or sentence, readOnly=True)
        described(text, "detailsText", "Details")
        text.setFont(theme.fixed_font())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("&Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.setObjectName("copy")
        whole = f"{sentence}\n\n{details}".strip()
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
