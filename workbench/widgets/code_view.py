"""Source text to read: its colours, by grammar or pattern, and a view with a copy button."""

from __future__ import annotations

import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.base.theme import Colors
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.tile import scaled_font

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

Span = tuple[int, int, str]  # begin and length within a line, as Qt counts letters; the kind
ENCODING = "utf-16-le"  # two bytes for what Qt counts as one letter
KINDS = """
(comment) @comment
[(string_literal) (char_literal) (raw_string_literal) (system_lib_string)] @text
(number_literal) @number
[(primitive_type) (type_identifier) (placeholder_type_specifier) (true) (false) (this)] @word
[(preproc_call) (preproc_directive)] @directive
(identifier) @name
"""
# The group: a comment that is not closed, which the grammar takes for something else.
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(/\*)', re.DOTALL)
# And all that begin with __.
BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize")
MAX_LETTERS = 1 << 20  # of a line: up to its end
# Where two of them meet the one further right counts.
RANK = ("number", "word", "special", "directive", "text", "comment")


def spans_of(text: str) -> list[tuple[Span, ...]]:
    """The parts of each line of CUDA C++ that have a kind, one of RANK.

    A line that stays has the same parts in the same order: else it would be coloured anew.
    """
    from tree_sitter import QueryCursor  # only where CUDA C++ is shown

    parser, query = _grammar()
    is_open = any(each[1] for each in COMMENTS.finditer(text))
    coded = (f"{text}*/" if is_open else text).encode(ENCODING, "surrogatepass")
    tree = parser.parse(coded, encoding="utf16le")
    found = QueryCursor(query).captures(tree.root_node)
    found.setdefault("special", []).extend(filter(_is_built_in, found.pop("name", ())))
    lines: list[list[Span]] = [[] for _ in range(text.count("\n") + 1)]
    for kind in RANK:
        for node in sorted(found.get(kind, ()), key=_place):
            (first, begin), (last, end) = node.start_point, node.end_point
            _mark(lines, (first, begin // 2), (last, end // 2), kind)
    return [tuple(line) for line in lines]


def _mark(lines: list[list[Span]], start: tuple[int, int], end: tuple[int, int], kind: str) -> None:
    """Add the part of each line from `start` to `end`, both (line, letter)."""
    for line in range(start[0], min(end[0], len(lines) - 1) + 1):
        left = start[1] if line == start[0] else 0
        right = end[1] if line == end[0] else MAX_LETTERS
        if right > left:
            lines[line].append((left, right - left, kind))


PYTHON_KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "text", tokenize.NUMBER: "number"}
for _part in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"):  # from Python 3.12 on
    PYTHON_KINDS[getattr(tokenize, _part, -1)] = "text"


def python_spans_of(text: str) -> list[tuple[Span, ...]]:
    """The same of Python, up to where it is no Python any more."""
    lines: list[list[Span]] = [[] for _ in range(text.count("\n") + 1)]
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(StringIO(text).readline):
            kind = PYTHON_KINDS.get(token.type, "")
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "word"
            (first, left), (last, right) = token.start, token.end
            if token.string == "@" and not token.line[:left].strip():
                kind, right = "directive", MAX_LETTERS
            if kind:
                _mark(lines, (first - 1, left), (last - 1, right), kind)
    return [tuple(line) for line in lines]


def _place(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _is_built_in(node: Node) -> bool:
    name = (node.text or b"").decode(ENCODING, "replace")
    return name in BUILT_IN or name.startswith("__")


@cache
def _grammar() -> tuple[Parser, Query]:
    import tree_sitter_cuda
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

    language = Grammar(tree_sitter_cuda.language())
    kinds = {
        language.node_kind_for_id(number)
        for number in range(language.node_kind_count)
        if language.node_kind_is_visible(number) and not language.node_kind_is_named(number)
    }
    words = {kind for kind in kinds if kind and kind.replace("_", "a").isalnum()}
    query = [
        KINDS,
        _any_of((word for word in words if word.startswith("__")), "special"),
        _any_of((word for word in words if not word.startswith("__")), "word"),
        _any_of((kind for kind in kinds if kind and kind.startswith("#")), "directive"),
    ]
    return Parser(language), Query(language, "\n".join(query))


def _any_of(words: Iterable[str], kind: str) -> str:
    return "[" + " ".join(f'"{word}"' for word in sorted(words)) + f"] @{kind}"


Language = Literal["cuda", "ptx", "assembly", "python"]

NUMBER = r"\b0[xX][0-9a-fA-F]+\b|\b\d[\w.]*"
PATTERNS: dict[str, re.Pattern[str]] = {
    "ptx": re.compile(
        r"(?P<comment>//.*)|(?P<directive>\.(?:version|target|address_size|visible|entry|param|reg"
        r"|shared|const|global|align|func|extern|maxntid|minnctapersm)\b[\w.]*)"
        rf"|(?P<special>\$\w+|%\w+(?:\.\w+)?)|(?P<word>^\s*(?:@!?%\w+\s+)?[a-z]\w*(?:\.\w+)*)"
        rf"|(?P<number>\b0[fFdDxX][0-9a-fA-F]+\b|{NUMBER})"
    ),
    # PTX or SASS behind the lines that it comes from, and what became of the row.
    "assembly": re.compile(
        r"(?P<comment>^[+−]?\s*\d+(?=\s))|(?P<directive>(?<=\s)\.[a-z]\w*[\w.]*)"
        r"|(?P<special>`\(\.L_x_\d+\)|\.L_x_\d+|\$\w+|%\w+(?:\.\w+)?|\bU?[RP][\dTZ]\w*\b)"
        r"|(?P<word>(?<=\s)(?:[A-Z][A-Z\d]+[\w.]*|[a-z]\w*(?:\.\w+)+|bra|ret)(?=[\s;]|$))"
        rf"|(?P<number>\b0[fFdDxX][0-9a-fA-F]+\b|{NUMBER})"
    ),
}
PARSERS = {"cuda": spans_of, "python": python_spans_of}  # of what goes on over lines


class CodeColours(QSyntaxHighlighter):
    """A highlighter of a document in one language, until another is chosen."""

    def __init__(self, document: QTextDocument, colors: Colors) -> None:
        super().__init__(None)  # type: ignore[call-overload]
        self.setParent(document)
        self._language: Language | None = None
        self._formats: dict[str, QTextCharFormat] = {}
        self._lines: list[tuple[Span, ...]] = []  # of a language of PARSERS
        self._is_parsed = False
        self._stale: set[int] = set()  # lines that others have given another meaning
        document.contentsChange.connect(self._take_change)  # before Qt colours what changed
        self.setDocument(document)
        document.contentsChanged.connect(self._colour_stale)
        self.choose(None, colors)

    def choose(self, language: Language | None, colors: Colors) -> None:
        """Colour in `language` from now on; None: not at all."""
        self._language, self._is_parsed, self._lines = language, False, []
        self._formats = {
            "comment": _format(colors.muted, italic=True),
            "text": _format(colors.good),
            "directive": _format(colors.warn),
            "special": _format(colors.bad),
            "word": _format(colors.accent),
            "number": _format(colors.good),
        }
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        if self._language in PARSERS:
            self._parse()
            line = self.currentBlock().blockNumber()
            for begin, count, kind in self._lines[line] if line < len(self._lines) else ():
                self.setFormat(begin, min(count, len(text) - begin), self._formats[kind])
        elif self._language is not None:
            for found in PATTERNS[self._language].finditer(text):
                kind = str(found.lastgroup)
                self.setFormat(found.start(), len(found[0]), self._formats[kind])

    @Slot()
    def _take_change(self) -> None:
        self._is_parsed = False

    def _parse(self) -> None:
        """Bring `_lines` up to date, and note which lines Qt does not know to have changed."""
        if self._is_parsed or self._language is None:
            return
        before, self._is_parsed = self._lines, True
        self._lines = now = PARSERS[self._language](self.document().toPlainText())
        first = last = 0
        shorter = min(len(before), len(now))
        while first < shorter and before[first] == now[first]:
            first += 1
        while last < shorter - first and before[-1 - last] == now[-1 - last]:
            last += 1
        self._stale |= set(range(first, len(now) - last)) if before else set()

    @Slot()
    def _colour_stale(self) -> None:
        stale, self._stale = sorted(self._stale), set()
        for line in stale:
            self.rehighlightBlock(self.document().findBlockByNumber(line))


def _format(color: str, *, italic: bool = False) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(QColor(color))
    made.setFontItalic(italic)
    if not italic:
        made.setFontWeight(QFont.Weight.Normal)
    return made


@contextmanager
def one_step(cursor: QTextCursor) -> Iterator[None]:
    """Take back by one undo what is done meanwhile, and lay the document out once, at the end."""
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


MAX_COLOURED = 400_000  # characters; beyond, colouring would hold up the window
MARGIN_PX = 6


def make_listing(edit: QPlainTextEdit) -> None:
    """Have a text be read and selected, by mouse and keys, in letters of one width."""
    edit.setReadOnly(True)
    edit.setTabChangesFocus(True)
    edit.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    edit.setFont(theme.fixed_font())
    edit.document().setDocumentMargin(MARGIN_PX)


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
        make_listing(self._edit)
        self._edit.setTabStopDistance(4 * self._edit.fontMetrics().horizontalAdvance(" "))
        self._colours = CodeColours(self._edit.document(), theme.colors())
        self._lay_out()
        self.show_sentence("")

    @property
    def text(self) -> str:
        """The text in view."""
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
        VBox(self, (0, 8, 0, 0), 6).add(self._files, self._caption, (self._edit, 1), tools)
