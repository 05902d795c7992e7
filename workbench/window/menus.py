"""The menu bar: all that can be done in the window, by name and by key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from kernels.core.device import NoDevice
from workbench.base import theme
from workbench.base.plain_text import is_agreed, tip_text
from workbench.files.image_files import OPEN_FILTER
from workbench.panels.sweep.measuring import MENU
from workbench.panels.sweep.sweep_menu import RECENT, RECORDED
from workbench.session.exporter import MakeImage
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.menu_lines import menu_lines
from workbench.window.about import AboutDialog
from workbench.window.compare_menu import actions as comparing_actions
from workbench.window.palette.entries import OWN_NAME, entries_of
from workbench.window.palette.palette import Palette
from workbench.window.saving import NOTHING_TO_SAVE
from workbench.window.shortcuts import ShortcutsDialog

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from workbench.window.main_window import MainWindow

SCHEMES = {"system": "Like the &system", "light": "&Light", "dark": "&Dark"}
SCHEME_KEYS = {"system": "Ctrl+Shift+F2", "light": "Ctrl+Shift+F3", "dark": "Ctrl+Shift+F4"}
SCHEME_TIPS = {
    "system": "Light or dark, as the desktop is, and changing with it.",
    "light": "Dark letters on light, for a bright room and a projector.",
    "dark": "Light letters on dark; pictures look brighter beside it.",
}
MADE = "A picture that comes with the program; its edges and frequencies are known."
PNG_FILTER = "PNG (*.png)"


class Menus(QObject):
    """Builds the menus of a MainWindow and does what needs a dialog."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._saving = window.saving
        tree = MenuTree(window)
        tree.add(self._table())
        window.undoing.connect_actions()
        self._recent = tree.menu("&File/Open &recent")
        self._recent.aboutToShow.connect(self._fill_recent)
        window.sweep_menu.connect_lists(tree.menu(RECENT), tree.menu(RECORDED), tree.menu(MENU))
        window.sweep_menu.connect_others(tree)
        self._add_schemes(tree.menu("&View/&Theme").addAction)
        self._panel_lines = tree.menu("&View/&Panels")
        self._add_panels(self._panel_lines)

    def _table(self) -> list[Action]:
        window = self._window
        return [
            *self._of_file(),
            *self._of_edit(),
            *self._of_view(),
            *self._of_run(),
            *window.measuring.actions(),
            *window.sweep_menu.actions(),
            *window.reporting.actions(),
            *window.chart_place.actions(),
            *window.picking.actions(),
            *window.gpu_loss.actions(),
            *self._of_help(),
        ]

    def _of_file(self) -> list[Action]:
        file, shot = "&File", "&File/S&creenshot"
        open_built_in = self._window.opener.open_built_in
        return [
            Action(file, "&Open…", self._open, ("Ctrl+O",), "Open a picture."),
            Action(
                *("&File/Open &recent", "Forget these", self._forget_recent, ("Ctrl+Shift+Del",)),
                "Empty this list; the pictures stay where they are.",
            ),
            Action(
                *(file, "&Next in folder", partial(self._neighbour, 1), ("PgDown",)),
                "The picture after this one, by the names in its folder.",
            ),
            Action(
                *(file, "&Previous in folder", partial(self._neighbour, -1), ("PgUp",)),
                "The picture before this one, by the names in its folder.",
            ),
            self._window.docks.action("Gallery"),
            *(
                Action("&File/&Built-in picture", title, partial(open_built_in, key), tip=MADE)
                for key, title in _built_in_titles()
            ),
            Action(
                *(file, "&Save result as…", self._saving.save_result, ("Ctrl+S",)),
                "The filtered picture at full resolution.",
                separator=True,
            ),
            Action(
                *(shot, "&Window…", partial(self._save_image, "window"), ("Ctrl+Shift+W",)),
                "The whole window as a PNG that brings its settings back when it is dropped here.",
            ),
            Action(
                *(shot, "&Filtered picture…", self._save_filtered, ("Ctrl+Shift+F",)),
                "At full resolution, with the settings inside.",
            ),
            Action(
                *(shot, "&Comparison…", partial(self._save_image, "comparison"), ("Ctrl+Shift+S",)),
                "Before and after at full resolution.",
            ),
            Action(
                *(shot, "C&hart…", partial(self._save_image, "chart"), ("Ctrl+Shift+H",)),
                "The sweep's chart as a PNG, with its plan inside.",
            ),
            Action(
                *(file, "&Quit", self._window.close, ("Ctrl+Q",)),
                "Close the window; what is chosen is there again next time.",
                separator=True,
            ),
        ]

    def _of_edit(self) -> list[Action]:
        window, edit = self._window, "&Edit"
        return [
            *window.undoing.actions(),
            Action(
                *(edit, "&Copy result", self._copy_result, ("Ctrl+C",)),
                "The filtered picture to the clipboard.",
                separator=True,
            ),
            Action(
                *(edit, "Copy co&mparison", partial(self._copy_image, "comparison")),
                ("Ctrl+Shift+C",),
                "Before and after at full resolution to the clipboard.",
            ),
            Action(
                *(edit, "Copy &window", partial(self._copy_image, "window"), ("Ctrl+Alt+C",)),
                "A picture of the window to the clipboard.",
            ),
            Action(
                *(edit, "Copy c&hart", partial(self._copy_image, "chart"), ("Ctrl+Alt+H",)),
                "A picture of the sweep's chart to the clipboard.",
            ),
            *window.copy_as.actions(),
            Action(
                *(edit, "&Paste picture", window.arriving.paste, ("Ctrl+V",)),
                "Open what the clipboard holds: a picture, or a file.",
                separator=True,
            ),
            *window.weights.actions(),
        ]

    def _of_view(self) -> list[Action]:
        window, view = self._window, "&View"
        return [
            *comparing_actions(window.store, window.inspection),
            Action(
                *(view, "&Fit", window.compare.show_fit, ("Ctrl+0",)),
                "The whole picture, as large as there is room.",
                separator=True,
            ),
            Action(
                *(view, "&100 %", window.compare.show_exact, ("Ctrl+1",)),
                "One pixel of the screen for each of the picture's.",
            ),
            *window.explaining.actions(),
            window.docks.action("Analysis"),
            window.docks.action("Rung"),
            Action(
                *(view, "&Block shapes, live", self._compare_blocks, ("Ctrl+K",)),
                "Run block shapes in turn on the present job and see their times settle; "
                "without a GPU, the CPU implementations.",
            ),
            Action(
                *(view, "F&ull screen", self._toggle_full_screen, ("F11",)),
                "The window over the whole screen, and back.",
                separator=True,
            ),
            *window.presenting.actions(),
        ]

    def _of_run(self) -> list[Action]:
        window, run = self._window, "&Run"
        chosen, weights = window.controls.run, window.controls.filter
        return [
            Action(
                *(run, "&Run again", window.live.run_again, ("R",)),
                "Filter and time once more, as things stand.",
            ),
            Action(
                *(run, "Next &implementation", partial(chosen.step_implementation, 1), ("I",)),
                "What it runs on: the next that can; the answer stays, the time changes.",
                separator=True,
            ),
            Action(
                *(run, "Previous implementation", partial(chosen.step_implementation, -1)),
                ("Shift+I",),
                "What it runs on: the one before that can.",
            ),
            Action(
                *(run, "&Larger kernel", partial(weights.step_size, 1), ("]",)),
                "The next size of the weights: more neighbours count, and it takes longer.",
            ),
            Action(
                *(run, "&Smaller kernel", partial(weights.step_size, -1), ("[",)),
                "The size before: fewer neighbours count, and it takes less long.",
            ),
            Action(
                *(run, "Next &block shape", partial(chosen.step_block, 1), (".",)),
                "Another shape of the CUDA blocks: the answer stays, the time changes.",
            ),
            Action(
                *(run, "Previous block shape", partial(chosen.step_block, -1), (",",)),
                "The shape before.",
            ),
            *window.measuring.ladder_actions(),
            *window.tuner.actions(),
        ]

    def _of_help(self) -> list[Action]:
        menu = "&Help"
        return [
            *self._window.helping.actions(),
            Action(
                *(menu, "&Keyboard shortcuts", self._shortcuts, ("?",)),
                "All keys on one page, over the window.",
            ),
            Action(
                *(menu, f"A&{OWN_NAME[1:]}…", self._palette, ("Ctrl+Shift+P",)),
                "Find any action, filter, implementation, preset or session by some letters.",
            ),
            Action(
                *(menu, "Start with &defaults again", self._forget_all, ("Ctrl+Shift+F12",)),
                "Forget choices, layout, theme and recent files, after a question.",
                separator=True,
            ),
            Action(
                *(menu, "&About and diagnostics", self._about, ("Ctrl+F1",)),
                "Version, licence, and what was found on this computer, ready to copy.",
            ),
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
            action.deleteLater()  # or there would be more each time the menu opens
        line = QAction(self._recent)  # made by the menu, PySide would keep what it has for it
        line.setSeparator(True)
        self._recent.addAction(line)
        for path in self._window.settings.recent_files:
            action = QAction(path.name.replace("&", "&&"), self._recent)
            self._recent.addAction(action)
            action.setToolTip(tip_text(str(path)))
            action.triggered.connect(lambda _=False, p=path: self._window.opener.open_file(p))

    def _forget_recent(self) -> None:
        self._window.settings.set("recent", [])

    # -- saving and copying

    def _save_image(self, what: str) -> None:
        image = self._take(what)
        settings = self._window.choices_to_keep()
        if what == "chart":  # which was measured with what was chosen then
            settings |= self._window.sweep.conditions()
        if image is not None and (path := self._saving.ask_path(f"{what}.png", PNG_FILTER)):
            self._window.exporter.save_screenshot(path, image, settings)

    def _save_filtered(self) -> None:
        """As _save_image, in all the bits that a PNG can hold."""
        if (found := self._window.live.of_view) is None:
            self._say(NOTHING_TO_SAVE)
        elif path := self._saving.ask_path("filtered.png", PNG_FILTER):
            _, result, shown = found
            image = result.picture if result.picture.dtype.kind == "u" else shown.images[0]
            self._window.exporter.save_screenshot(path, image, self._window.choices_to_keep())

    def _copy_image(self, what: str) -> None:
        image = self._take(what)
        if image is not None:
            self._window.exporter.copy_image(image, f"the {what}")

    def _copy_result(self) -> None:
        if (found := self._window.live.of_view) is None:
            self._say("There is no result of this picture to copy yet.")
        else:
            picture, result, shown = found
            self._window.exporter.copy_result(picture, result, shown.images[0])

    def _take(self, what: str) -> QImage | MakeImage | None:
        """What is on screen now; None: nothing is, and that is said."""
        take: dict[str, Callable[[], QImage | MakeImage | None]] = {
            "window": self._window.screenshot,
            "comparison": self._window.compare.comparison,
            "chart": self._window.sweep.grab_chart,
        }
        image = take[what]()
        if image is None or (not callable(image) and image.isNull()):
            self._say(f"There is no {what} to show yet.")
            return None
        return image

    def _say(self, sentence: str) -> None:
        self._window.messages.show_message("info", sentence)

    # -- looks

    def panels_menu(self) -> QMenu:
        """The panels' lines once more, in a menu that is the caller's."""
        menu = QMenu(self._window)  # whose it must be: Qt deletes it when it closes
        menu.setToolTipsVisible(True)
        menu.addActions(self._panel_lines.actions())
        return menu

    def _compare_blocks(self) -> None:
        self._window.docks.enter("Blocks")
        self._window.following.start()

    def _toggle_full_screen(self) -> None:
        # What is maximised stays so beneath.
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _add_panels(self, menu: QMenu) -> None:
        for number, (title, dock) in enumerate(self._window.docks.items(), 1):
            # Qt's own action hides one that stands behind another's tab.
            toggle = menu.addAction(title)
            toggle.setCheckable(True)
            toggle.setShortcut(f"Ctrl+Shift+{number}")
            toggle.setToolTip(tip_text(f"Show the panel {title} before all others, or hide it."))
            dock.visibilityChanged.connect(toggle.setChecked)
            show = partial(self._window.docks.show, title)
            toggle.triggered.connect(lambda is_shown, show=show: show(is_shown))

    def _add_schemes(self, add_action: Callable[[str], QAction]) -> None:
        group = QActionGroup(self)
        self._schemes: dict[str, QAction] = {}
        for scheme, title in SCHEMES.items():
            action = add_action(title)
            action.setShortcut(SCHEME_KEYS[scheme])
            action.setToolTip(SCHEME_TIPS[scheme])
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
        question = "Forget all choices, the layout, the theme and the recent files?"
        if not is_agreed(self._window, "Start again", question):
            return
        QTimer.singleShot(0, self._window, self._begin_anew)  # once the question is off the screen

    def _begin_anew(self) -> None:
        self._window.forget_all()
        self._schemes["system"].trigger()


def _built_in_titles() -> list[tuple[str, str]]:
    from kernels.pictures.generated import PICTURES

    return [(key, picture.title) for key, picture in PICTURES.items()]
