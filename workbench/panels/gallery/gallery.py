"""The gallery: pictures of the open one's folder, the Kodak set, and built-in ones."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.paths import asset
from workbench.base.plain_text import Label
from workbench.base.settings import Settings
from workbench.files import image_files, kodak
from workbench.files.kodak import DEFAULT_MIRROR, NAMES, Downloading, KodakError, KodakSet
from workbench.files.neighbours import Shelf
from workbench.files.picture_errors import ImageFileError
from workbench.panels.gallery.shelf_page import ShelfPage
from workbench.panels.gallery.thumbnails import thumbnail
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import check_segment, make_segments, push_button
from workbench.widgets.file_dialogs import ask_folder
from workbench.widgets.folding import FoldedSection
from workbench.widgets.tile_list import PictureTile, TileList

_EXPLANATION = "24 classic test photos, not included. Download once, or choose your copy."


class KodakCard(QFrame):
    """The card of the Kodak pictures: offer, progress or error.

    Signals:
        download_wanted(mirror): fetch the missing pictures from this address.
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
        layout = VBox(self, (14, 12, 14, 14), 10)
        layout.add(self._words, self._offer, self._progress, self._trouble_row)
        self.show_offer(len(kodak.NAMES))

    def show_offer(self, missing: int, trouble: str = "") -> None:
        """Offer to fetch the `missing` pictures; `trouble` is the error of the last try."""
        megabytes = max(1, round(missing / len(kodak.NAMES) * kodak.TOTAL_MB))
        pictures = "picture" if missing == 1 else "pictures"
        self._download.setText(f"Dow&nload {missing} {pictures} ({megabytes} MB)")
        self._offer.show()
        self._progress.hide()
        self._trouble.setText(trouble)
        self._trouble_row.setVisible(bool(trouble))

    def show_progress(self, progress: kodak.Downloading) -> None:
        """Show the progress of the download."""
        self._offer.hide()
        self._trouble_row.hide()
        self._progress.show()
        self._bar.setValue(round(1000 * progress.share))
        at = min(progress.finished + 1, len(kodak.NAMES))
        self._doing.setText(f"Downloading picture {at} of {len(kodak.NAMES)} …")

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
        tip = "Where the pictures are downloaded from."
        mirror_row = self._make_mirror_row(mirror)
        where = FoldedSection("kodak_mirror_toggle", tip, "Mirror", mirror_row)
        where.show_room(False)
        offer = QWidget()
        VBox(offer, 0, 8).add(self._download, self._folder, where)
        return offer

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


def make_gallery(settings: Settings) -> Gallery:
    """Make a gallery whose folder and mirror `settings` remember."""
    folder = settings.get("kodak-folder", "")
    gallery = Gallery(Path(folder) if folder else None, settings.get("mirror", DEFAULT_MIRROR))
    gallery.folder_changed.connect(lambda path: settings.set("kodak-folder", str(path)))
    gallery.mirror_changed.connect(lambda mirror: settings.set("mirror", mirror))
    return gallery


SOURCES = (
    ("gallery-folder", "Folder", "The pictures in the folder of the open one"),
    ("gallery-test", "Test pictures", "Kodak photographs, and pictures made by code"),
)


class Gallery(QWidget):
    """The gallery, which looks for its pictures in the background whenever it is shown.

    Call `close_threads()` before it goes.

    Signals:
        file_wanted(path): open this picture file.
        folder_wanted(): choose a folder to look through.
        built_in_wanted(key): open this one of `kernels.pictures.generated.PICTURES`.
        folder_changed(path), mirror_changed(address): remember it for the next time.
    """

    file_wanted = Signal(Path)
    folder_wanted = Signal()
    built_in_wanted = Signal(str)
    folder_changed = Signal(Path)
    mirror_changed = Signal(str)
    _progressed = Signal(object)

    def __init__(self, folder: Path | None = None, mirror: str = kodak.DEFAULT_MIRROR) -> None:
        super().__init__()
        self.setObjectName("gallery")
        self._kodak = KodakSet(folder or kodak.default_folder())
        self._stop = threading.Event()
        self._is_filled = self._is_downloading = False
        self._thumbnails = Background((KodakError, ImageFileError), self)
        self._downloads = Background((KodakError, kodak.Stopped), self)
        self._progressed.connect(self._show_progress)
        self._make_parts(mirror)

    def show_shelf(self, shelf: Shelf | None) -> None:
        """Show the pictures of the open one's folder; None: it is in no folder."""
        is_other = self.shelf.is_other(shelf)
        self.shelf.show_shelf(shelf)
        # The Kodak pictures have a wall of their own.
        if shelf is not None and is_other and shelf.folder != self._kodak.folder:
            self._show_source("gallery-folder")

    def close_threads(self) -> None:
        """Stop a download, and wait for the threads to end."""
        self._stop.set()
        self.shelf.close_threads()
        self._thumbnails.close()
        self._downloads.close()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(700, 620)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if not self._is_downloading:
            self._look_for_kodak()
        if not self._is_filled:
            self._is_filled = True
            self._fill_built_ins()

    # -- layout

    def _make_parts(self, mirror: str) -> None:
        self._card = KodakCard(mirror)
        self._card.hide()
        self._card.download_wanted.connect(self._download)
        self._card.cancel_wanted.connect(self._stop.set)
        self._card.folder_wanted.connect(self._choose_folder)
        self._photographs = TileList("Kodak photographs")
        self._photographs.setObjectName("kodak_tiles")
        self._photographs.chosen.connect(
            lambda number: self.file_wanted.emit(self._kodak.path(number))
        )
        self._built_ins = TileList("Built-in pictures")
        self._built_ins.setObjectName("built_in_tiles")
        self._built_ins.chosen.connect(lambda key: self.built_in_wanted.emit(key))
        self._note = Label(is_muted=True, wraps=True)
        self._note.hide()

        self._page = QWidget()
        column = VBox(self._page, (10, 10, 10, 14), 8)
        column.add(_heading("Kodak photographs"), self._card, self._photographs, self._note)
        column.addSpacing(8)
        column.add(_heading("Built-in pictures"), self._built_ins, 1)
        self._scroll = UprightArea(self._page)
        self.shelf = ShelfPage()
        self.shelf.file_wanted.connect(self.file_wanted)
        self.shelf.folder_wanted.connect(self.folder_wanted)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.shelf)
        self._pages.addWidget(self._scroll)
        self._sources = make_segments(SOURCES, self._show_source)
        row = HBox(margins=(10, 0, 10, 0), spacing=0)
        for each in self._sources.values():
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            row.addWidget(each)
        VBox(self, (0, 8, 0, 0), 8).add(row, (self._pages, 1))
        self._show_source("gallery-test")
        for tiles in (self._photographs, self._built_ins):
            tiles.selectionModel().currentChanged.connect(partial(self._keep_in_sight, tiles))

    def _show_source(self, name: str) -> None:
        check_segment(self._sources, name)
        self._pages.setCurrentIndex(list(self._sources).index(name))

    def _keep_in_sight(self, tiles: TileList, *_: Any) -> None:
        """Scroll along while the arrow keys walk over the tiles."""
        tile = tiles.visualRect(tiles.currentIndex())
        at = tiles.mapTo(self._page, tile.center())
        self._scroll.ensureVisible(at.x(), at.y(), 0, tile.height() // 2 + 10)

    # -- the Kodak set

    def _look_for_kodak(self, trouble: str = "") -> None:
        self._thumbnails.run(
            self._kodak.missing,
            lambda missing: self._show_kodak(missing, trouble),
            lambda error: self._card.show_offer(len(NAMES), str(error)),
        )

    def _show_kodak(self, missing: tuple[int, ...], trouble: str) -> None:
        self._card.setVisible(bool(missing))
        self._card.show_offer(len(missing), trouble)
        self._hang([number for number in range(1, len(NAMES) + 1) if number not in missing])

    def _hang(self, numbers: list[int]) -> None:
        """Show these photographs, and no others."""
        before = self._photographs.keys()
        names = {number: NAMES[number - 1] for number in numbers}
        self._photographs.show_tiles(
            [
                PictureTile(n, name.removesuffix(".png"), f"Opens {name}.")
                for n, name in names.items()
            ]
        )
        for number in set(numbers) - set(before):
            path = self._kodak.path(number)
            self._ask_for_thumbnail(self._photographs, number, partial(_load, path))

    def _download(self, mirror: str) -> None:
        self.mirror_changed.emit(mirror)
        self._stop.clear()
        self._is_downloading = True
        self._card.show_progress(Downloading(0))
        work = partial(kodak.download, self._kodak.folder, mirror, self._report)
        self._downloads.run(
            work, lambda _: self._after_download(), self._after_download, self._after_download
        )

    def _report(self, progress: Downloading) -> None:
        """Emit the progress, on the download's thread; raise Stopped to cancel it."""
        if self._stop.is_set():
            raise kodak.Stopped
        self._progressed.emit(progress)

    def _show_progress(self, progress: Downloading) -> None:
        self._card.show_progress(progress)
        finished = set(range(1, progress.finished + 1))
        if not finished <= set(self._photographs.keys()):
            self._hang(sorted(finished.union(self._photographs.keys())))

    def _after_download(self, error: Exception | None = None) -> None:
        self._is_downloading = False
        self._look_for_kodak(str(error) if error else "")

    def _choose_folder(self) -> None:
        if chosen := ask_folder(self, "Folder with the Kodak pictures"):
            self.use_folder(chosen)

    def use_folder(self, folder: Path) -> None:
        """Take the pictures from the user's folder, once verified."""
        self._thumbnails.run(
            partial(kodak.use_folder, folder),
            self._take,
            lambda error: self._look_for_kodak(str(error)),
        )

    def _take(self, found: tuple[KodakSet, str]) -> None:
        self._kodak, sentence = found
        self._photographs.show_tiles([])
        self._note.setText(sentence)
        self._note.show()
        self.folder_changed.emit(self._kodak.folder)
        self._look_for_kodak()

    # -- thumbnails

    def _fill_built_ins(self) -> None:
        tiles = [
            PictureTile(key, built_in.title, built_in.shows) for key, built_in in PICTURES.items()
        ]
        self._built_ins.show_tiles(tiles)
        for key, built_in in PICTURES.items():
            self._ask_for_thumbnail(self._built_ins, key, built_in.make)

    def _ask_for_thumbnail(
        self, tiles: TileList, key: object, make: Callable[[], NDArray[Any]]
    ) -> None:
        self._thumbnails.run(
            partial(thumbnail, make, self.devicePixelRatioF()),
            lambda made: tiles.show_thumbnail(key, *made),
            lambda _: None,  # the tile stays empty; opening it says why
        )


def _heading(text: str) -> QLabel:
    label = Label(text)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    return label


def _load(path: Path) -> NDArray[Any]:
    return image_files.load(path).samples
