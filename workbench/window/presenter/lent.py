"""A widget that is lent to another window, and comes back to its place."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout, QWidget


class Lent:
    """A widget taken out of its layout, where an empty one keeps its place."""

    def __init__(self, widget: QWidget) -> None:
        """Take `widget` out of the layout of its parent."""
        self.widget = widget
        self._was_hidden = widget.isHidden()
        self._gap = QWidget()
        self._layout_of(widget).replaceWidget(widget, self._gap)
        self._gap.setVisible(not self._was_hidden)

    def give_back(self) -> None:
        """Put the widget back where it was."""
        self._layout_of(self._gap).replaceWidget(self._gap, self.widget)
        self.widget.setHidden(self._was_hidden)
        self._gap.deleteLater()

    @staticmethod
    def _layout_of(widget: QWidget) -> QLayout:
        parent = widget.parentWidget()
        assert parent is not None
        layout = parent.layout()
        assert layout is not None
        return layout
