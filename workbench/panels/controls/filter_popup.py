"""Popup of all filters in groups, with previews and a search."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QModelIndex, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QIcon, QImage, QKeyEvent, QPixmap
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from kernels import filters
from kernels.core import search
from kernels.core.job import Job
from kernels.core.step import Step
from kernels.filters import GROUPS, Filter, has_parameter
from kernels.oracle.reference import filtered
from kernels.sweeps.step_words import PARAMETERS, job_steps
from workbench.base.background import Background
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label, nearest_in_words, tip_text
from workbench.imaging.filter_previews import preview, reduced
from workbench.model.intents import white_of
from workbench.model.state import State
from workbench.model.state import Step as ListStep
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, make_button
from workbench.widgets.docks import within
from workbench.widgets.drop_down import ToolList
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.tile import scaled_font

SETTINGS_TIP = "What the chosen filter takes besides its size, in the panel Settings."
REDUCED = "Filtered after reducing the picture: at full size edges are weaker and blurs narrower."
COLUMNS = 5
PREVIEW_PX = QSize(128, 58)
TILE_PX = QSize(168, 86)  # of which all rows fit a screen of 1,080 pixels
KEY = Qt.ItemDataRole.UserRole


MAX_ACTIONS = 3  # named


def told(query: str) -> str:
    """The sentence on what is not done here, if `query` means that."""
    table: dict[str, list[str]] = asset_table("help/synonyms.toml")["told"]
    found = search.find(query, [search.Named("", near=tuple(each)) for each in table.values()])
    return "" if found.is_right else "".join([*table][at] for at in found.numbers[:1])


class ActionSearch(Protocol):
    """A search in all actions, for what is no filter."""

    def found_actions(self, words: str) -> list[str]:
        """Names of the actions that have these words, the best first."""

    def show_palette(self, words: str = "") -> None:
        """Open the list of all actions with these words."""


class FilterPopup(QFrame):
    """A popup to choose a filter: type to search, arrow keys and Enter, or click."""

    def __init__(
        self,
        parent: QWidget,
        pick: Callable[[str], object],
        open_settings: Callable[[], object],
        actions: Callable[[], ActionSearch],
    ) -> None:
        """Make the popup; `pick` is called with the key of a chosen filter."""
        super().__init__(parent, Qt.WindowType.Popup)
        self._pick_key, self._actions = pick, actions
        self.setObjectName("filter-popup")
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # else a click on the box reopens it
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._search = described(QLineEdit(), "filter-search", "Search filters")
        self._search.setPlaceholderText("Search filters, such as blur, white dots or skin")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._find)
        self._search.installEventFilter(self)
        settings = make_button("popup-settings", "Sigma, amount, border…", SETTINGS_TIP)
        settings.clicked.connect(self.hide)
        settings.clicked.connect(lambda: open_settings())
        self._list = described(QListWidget(), "filter-list", "Filters")
        self._list.setViewMode(QListWidget.ViewMode.IconMode)
        self._list.setMovement(QListWidget.Movement.Static)
        self._list.setFont(scaled_font(0.93))
        self._list.setIconSize(PREVIEW_PX)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the search has the keyboard
        self._list.itemClicked.connect(self._pick)
        self._list.currentItemChanged.connect(
            lambda item: self._search.setAccessibleDescription(item.text() if item else "")
        )
        bar_px = self._list.verticalScrollBar().sizeHint().width()
        self._wide_px = COLUMNS * TILE_PX.width() + 4
        self._list.setFixedWidth(self._wide_px + bar_px)
        self._blank = QPixmap(PREVIEW_PX)
        self._blank.fill(Qt.GlobalColor.transparent)
        bold = scaled_font(1.0, QFont.Weight.DemiBold)
        self._groups: list[tuple[QListWidgetItem, list[QListWidgetItem]]] = []  # with headings
        for group in GROUPS:
            heading = QListWidgetItem(group, self._list)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            heading.setFont(bold)
            heading.setTextAlignment(Qt.AlignmentFlag.AlignLeft)
            heading.setSizeHint(QSize(self._wide_px, QFontMetrics(bold).height() + 4))
            tiles: list[QListWidgetItem] = []
            self._groups.append((heading, tiles))
            for each in filters.all_filters():
                if each.group == group:
                    tile = QListWidgetItem(QIcon(self._blank), each.title, self._list)
                    tile.setData(KEY, each.key)
                    tile.setToolTip(tip_text(each.idea))
                    tile.setSizeHint(TILE_PX)
                    tiles.append(tile)
        self._nothing = Label(name="filter-nothing", is_muted=True, wraps=True)
        self._there = make_button("filter-actions", "All actions (Enter)", "Show these actions")
        self._there.clicked.connect(self._show_actions)
        above = HBox(spacing=6).add((self._search, 1), settings)
        said = HBox(spacing=6).add((self._nothing, 1), self._there)
        self._note = Label(REDUCED, name="filter-note", is_muted=True)
        VBox(self, (10, 10, 6, 10)).add(above, said, (self._list, 1), self._note)

    @property
    def _tiles(self) -> list[QListWidgetItem]:
        return [tile for _, tiles in self._groups for tile in tiles]

    def open_below(self, box: QWidget, key: str, take_back: Callable[[], object]) -> None:
        """Open below `box`, or where the screen has room, with the filter `key` chosen.

        take_back  called where Esc ends the choice
        """
        self._take_back, self._box = take_back, box
        self._search.clear()
        self._list.setCurrentItem(next(each for each in self._tiles if each.data(KEY) == key))
        self._find("")
        self.show()
        self._search.setFocus()

    def show_previews(self, images: dict[str, QImage], ratio: float) -> None:
        """Show a picture on each tile that has one, with device pixel ratio `ratio`."""
        for tile in self._tiles:
            image = images.get(tile.data(KEY))
            pixmap = QPixmap(self._blank if image is None else image)
            pixmap.setDevicePixelRatio(ratio)
            icon = QIcon(pixmap)
            icon.addPixmap(pixmap, QIcon.Mode.Selected)  # else Qt tints it
            tile.setIcon(icon)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self._search and isinstance(event, QKeyEvent):
            is_press = event.type() == QEvent.Type.KeyPress
            if is_press and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._there.isVisible():
                    self._show_actions()
                else:
                    self._pick(self._list.currentItem())
                return True
            if is_press and event.key() in ARROWS:
                QCoreApplication.sendEvent(self._list, event)
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            self._take_back()
        else:
            super().keyPressEvent(event)

    def _pick(self, tile: QListWidgetItem | None) -> None:
        if tile is not None and not tile.isHidden() and tile.data(KEY):
            self.hide()
            self._pick_key(tile.data(KEY))

    def _find(self, text: str) -> None:
        """Show the filters found by `text`, below their groups, and mark one."""
        found, is_right = filters.search(text)
        actions = [] if is_right else self._actions().found_actions(text)
        absent = "" if is_right or actions else told(text)
        if actions or absent:
            found = []  # the nearest filters are none of what is meant
        keys = [each.key for each in found]
        for heading, tiles in self._groups:
            for tile in tiles:
                tile.setHidden(tile.data(KEY) not in keys)
            heading.setHidden(all(tile.isHidden() for tile in tiles))
        nearest = nearest_in_words("No such filter here", [each.title for each in found])
        named = ", ".join(dict.fromkeys(actions[:MAX_ACTIONS]))
        said = f"No such filter here; in All actions: {named}." if actions else nearest
        self._nothing.show_or_hide("" if is_right else absent or said)
        self._there.setVisible(bool(actions))
        self._note.setVisible(bool(found))
        if not is_right:
            self._list.setCurrentIndex(QModelIndex())  # Enter takes none until one is chosen
        elif text:
            self._list.setCurrentItem(next(e for e in self._tiles if e.data(KEY) == keys[0]))
        self._fit()

    def _show_actions(self) -> None:
        self.hide()
        self._actions().show_palette(self._search.text())

    def _fit(self) -> None:
        """Be as high as what was found; below the box, if the screen has any room there."""
        self._list.doItemsLayout()
        around_px = self.sizeHint().height() - self._list.sizeHint().height()
        high = self._list.contentsSize().height() + 4 + around_px
        corner = self._box.mapToGlobal(QPoint(0, self._box.height() + 2))
        room = self._box.screen().availableGeometry()
        high = min(high, max(room.bottom() - corner.y(), 3 * TILE_PX.height()))
        self.setGeometry(within(QRect(corner, QSize(self.sizeHint().width(), high)), room))


MAX_KSIZE = 7  # in a picture this small larger ones leave nothing to tell filters apart by


class FilterBox(ToolList):
    """List of all filters, which opens a FilterPopup."""

    def __init__(
        self,
        store: Store,
        background: Background,
        open_settings: Callable[[], object],
        actions: Callable[[], ActionSearch],
    ) -> None:
        super().__init__("filter", "Filter", "Which weights, and so which picture comes out.")
        self._store, self._background = store, background
        self._beside = open_settings, actions
        for each in filters.all_filters():
            self.add(each.title, each.key)
        self._popup: FilterPopup | None = None  # made when it is first opened: it takes a moment
        self._made_of: tuple[Any, ...] = ()  # the previews in it
        store.changed.connect(self._follow)

    def showPopup(self, take_back: Callable[[], object] = bool) -> None:  # noqa: N802
        if self._popup is None:  # a style sheet skips frames in a combo box
            self._popup = FilterPopup(self.window(), self._pick, *self._beside)
        self._make_previews(self._popup)
        self._popup.open_below(self, self.currentData(), take_back)

    def hidePopup(self) -> None:  # noqa: N802
        if self._popup is not None:
            self._popup.hide()

    def _follow(self) -> None:
        if self._popup is not None and self._popup.isVisible():
            self._make_previews(self._popup)  # a picture came meanwhile

    def _make_previews(self, popup: FilterPopup) -> None:
        """Filter what the selected step is given, reduced, with each filter in the background."""
        state, ratio = self._store.state, self.devicePixelRatioF()
        picture = state.picture
        if picture is None:
            return
        of = weakref.ref(picture)  # it may be large, and closed before the list is opened again
        before = tuple(each for each in state.before if each.is_on)
        chosen = (getattr(state, name) for name in ("ksize", "tone", *PARAMETERS))
        asked = of, *chosen, ratio, before
        if asked == self._made_of:
            return
        self._made_of = asked
        popup.show_previews({}, 1.0)  # those of another picture are not shown meanwhile

        def work() -> dict[str, QImage]:
            size = PREVIEW_PX * ratio
            small = reduced(picture.samples, size.width(), size.height())
            for each in before:
                job = Job(small, _steps(filters.get(each.filter), each, state), state.border)
                small = np.ascontiguousarray(filtered(job), np.float32)
            selected = replace(state.selected, mix=1.0)
            return {
                each.key: preview(small, picture.white, _steps(each, selected, state), state.tone)
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


def _steps(chosen: Filter, step: ListStep, state: State) -> tuple[Step, ...]:
    if has_parameter(chosen, "matrix"):
        ksize = len(step.matrix)
    else:
        ksize = chosen.nearest_size(min(step.ksize, MAX_KSIZE))
    return job_steps(replace(step, filter=chosen.key, ksize=ksize), white_of(state))
