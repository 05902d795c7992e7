"""Pictures of the window and of its parts, to files and to the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Slot
from PySide6.QtGui import QImage

from workbench.charts.canvas import make_plots
from workbench.session.exporter import FILTERED, SHOWS, MakeImage
from workbench.widgets.actions import Action
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.remembering import Memory
from workbench.window.save_menu import NOTHING_TO_SAVE, SaveMenu
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.panels.timing.timing_panel import TimingPanel

SHOT, EDIT = "&File/S&creenshot", "&Edit"
PNG_FILTER = "PNG (*.png)"
NOTHING_TO_COPY = "There is no result of this picture to copy yet."


class Screenshots(QObject):
    """A menu that takes screenshots, with the settings inside, to be restored when dropped here.

    save_menu  asks where to save
    memory     says which settings to put inside
    window     the whole, to be drawn
    """

    def __init__(
        self,
        parts: Parts,
        sweep: LazyPanel[SweepPanel],
        timing: LazyPanel[TimingPanel],
        save_menu: SaveMenu,
        memory: Memory,
    ) -> None:
        super().__init__(parts.window)
        self._live, self._compare, self._sweep, self._timing = (
            *(parts.live, parts.compare, sweep, timing),
        )
        self._save_menu, self._exporter, self._memory = save_menu, parts.exporter, memory
        self._messages, self._window = parts.messages, parts.window
        sweep.when_made(self._connect)

    def _connect(self, sweep: SweepPanel) -> None:
        copy = self._exporter.copy_image
        sweep.chart.copy_wanted.connect(lambda image: copy(image, "the chart"))
        sweep.chart.save_wanted.connect(self._save_chart)

    def save_actions(self) -> list[Action]:
        """Return the lines of the menu that lead to files."""
        return [
            Action(
                *(SHOT, "&Window…", partial(self._save, "window"), ("Ctrl+Shift+W",)),
                "The whole window as a PNG that brings its settings back when it is dropped here.",
            ),
            Action(
                *(SHOT, "&Filtered picture…", self._save_filtered, ("Ctrl+Shift+F",)),
                "At full resolution, with the settings inside.",
            ),
            Action(
                *(SHOT, "&Comparison…", partial(self._save, "comparison"), ("Ctrl+Shift+S",)),
                "Before and after at full resolution.",
            ),
            Action(
                *(SHOT, "C&hart…", partial(self._save, "chart"), ("Ctrl+Shift+H",)),
                "The sweep's chart as a PNG, with its plan inside.",
            ),
        ]

    def copy_actions(self) -> list[Action]:
        """Return the lines of the menu that lead to the clipboard."""
        return [
            Action(
                *(EDIT, "&Copy result", self._copy_result, ("Ctrl+C",)),
                "The filtered picture to the clipboard.",
                separator=True,
            ),
            Action(
                *(EDIT, "Copy co&mparison", partial(self._copy, "comparison")),
                ("Ctrl+Shift+C",),
                "Before and after at full resolution to the clipboard.",
            ),
            Action(
                *(EDIT, "Copy &window", partial(self._copy, "window"), ("Ctrl+Alt+C",)),
                "A picture of the window to the clipboard.",
            ),
            Action(
                *(EDIT, "Copy c&hart", partial(self._copy, "chart"), ("Ctrl+Alt+H",)),
                "A picture of the sweep's chart to the clipboard.",
            ),
        ]

    def of_window(self) -> QImage:
        """Return the window as it is, its charts brought up to date."""
        if self._timing.made is not None:
            self._timing.made.history.draw_now()
        if self._sweep.made is not None:
            self._sweep.made.draw_now()
        make_plots(self._window)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        return self._window.grab().toImage()

    def _take(self, what: str) -> QImage | MakeImage | None:
        """Return what is on the screen now; None: nothing is, and a message says so."""
        take: dict[str, Callable[[], QImage | MakeImage | None]] = {
            "window": self.of_window,
            "comparison": self._compare.comparison,
            "chart": lambda: self._sweep.get().grab_chart(),
        }
        image = take[what]()
        if image is None or (not callable(image) and image.isNull()):
            self._messages.show_message("info", f"There is no {what} to show yet.")
            return None
        return image

    def _save(self, what: str) -> None:
        image, settings = self._take(what), self._memory.for_screenshot()
        if what == "window":
            settings = self._memory.for_window_screenshot()
        if what == "chart":  # it was measured with earlier settings
            settings |= self._sweep.get().conditions()
        if image is not None and (path := self._save_menu.ask_path(f"{what}.png", PNG_FILTER)):
            self._exporter.save_screenshot(path, image, settings)

    @Slot()
    def _save_filtered(self) -> None:
        """Save the result as `_save` does, in all the bits that a PNG can hold."""
        if (found := self._live.of_view) is None:
            self._messages.show_message("info", NOTHING_TO_SAVE)
        elif path := self._save_menu.ask_path("filtered.png", PNG_FILTER):
            _, result, shown = found
            image = result.picture if result.picture.dtype.kind == "u" else shown.images[0]
            settings = {**self._memory.for_screenshot(), SHOWS: FILTERED}
            self._exporter.save_screenshot(path, image, settings)

    def _save_chart(self, path: Path, content: QImage | str) -> None:
        """Write a PNG with the settings inside, or the text of an SVG."""
        if isinstance(content, str):
            self._exporter.save_text(path, content)
        else:
            settings = self._memory.for_screenshot() | self._sweep.get().conditions()
            self._exporter.save_screenshot(path, content, settings)

    def _copy(self, what: str) -> None:
        if (image := self._take(what)) is not None:
            self._exporter.copy_image(image, f"the {what}")

    @Slot()
    def _copy_result(self) -> None:
        if (found := self._live.of_view) is None:
            self._messages.show_message("info", NOTHING_TO_COPY)
        else:
            picture, result, shown = found
            self._exporter.copy_result(picture, result, shown.images[0])
