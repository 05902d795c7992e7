"""Menus of the view, and of the program itself: theme, a reset, about it, and the help."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QActionGroup, QCursor, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from kernels.core.device import NoDevice
from kernels.core.version import program_version
from workbench.base import theme
from workbench.base.plain_text import ask_before, tip_text
from workbench.model.state import ViewMode
from workbench.panels.compare.inspection import Inspection
from workbench.session.store import Store
from workbench.widgets.actions import Actions, MenuLine, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.letters import STEPS, factor_of, next_step, set_factor
from workbench.widgets.message_bar import DetailsDialog
from workbench.window.remembering import Memory
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.window.help_window import HelpWindow
    from workbench.window.palette import PaletteEntry

THEME, CAPTIONS = "theme", "captions"  # the settings
SCHEMES: dict[theme.Scheme, str] = {"system": "Follow system", "light": "Light", "dark": "Dark"}
ABOUT = (
    "Filter Workbench {}: see, time and verify image filters on the CPU and on a ladder of CUDA "
    "kernels. MIT licence."
)


class ProgramDialogs(QObject):
    """A maker of dialogs, each imported and made from the present menus; it also sets the theme."""

    def __init__(self, parts: Parts, memory: Memory) -> None:
        super().__init__(parts.window)
        self._parts, self._window = parts, parts.window
        self._memory, self._settings = memory, parts.settings
        self._schemes = QActionGroup(self)

    def actions(self) -> Actions:
        return {
            "All actions…": lambda: self.show_palette(),
            "Reset all settings…": self._ask_to_forget,
            "About and diagnostics": self._show_about,
            "Captions": self._turn_captions,
            **{title: partial(self._choose, scheme) for scheme, title in SCHEMES.items()},
        }

    def fill(self, tree: MenuTree) -> None:
        for scheme, title in SCHEMES.items():
            action = tree.action(title)
            action.setCheckable(True)
            action.setChecked(scheme == self._settings.get(THEME, "system", SCHEMES))
            self._schemes.addAction(action)
        self._captions = tree.action("Captions")
        self._captions.setCheckable(True)
        self._show_captions()

    def _turn_captions(self) -> None:
        self._settings.set(CAPTIONS, not self._settings.get(CAPTIONS, True))
        self._show_captions()

    def _show_captions(self) -> None:
        self._captions.setChecked(self._settings.get(CAPTIONS, True))
        self._parts.compare.show_captions(self._captions.isChecked())

    def _choose(self, scheme: theme.Scheme) -> None:
        self._settings.set(THEME, scheme)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, scheme)

    def entries(self) -> list[PaletteEntry]:
        """All entries of the palette, as things are now."""
        from workbench.window.palette import entries_of

        return entries_of(self._parts)

    def found_actions(self, words: str) -> list[str]:
        """Names of the actions that have these words, the best first."""
        from workbench.window.palette import find

        entries, is_right = find(self.entries(), words)
        return [each.name for each in entries if each.filter is None] if is_right else []

    def show_palette(self, words: str = "") -> None:
        from workbench.window.palette import Palette

        Palette(self.entries(), self._window, words).open()

    def _show_about(self) -> None:
        from workbench.base.columns import aligned  # a start does not need them
        from workbench.base.diagnostics import facts

        device = self._parts.worker.device or NoDevice("The GPU is still being looked for.")
        words, found = ABOUT.format(program_version()), aligned(facts(device))
        DetailsDialog(words, found, self._window, "About Filter Workbench").open()

    def _ask_to_forget(self) -> None:
        def forget() -> None:
            self._memory.forget()
            self._schemes.actions()[0].trigger()  # that of the desktop
            self._show_captions()

        ask_before(self._window, "Reset settings, layout, theme and recent files?", "Reset", forget)


KEY = "F1"


class HelpController(QObject):
    """An owner of the help's window, which is made when it is first wanted.

    window  the one that is explained, with its menus and all parts
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._store, self._docks, self._window = parts.store, parts.docks, parts.window
        self._help: HelpWindow | None = None

    def actions(self) -> Actions:
        return {
            "Help": self.open,
            "Words": partial(self.show_place, "words"),
            "Keyboard shortcuts": partial(self.show_place, "keys"),
            "What's this": self.explain,
        }

    def open(self) -> None:
        """Open the help where it was left, or at its first page."""
        from workbench.window.help_pages import START  # charts would delay the start

        self.show_place("" if self._help is not None else START)

    def explain(self) -> None:
        """Open the page about the widget under the pointer, or with the keyboard."""
        from workbench.window.help_pages import START, topic_of

        under, place = QApplication.widgetAt(QCursor.pos()), START
        # Not under.window(): PySide would treat the widget as deleted once that window is.
        if under is not None and self._window.isAncestorOf(under):
            place = topic_of(under, self._store.state)
        if place == START:  # nothing in particular
            place = topic_of(QApplication.focusWidget(), self._store.state)
        self.show_place(place)

    def serve(self, window: QWidget, place: str) -> None:
        """Have F1 open `place` in another window, too."""
        QShortcut(QKeySequence(KEY), window, lambda: self.show_place(place))

    def show_place(self, place: str) -> None:
        """Open the page "key", or "key#section"."""
        if self._help is None:
            from workbench.window.help_pages import book_of  # it reads all texts
            from workbench.window.help_window import HelpWindow

            self._help = HelpWindow(book_of(self._docks, self._window), self._window)
        self._help.show_place(place)
        self._help.show()
        self._help.raise_()
        self._help.activateWindow()

    def close(self) -> None:
        if self._help is not None:
            self._help.close()


def actions(store: Store, inspection: Inspection) -> Actions:
    """Lines of the menu View ▸ Compare."""
    modes: tuple[ViewMode, ...] = get_args(ViewMode)

    def toggle(mode: ViewMode) -> None:
        is_on = store.state.view_mode == mode
        store.update(view_mode="result" if is_on else mode)

    def next_view() -> None:
        store.update(view_mode=modes[(modes.index(store.state.view_mode) + 1) % len(modes)])

    def rotate_divider() -> None:
        divider = "upright" if store.state.divider == "level" else "level"
        store.update(view_mode="wipe", divider=divider)

    def change_difference() -> None:
        kind = "signed" if store.state.difference == "absolute" else "absolute"
        store.update(view_mode="difference", difference=kind)

    return {
        "Result": partial(store.update, view_mode="result"),
        "Wipe": partial(toggle, "wipe"),
        "Rotate divider": rotate_divider,
        "Side by side": partial(toggle, "side"),
        "Difference": partial(toggle, "difference"),
        "Absolute or signed difference": change_difference,
        "Mismatch": partial(toggle, "mismatch"),
        "Next view": next_view,
        "Next differing pixel": partial(inspection.go_to_differing, 1),
        "Previous differing pixel": partial(inspection.go_to_differing, -1),
        "Pin this result": inspection.pin,
        "Remove the last pinned result": inspection.unpin,
        "Compare with the next pinned result": inspection.step_against,
    }


ROW = "1234567890-"  # of a keyboard: with Ctrl+Shift the panels, from the top of the rail


def fill_panels(tree: MenuTree, docks: Docks) -> None:
    """Add a line for each panel, which says whether it is open."""
    menu = tree.menu("&View/&Panels")
    for key, (title, frame) in zip(ROW, docks.frames.items(), strict=True):
        dock = docks.panel(title).dock
        line = menu.addAction(title)
        line.setCheckable(True)
        line.setObjectName("" if title in tree else title)
        line.setShortcuts([QKeySequence(each) for each in (*dock.keys, f"Ctrl+Shift+{key}")])
        line.setToolTip(tip_text(f"Open the panel {title}, or close it.\n{dock.tip}"))
        docks.rail.buttons[title].setToolTip(tip_text(f"{dock.tip}\n{MenuLine((), line).keys}"))
        frame.opened.connect(line.setChecked)
        set_open = partial(docks.set_open, title)  # PySide passes no argument to a partial
        line.triggered.connect(lambda is_open, set_open=set_open: set_open(is_open))


SETTING = "letters"
NO_PANEL = "Point at a panel first, or click in it: its letters become larger or smaller."


class PanelLetters(QObject):
    """A service that enlarges the letters of the panel with the pointer, or with the keyboard."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._docks, self._settings, self._messages = parts.docks, parts.settings, parts.messages
        for title in self._docks:
            self._docks.panel(title).when_made(partial(self._take_up, title))

    def actions(self) -> Actions:
        return {"Larger letters": partial(self.step, 1), "Smaller letters": partial(self.step, -1)}

    def step(self, direction: int) -> None:
        """Make the letters of the panel that is meant larger (1) or smaller (-1)."""
        if (title := self._meant()) is None:
            self._messages.show_message("info", NO_PANEL)
            return
        panel = self._docks.panel(title).get()
        factor = next_step(factor_of(panel), direction)
        set_factor(panel, factor)
        QTimer.singleShot(0, self._docks, self._docks.arrange)  # they may need a wider panel
        self._settings.set(SETTING, {**self._settings.get(SETTING, {}), title: factor})

    def _take_up(self, title: str, panel: QWidget) -> None:
        factor = self._settings.get(SETTING, {}).get(title)
        if factor in STEPS and factor != 1:
            set_factor(panel, factor)

    def _meant(self) -> str | None:
        """The panel under the pointer, else that with the keyboard, else the only one."""
        every = {title: self._docks.panel(title).made for title in self._docks}
        made = {title: panel for title, panel in every.items() if panel is not None}
        for widget in (QApplication.widgetAt(QCursor.pos()), QApplication.focusWidget()):
            for title, panel in made.items():
                if widget is not None and (widget is panel or panel.isAncestorOf(widget)):
                    return title
        seen = [title for title, panel in made.items() if panel.isVisible()]
        return seen[0] if len(seen) == 1 else None
