"""The colours of source text, also of what goes on over lines."""

import pytest
from PySide6.QtGui import QTextDocument

from workbench.base import theme
from workbench.widgets.code_view import CodeColours

COLORS = theme.LIGHT
MUTED, GOOD, WORD, SPECIAL = COLORS.muted, COLORS.good, COLORS.accent, COLORS.bad
CUDA = '/* a\n0 b */ int x = 1; // c /*\n__device__ float4 y; "s\\"/*" z /* open\n0\n*/ return 2;'
PYTHON = '"""Doc\nif 1\n"""\nif x:  # """\n    y = \'\'\'a\'\'\' + f"b"\n'


def coloured(document):
    """Each part with a colour of its own: its line, text and colour."""
    block, found = document.begin(), []
    while block.isValid():
        for part in block.layout().formats():
            text = block.text()[part.start : part.start + part.length]
            found.append((block.blockNumber(), text, part.format.foreground().color().name()))
        block = block.next()
    return found


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "cuda",
            CUDA,
            [
                *((0, "/* a", MUTED), (1, "0 b */", MUTED), (1, "int", WORD), (1, "1", GOOD)),
                *((1, "// c /*", MUTED), (2, "__device__", SPECIAL), (2, "float4", WORD)),
                *((2, '"s\\"/*"', GOOD), (2, "/* open", MUTED), (3, "0", MUTED)),
                *((4, "*/", MUTED), (4, "return", WORD), (4, "2", GOOD)),
            ],
        ),
        (
            "python",
            PYTHON,
            [
                *((0, '"""Doc', GOOD), (1, "if 1", GOOD), (2, '"""', GOOD), (3, "if", WORD)),
                *((3, '# """', MUTED), (4, "'''a'''", GOOD), (4, 'f"b"', GOOD)),
            ],
        ),
    ],
)
def test_parts_have_the_colours_of_their_kind(qapp, language, text, expected):
    document = QTextDocument(text)
    CodeColours(document, COLORS).choose(language, COLORS)
    assert coloured(document) == expected
