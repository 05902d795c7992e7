"""A window that takes what is dropped on it, and shows so while it is dragged over it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from kernels.rungs.own_kernels import is_own
from workbench.base import theme
from workbench.session import clipboard
from workbench.session.session_store import is_named_for_sweep

EDGE_PX, INSET_PX, ROUND_PX = 4, 6, 10
VEIL_ALPHA = 40  # of 255
MAX_NAME = 60  # letters of a name on the sign


class DropTarget(QObject):
    """A watcher of what is dragged over a window.

    Signals:
        dropped(content): what was let go of over it.
    """

    dropped = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._sign: DropSign | None = None
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QDragEnterEvent):
            if clipboard.holds_picture(event.mimeData()):
                event.acceptProposedAction()
                self._show_sign(event.mimeData())
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._hide_sign()
        elif isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self._hide_sign()
            event.acceptProposedAction()
            self.dropped.emit(event.mimeData())
            return True
        return super().eventFilter(watched, event)

    def _show_sign(self, content: QMimeData) -> None:
        if self._sign is None:
            self._sign = DropSign(self._window)
        self._sign.show_words(words_for(content))

    def _hide_sign(self) -> None:
        if self._sign is not None:
            self._sign.hide()


class DropSign(QWidget):
    """A frame around the whole window, with what letting go would do."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("drop-sign")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._words = ""

    def show_words(self, words: str) -> None:
        """Show them over the window."""
        self._words = words
        self.setAccessibleName(words)
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colors = theme.colors(self.palette())
        accent = QColor(colors.accent)
        veil = QColor(accent)
        veil.setAlpha(VEIL_ALPHA)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent, EDGE_PX))
        painter.setBrush(veil)
        frame = QRectF(self.rect()).adjusted(INSET_PX, INSET_PX, -INSET_PX, -INSET_PX)
        painter.drawRoundedRect(frame, ROUND_PX, ROUND_PX)
        self._paint_words(painter, colors)

    def _paint_words(self, painter: QPainter, colors: theme.Colors) -> None:
        font = self.font()
        font.setPointSizeF(1.6 * font.pointSizeF())
        font.setBold(True)
        painter.setFont(font)
        text = painter.fontMetrics().boundingRect(self._words)
        card = QRectF(0, 0, text.width() + 48, text.height() + 28)
        card.moveCenter(QRectF(self.rect()).center())
        painter.setPen(QPen(QColor(colors.accent), 1.5))
        painter.setBrush(QColor(colors.panel))
        painter.drawRoundedRect(card, ROUND_PX, ROUND_PX)
        painter.setPen(QColor(colors.text))
        painter.drawText(card, Qt.AlignmentFlag.AlignCenter, self._words)


def words_for(content: QMimeData) -> str:
    """Return what dropping `content` would do, in a few words.

    Files go by their names: to look at one on a slow network would hold up who drags it.
    """
    paths = clipboard.files_in(content)
    if not paths:
        return "Open this picture"
    if len(paths) > 1:
        return f"Open {len(paths):,} files"
    return " ".join(filter(None, ("Open", _kind(paths[0]), _short(paths[0]))))


def _kind(path: Path) -> str:
    if is_own(path.name):
        return "kernel"
    return "session" if is_named_for_sweep(path) else ""


def _short(path: Path) -> str:
    name = path.name or str(path)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
