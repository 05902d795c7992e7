"""Labels for sentences: as wide as the panel, and as high as that takes."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QSizePolicy

from workbench.base.plain_text import Label
from workbench.widgets.tile import scaled_font


def words_label(name: str, scale: float = 1.0, *, is_muted: bool = False) -> QLabel:
    """Return a label for a sentence, as high as its words take in the panel's width."""
    label = Label(name=name, is_muted=is_muted, wraps=True)
    label.setFont(scaled_font(scale))
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    label.setTextInteractionFlags(label.textInteractionFlags().TextSelectableByMouse)
    return label
