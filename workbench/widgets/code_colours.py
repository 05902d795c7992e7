"""Light colouring of source text: CUDA C++ by its grammar, all else by a pattern each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from workbench.base.theme import Colors

if TYPE_CHECKING:
    from workbench.widgets.cuda_syntax import Span

Language = Literal["cuda", "ptx", "assembly", "python"]

PYTHON_WORDS = (
    "and|as|assert|break|class|continue|def|elif|else|except|False|finally|for|from|global|if"
    "|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield"
)
NUMBER = r"\b0[xX][0-9a-fA-F]+\b|\b\d[\w.]*"
TEXT = r'"(?:\\.|[^"\\])*"' + "|" + r"'(?:\\.|[^'\\])*'"
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
    "python": re.compile(
        rf"(?P<comment>\#.*)|(?P<text>{TEXT})|(?P<directive>^\s*@\w.*)"
        rf"|\b(?P<word>{PYTHON_WORDS})\b|(?P<number>{NUMBER})"
    ),
}
# What goes on over lines: how it opens and ends, and what it is.
LONG_TEXTS = {"python": ('"""', '"""', "text")}
INSIDE = 1  # Qt's state of a line that ends within one


class CodeColours(QSyntaxHighlighter):
    """A highlighter of a document in one language, until another is chosen."""

    def __init__(self, document: QTextDocument, colors: Colors) -> None:
        super().__init__(None)  # type: ignore[call-overload]
        self.setParent(document)
        self._language: Language | None = None
        self._formats: dict[str, QTextCharFormat] = {}
        self._lines: list[tuple[Span, ...]] = []  # of CUDA C++
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
        if self._language is None:
            return
        if self._language == "cuda":
            self._colour_parts(self.currentBlock().blockNumber(), len(text))
            return
        start = self._colour_long_text(text)
        while 0 <= start < len(text):
            start = self._colour_until_long_text(text, start)

    def _colour_parts(self, line: int, length: int) -> None:
        """Colour a line of CUDA C++ by what its parts are within the whole text."""
        self._parse()
        for begin, count, kind in self._lines[line] if line < len(self._lines) else ():
            self.setFormat(begin, min(count, length - begin), self._formats[kind])

    @Slot()
    def _take_change(self) -> None:
        self._is_parsed = False

    def _parse(self) -> None:
        """Bring `_lines` up to date, and note which lines Qt does not know to have changed."""
        from workbench.widgets.cuda_syntax import spans_of

        if self._is_parsed:
            return
        before, self._is_parsed = self._lines, True
        self._lines = now = spans_of(self.document().toPlainText())
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
        if self._language == "cuda":
            for line in stale:
                self.rehighlightBlock(self.document().findBlockByNumber(line))

    def _colour_long_text(self, text: str) -> int:
        """Colour the rest of what was opened in an earlier line; return its end, or -1."""
        self.setCurrentBlockState(0)
        return self._end_of_long_text(text, 0, 0) if self.previousBlockState() == INSIDE else 0

    def _colour_until_long_text(self, text: str, start: int) -> int:
        assert self._language is not None
        opening = LONG_TEXTS.get(self._language, ("", "", ""))[0]
        for found in PATTERNS[self._language].finditer(text, start):
            begins = text.find(opening, start, found.start() + 1) if opening else -1
            if begins >= 0:
                return self._end_of_long_text(text, begins, begins + len(opening))
            self.setFormat(found.start(), len(found[0]), self._formats[str(found.lastgroup)])
            start = found.end()
        begins = text.find(opening, start) if opening else -1
        return -1 if begins < 0 else self._end_of_long_text(text, begins, begins + len(opening))

    def _end_of_long_text(self, text: str, begins: int, inside: int) -> int:
        assert self._language is not None
        _, ending, kind = LONG_TEXTS[self._language]
        ends = text.find(ending, inside)
        stop = ends + len(ending) if ends >= 0 else len(text)
        self.setFormat(begins, stop - begins, self._formats[kind])
        if ends < 0:
            self.setCurrentBlockState(INSIDE)
            return -1
        return stop


def _format(color: str, *, italic: bool = False) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(QColor(color))
    made.setFontItalic(italic)
    if not italic:
        made.setFontWeight(QFont.Weight.Normal)
    return made
