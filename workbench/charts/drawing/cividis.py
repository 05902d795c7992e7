"""A scale of colours that looks alike with every kind of colour vision, and text that reads on it.

Cividis: Nuñez, Anderton and Renslow, Optimizing colormaps with consideration for color vision
deficiency, PLoS ONE 13(7), 2018.
"""

from __future__ import annotations

from PySide6.QtGui import QColor

CIVIDIS = (
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173",
    "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
)  # fmt: skip
ON_LIGHT, ON_DARK = "#10151b", "#f6f7f9"  # text on it,
DARK_ON_LIGHT = 0.48  # by the colour's lightness


def cividis(share: float) -> QColor:
    """Return the colour of a share from 0, dark blue, to 1, light yellow."""
    at = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    below = min(int(at), len(CIVIDIS) - 2)
    ends = zip(
        QColor(CIVIDIS[below]).getRgbF()[:3],  # type: ignore[index]
        QColor(CIVIDIS[below + 1]).getRgbF()[:3],  # type: ignore[index]
        strict=True,
    )
    return QColor.fromRgbF(*(a + (at - below) * (b - a) for a, b in ends))


def text_on(color: QColor) -> QColor:
    """Return the colour of text: dark on a light colour, light on a dark one."""
    return QColor(ON_LIGHT if color.lightnessF() > DARK_ON_LIGHT else ON_DARK)
