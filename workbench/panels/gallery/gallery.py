"""Pictures to begin with: the Kodak set, fetched on demand, and the ones made by code."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QShowEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QVBoxLayout, QWidget

from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.plain_text import Label
from workbench.files import image_files, kodak
from workbench.files.kodak import NAMES, Downloading, KodakError, KodakSet
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import Display, to_display
from workbench.panels.gallery.kodak_card import KodakCard
from workbench.widgets.docks import Dock
from workbench.widgets.tile_list import THUMBNAIL, PictureTile, TileList
from workbench.widgets.upright_area import UprightArea


class Gallery(QWidget):
    """The gallery, which looks for its pictures whenever it is shown, in the background.

    Call `close_threads()` before it goes.

    Signals:
        file_wanted(path): open this picture file.
        built_in_wanted(key): open this one of `kernels.pictures.generated.PICTURES`.
        folder_changed(path), mirror_changed(address): to be remembered for the next time.
        broke(sentence, details): a bug, with its traceback.
    """

    DOCK = Dock(
        "Gallery",
        menu="&File",
        text="&Gallery",
        keys=("Ctrl+G",),
        tip="Kodak pictures and pictures made by code.",
    )

    file_wanted = Signal(Path)
    built_in_wanted = Signal(str)
    folder_changed = Signal(Path)
    mirror_changed = Signal(str)
    broke = Signal(str, str)
    _progressed = Signal(object)

    def __init__(self, folder: Path | None = None, mirror: str = kodak.DEFAULT_MIRROR) -> None:
        super().__init__()
        self.setObjectName("gallery")
        self._kodak = KodakSet(folder or kodak.default_folder())
        self._stop = threading.Event()
        self._is_filled = self._is_downloading = False
        self._thumbnails = Background((KodakError, ImageFileError), self)
        self._downloads = Background((KodakError, kodak.Stopped), self)
        for background in (self._thumbnails, self._downloads):
            background.broke.connect(self.broke)
        self._progressed.connect(self._show_progress)
        self._make_parts(mirror)

    def close_threads(self) -> None:
        """Stop a download, and wait for the threads to end."""
        self._stop.set()
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
        self._note = Label()
        self._note.setWordWrap(True)
        self._note.setProperty("muted", True)
        self._note.hide()

        self._page = QWidget()
        column = QVBoxLayout(self._page)
        column.setContentsMargins(10, 10, 10, 14)
        column.setSpacing(8)
        column.addWidget(_heading("Kodak photographs"))
        column.addWidget(self._card)
        column.addWidget(self._photographs)
        column.addWidget(self._note)
        column.addSpacing(8)
        column.addWidget(_heading("Built-in pictures"))
        column.addWidget(self._built_ins)
        column.addStretch(1)
        self._scroll = UprightArea(self._page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)
        for tiles in (self._photographs, self._built_ins):
            tiles.selectionModel().currentChanged.connect(partial(self._keep_in_sight, tiles))

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
        self._downloads.run(work, lambda _: self._after_download(), self._after_download)

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
        chosen = QFileDialog.getExistingDirectory(self, "Folder with the Kodak pictures")
        if chosen:
            self.use_folder(Path(chosen))

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
            partial(_thumbnail, make, self.devicePixelRatioF()),
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


def _thumbnail(make: Callable[[], NDArray[Any]], device_pixel_ratio: float) -> tuple[QImage, str]:
    """Return a small picture, and a caption such as "768×512 RGB uint8"."""
    samples = make()
    height, width, channels = samples.shape
    colour = ("grey", "grey + alpha", "RGB", "RGBA")[channels - 1]
    caption = f"{width}×{height} {colour} {samples.dtype}"
    return _small(to_display(samples), device_pixel_ratio), caption


def _small(display: Display, device_pixel_ratio: float) -> QImage:
    """Return the picture scaled to fit a tile; tiny ones are enlarged with sharp pixels."""
    box = (THUMBNAIL.toSizeF() * device_pixel_ratio).toSize()
    large_enough = [image for image in display.images if _covers(image, box)]
    image = large_enough[-1] if large_enough else display.images[0]
    smooth, sharp = (
        Qt.TransformationMode.SmoothTransformation,
        Qt.TransformationMode.FastTransformation,
    )
    mode = smooth if large_enough else sharp
    small = image.scaled(box, Qt.AspectRatioMode.KeepAspectRatio, mode)
    small.setDevicePixelRatio(device_pixel_ratio)
    return small


def _covers(image: QImage, box: QSize) -> bool:
    return image.width() >= box.width() or image.height() >= box.height()
