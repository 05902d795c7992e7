"""The list of all filters in groups, each with a preview, and a line to search in."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QFont, QIcon, QImage, QKeyEvent, QPixmap
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QScrollArea, QToolButton, QWidget

from kernels import filters
from kernels.filters import GROUPS, Filter
from workbench.base.background import Background
from workbench.base.plain_text import Label
from workbench.imaging.filter_previews import preview, reduced
from workbench.model.intents import has_parameter
from workbench.model.state import State
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import make_button, tab_button
from workbench.widgets.drop_down import ToolList
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.tile import scaled_font

SETTINGS_TIP = "What the chosen filter takes besides its size, in the panel Settings."
COLUMNS = 5
PREVIEW_PX = QSize(128, 58)
TILE_PX = QSize(152, 88)


class FilterPopup(QFrame):
    """A popup to choose a filter: type to search, arrow keys and Enter, or click."""

    def __init__(
        self,
        parent: QWidget,
        pick: Callable[[str], object],
        open_settings: Callable[[], object],
    ) -> None:
        """Make the popup; `pick` is called with the key of a chosen filter."""
        super().__init__(parent, Qt.WindowType.Popup)
        self._pick_key = pick
        self.setObjectName("filter-popup")
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # else a click on the box reopens it
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._search = QLineEdit()
        self._search.setObjectName("filter-search")
        self._search.setAccessibleName("Search filters")
        self._search.setPlaceholderText("Search filters, such as blur or slope")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._arrange)
        self._search.installEventFilter(self)
        self._settings = make_button("popup-settings", "Sigma, amount, border…", SETTINGS_TIP)
        self._settings.clicked.connect(self.hide)
        self._settings.clicked.connect(lambda: open_settings())
        self._tiles = {each.key: self._tile(each) for each in filters.all_filters()}
        bold = scaled_font(1.0, QFont.Weight.DemiBold)
        self._headings = {group: Label(group, font=bold, is_muted=True) for group in GROUPS}
        self._nothing = Label("No filter is called that.", is_muted=True)
        self._places: dict[tuple[int, int], str] = {}  # of the tiles that are shown
        self._current = ""
        self._max_height = 0  # as the screen has room for, once it is open
        self._lay_out()

    def open_below(self, box: QWidget, key: str) -> None:
        """Open below `box`, or where the screen has room, with the filter `key` chosen."""
        self._current = key
        self._search.clear()
        self._arrange("")
        room = box.screen().availableGeometry()
        corner = box.mapToGlobal(QPoint(0, box.height() + 2))
        bar_px = self._area.verticalScrollBar().sizeHint().width()
        self._area.setFixedWidth(self._inside.sizeHint().width() + bar_px)
        self._max_height = max(room.bottom() - corner.y(), room.height() // 2)
        self._fit()
        x = min(corner.x(), room.right() - self.width())
        y = min(corner.y(), room.bottom() - self.height())
        self.move(max(x, room.left()), max(y, room.top()))
        self.show()
        self._search.setFocus()
        self._area.ensureWidgetVisible(self._tiles[key])

    def show_previews(self, images: dict[str, QImage], ratio: float) -> None:
        """Show a picture on each tile, with device pixel ratio `ratio`."""
        for key, image in images.items():
            pixmap = QPixmap.fromImage(image)
            pixmap.setDevicePixelRatio(ratio)
            self._tiles[key].setIcon(QIcon(pixmap))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self._search and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._pick(self._current)
                return True
            if (step := ARROWS.get(event.key())) is not None:
                self._go(*step)
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        around_px = self.sizeHint().height() - self._area.sizeHint().height()
        needed = self._inside.sizeHint().height() + around_px
        self.resize(self.sizeHint().width(), min(needed, self._max_height))

    def _pick(self, key: str) -> None:
        if key:
            self.hide()
            self._pick_key(key)

    def _go(self, across: int, down: int) -> None:
        """Go to the next tile in reading order, or up and down a column."""
        order = sorted(self._places)
        at = next((place for place in order if self._places[place] == self._current), None)
        if at is None:
            return
        if across:
            to = order[min(max(order.index(at) + across, 0), len(order) - 1)]
        else:
            lines = sorted({row for row, _ in order})
            row = lines[min(max(lines.index(at[0]) + down, 0), len(lines) - 1)]
            to = min((place for place in order if place[0] == row), key=lambda p: abs(p[1] - at[1]))
        self._mark(self._places[to])

    def _mark(self, key: str) -> None:
        self._current = key
        for name, tile in self._tiles.items():
            tile.setChecked(name == key)
        if key:
            self._area.ensureWidgetVisible(self._tiles[key])
        self._search.setAccessibleDescription(self._tiles[key].text() if key else "")

    def _arrange(self, text: str) -> None:
        """Show the filters found by `text`, in their groups, and mark one."""
        found = [each for each in filters.all_filters() if _is_found(each, text)]
        self._places, row = {}, 0
        for part in (*self._tiles.values(), *self._headings.values()):
            self._grid.removeWidget(part)
            part.hide()
        for group in GROUPS:
            members = [each for each in found if each.group == group]
            if not members:
                continue
            self._grid.addWidget(self._headings[group], row, 0, 1, COLUMNS)
            self._headings[group].show()
            for number, each in enumerate(members):
                place = row + 1 + number // COLUMNS, number % COLUMNS
                self._places[place] = each.key
                self._grid.addWidget(self._tiles[each.key], *place)
                self._tiles[each.key].show()
            row += 2 + (len(members) - 1) // COLUMNS
        self._nothing.setVisible(not found)
        keys = list(self._places.values())
        self._mark(self._current if self._current in keys else next(iter(keys), ""))
        if self.isVisible():
            self._fit()

    def _tile(self, each: Filter) -> QToolButton:
        tile = tab_button(f"filter-{each.key}", each.title, each.idea)
        tile.setCheckable(True)
        tile.setProperty("tile", True)
        tile.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        tile.setIconSize(PREVIEW_PX)
        blank = QPixmap(PREVIEW_PX)
        blank.fill(Qt.GlobalColor.transparent)
        tile.setIcon(QIcon(blank))
        tile.setFont(scaled_font(0.93))
        tile.setFixedSize(TILE_PX)
        tile.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the search has the keyboard
        tile.clicked.connect(lambda: self._pick(each.key))
        return tile

    def _lay_out(self) -> None:
        self._inside = QWidget()
        self._grid = QGridLayout()
        self._grid.setSpacing(4)
        VBox(self._inside, 0).add(self._grid, self._nothing, 1)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(self._inside)
        rows = VBox(self, (10, 10, 6, 10))
        above = HBox(spacing=6)
        above.add((self._search, 1), self._settings)
        rows.add(above, (self._area, 1))


def _is_found(each: Filter, text: str) -> bool:
    """True if every word of `text` begins a word of the filter's title, group or idea."""
    there = f"{each.title} {each.group} {each.idea}".lower().replace(",", " ").split()
    return all(any(word.startswith(part) for word in there) for part in text.lower().split())


MAX_KSIZE = 7  # in a picture this small larger ones leave nothing to tell filters apart by


class FilterBox(ToolList):
    """A list of all filters; the wheel, letters and arrow keys step through it while closed."""

    def __init__(
        self, store: Store, background: Background, open_settings: Callable[[], object]
    ) -> None:
        super().__init__("filter", "Filter", "Which weights, and so which picture comes out.")
        self._store, self._background, self._open_settings = store, background, open_settings
        for each in filters.all_filters():
            self.add(each.title, each.key)
        self._popup: FilterPopup | None = None  # made when it is first opened: it takes a moment
        self._made_of: tuple[Any, ...] = ()  # the previews in it

    def showPopup(self) -> None:  # noqa: N802
        if self._popup is None:  # a style sheet skips frames in a combo box
            self._popup = FilterPopup(self.window(), self._pick, self._open_settings)
        self._make_previews(self._popup)
        self._popup.open_below(self, self.currentData())

    def hidePopup(self) -> None:  # noqa: N802
        if self._popup is not None:
            self._popup.hide()

    def _make_previews(self, popup: FilterPopup) -> None:
        """Filter the open picture, reduced, with each filter in the background."""
        state, ratio = self._store.state, self.devicePixelRatioF()
        picture = state.picture
        if picture is None:
            return
        of = weakref.ref(picture)  # it may be large, and closed before the list is opened again
        asked = (of, state.ksize, state.sigma, state.amount, state.matrix, ratio)
        if asked == self._made_of:
            return
        self._made_of = asked

        def work() -> dict[str, QImage]:
            size = PREVIEW_PX * ratio
            small = reduced(picture.samples, size.width(), size.height())
            return {
                each.key: preview(small, picture.white, _weights(each, state), each.gradient)
                for each in filters.all_filters()
            }

        def show(images: dict[str, QImage]) -> None:
            if self._made_of == asked:
                popup.show_previews(images, ratio)

        self._background.run(work, show, lambda _error: None)  # the list does without

    def _pick(self, key: str) -> None:
        row = self.findData(key)
        self.setCurrentIndex(row)
        self.activated.emit(row)


def _weights(chosen: Filter, state: State) -> Any:
    if has_parameter(chosen, "matrix"):
        ksize = len(state.matrix)
    else:
        ksize = chosen.nearest_size(min(state.ksize, MAX_KSIZE))
    return chosen.weights(ksize, sigma=state.sigma, amount=state.amount, matrix=state.matrix)
