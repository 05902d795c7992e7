"""Light colouring of source text: CUDA C++, PTX and Python; one pattern a language."""

from __future__ import annotations

import re
from typing import Literal

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from workbench.base.theme import Colors

Language = Literal["cuda", "ptx", "python"]

CUDA_WORDS = (
    "__global__|__device__|__constant__|__shared__|__restrict__|__launch_bounds__|__forceinline__"
    r"|__align__|__sync\w+|threadIdx|blockIdx|blockDim|gridDim|warpSize|extern|asm"
)
CPP_WORDS = (
    "alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum"
    "|false|float|for|if|inline|int|long|namespace|operator|return|short|signed|sizeof|static"
    "|static_assert|struct|switch|template|true|typedef|typename|union|unsigned|using|void|volatile"
    r"|while|u?int(?:8|16|32|64)_t|size_t|sample|half|float[234]|u?int[234]"
)
PYTHON_WORDS = (
    "and|as|assert|break|class|continue|def|elif|else|except|False|finally|for|from|global|if"
    "|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield"
)
NUMBER = r"\b0[xX][0-9a-fA-F]+\b|\b\d[\w.]*"
TEXT = r'"(?:\\.|[^"\\])*"' + "|" + r"'(?:\\.|[^'\\])*'"
PATTERNS: dict[Language, re.Pattern[str]] = {
    "cuda": re.compile(
        rf"(?P<comment>//.*)|(?P<text>{TEXT})|(?P<directive>^\s*\#.*)"
        rf"|\b(?P<special>{CUDA_WORDS})\b|\b(?P<word>{CPP_WORDS})\b|(?P<number>{NUMBER})"
    ),
    "ptx": re.compile(
        r"(?P<comment>//.*)|(?P<directive>\.(?:version|target|address_size|visible|entry|param|reg"
        r"|shared|const|global|align|func|extern|maxntid|minnctapersm)\b[\w.]*)"
        rf"|(?P<special>\$\w+|%\w+(?:\.\w+)?)|(?P<word>^\s*(?:@!?%\w+\s+)?[a-z]\w*(?:\.\w+)*)"
        rf"|(?P<number>\b0[fFdDxX][0-9a-fA-F]+\b|{NUMBER})"
    ),
    "python": re.compile(
        rf"(?P<comment>\#.*)|(?P<text>{TEXT})|(?P<directive>^\s*@\w.*)"
        rf"|\b(?P<word>{PYTHON_WORDS})\b|(?P<number>{NUMBER})"
    ),
}
# What goes on over lines: how it opens and ends, and what it is.
LONG_TEXTS = {"cuda": ("/*", "*/", "comment"), "python": ('"""', '"""', "text")}
INSIDE = 1  # Qt's state of a line that ends within one


class CodeColours(QSyntaxHighlighter):
    """A highlighter of a document in one language, until another is chosen."""

    def __init__(self, document: QTextDocument, colors: Colors) -> None:
        super().__init__(document)
        self._language: Language | None = None
        self._formats: dict[str, QTextCharFormat] = {}
        self.choose(None, colors)

    def choose(self, language: Language | None, colors: Colors) -> None:
        """Colour in `language` from now on; None: not at all."""
        self._language = language
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
        start = self._colour_long_text(text)
        while 0 <= start < len(text):
            start = self._colour_until_long_text(text, start)

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
