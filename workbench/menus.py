"""The menu bar: all that can be done in the window, by name and by key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

from kernels.device import NoDevice
from workbench import theme
from workbench.actions import Action, MenuTree
from workbench.exporter import suggested_name
from workbench.files.clipboard import to_image
from workbench.files.image_files import OPEN_FILTER, SAVE_FILTER
from workbench.menu_lines import menu_lines
from workbench.palette.entries import OWN_NAME, entries_of
from workbench.palette.palette import Palette
from workbench.state import ViewMode
from workbench.sweeps.menu import MENU, RECENT, RECORDED
from workbench.views.about import AboutDialog
from workbench.views.shortcuts import ShortcutsDialog

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from workbench.main_window import MainWindow

SCHEMES = {"system": "Like the &system", "light": "&Light", "dark": "&Dark"}
PNG_FILTER = "PNG (*.png)"


class Menus(QObject):
    """Builds the menus of a MainWindow and does what needs a dialog."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        tree = MenuTree(window)
        tree.add(self._table())
        window.undoing.connect_actions()
        self._recent = tree.menu("&File/Open &recent")
        self._recent.aboutToShow.connect(self._fill_recent)
        window.sweep_menu.connect_lists(tree.menu(RECENT), tree.menu(RECORDED), tree.menu(MENU))
        self._add_schemes(tree.menu("&View/&Theme").addAction)
        for dock in window.docks.values():
            tree.menu("&View/&Panels").addAction(dock.toggleViewAction())

    def _table(self) -> list[Action]:
        window = self._window
        opener, controls = window.opener, window.controls
        file, view, run, copy = "&File", "&View", "&Run", "&Edit"
        shot = "&File/S&creenshot"
        return [
            Action(file, "&Open…", self._open, ("Ctrl+O",), "Open a picture."),
            Action("&File/Open &recent", "Forget these", self._forget_recent),
            Action(file, "&Next in folder", lambda: self._neighbour(1), ("PgDown",)),
            Action(file, "&Previous in folder", lambda: self._neighbour(-1), ("PgUp",)),
            Action(
                file,
                "&Gallery",
                lambda: self._raise("Gallery"),
                ("Ctrl+G",),
                "Kodak pictures and pictures made by code.",
            ),
            *(
                Action("&File/&Built-in picture", title, partial(opener.open_built_in, key))
                for key, title in _built_in_titles()
            ),
            Action(
                file,
                "&Save result as…",
                self._save_result,
                ("Ctrl+S",),
                "The filtered picture at full resolution.",
                separator=True,
            ),
            Action(shot, "&Window…", lambda: self._save_image("window"), ("Ctrl+Shift+W",)),
            Action(
                shot,
                "&Filtered picture…",
                self._save_filtered,
                tip="At full resolution, with the settings inside.",
            ),
            Action(
                shot,
                "&Comparison…",
                lambda: self._save_image("comparison"),
                ("Ctrl+Shift+S",),
                "Before and after at full resolution.",
            ),
            Action(shot, "C&hart…", lambda: self._save_image("chart"), ("Ctrl+Shift+H",)),
            Action(file, "&Quit", window.close, ("Ctrl+Q",), separator=True),
            *window.undoing.actions(),
            Action(copy, "&Copy result", self._copy_result, ("Ctrl+C",)),
            Action(
                copy, "Copy co&mparison", lambda: self._copy_image("comparison"), ("Ctrl+Shift+C",)
            ),
            Action(copy, "Copy &window", lambda: self._copy_image("window"), ("Ctrl+Alt+C",)),
            Action(copy, "Copy c&hart", lambda: self._copy_image("chart"), ("Ctrl+Alt+H",)),
            *window.copy_as.actions(),
            Action(copy, "&Paste picture", window.paste, ("Ctrl+V",), separator=True),
            *window.weights.actions(),
            Action(
                view,
                "&Side by side or wipe",
                self._toggle_wipe,
                ("W",),
                "Before and after next to each other, or one over the other with a divider.",
            ),
            Action(
                view,
                "Turn the divider",
                self._turn_divider,
                ("Shift+W",),
                "Wipe from left to right, or from top to bottom.",
            ),
            Action(
                view,
                "&Difference",
                partial(self._toggle_mode, "difference"),
                ("D",),
                "After minus before, or minus a pinned result; again: side by side.",
            ),
            Action(
                view,
                "&Mismatch",
                partial(self._toggle_mode, "mismatch"),
                ("M",),
                "Every pixel held against the float64 oracle; again: side by side.",
            ),
            Action(
                view,
                "&Next differing pixel",
                partial(window.inspection.go_to_differing, 1),
                ("N",),
                "Go to the next pixel that is not what the oracle says.",
            ),
            Action(
                view,
                "Pr&evious differing pixel",
                partial(window.inspection.go_to_differing, -1),
                ("Shift+N",),
                "Go to the one before.",
            ),
            Action(
                view,
                "Pin this result",
                window.inspection.pin,
                ("K",),
                "Keep it beside the next ones: up to four at once, zoomed and moved together.",
            ),
            Action(
                view,
                "Anal&ysis",
                lambda: self._raise("Analysis"),
                ("H",),
                "Histogram, line profile, PSNR, SSIM and largest error of before and after.",
            ),
            Action(
                view,
                "Remove the last pinned result",
                window.inspection.unpin,
                ("Shift+K",),
            ),
            Action(view, "&Fit", window.compare.show_fit, ("Ctrl+0",)),
            Action(view, "&100 %", window.compare.show_exact, ("Ctrl+1",)),
            Action(
                view,
                "&Rung",
                lambda: self._raise("Rung"),
                ("Ctrl+L",),
                "The chosen implementation: its idea, place on the ladder, source and PTX.",
            ),
            Action(
                view,
                "&Block shapes, live",
                self._compare_blocks,
                ("Ctrl+K",),
                "Run block shapes in turn on the present job and see their times settle; "
                "without a GPU, the CPU implementations.",
            ),
            *window.explaining.actions(),
            *window.presenting.actions(),
            Action(view, "F&ull screen", self._toggle_full_screen, ("F11",)),
            Action(
                run,
                "&Run again",
                window.live.run_again,
                ("R",),
                "Filter and time once more, as things stand.",
            ),
            Action(
                run,
                "Next &implementation",
                lambda: controls.run.step_implementation(1),
                ("I",),
                separator=True,
            ),
            Action(
                run,
                "Previous implementation",
                lambda: controls.run.step_implementation(-1),
                ("Shift+I",),
            ),
            Action(run, "&Larger kernel", lambda: controls.filter.step_size(1), ("]",)),
            Action(run, "&Smaller kernel", lambda: controls.filter.step_size(-1), ("[",)),
            Action(run, "Next &block shape", lambda: controls.run.step_block(1), (".",)),
            Action(run, "Previous block shape", lambda: controls.run.step_block(-1), (",",)),
            Action(
                run,
                "&Measure the ladder, or cancel",
                window.measuring.toggle_ladder,
                ("Ctrl+Shift+L",),
                "Time every implementation that can run the present job, one after another.",
                separator=True,
            ),
            Action(
                run,
                "&Tune for this job…",
                window.tuner.start,
                ("Ctrl+T",),
                "Measure every rung and block shape for it, so that Auto knows the quickest.",
            ),
            *window.sweep_menu.actions(),
            Action("&Help", "&Keyboard shortcuts", self._shortcuts, ("?", "F1")),
            Action(
                "&Help",
                f"A&{OWN_NAME[1:]}…",
                self._palette,
                ("Ctrl+Shift+P",),
                "Find any action, filter, implementation, preset or session by some letters.",
            ),
            Action("&Help", "Start with &defaults again", self._forget_all),
            Action("&Help", "&About and diagnostics", self._about),
        ]

    # -- opening

    def _open(self) -> None:
        picture = self._window.store.state.picture
        beside = picture.path.parent if picture is not None and picture.path is not None else ""
        folder = str(beside) or self._window.settings.get("folder", "")
        name, _ = QFileDialog.getOpenFileName(self._window, "Open a picture", folder, OPEN_FILTER)
        if name:
            self._window.settings.set("folder", str(Path(name).parent))
            self._window.opener.open_file(Path(name))

    def _neighbour(self, step: int) -> None:
        picture = self._window.store.state.picture
        if picture is None or picture.path is None:
            self._say("This picture is in no folder; open a picture file first.")
        else:
            self._window.opener.open_neighbour(picture.path, step)

    def _fill_recent(self) -> None:
        for action in self._recent.actions()[1:]:
            self._recent.removeAction(action)
        self._recent.addSeparator()
        for path in self._window.settings.recent_files:
            action = self._recent.addAction(path.name.replace("&", "&&"))
            action.setToolTip(str(path))
            action.triggered.connect(lambda _=False, p=path: self._window.opener.open_file(p))

    def _forget_recent(self) -> None:
        self._window.settings.set("recent", [])

    # -- saving and copying

    def _save_result(self) -> None:
        picture, result = self._window.store.state.picture, self._window.live.result
        if picture is None or result is None:
            self._say("There is no result to save yet.")
            return
        extension = ".png" if result.picture.dtype.kind == "u" else ".tif"
        if path := self._ask_path(f"{suggested_name(picture, result)}{extension}", SAVE_FILTER):
            self._window.exporter.save_result(path, result)

    def _save_image(self, what: str) -> None:
        image = self._take(what)
        settings = self._window.choices_to_keep()
        if what == "chart":  # which was measured with what was chosen then
            settings |= self._window.sweep.conditions()
        if not image.isNull() and (path := self._ask_path(f"{what}.png", PNG_FILTER)):
            self._window.exporter.save_screenshot(path, image, settings)

    def _save_filtered(self) -> None:
        """As _save_image, in all the bits that a PNG can hold."""
        result, shown = self._window.live.result, self._window.live.shown
        if result is None or shown is None:
            self._say("There is no result to save yet.")
        elif path := self._ask_path("filtered.png", PNG_FILTER):
            image = result.picture if result.picture.dtype.kind == "u" else shown.images[0]
            self._window.exporter.save_screenshot(path, image, self._window.choices_to_keep())

    def _copy_image(self, what: str) -> None:
        image = self._take(what)
        if not image.isNull():
            self._window.exporter.copy_image(image, f"the {what}")

    def _copy_result(self) -> None:
        result, shown = self._window.live.result, self._window.live.shown
        if result is None or shown is None:
            self._say("There is no result to copy yet.")
        else:
            image = to_image(result.picture, shown.images[0])
            self._window.exporter.copy_image(image, "the result")

    def _take(self, what: str) -> QImage:
        take: dict[str, Callable[[], QImage]] = {
            "window": self._window.screenshot,
            "comparison": self._window.compare.grab_comparison,
            "chart": self._window.sweep.grab_chart,
        }
        image = take[what]()
        if image.isNull():
            self._say(f"There is no {what} to show yet.")
        return image

    def _say(self, sentence: str) -> None:
        self._window.messages.show_message("info", sentence)

    def _ask_path(self, name: str, file_types: str) -> Path | None:
        folder = Path(self._window.settings.get("save-folder", ""))
        chosen, _ = QFileDialog.getSaveFileName(
            self._window, "Save", str(folder / name), file_types
        )
        if not chosen:
            return None
        path = Path(chosen)
        path = path if path.suffix else path.with_suffix(Path(name).suffix)
        picture = self._window.store.state.picture
        if picture is not None and picture.path == path:
            self._window.messages.show_message(
                "error", f"{path.name} is the picture that is open; save under another name."
            )
            return None
        self._window.settings.set("save-folder", str(path.parent))
        return path

    # -- looks

    def _raise(self, title: str) -> None:
        self._window.bring_forward(title)
        self._window.docks[title].widget().setFocus()

    def _compare_blocks(self) -> None:
        self._raise("Blocks")
        self._window.following.start()

    def _toggle_wipe(self) -> None:
        mode = "side" if self._window.store.state.view_mode == "wipe" else "wipe"
        self._window.store.update(view_mode=mode)

    def _turn_divider(self) -> None:
        divider = "upright" if self._window.store.state.divider == "level" else "level"
        self._window.store.update(view_mode="wipe", divider=divider)

    def _toggle_mode(self, mode: ViewMode) -> None:
        shown = self._window.store.state.view_mode
        self._window.store.update(view_mode="side" if shown == mode else mode)

    def _toggle_full_screen(self) -> None:
        if self._window.isFullScreen():
            self._window.showNormal()
        else:
            self._window.showFullScreen()

    def _add_schemes(self, add_action: Callable[[str], QAction]) -> None:
        group = QActionGroup(self)
        self._schemes: dict[str, QAction] = {}
        for scheme, title in SCHEMES.items():
            action = add_action(title)
            action.setCheckable(True)
            action.setChecked(scheme == self._window.settings.get("theme", "system"))
            action.triggered.connect(lambda _=False, s=scheme: self._choose_scheme(s))
            group.addAction(action)
            self._schemes[scheme] = action

    def _choose_scheme(self, scheme: theme.Scheme) -> None:
        self._window.settings.set("theme", scheme)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, scheme)

    # -- help

    def _shortcuts(self) -> None:
        ShortcutsDialog(menu_lines(self._window), self._window).open()

    def _palette(self) -> None:
        Palette(entries_of(self._window), self._window).open()

    def _about(self) -> None:
        device = self._window.device or NoDevice("The GPU is still being looked for.")
        AboutDialog(device, self._window).open()

    def _forget_all(self) -> None:
        buttons = QMessageBox.StandardButton
        question = "Forget all choices, the layout, the theme and the recent files?"
        if QMessageBox.question(self._window, "Start again", question) != buttons.Yes:
            return
        self._window.forget_all()
        self._schemes["system"].trigger()


def _built_in_titles() -> list[tuple[str, str]]:
    from kernels.pictures import PICTURES

    return [(key, picture.title) for key, picture in PICTURES.items()]
