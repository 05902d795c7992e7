"""The gallery: pictures of the open one's folder, the Kodak set, and built-in ones."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QImage, QShowEvent
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
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
from workbench.files import kodak
from workbench.files.kodak import DEFAULT_MIRROR, NAMES, Downloading, KodakError, KodakSet
from workbench.files.neighbours import Shelf
from workbench.panels.gallery.thumbnails import LazyThumbnails, TileModel, thumbnail
from workbench.panels.gallery.wall import TileList, Wall
from workbench.session.opener import Opener, Walk
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import check_segment, make_segments, push_button
from workbench.widgets.file_dialogs import ask_folder
from workbench.widgets.folding import FoldedSection

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
        VBox(self, (14, 12, 14, 14), 10).add(
            self._words, self._offer, self._progress, self._trouble_row
        )
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
        HBox(row, 0).add(mark, (self._trouble, 1))
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
        HBox(row, 0).add((self._mirror, 1), usual)
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


NOTHING = "Open a picture or a folder, or drop one on the window, to see its neighbours here."


class ShelfPage(QWidget):
    """The wall with its heading; a click, Enter or Space opens a picture."""

    def __init__(
        self,
        thumbnails: LazyThumbnails,
        open_file: Callable[[Path], object],
        choose_folder: Callable[[], object],
    ) -> None:
        super().__init__()
        self._shelf: Shelf | None = None
        self._model = TileModel(thumbnails)
        self._words = Label(NOTHING, name="shelf-words", wraps=True)
        tip = "Choose a folder; its first picture opens (Ctrl+Alt+O)"
        folder = push_button("shelf-folder", "Open folder…", tip)
        folder.clicked.connect(lambda: choose_folder())
        self._wall = Wall(self._model)
        self._wall.chosen.connect(open_file)
        row = HBox(margins=(0, 0, 6, 0))  # as far in as the sources above
        row.add((self._words, 1), (folder, 0, Qt.AlignmentFlag.AlignTop))
        VBox(self, (10, 2, 4, 4), 8).add(row, (self._wall, 1))

    def is_other(self, shelf: Shelf | None) -> bool:
        """True if `shelf` holds other pictures than those shown."""
        shown = self._shelf
        if shelf is None or shown is None:
            return shelf is not shown
        return (shelf.folder, shelf.names) != (shown.folder, shown.names)

    def show_shelf(self, shelf: Shelf | None) -> None:
        """Show these pictures and mark the open one; None keeps the pictures and marks none."""
        if shelf is not None and self.is_other(shelf):
            self._shelf, names = shelf, shelf.names
            titles = [Path(name).name for name in names] if shelf.folder is None else names
            self._model.show_tiles(titles, shelf.path)
            count = f"{len(names):,} picture{'s' * (len(names) != 1)}"
            where = "opened together" if shelf.folder is None else f"in {shelf.folder.name or '/'}"
            self._words.setText(f"{count} {where}")
            self._words.setToolTip(tip_text(str(shelf.folder or "")))
        self._wall.mark(shelf.index if shelf is not None else None)


SOURCES = (
    ("gallery-folder", "Folder", "The pictures in the folder of the open one"),
    ("gallery-test", "Test pictures", "Kodak photographs, and pictures made by code"),
)


class Gallery(QWidget):
    """The gallery, which looks for its pictures in the background whenever it is shown.

    Call `close_threads()` before it goes.
    """

    _progressed = Signal(object)

    def __init__(
        self, settings: Settings, opener: Opener, walk: Walk, choose_folder: Callable[[], object]
    ) -> None:
        """Make the gallery, whose folder and mirror `settings` remember.

        opener         opens a picture that is chosen
        walk           says which pictures the open one is among
        choose_folder  asks for another folder to look through
        """
        super().__init__()
        self.setObjectName("gallery")
        self._settings, self._opener = settings, opener
        folder = settings.get("kodak-folder", "")
        self._kodak = KodakSet(Path(folder) if folder else kodak.default_folder())
        self._hung: list[int] = []  # the numbers of the photographs that are shown
        self._stop = threading.Event()
        self._is_downloading = False
        self._looking = Background((KodakError,), self)
        self._downloads = Background((KodakError, kodak.Stopped), self)
        self._of_files = LazyThumbnails(self.devicePixelRatioF, self)
        self._of_built_ins = LazyThumbnails(self.devicePixelRatioF, self, _thumbnail_of_built_in)
        self._progressed.connect(self._show_progress)
        self._shelf = ShelfPage(self._of_files, opener.open_file, choose_folder)
        self._make_parts(settings.get("mirror", DEFAULT_MIRROR))
        self._show_shelf(walk.shelf)
        walk.placed.connect(self._show_shelf)

    @Slot(object)
    def _show_shelf(self, shelf: Shelf | None) -> None:
        """Show the pictures of the open one's folder; None: it is in no folder."""
        is_other = self._shelf.is_other(shelf)
        self._shelf.show_shelf(shelf)
        # The Kodak pictures have a wall of their own.
        if shelf is not None and is_other and shelf.folder != self._kodak.folder:
            self._show_source("gallery-folder")

    def close_threads(self) -> None:
        """Stop a download, and wait for the threads to end."""
        self._stop.set()
        for each in (self._of_files, self._of_built_ins):
            each.close_threads()
        self._looking.close()
        self._downloads.close()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(700, 620)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if not self._is_downloading:
            self._look_for_kodak()

    # -- layout

    def _make_parts(self, mirror: str) -> None:
        self._card = KodakCard(mirror)
        self._card.hide()
        self._card.download_wanted.connect(self._download)
        self._card.cancel_wanted.connect(self._stop.set)
        self._card.folder_wanted.connect(self._choose_folder)
        self._photograph_tiles = TileModel(self._of_files)
        photographs = TileList("Kodak photographs", self._photograph_tiles)
        photographs.setObjectName("kodak_tiles")
        photographs.chosen.connect(self._opener.open_file)
        built_in_tiles = TileModel(self._of_built_ins)
        built_ins = TileList("Built-in pictures", built_in_tiles)
        built_ins.setObjectName("built_in_tiles")
        built_ins.chosen.connect(self._opener.open_built_in)
        self._note = Label(is_muted=True, wraps=True)
        self._note.hide()

        self._page = QWidget()
        column = VBox(self._page, (10, 10, 10, 14), 8)
        column.add(_heading("Kodak photographs"), self._card, photographs, self._note)
        column.addSpacing(8)
        column.add(_heading("Built-in pictures"), built_ins, 1)
        # Once they have their place: a widget without a parent would open as a window.
        titles = [built_in.title for built_in in PICTURES.values()]
        built_in_tiles.show_tiles(
            titles, list(PICTURES).__getitem__, lambda key: PICTURES[key].shows
        )
        self._scroll = UprightArea(self._page)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._shelf)
        self._pages.addWidget(self._scroll)
        self._sources = make_segments(SOURCES, self._show_source)
        row = HBox(margins=(10, 0, 10, 0), spacing=0)
        for each in self._sources.values():
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            row.addWidget(each)
        VBox(self, (0, 8, 0, 0), 8).add(row, (self._pages, 1))
        self._show_source("gallery-test")
        for tiles in (photographs, built_ins):
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
        def show(missing: tuple[int, ...]) -> None:
            self._card.setVisible(bool(missing))
            self._card.show_offer(len(missing), trouble)
            self._hang([n for n in range(1, len(NAMES) + 1) if n not in missing])

        self._looking.run(
            self._kodak.missing,
            show,
            lambda error: self._card.show_offer(len(NAMES), str(error)),
        )

    def _hang(self, numbers: list[int]) -> None:
        """Show these photographs, and no others."""
        if numbers != self._hung:
            self._hung = numbers
            titles = [NAMES[number - 1].removesuffix(".png") for number in numbers]
            self._photograph_tiles.show_tiles(titles, lambda row: self._kodak.path(numbers[row]))

    def _download(self, mirror: str) -> None:
        self._settings.set("mirror", mirror)
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
        self._hang(sorted({*range(1, progress.finished + 1), *self._hung}))

    def _after_download(self, error: Exception | None = None) -> None:
        self._is_downloading = False
        self._look_for_kodak(str(error) if error else "")

    def _choose_folder(self) -> None:
        if chosen := ask_folder(self, "Folder with the Kodak pictures"):
            self.use_folder(chosen)

    def use_folder(self, folder: Path) -> None:
        """Take the pictures from the user's folder, once verified."""
        self._looking.run(
            partial(kodak.use_folder, folder),
            self._take,
            lambda error: self._look_for_kodak(str(error)),
        )

    def _take(self, found: tuple[KodakSet, str]) -> None:
        self._kodak, sentence = found
        self._hang([])
        self._note.setText(sentence)
        self._note.show()
        self._settings.set("kodak-folder", str(self._kodak.folder))
        self._look_for_kodak()


def _heading(text: str) -> QLabel:
    label = Label(text)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    return label


def _thumbnail_of_built_in(key: str, device_pixel_ratio: float) -> tuple[QImage, str]:
    return thumbnail(PICTURES[key].make, device_pixel_ratio)
