"""The dialog about this program, with its version and what it found on this computer."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.version import program_version
from workbench.base import theme
from workbench.base.assets_path import asset
from workbench.base.columns import aligned
from workbench.base.diagnostics import facts
from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox

ICON_PX = 72


class AboutDialog(QDialog):
    """A dialog with version, licence, and the diagnostics of `workbench doctor`, ready to copy."""

    def __init__(self, device: Device | NoDevice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("About Filter Workbench")
        icon = Label()
        icon.setPixmap(QIcon(str(asset("icon.svg"))).pixmap(ICON_PX, ICON_PX))
        title = Label(
            f"<h2>Filter Workbench {escape(program_version())}</h2>See, time and verify image "
            "filters on the CPU and on a ladder of CUDA kernels.<br>MIT licence."
        )
        title.setTextFormat(Qt.TextFormat.RichText)
        title.setWordWrap(True)
        head = HBox(spacing=16)
        head.add((icon, 0, Qt.AlignmentFlag.AlignTop), (title, 1))
        found = facts(device)
        report = QTextBrowser()
        report.setObjectName("diagnostics")
        report.setHtml(_table(found))
        report.setAccessibleName("Diagnostics")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("&Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(aligned(found)))
        buttons.rejected.connect(self.reject)
        column = VBox(self, (24, 24, 24, 16), 16)
        column.add(head, (report, 1), buttons)
        self.resize(theme.window_size(640, 480))


def _table(found: list[tuple[str, str]]) -> str:
    """Return an HTML table of names and values; a long value wraps within its own column."""
    rows = (
        f'<tr><td style="white-space: nowrap; padding-right: 18px">{escape(name)}</td>'
        f"<td>{escape(value)}</td></tr>"
        for name, value in found
    )
    return f'<table cellspacing="3">{"".join(rows)}</table>'
