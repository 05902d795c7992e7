"""The gallery: pictures of the open one's folder, the Kodak set, and built-in ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QProgressBar,
    QSizePolicy,
    QStyleOptionViewItem,
    QWidget,
)

from kernels.core.safe_files import cache_folder
from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
from workbench.files import kodak
from workbench.files.kodak import DEFAULT_MIRROR, NAMES, Downloading, KodakError, KodakSet
from workbench.files.neighbours import Shelf
from workbench.panels.gallery.thumbnails import KEY, THUMBNAIL, Key, TileModel
from workbench.session.opener import Opener, Walk
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import check_segment, described, make_segments, push_button
from workbench.widgets.file_dialogs import ask_folder
from workbench.widgets.folding import FoldedSection
from workbench.widgets.tile import scaled_font

TILE_GAP_PX = 12  # of a tile around its picture and words
ONLY = QItemSelectionModel.SelectionFlag.ClearAndSelect


class Wall(QListView):
    """Tiles in as many columns as fit; click, Enter or Space chooses one, Ctrl or Shift several."""

    chosen = Signal(object)  # (key): open this picture

    def __init__(self, model: TileModel) -> None:
        super().__init__(flow=QListView.Flow.LeftToRight, isWrapping=True, uniformItemSizes=True)
        described(self, "shelf", "Pictures", look="wall")
        self.setModel(model)
        self.setFont(scaled_font(0.9))
        self.setIconSize(THUMBNAIL)
        self._fit_columns()  # without a grid Qt would ask each of a hundred thousand
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.clicked.connect(self._choose)

    def mark(self, row: int | None) -> None:
        """Mark the open picture, and bring it into view; None: none of them is open."""
        index = QModelIndex() if row is None else self.model().index(row, 0)
        # As a click would, even while Ctrl is held for another shortcut.
        self.selectionModel().setCurrentIndex(index, ONLY)
        self._show_current()

    def initViewItemOption(self, option: QStyleOptionViewItem) -> None:  # noqa: N802
        super().initViewItemOption(option)
        option.decorationPosition = QStyleOptionViewItem.Position.Top
        option.displayAlignment = Qt.AlignmentFlag.AlignCenter

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        keys = Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space
        selects = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in keys and not selects:
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if not self.currentIndex().isValid():
            self.selectionModel().setCurrentIndex(self.model().index(0, 0), ONLY)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        QTimer.singleShot(0, self, self._show_current)  # once it has its size

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._fit_columns()
        super().resizeEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid() and self.selectedIndexes() == [index]:
            self.chosen.emit(index.data(KEY))

    def _show_current(self) -> None:
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex(), QListView.ScrollHint.PositionAtCenter)

    def _fit_columns(self) -> None:
        width = self.viewport().width() - 1  # a row that fills the view to the last pixel wraps
        columns = max(1, width // (THUMBNAIL.width() + TILE_GAP_PX))
        high = THUMBNAIL.height() + 2 * self.fontMetrics().lineSpacing() + 2 * TILE_GAP_PX
        self.setGridSize(QSize(max(1, width // columns), high))


class KodakCard(QFrame):
    """The card of the Kodak pictures: offer, progress or error.

    mirror    the line with the address that pictures are downloaded from; empty: the usual one
    download, cancel, folder  the buttons
    """

    def __init__(self, mirror: str) -> None:
        super().__init__()
        self.setProperty("card", True)
        words = "24 classic test photos, not included. Download once, or choose your copy."
        tip = (
            "Fetches the pictures that are missing and verifies each (SHA-256).\n"
            "It can be cancelled; what is finished stays."
        )
        self.download = push_button("kodak_download", "", tip, look="primary")
        tip = "Choose a folder with kodim01.png to kodim24.png; each is verified."
        self.folder = push_button("kodak_folder", "Choose folder…", tip)
        tip = "Stops the download; the finished pictures stay."
        self.cancel = push_button("kodak_cancel", "&Cancel", tip)
        tip = "The address that “kodim01.png” and so on are appended to."
        title = "Mirror to download the Kodak pictures from"
        line = QLineEdit(mirror, placeholderText=DEFAULT_MIRROR, clearButtonEnabled=True)
        self.mirror = described(line, "kodak_mirror", title, tip)
        tip = "Where the pictures are downloaded from."
        where = FoldedSection("kodak_mirror_toggle", tip, "Mirror", self.mirror)
        where.show_room(False)
        self._trouble = Label(name="kodak_trouble", wraps=True, is_selectable=True)
        self._trouble.setProperty("objection", True)
        title = "Download of the Kodak pictures"
        self._bar = described(QProgressBar(maximum=1000), "kodak_progress", title)
        self._offer, self._progress = QWidget(), QWidget()
        VBox(self._offer, 0, 8).add(self.download, self.folder, where, self._trouble)
        HBox(self._progress, 0).add((self._bar, 1), self.cancel)
        VBox(self, (14, 12, 14, 14), 10).add(Label(words, wraps=True), self._offer, self._progress)
        self.show_offer(len(NAMES))

    def show_offer(self, missing: int, trouble: str = "") -> None:
        """Offer to fetch the `missing` pictures; `trouble` is the error of the last try."""
        megabytes = max(1, round(missing / len(NAMES) * kodak.TOTAL_MB))
        self.download.setText(f"Dow&nload {missing} of {len(NAMES)} pictures ({megabytes} MB)")
        self._offer.show()
        self._progress.hide()
        self._trouble.show_or_hide(trouble)

    def show_progress(self, progress: Downloading) -> None:
        self._offer.hide()
        self._progress.show()
        self._bar.setValue(round(1000 * progress.share))
        self._bar.setFormat(f"{progress.finished} of {len(NAMES)} downloaded")


NOTHING = "Open a picture or a folder, or drop one on the window, to see its neighbours here."
FOLDER, TEST = "gallery-folder", "gallery-test"
SOURCES = (
    (FOLDER, "Folder", "The pictures in the folder of the open one"),
    (TEST, "Test pictures", "Kodak photographs, and pictures made by code"),
)


class Gallery(QWidget):
    """The gallery, which looks for its pictures in the background whenever it is shown.

    Call `close_threads()` before it goes.
    """

    filter_wanted = Signal(object)  # (paths): filter these pictures
    _progressed = Signal(object)

    def __init__(
        self, settings: Settings, opener: Opener, walk: Walk, choose_folder: Callable[[], object]
    ) -> None:
        """Make the gallery, whose folder and mirror `settings` remember."""
        super().__init__()
        self.setObjectName("gallery")
        self._settings, self._opener = settings, opener
        folder = settings.get("kodak-folder", "")
        self._kodak = KodakSet(Path(folder) if folder else cache_folder() / "kodak")
        self._shelf: Shelf | None = None  # the last one; its pictures stay while none is open
        self._open_row: int | None = None
        self._numbers: list[int] = []  # of the photographs that there are
        self._stop = threading.Event()
        self._is_downloading = False
        self._looking = Background((KodakError,), self)
        self._downloads = Background((KodakError, kodak.Stopped), self)
        self._progressed.connect(self._show_progress)
        self._tiles = TileModel(self.devicePixelRatioF, self)
        self._wall = Wall(self._tiles)
        self._wall.chosen.connect(self._open)
        self._wall.selectionModel().selectionChanged.connect(self._count_selected)
        self._rows: Sequence[int] = ()  # of what is to be filtered
        self._lay_out(choose_folder, settings.get("mirror", DEFAULT_MIRROR))
        self._show_source(TEST)
        self._show_shelf(walk.shelf)
        walk.placed.connect(self._show_shelf)

    def close_threads(self) -> None:
        """Stop a download, and wait for the threads to end."""
        self._stop.set()
        self._tiles.close_threads()
        self._looking.close()
        self._downloads.close()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(700, 620)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if not self._is_downloading:
            self._look_for_kodak()

    def _lay_out(self, choose_folder: Callable[[], object], mirror: str) -> None:
        self._words = Label(NOTHING, name="shelf-words", wraps=True)
        tip = "Choose a folder; its first picture opens (Ctrl+Alt+O)"
        folder = push_button("shelf-folder", "Open folder…", tip)
        folder.clicked.connect(lambda: choose_folder())
        tip = "Filter into a folder all pictures, or those that Ctrl and Shift select"
        self._filter = push_button("gallery-filter", "Filter all…", tip)
        send, at = self.filter_wanted.emit, self._tiles.index
        self._filter.clicked.connect(lambda: send([at(row).data(KEY) for row in self._rows]))
        buttons = VBox(spacing=4).add(folder, self._filter)
        self._card = KodakCard(mirror)
        self._card.hide()
        self._card.download.clicked.connect(self._download)
        self._card.cancel.clicked.connect(self._stop.set)
        self._card.folder.clicked.connect(self._choose_folder)
        self._note = Label(is_muted=True, wraps=True)
        self._note.hide()
        self._sources = make_segments(SOURCES, self._show_source)
        row = HBox(spacing=0)
        for each in self._sources.values():
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            row.addWidget(each)
        self._heads = {FOLDER: QWidget(), TEST: QWidget()}
        HBox(self._heads[FOLDER], 0).add((self._words, 1), (buttons, 0, Qt.AlignmentFlag.AlignTop))
        VBox(self._heads[TEST], 0, 8).add(self._card, self._note)
        VBox(self, (10, 8, 4, 4), 8).add(row, *self._heads.values(), (self._wall, 1))

    @Slot(object)
    def _show_shelf(self, shelf: Shelf | None) -> None:
        self._open_row = None if shelf is None else shelf.index
        shown, source = self._shelf, self._source
        if shelf is not None and (
            shown is None or (shelf.folder, shelf.names) != (shown.folder, shown.names)
        ):
            self._shelf = shelf
            where = "opened together" if shelf.folder is None else f"in {shelf.folder.name or '/'}"
            self._words.setText(f"{len(shelf.names):,} pictures {where}")
            self._words.setToolTip(tip_text(str(shelf.folder or "")))
            # The Kodak pictures stand among the test pictures.
            self._show_source(FOLDER if shelf.folder != self._kodak.folder else source)
        elif source == FOLDER:
            self._wall.mark(self._open_row)

    def _show_source(self, name: str) -> None:
        self._source = name
        check_segment(self._sources, name)
        for each, head in self._heads.items():
            head.setVisible(each == name)
        self._list()

    def _list(self) -> None:
        keys: list[Key] = [*map(self._kodak.path, self._numbers), *PICTURES]
        if self._source == TEST:
            titles = [key.stem if isinstance(key, Path) else PICTURES[key].title for key in keys]
            self._tiles.show_tiles(titles, keys.__getitem__)
        elif self._shelf is not None:
            names, folder = self._shelf.names, self._shelf.folder
            titles = list(names) if folder else [Path(name).name for name in names]
            self._tiles.show_tiles(titles, self._shelf.path)
        else:
            self._tiles.show_tiles((), str)
        self._wall.mark(self._open_row if self._source == FOLDER else None)
        self._count_selected()  # a reset of the tiles tells nobody

    @Slot()
    def _count_selected(self) -> None:
        rows = sorted(each.row() for each in self._wall.selectedIndexes())
        self._rows = rows if len(rows) > 1 else range(self._tiles.rowCount())
        self._filter.setText(f"Filter {'these' if len(rows) > 1 else 'all'} {len(self._rows):,}…")
        self._filter.setEnabled(len(self._rows) > 1)

    def _open(self, key: Key) -> None:
        if isinstance(key, Path):
            self._opener.open_file(key)
        else:
            self._opener.open_built_in(key)

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
        if numbers != self._numbers:
            self._numbers = numbers
            if self._source == TEST:
                self._list()

    def _download(self) -> None:
        mirror = self._card.mirror.text().strip() or DEFAULT_MIRROR
        self._settings.set("mirror", mirror)
        self._stop.clear()
        self._is_downloading = True
        self._card.show_progress(Downloading(0))
        work = partial(kodak.download, self._kodak.folder, mirror, self._report)
        self._downloads.run(
            work, lambda _: self._after_download(), self._after_download, self._after_download
        )

    def _report(self, progress: Downloading) -> None:
        if self._stop.is_set():
            raise kodak.Stopped
        self._progressed.emit(progress)

    def _show_progress(self, progress: Downloading) -> None:
        self._card.show_progress(progress)
        self._hang(sorted({*range(1, progress.finished + 1), *self._numbers}))

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
