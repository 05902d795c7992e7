"""The card that offers to get the Kodak pictures: download, progress, mirror, or an own folder."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench import kodak

_EXPLANATION = (
    "24 photographs that everybody tries filters on. They do not come with this program: "
    "download them once, or show where you have them."
)


class KodakCard(QFrame):
    """Offers, shows what is going on, and says what went wrong; does nothing by itself.

    Signals:
        download_wanted(mirror): fetch what is missing from this address.
        cancel_wanted(): stop the download.
        folder_wanted(): choose a folder with the pictures.
    """

    download_wanted = Signal(str)
    cancel_wanted = Signal()
    folder_wanted = Signal()

    def __init__(self, mirror: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._words = _wrapping(_EXPLANATION)
        self._offer = self._make_offer(mirror)
        self._progress = self._make_progress()
        self._trouble = _wrapping("")
        self._trouble.setObjectName("kodak_trouble")
        self._trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 14)
        layout.setSpacing(10)
        for part in (self._words, self._offer, self._progress, self._trouble):
            layout.addWidget(part)
        self.show_offer(len(kodak.NAMES))

    def show_offer(self, missing: int, trouble: str = "") -> None:
        """Offer to fetch so many pictures; `trouble` is why the last try did not."""
        megabytes = max(1, round(missing / len(kodak.NAMES) * kodak.TOTAL_MB))
        pictures = "picture" if missing == 1 else "pictures"
        self._download.setText(f"&Download {missing} {pictures} ({megabytes} MB)")
        self._offer.show()
        self._progress.hide()
        self._trouble.setText(f"⚠  {trouble}")
        self._trouble.setVisible(bool(trouble))

    def show_progress(self, progress: kodak.Downloading) -> None:
        """A download is under way."""
        self._offer.hide()
        self._trouble.hide()
        self._progress.show()
        self._bar.setValue(round(1000 * progress.share))
        at = min(progress.finished + 1, len(kodak.NAMES))
        self._doing.setText(f"Downloading picture {at} of {len(kodak.NAMES)} …")

    def _make_offer(self, mirror: str) -> QWidget:
        self._download = QPushButton()
        self._download.setObjectName("kodak_download")
        self._download.setProperty("primary", True)
        self._download.setToolTip(
            "Fetches the pictures that are missing and verifies each (SHA-256).\n"
            "It can be cancelled; what is finished stays."
        )
        self._download.clicked.connect(lambda: self.download_wanted.emit(self._mirror.text()))
        folder = QPushButton("Use a &folder I have …")
        folder.setObjectName("kodak_folder")
        folder.setToolTip("Choose a folder with kodim01.png to kodim24.png; each is verified.")
        folder.clicked.connect(self.folder_wanted)
        more = QToolButton()
        more.setText("&Mirror")
        more.setCheckable(True)
        more.setObjectName("kodak_mirror_toggle")
        more.setProperty("flat", True)
        more.setArrowType(Qt.ArrowType.RightArrow)
        more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        more.setToolTip("Where the pictures are downloaded from.")
        mirror_row = self._make_mirror_row(mirror)
        more.toggled.connect(mirror_row.setVisible)
        more.toggled.connect(
            lambda is_open: more.setArrowType(
                Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow
            )
        )
        offer = QWidget()
        grid = QGridLayout(offer)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.addWidget(self._download, 0, 0)
        grid.addWidget(folder, 0, 1)
        grid.addWidget(more, 0, 2)
        grid.addWidget(mirror_row, 1, 0, 1, 4)
        grid.setColumnStretch(3, 1)
        return offer

    def _make_mirror_row(self, mirror: str) -> QWidget:
        self._mirror = QLineEdit(mirror)
        self._mirror.setObjectName("kodak_mirror")
        self._mirror.setAccessibleName("Mirror to download the Kodak pictures from")
        self._mirror.setPlaceholderText(kodak.DEFAULT_MIRROR)
        self._mirror.setToolTip("The address that “kodim01.png” and so on are appended to.")
        usual = QPushButton("&Usual one")
        usual.setToolTip(f"Back to {kodak.DEFAULT_MIRROR}")
        usual.clicked.connect(lambda: self._mirror.setText(kodak.DEFAULT_MIRROR))
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._mirror, stretch=1)
        layout.addWidget(usual)
        row.hide()
        return row

    def _make_progress(self) -> QWidget:
        self._bar = QProgressBar()
        self._bar.setMaximum(1000)
        self._bar.setObjectName("kodak_progress")
        self._bar.setAccessibleName("Download of the Kodak pictures")
        self._bar.setTextVisible(False)
        self._doing = QLabel()
        self._doing.setProperty("muted", True)
        cancel = QPushButton("&Cancel")
        cancel.setObjectName("kodak_cancel")
        cancel.setToolTip("Stops the download; the finished pictures stay.")
        cancel.clicked.connect(self.cancel_wanted)
        progress = QWidget()
        grid = QGridLayout(progress)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addWidget(self._doing, 0, 0)
        grid.addWidget(self._bar, 1, 0)
        grid.addWidget(cancel, 0, 1, 2, 1)
        return progress


def _wrapping(text: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return label
