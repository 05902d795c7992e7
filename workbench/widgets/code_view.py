"""Source text to read: its colours, by patterns, and a view with a copy button."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from kernels.core.plain_data import table_beside
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.base.theme import Colors
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, tab_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.tile import scaled_font

Language = Literal["cuda", "assembly", "python"]

NUMBER = r"\b0[xX][0-9a-fA-F]+\w*|\b\d[\w.]*"
STRING = r"""\w*"(?:\\.|[^"\\])*"?|\w*'(?:\\.|[^'\\])*'?"""
CPP_WORDS = "|".join(table_beside(__file__)["words"])
PATTERNS: dict[Language, re.Pattern[str]] = {
    "cuda": re.compile(
        r"(?P<comment>//.*|/\*.*?\*/)|(?P<open>/\*.*)|(?P<directive>^\s*#\s*\w+)"
        rf"|(?P<text>(?<=#include )<[^>]+>|{STRING})"
        r"|(?P<special>\b(?:__\w+|(?:thread|block)Idx|(?:block|grid)Dim|warpSize)\b)"
        rf"|(?P<word>\b(?:{CPP_WORDS})\b)|(?P<number>{NUMBER})"
    ),
    "python": re.compile(
        r"(?P<comment>#.*)|(?P<directive>^\s*@.*)|(?P<text>\w*(\"\"\"|''').*?\4)"
        rf"|(?P<open>\w*(?:\"\"\"|''').*)|(?P<string>{STRING})"
        rf"|(?P<word>\b(?:{'|'.join(keyword.kwlist)})\b)|(?P<number>{NUMBER})"
    ),
    # PTX or SASS, also after the lines that it comes from, and what became of the row.
    "assembly": re.compile(
        r"(?P<comment>^[+−]?\s*\d+(?=\s)|//.*)|(?P<directive>(?:^|(?<=\s))\.[a-z]\w*[\w.]*)"
        r"|(?P<special>`\(\.L_x_\d+\)|\.L_x_\d+|\$\w+|%\w+(?:\.\w+)?|\bU?[RP][\dTZ]\w*\b)"
        r"|(?P<word>(?<=\s)(?:[A-Z][A-Z\d]+[\w.]*|[a-z]\w*(?:\.\w+)+|bra|ret)(?=[\s;]|$))"
        rf"|(?P<number>\b0[fFdDxX][0-9a-fA-F]+\b|{NUMBER})"
    ),
}
# What ends a comment or a text that goes on over lines; its number is the state of a line.
ENDS = ("", "*/", '"""', "'''")


class CodeColours(QSyntaxHighlighter):
    """A highlighter of a document in one language, until another is chosen."""

    def __init__(self, document: QTextDocument, colors: Colors) -> None:
        super().__init__(document)
        self._pattern: re.Pattern[str] | None = None
        self._formats: dict[str | None, QTextCharFormat] = {}
        self.choose(None, colors)

    def choose(self, language: Language | None, colors: Colors) -> None:
        """Colour in `language` from now on; None: not at all."""
        self._pattern = PATTERNS[language] if language is not None else None
        good = colors.good
        by_group = {
            **{"comment": colors.muted, "directive": colors.warn, "special": colors.bad},
            **{"text": good, "string": good, "number": good, "word": colors.accent},
        }
        for group, color in by_group.items():
            self._formats[group] = QTextCharFormat()
            self._formats[group].setForeground(QColor(color))
        self._formats["comment"].setFontItalic(True)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        self.setCurrentBlockState(0)
        if self._pattern is None:
            return
        begin, state = 0, max(self.previousBlockState(), 0)
        if state:
            found = text.find(ENDS[state])
            begin = len(text) if found < 0 else found + len(ENDS[state])
            self._continue(0, begin, state)
            self.setCurrentBlockState(state if found < 0 else 0)
        for part in self._pattern.finditer(text, begin):
            if part.lastgroup == "open":
                state = next(n for n, end in enumerate(ENDS) if end and end[::-1] in part[0])
                self._continue(part.start(), len(text), state)
                self.setCurrentBlockState(state)
            else:
                self.setFormat(part.start(), len(part[0]), self._formats[part.lastgroup])

    def _continue(self, begin: int, end: int, state: int) -> None:
        kind = "comment" if ENDS[state] == "*/" else "text"
        self.setFormat(begin, end - begin, self._formats[kind])


@contextmanager
def one_step(cursor: QTextCursor) -> Iterator[None]:
    """Take back by one undo what is done meanwhile, and lay the document out once, at the end."""
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


MAX_COLOURED = 150_000  # characters; beyond, colouring would hold up the window
MARGIN_PX = 6


class SourceText(NamedTuple):
    """A text to read, and its name."""

    name: str
    text: str
    language: Language
    first_line: int = 0  # from 0, the one at the top when it is opened


class CodeView(QWidget):
    """A view of one of several texts.

    edit  where it stands

    Signals:
        shown(name): the text of this name is in view.
    """

    shown = Signal(str)

    def __init__(self, name: str, title: str, choice_tip: str) -> None:
        """Make the view; choice_tip: what its several texts are."""
        super().__init__()
        self._texts: tuple[SourceText, ...] = ()
        self._files = DropDown(f"{name}-file", f"{title}: text")
        self._files.setToolTip(tip_text(choice_tip))
        self._files.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._files.activated.connect(lambda _: self._show_chosen())
        self._caption = Label(
            name=f"{name}-caption", font=scaled_font(0.9), is_muted=True, wraps=True
        )
        self._copy = tab_button(f"{name}-copy", "Copy", "Copy all of this text")
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text))
        tip = "Ctrl and the mouse wheel change the size of the letters"
        self.edit = described(QPlainTextEdit(), name, title, tip)
        self.edit.setReadOnly(True)
        self.edit.setTabChangesFocus(True)
        self.edit.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.edit.setFont(theme.fixed_font())
        self.edit.document().setDocumentMargin(MARGIN_PX)
        self.edit.setTabStopDistance(4 * self.edit.fontMetrics().horizontalAdvance(" "))
        self._colours = CodeColours(self.edit.document(), theme.colors())
        tools = HBox().add(self._copy, 1)
        VBox(self, (0, 8, 0, 0), 6).add(self._files, self._caption, (self.edit, 1), tools)
        self.show_sentence("")

    @property
    def chosen(self) -> str:
        """The name of the text in view, or of the one to be shown."""
        return self._files.currentText()

    def choose(self, name: str) -> None:
        """Show the text of this name, now or once there is one."""
        if self._files.findText(name) < 0:
            self._files.addItem(name)
        self._files.setCurrentText(name)
        if self._texts:
            self._show_chosen()

    @property
    def text(self) -> str:
        return self.edit.toPlainText()

    def show_texts(
        self, texts: Sequence[SourceText], caption: str = "", *, keeps_place: bool = False
    ) -> None:
        """Show the first of `texts`, or the one of the name chosen before.

        keeps_place  at the row where that one was left
        """
        self.edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._caption.show_or_hide(caption)
        if tuple(texts) == self._texts:
            return
        chosen, keeps_place = self._files.currentText(), keeps_place and bool(self._texts)
        self._texts = tuple(texts)
        with QSignalBlocker(self._files):
            self._files.clear()
            self._files.addItems([each.name for each in texts])
            self._files.setCurrentIndex(max(self._files.findText(chosen), 0))
        self._files.setVisible(len(self._texts) > 1)
        self._copy.setEnabled(True)
        self._show_chosen(keeps_place and self._files.currentText() == chosen)

    def show_sentence(self, sentence: str) -> None:
        """Show why there is no text, in its place."""
        self._texts = ()
        self._files.hide()
        self._copy.setEnabled(False)
        self._caption.show_or_hide("")
        self.edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._colour(None)
        self.edit.setPlainText(sentence)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._texts:
            self._colour(self._language)

    @property
    def _language(self) -> Language | None:
        chosen = self._texts[self._files.currentIndex()]
        return chosen.language if len(chosen.text) <= MAX_COLOURED else None

    def _show_chosen(self, keeps_place: bool = False) -> None:
        self._colour(None)  # so that each line is coloured once
        chosen = self._texts[self._files.currentIndex()]
        bar, document = self.edit.verticalScrollBar(), self.edit.document()
        top = bar.value() if keeps_place else chosen.first_line  # it counts in lines
        row = self.edit.textCursor().blockNumber() if keeps_place else 0
        with QSignalBlocker(self.edit):  # nobody moved the cursor
            self.edit.setPlainText(chosen.text)
            block = document.findBlockByNumber(min(row, document.blockCount() - 1))
            self.edit.setTextCursor(QTextCursor(block))
        self._colour(self._language)
        bar.setValue(top)
        self.shown.emit(chosen.name)

    def _colour(self, language: Language | None) -> None:
        self._colours.choose(language, theme.colors(self.palette()))
