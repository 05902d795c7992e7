"""The card that offers to get the Kodak pictures: download, progress, mirror, or an own folder."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from workbench.base.assets_path import asset
from workbench.base.plain_text import Label
from workbench.files import kodak
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button, tab_button

_EXPLANATION = "24 classic test photos, not included. Download once, or choose your copy."
_MARGIN = 14  # px


class KodakCard(QFrame):
    """The card of the Kodak pictures: offer, progress, or error; it does nothing by itself.

    Signals:
        download_wanted(mirror): fetch what is missing from this address.
        cancel_wanted(): stop the download.
        folder_wanted(): choose a folder with the pictures.
    """

    download_wanted = Signal(str)
    cancel_wanted = Signal()
    folder_wanted = Signal()

    def __init__(self, mirror: str) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._words = Label(_EXPLANATION, wraps=True)
        self._offer = self._make_offer(mirror)
        self._progress = self._make_progress()
        self._trouble = Label(name="kodak_trouble", wraps=True)
        self._trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._trouble_row = self._make_trouble_row()
        layout = VBox(self, (_MARGIN, 12, _MARGIN, 14), 10)
        layout.add(self._words, self._offer, self._progress, self._trouble_row)
        self.show_offer(len(kodak.NAMES))

    def show_offer(self, missing: int, trouble: str = "") -> None:
        """Offer to fetch so many pictures; `trouble` is why the last try failed."""
        megabytes = max(1, round(missing / len(kodak.NAMES) * kodak.TOTAL_MB))
        pictures = "picture" if missing == 1 else "pictures"
        self._download.setText(f"Dow&nload {missing} {pictures} ({megabytes} MB)")
        self._stack_where_narrow()
        self._offer.show()
        self._progress.hide()
        self._trouble.setText(trouble)
        self._trouble_row.setVisible(bool(trouble))

    def show_progress(self, progress: kodak.Downloading) -> None:
        """Show the progress of a download that is under way."""
        self._offer.hide()
        self._trouble_row.hide()
        self._progress.show()
        self._bar.setValue(round(1000 * progress.share))
        at = min(progress.finished + 1, len(kodak.NAMES))
        self._doing.setText(f"Downloading picture {at} of {len(kodak.NAMES)} …")

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._stack_where_narrow()

    def _stack_where_narrow(self) -> None:
        """Place the buttons in a row where they fit, else in a column."""
        widths = [
            button.sizeHint().width() for button in (self._download, self._folder, self._more)
        ]
        self._row.setMinimumWidth(max(widths))
        needed = sum(widths) + 2 * self._buttons.spacing()
        fits = needed <= self.contentsRect().width() - 2 * _MARGIN
        direction = QBoxLayout.Direction
        self._buttons.setDirection(direction.LeftToRight if fits else direction.TopToBottom)

    def _make_trouble_row(self) -> QWidget:
        mark = Label()
        mark.setPixmap(
            QIcon(str(asset("icons/warning.svg"))).pixmap(QSize(18, 18), self.devicePixelRatioF())
        )
        mark.setAlignment(Qt.AlignmentFlag.AlignTop)
        row = QWidget()
        layout = HBox(row, 0)
        layout.add(mark, (self._trouble, 1))
        return row

    def _make_offer(self, mirror: str) -> QWidget:
        self._download = QPushButton()
        self._download.setObjectName("kodak_download")
        self._download.setProperty("primary", True)
        self._download.setToolTip(
            "Fetches the pictures that are missing and verifies each (SHA-256).\n"
            "It can be cancelled; what is finished stays."
        )
        self._download.clicked.connect(lambda: self.download_wanted.emit(self._mirror.text()))
        tip = "Choose a folder with kodim01.png to kodim24.png; each is verified."
        self._folder = push_button("kodak_folder", "Choose folder…", tip)
        self._folder.clicked.connect(self.folder_wanted)
        mirror_row = self._make_mirror_row(mirror)
        self._more = self._make_disclosure(mirror_row)
        self._row = QWidget()
        self._row.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._row)
        self._buttons.setContentsMargins(0, 0, 0, 0)
        for button in (self._download, self._folder, self._more):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        offer = QWidget()
        column = VBox(offer, 0, 8)
        column.add(self._row, mirror_row)
        return offer

    def _make_disclosure(self, hidden: QWidget) -> QToolButton:
        """Return a button that shows and hides what few people need."""
        tip = "Where the pictures are downloaded from."
        more = tab_button("kodak_mirror_toggle", "Mirror", tip)
        more.setProperty("flat", True)
        more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        more.setIcon(QIcon(str(asset("icons/chevron-down.svg"))))

        def toggle() -> None:
            hidden.setVisible(hidden.isHidden())
            direction = "down" if hidden.isHidden() else "up"
            more.setIcon(QIcon(str(asset(f"icons/chevron-{direction}.svg"))))

        more.clicked.connect(toggle)
        return more

    def _make_mirror_row(self, mirror: str) -> QWidget:
        self._mirror = QLineEdit(mirror)
        self._mirror.setObjectName("kodak_mirror")
        self._mirror.setAccessibleName("Mirror to download the Kodak pictures from")
        self._mirror.setPlaceholderText(kodak.DEFAULT_MIRROR)
        self._mirror.setToolTip("The address that “kodim01.png” and so on are appended to.")
        usual = QPushButton("Usual one")
        usual.setToolTip(f"Back to {kodak.DEFAULT_MIRROR}")
        usual.clicked.connect(lambda: self._mirror.setText(kodak.DEFAULT_MIRROR))
        row = QWidget()
        layout = HBox(row, 0)
        layout.add((self._mirror, 1), usual)
        row.hide()
        return row

    def _make_progress(self) -> QWidget:
        self._bar = QProgressBar()
        self._bar.setMaximum(1000)
        self._bar.setObjectName("kodak_progress")
        self._bar.setAccessibleName("Download of the Kodak pictures")
        self._bar.setTextVisible(False)
        self._doing = Label(is_muted=True)
        tip = "Stops the download; the finished pictures stay."
        cancel = push_button("kodak_cancel", "&Cancel", tip)
        cancel.clicked.connect(self.cancel_wanted)
        progress = QWidget()
        grid = QGridLayout(progress)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addWidget(self._doing, 0, 0)
        grid.addWidget(self._bar, 1, 0)
        grid.addWidget(cancel, 0, 1, 2, 1)
        return progress
