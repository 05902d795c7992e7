"""The named weights: a list to take from, a name to save under, files to bring in and out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.panels.weights.named_weights import (
    FILE_TYPES,
    SAVE_TYPES,
    Named,
    WeightsFileError,
    WeightsLibrary,
    read_file,
    write_file,
)
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.widgets.boxes import Flow, HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.file_dialogs import ask_file, ask_save_path

TITLE = "Named weights"


class LibraryBox(QFrame):
    """The list of a WeightsLibrary, which works on a thread that `close_thread` ends.

    Signals:
        picked(named): these are wanted in the cells.
        message(sentence, is_bad): what came of it.
    """

    picked = Signal(object)
    message = Signal(str, bool)

    def __init__(self, library: WeightsLibrary, drawn: Callable[[], WeightsDraft]) -> None:
        """Make the list and its buttons.

        drawn  returns what there is to save
        """
        super().__init__()
        self.setAccessibleName(TITLE)
        self.setProperty("card", True)
        self._library, self._drawn = library, drawn
        self._background = Background((WeightsFileError,), self)
        self._lost: Named | None = None  # what was deleted or replaced last
        self._name = QLineEdit()
        self._name.setObjectName("weights-name")
        self._name.setAccessibleName("Name to save under")
        self._name.setPlaceholderText("A name for these weights")
        self._name.setToolTip("Enter saves. Weights of that name are replaced; Restore undoes it.")
        self._name.returnPressed.connect(self._save)
        self._list = QListWidget()
        self._list.setObjectName("weights-list")
        self._list.setAccessibleName("Named weights")
        self._list.setToolTip("Enter or a double click uses them; F2 renames, Delete deletes.")
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._list.setMinimumHeight(80)
        self._list.itemActivated.connect(lambda item: self.picked.emit(_named(item)))
        self._list.itemChanged.connect(self._rename)
        self._list.currentRowChanged.connect(lambda _: self._enable())
        delete = QShortcut(QKeySequence.StandardKey.Delete, self._list)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._delete)
        self._buttons = {
            name: _button(text, tip, do)
            for name, text, tip, do in (
                ("save", "Save", "Save these weights under this name.", self._save),
                ("use", "Use", "Use the chosen weights.", self._use),
                ("rename", "Rename", "Rename the chosen weights (F2).", self._edit),
                ("delete", "Delete", "Delete the chosen weights; Restore brings them back.",
                 self._delete),
                ("restore", "Restore", "Bring back what was deleted or replaced last.",
                 self._restore),
                ("import", "Import…", "Load weights from a .toml, .csv or .txt file.",
                 self._import),
                ("export", "Export…", "Save these weights as .toml, .csv or .txt.",
                 self._export),
            )
        }  # fmt: skip
        self._lay_out()
        self._enable()

    def refresh(self, choose: str = "") -> None:
        """Read the folder again, and choose the weights of that name."""
        self._do(self._library.all, lambda found: self._show(found[0], found[1], choose))

    def close_thread(self) -> None:
        """Wait for the thread to end."""
        self._background.close()

    # -- what the buttons do

    def _save(self) -> None:
        named = Named(self._name.text().strip(), self._drawn())

        def saved(replaced: Named | None) -> None:
            if replaced is None or replaced == named:
                self._did(f"Saved “{named.name}”.", named.name)
                return
            self._lost = replaced
            self._did(f"Replaced “{named.name}”; Restore brings back what it was.", named.name)

        self._do(lambda: self._library.save(named), saved)

    def _use(self) -> None:
        if (item := self._list.currentItem()) is not None:
            self.picked.emit(_named(item))

    def _edit(self) -> None:
        if (item := self._list.currentItem()) is not None:
            self._list.setFocus()
            self._list.editItem(item)

    def _rename(self, item: QListWidgetItem) -> None:
        named, new = _named(item), item.text().strip()
        old = named.name
        if new == old:
            return
        # Done at once, so that the next action finds it under its new name.
        item.setData(Qt.ItemDataRole.UserRole, replace(named, name=new))
        self._do(
            lambda: self._library.rename(old, new),
            lambda _: self._did(f"“{old}” is called “{new}” now.", new),
            lambda: self.refresh(old),  # shows the old name again
        )

    def _delete(self) -> None:
        if (item := self._list.currentItem()) is None:
            return
        named = _named(item)

        def deleted(_: Any) -> None:
            self._lost = named
            self._did(f"Deleted “{named.name}”; Restore brings it back.")

        self._do(lambda: self._library.delete(named.name), deleted)

    def _restore(self) -> None:
        if (named := self._lost) is None:
            return

        def restored(replaced: Named | None) -> None:
            self._lost = replaced
            self._did(f"“{named.name}” is back.", named.name)

        self._do(lambda: self._library.save(named), restored)

    def _import(self) -> None:
        if path := ask_file(self, "Import weights", "", FILE_TYPES):
            self.open_file(path)

    def open_file(self, path: Path) -> None:
        """Draw the weights in a file."""

        def read(named: Named) -> None:
            self._name.setText(named.name)
            self.picked.emit(named)

        self._do(lambda: read_file(path), read)

    def _export(self) -> None:
        proposed = Path(f"{self._name.text().strip().replace('/', '-') or 'weights'}.toml")
        if path := ask_save_path(self, "Export weights", proposed, SAVE_TYPES):
            self.write_to(path)

    def write_to(self, path: Path) -> None:
        """Write what is drawn to a file, in the format that its ending says."""
        named = Named(self._name.text().strip() or path.stem, self._drawn())
        self._do(
            lambda: write_file(path, named), lambda _: self.message.emit(f"Saved {path}.", False)
        )

    # -- how

    def _do(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        def fail(error: Exception) -> None:
            self.message.emit(str(error), True)
            failed()

        self._background.run(work, done, fail)

    def _did(self, sentence: str, choose: str = "") -> None:
        self.message.emit(sentence, False)
        self.refresh(choose)

    def _show(self, found: tuple[Named, ...], broken: tuple[str, ...], choose: str) -> None:
        with QSignalBlocker(self._list):
            self._list.clear()
            for named in found:
                size = named.drawing.size
                item = QListWidgetItem(named.name)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
                item.setData(Qt.ItemDataRole.UserRole, named)
                item.setToolTip(tip_text(f"{named.name}, {size}×{size}"))
                self._list.addItem(item)
                if named.name == choose:
                    self._list.setCurrentItem(item)
        self._enable()
        if broken:
            more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
            self.message.emit(f"{broken[0]}{more}", True)

    def _enable(self) -> None:
        chosen = self._list.currentItem() is not None
        for name in ("use", "rename", "delete"):
            self._buttons[name].setEnabled(chosen)
        self._buttons["restore"].setEnabled(self._lost is not None)

    def _lay_out(self) -> None:
        column = VBox(self)
        line = HBox(spacing=6)
        line.add((self._name, 1), self._buttons["save"])
        below, others = QWidget(), Flow(6)
        below.setLayout(others)
        for name in ("use", "rename", "delete", "restore", "import", "export"):
            others.addWidget(self._buttons[name])
        column.add(line, (self._list, 1), below)


def _named(item: QListWidgetItem) -> Named:
    named = item.data(Qt.ItemDataRole.UserRole)
    assert isinstance(named, Named)
    return named


def _button(text: str, tip: str, do: Callable[[], None]) -> QPushButton:
    title = text.strip("…")
    made = push_button(f"weights-{title.lower()}", text, tip, f"{title} named weights")
    made.setProperty("compact", True)
    made.clicked.connect(lambda _: do())
    return made
