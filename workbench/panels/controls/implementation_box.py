"""A list of all implementations, under headings for CPU, CUDA and the user's own."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from kernels.engine.auto import AUTO
from kernels.rungs.own_kernels import is_own
from workbench.base.plain_text import tip_text
from workbench.model.intents import Choice
from workbench.widgets.drop_down import ToolList, heading_item

Availability = list[tuple[Choice, str | None]]
KIND_TITLES = {"cpu": "CPU", "cuda": "CUDA"}
OWN_TITLE = "Yours"
REASON = Qt.ItemDataRole.UserRole + 1  # why it cannot run


class ImplementationBox(ToolList):
    """A list of implementations; what cannot run is grey, and its tip says why."""

    def __init__(self, name: str, title: str, *, offers_all: bool = False) -> None:
        """Make a list; `offers_all` lets what cannot run be chosen as well, to look at it."""
        super().__init__(name, title)
        self._offers_all = offers_all
        self._availability: Availability = []
        self.setItemDelegate(_Greying(self))

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        self._availability = availability
        self._fill()

    def _fill(self) -> None:
        model = QStandardItemModel(self)
        current = self.currentData()
        kind = ""
        for implementation, reason in self._availability:
            its_kind = "own" if is_own(implementation.key) else implementation.kind
            if its_kind not in (kind, AUTO.kind):
                kind = its_kind
                title = KIND_TITLES.get(kind, OWN_TITLE)
                model.appendRow(heading_item(title, self.font()))
            item = QStandardItem(implementation.title)
            item.setData(implementation.key, Qt.ItemDataRole.UserRole)
            item.setToolTip(tip_text(reason or implementation.idea))
            item.setData(reason, REASON)
            item.setEnabled(reason is None or self._offers_all)
            model.appendRow(item)
        with QSignalBlocker(self):
            self.setModel(model)
            self.show_choice(current)

    def show_choice(self, key: str | None) -> None:
        """Show the implementation called `key` without telling anybody."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(key))


class _Greying(QStyledItemDelegate):
    """Draws what cannot run as disabled, also where it can be chosen."""

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if index.data(REASON):
            option.state &= ~QStyle.StateFlag.State_Enabled
