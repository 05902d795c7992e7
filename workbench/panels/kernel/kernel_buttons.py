"""The row of buttons above a kernel: new ones, files, and the user's own editor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import Flow
from workbench.widgets.buttons import make_button

SPACING_PX = 4
InMenu = Sequence[tuple[str, str, Callable[[], object]]]  # a line, its tooltip, what it does


class KernelButtons(QWidget):
    """Buttons in as many rows as the panel's width makes them.

    outside  the button for the user's own editor, which stands beside the file's name

    Signals:
        open_wanted(), save_wanted(), save_as_wanted(), editor_wanted(): they were clicked.
    """

    open_wanted = Signal()
    save_wanted = Signal()
    save_as_wanted = Signal()
    editor_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._new = _with_menu("kernel-new", "New", "Begin with an empty kernel, or with a rung")
        self._recent = _with_menu("kernel-recent", "Recent", "Kernels that were open before")
        plain = (
            ("kernel-open", "Open…", "Open a kernel's file", self.open_wanted),
            ("kernel-save", "Save", "Write the text into its file (Ctrl+S)", self.save_wanted),
            ("kernel-save-as", "Save as…", "Write it into another file", self.save_as_wanted),
            (
                "kernel-editor",
                "Open in editor",
                "Edit the file in your own editor; what is saved there is tried here at once",
                self.editor_wanted,
            ),
        )
        buttons: dict[str, QToolButton] = {}
        for name, text, tip, signal in plain:
            buttons[name] = make_button(name, text, tip)
            buttons[name].clicked.connect(signal)
        self._save, self.outside = buttons["kernel-save"], buttons["kernel-editor"]
        flow = Flow(SPACING_PX)
        for button in (
            *(self._new, buttons["kernel-open"], self._recent, self._save),
            buttons["kernel-save-as"],
        ):
            flow.addWidget(button)
        flow.setContentsMargins(0, 0, 0, 0)
        self.setLayout(flow)

    def show_saved(self, is_saved: bool) -> None:
        """Offer to save what is not."""
        self._save.setEnabled(not is_saved)

    def offer_new(self, lines: InMenu) -> None:
        """List what a kernel can begin with."""
        _fill(self._new, lines)

    def offer_recent(self, paths: Sequence[Path], open_path: Callable[[Path], object]) -> None:
        """List the files that were open before; `open_path` opens one."""
        _fill(self._recent, [(path.name, str(path), partial(open_path, path)) for path in paths])
        self._recent.setEnabled(bool(paths))


def _with_menu(name: str, text: str, tip: str) -> QToolButton:
    button = make_button(name, text, tip)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    menu = QMenu(button)
    menu.setToolTipsVisible(True)
    button.setMenu(menu)
    return button


def _fill(button: QToolButton, lines: InMenu) -> None:
    menu = button.menu()
    for old in menu.actions():
        menu.removeAction(old)
        old.deleteLater()
    for text, tip, do in lines:
        action = QAction(text.replace("&", "&&"), menu)
        action.setToolTip(tip_text(tip))
        action.triggered.connect(lambda _=False, do=do: do())
        menu.addAction(action)
