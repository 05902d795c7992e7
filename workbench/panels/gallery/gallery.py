"""Pictures to choose from: those in the folder of the open one, the Kodak set, and made ones."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStackedWidget, QWidget

from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.plain_text import Label
from workbench.files import image_files, kodak
from workbench.files.kodak import NAMES, Downloading, KodakError, KodakSet
from workbench.files.neighbours import Shelf
from workbench.files.picture_errors import ImageFileError
from workbench.panels.gallery.kodak_card import KodakCard
from workbench.panels.gallery.shelf_page import ShelfPage
from workbench.panels.gallery.thumbnails import thumbnail
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import check_segment, make_segments
from workbench.widgets.file_dialogs import ask_folder
from workbench.widgets.tile_list import PictureTile, TileList

SOURCES = (
    ("gallery-folder", "Folder", "The pictures in the folder of the open one"),
    ("gallery-test", "Test pictures", "Kodak photographs, and pictures made by code"),
)


class Gallery(QWidget):
    """The gallery, which looks for its pictures whenever it is shown, in the background.

    Call `close_threads()` before it goes.

    Signals:
        file_wanted(path): open this picture file.
        folder_wanted(): choose a folder to look through.
        built_in_wanted(key): open this one of `kernels.pictures.generated.PICTURES`.
        folder_changed(path), mirror_changed(address): to be remembered for the next time.
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
        """Show the pictures among which the open one is; None: it is in no folder."""
        is_other = self.shelf.is_other(shelf)
        self.shelf.show_shelf(shelf)
        if shelf is not None and is_other and not self._is_of_kodak(shelf):
            self._show_source("gallery-folder")

    def _is_of_kodak(self, shelf: Shelf) -> bool:
        """Return whether these are the Kodak pictures, which have a wall of their own."""
        return shelf.folder is not None and shelf.folder == self._kodak.folder

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

    # -- layout ------------------------------------------------------------------------------------

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
        outer = VBox(self, (0, 8, 0, 0), 8)
        outer.add(self._row_of_sources(), (self._pages, 1))
        self._show_source("gallery-test")
        for tiles in (self._photographs, self._built_ins):
            tiles.selectionModel().currentChanged.connect(partial(self._keep_in_sight, tiles))

    def _row_of_sources(self) -> HBox:
        row = HBox(margins=(10, 0, 10, 0), spacing=0)
        for each in self._sources.values():
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            row.addWidget(each)
        return row

    def _show_source(self, name: str) -> None:
        check_segment(self._sources, name)
        self._pages.setCurrentIndex(list(self._sources).index(name))

    def _keep_in_sight(self, tiles: TileList, *_: Any) -> None:
        """Scroll along while the arrow keys walk over the tiles."""
        tile = tiles.visualRect(tiles.currentIndex())
        at = tiles.mapTo(self._page, tile.center())
        self._scroll.ensureVisible(at.x(), at.y(), 0, tile.height() // 2 + 10)

    # -- the Kodak set -----------------------------------------------------------------------------

    def _look_for_kodak(self, trouble: str = "") -> None:
        """Look for the Kodak pictures, show those that are there, and offer to fetch the rest."""
        self._thumbnails.run(
            self._kodak.missing,
            lambda missing: self._show_kodak(missing, trouble),
            lambda error: self._card.show_offer(len(NAMES), str(error)),
        )

    def _show_kodak(self, missing: tuple[int, ...], trouble: str) -> None:
        self._card.setVisible(bool(missing))
        self._card.show_offer(len(missing), trouble)
        there = [number for number in range(1, len(NAMES) + 1) if number not in missing]
        self._hang(there)

    def _hang(self, numbers: list[int]) -> None:
        """Show these photographs, and no others."""
        before = self._photographs.keys()
        self._photographs.show_tiles([_photograph(number) for number in numbers])
        for number in set(numbers) - set(before):
            load = partial(_load_samples, self._kodak.path(number))
            self._ask_for_thumbnail(self._photographs, number, load)

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
        """Emit how far the download is; runs on its thread. Raises Stopped to cancel it."""
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

    def _after_failure(self, error: Exception) -> None:
        self._look_for_kodak(str(error))

    def _choose_folder(self) -> None:
        if chosen := ask_folder(self, "Folder with the Kodak pictures"):
            self.use_folder(chosen)

    def use_folder(self, folder: Path) -> None:
        """Take the pictures from a folder that the user has, once they are verified."""
        self._thumbnails.run(partial(kodak.use_folder, folder), self._take, self._after_failure)

    def _take(self, found: tuple[KodakSet, str]) -> None:
        self._kodak, sentence = found
        self._photographs.show_tiles([])
        self._note.setText(sentence)
        self._note.show()
        self.folder_changed.emit(self._kodak.folder)
        self._look_for_kodak()

    # -- thumbnails --------------------------------------------------------------------------------

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


def _photograph(number: int) -> PictureTile:
    name = NAMES[number - 1]
    return PictureTile(number, name.removesuffix(".png"), f"Opens {name}.")


def _load_samples(path: Path) -> NDArray[Any]:
    return image_files.load(path).samples
