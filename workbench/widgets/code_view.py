"""Source text to read, in colour and in letters of one width, with a choice and a copy button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.code_colours import CodeColours, Language
from workbench.widgets.drop_down import DropDown
from workbench.widgets.tile import scaled_font

MAX_COLOURED = 400_000  # characters; beyond, colouring would hold up the window
MARGIN_PX = 6


class SourceText(NamedTuple):
    """A text to read, and its name.

    first_line  from 0, the one at the top when it is opened; those before it are scrolled up to
    """

    name: str
    text: str
    language: Language
    first_line: int = 0


class CodeView(QWidget):
    """A view of one of several texts.

    Signals:
        large_wanted(): the user wants more room to read.
    """

    large_wanted = Signal()

    def __init__(self, name: str, title: str, choice_tip: str) -> None:
        """Make the view; choice_tip: what its several texts are."""
        super().__init__()
        self._texts: tuple[SourceText, ...] = ()
        self._files = DropDown(f"{name}-file", f"{title}: text")
        self._files.setToolTip(tip_text(choice_tip))
        self._files.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._files.activated.connect(self._show_chosen)
        self._caption = Label(
            name=f"{name}-caption", font=scaled_font(0.9), is_muted=True, wraps=True
        )
        self._copy = tab_button(f"{name}-copy", "Copy", "Copy all of this text")
        self._copy.clicked.connect(self._copy_all)
        self._large = tab_button(f"{name}-large", "", "")
        self.show_large(False)
        self._large.clicked.connect(self.large_wanted)
        self._edit = QPlainTextEdit()
        self._edit.setObjectName(name)
        self._edit.setAccessibleName(title)
        self._edit.setToolTip("Ctrl and the mouse wheel change the size of the letters")
        self._edit.setReadOnly(True)
        self._edit.setTabChangesFocus(True)
        self._edit.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._edit.setFont(theme.fixed_font())
        self._edit.setTabStopDistance(4 * self._edit.fontMetrics().horizontalAdvance(" "))
        self._edit.document().setDocumentMargin(MARGIN_PX)
        self._colours = CodeColours(self._edit.document(), theme.colors())
        self._lay_out()
        self.show_sentence("")

    @property
    def text(self) -> str:
        """Return the text in view."""
        return self._edit.toPlainText()

    def show_texts(self, texts: Sequence[SourceText], caption: str = "") -> None:
        """Show the first of `texts`, or the one of the name chosen before."""
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._show_caption(caption)
        if tuple(texts) == self._texts:
            return
        chosen, self._texts = self._files.currentText(), tuple(texts)
        with QSignalBlocker(self._files):
            self._files.clear()
            self._files.addItems([each.name for each in texts])
            self._files.setCurrentIndex(max(self._files.findText(chosen), 0))
        self._files.setVisible(len(self._texts) > 1)
        self._copy.setEnabled(True)
        self._show_chosen()

    def show_large(self, is_large: bool) -> None:
        """Tell the view whether it has as much room as can be had."""
        self._large.setText("Put back" if is_large else "Enlarge")
        tip = "Put it back beside the pictures" if is_large else "Read it in a window of its own"
        self._large.setToolTip(tip_text(tip))

    def show_sentence(self, sentence: str) -> None:
        """Show why there is no text, in its place."""
        self._texts = ()
        self._files.hide()
        self._copy.setEnabled(False)
        self._show_caption("")
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._colour(None)
        self._edit.setPlainText(sentence)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._texts:
            self._colour(self._language)

    @property
    def _language(self) -> Language | None:
        chosen = self._texts[self._files.currentIndex()]
        return chosen.language if len(chosen.text) <= MAX_COLOURED else None

    @Slot()
    def _show_chosen(self) -> None:
        self._colour(None)  # so that each line is coloured once
        chosen = self._texts[self._files.currentIndex()]
        self._edit.setPlainText(chosen.text)
        self._colour(self._language)
        self._edit.verticalScrollBar().setValue(chosen.first_line)  # it counts in lines

    def _colour(self, language: Language | None) -> None:
        self._colours.choose(language, theme.colors(self.palette()))

    def _show_caption(self, caption: str) -> None:
        self._caption.setText(caption)
        self._caption.setVisible(bool(caption))

    @Slot()
    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self.text)

    def _lay_out(self) -> None:
        tools = HBox(spacing=6)
        tools.add(self._copy, self._large, 1)
        layout = VBox(self, (0, 8, 0, 0), 6)
        layout.add(self._files, self._caption, (self._edit, 1), tools)
