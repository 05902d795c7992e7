"""The menu Steps: edits of the list, files of lists, and what connects the row of chips."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu, QSlider

from kernels.core.job import MAX_STEPS, Result
from kernels.core.plain_data import LimitedTomlError, parse_toml, text_of_small_file
from kernels.sweeps import step_words
from workbench.base.plain_text import Label
from workbench.base.settings import RECENT_LISTS
from workbench.imaging.display_mapping import with_file_white
from workbench.imaging.pictures import Picture
from workbench.model import intents, step_files
from workbench.model.state import State, has_row
from workbench.panels.controls.tool_row import ToolRow
from workbench.panels.steps import list_edits
from workbench.panels.steps.chip_row import StepRow
from workbench.session.exporter import suggested_name
from workbench.session.session_store import slug
from workbench.session.store import Store
from workbench.widgets.actions import Action, Actions, MenuTree, list_in
from workbench.widgets.buttons import described
from workbench.widgets.file_dialogs import ask_where, ask_which
from workbench.widgets.message_bar import Act
from workbench.window.picture_menus import pop_up
from workbench.window.window_layout import Parts

READY, RECENT = "Ste&ps/&Ready-made lists", "Ste&ps/Recent l&ists"
# Lines of the menu of a chip.
OF_CHIP = (
    *("Turn step off", "Duplicate step", "On brightness", "Move step left"),
    *("Move step right", "Mix with its input…", "Remove step", "Use the result as picture"),
    *("Compare with this step", "Compare with the original"),
)
FILES = "Lists of steps (*.toml)"
SHOWS = "Thumbnails"  # the line, and the setting with whether chips show them
KIND = "steps"  # of files, by which their folder is remembered
A_COPY = (
    "Only a reduced copy of this picture is in memory: File ▸ Filter to file filters all of it."
)
MIX_TIP = "Share of the step's output in what it gives; the rest is its input."
MIX_PX = 180


class StepsMenu(QObject):
    """A menu of what can be done with steps, most of it with the selected one."""

    def __init__(self, parts: Parts, row: StepRow, tool_row: ToolRow) -> None:
        super().__init__(parts.window)
        self._store, self._live, self._worker = parts.store, parts.live, parts.worker
        self._opener, self._exporter, self._reading = parts.opener, parts.exporter, parts.reading
        self._settings, self._messages, self._window = parts.settings, parts.messages, parts.window
        self._row, self._menu = row, QMenu("Step", parts.window)
        self._menu.setToolTipsVisible(True)
        self._leave = parts.compare.escaped.emit
        row.original_wanted.connect(parts.compare.show_original)
        row.added.connect(partial(tool_row.choose_filter, parts.undo.undo))
        row.menu_wanted.connect(self._menu.popup)
        tool_row.add_step.clicked.connect(row.add)
        for signal in (parts.live.after_ready, parts.live.settled, parts.live.timed_again):
            signal.connect(lambda result, *_: row.show_result(result))

    def actions(self) -> Actions:
        row, number = self._row, self._number
        found: dict[str, Any] = {
            "Add step": Action(row.add, lambda: list_edits.why_no_more(self._state)),
            "Turn step off": Action(
                lambda: row.switch(number()),
                name=lambda: f"&Turn step {'off' if self._state.is_on else 'on'}",
            ),
            "Duplicate step": Action(
                lambda: self._store.update(**list_edits.duplicating(self._state)),
                lambda: list_edits.why_no_more(self._state),
            ),
            "On brightness": Action(
                lambda: self._store.update(**list_edits.on_brightness(self._state)),
                lambda: list_edits.why_no_more(self._state),
            ),
            "Move step left": Action(
                partial(self._move, -1), lambda: "" if self._state.before else list_edits.FIRST
            ),
            "Move step right": Action(
                partial(self._move, 1), lambda: "" if self._state.after else list_edits.LAST
            ),
            "Mix with its input…": self._show_mix,
            "Remove step": Action(
                row.remove, lambda: "" if len(self._state.steps) > 1 else list_edits.ALONE
            ),
            "Original": row.turn_original,
            "Round between steps": Action(
                lambda: self._store.choose(is_rounded=not self._state.is_rounded),
                name=lambda: "Do not rou&nd" if self._state.is_rounded else "Rou&nd between steps",
            ),
            "Use the result as picture": self._use_result,
            SHOWS: Action(lambda: None, self._why_no_row),  # toggled
            "Compare with this step": Action(self._compare, self._why_no_row),
            "Compare with the original": self._compare_with_original,
            "Open list of steps…": self._ask_file,
            "Save list of steps…": self._save,
        }
        return found | {f"Step {each + 1}": self._selecting(each) for each in range(MAX_STEPS)}

    def fill(self, tree: MenuTree) -> None:
        """Fill the menu of a chip, and list the ready-made lists whenever they are wanted."""
        self._menu.addActions([tree.action(name) for name in OF_CHIP])
        shows = tree.action(SHOWS)
        shows.setCheckable(True)
        shows.toggled.connect(self._row.show_thumbnails)
        shows.toggled.connect(partial(self._settings.set, SHOWS))
        shows.setChecked(self._settings.get(SHOWS, False))
        for path, fill in ((READY, self._list_ready), (RECENT, self._list_recent)):
            menu = tree.menu(path)
            menu.aboutToShow.connect(partial(fill, menu))

    def open_file(self, path: Path) -> None:
        """Take the steps in a file in place of those there are."""

        def take(found: step_words.WrittenList) -> None:
            self._settings.add_recent_file(path, RECENT_LISTS)
            self._take(path.name, found)

        self._reading.run(partial(step_words.read, path), take, self._messages.show_error)

    @property
    def _state(self) -> State:
        return self._store.state

    def _number(self) -> int:
        return len(self._state.before)

    def _move(self, by: int) -> None:
        number = self._number()
        self._store.update(**list_edits.moving(self._state, number, number + by))

    def _why_no_row(self) -> str:
        return "" if has_row(self._state) else list_edits.ALONE

    def _compare(self) -> None:
        """Compare what is selected next with the selected step, where that is seen."""
        mode = self._state.view_mode
        seen = mode if mode in ("side", "difference") else "wipe"
        self._store.choose(compared=self._number(), view_mode=seen)

    def _compare_with_original(self) -> None:
        self._leave()  # two files are compared no longer
        self._store.choose(compared=None)

    def _selecting(self, number: int) -> Action:
        def named() -> list[str]:
            return [intents.step_in_words(e) for e in self._state.steps[number : number + 1]]

        return Action(
            partial(self._row.select, number),
            lambda: "" if number < len(self._state.steps) else "The list has no such step.",
            lambda: ": ".join((f"Step &{number + 1}", *named())),
        )

    def _show_mix(self) -> None:
        slider = described(QSlider(Qt.Orientation.Horizontal), "step-mix", "Mix", MIX_TIP)
        slider.setRange(0, 100)
        slider.setMinimumWidth(MIX_PX)
        said = Label()
        said.setMinimumWidth(said.fontMetrics().horizontalAdvance("100 %"))

        def show(percent: int) -> None:
            said.setText(f"{percent} %")
            self._store.choose(mix=percent / 100)

        slider.setValue(round(100 * self._state.mix))
        said.setText(f"{slider.value()} %")
        slider.valueChanged.connect(show)
        place = self._row.place_of(self._number()) + QPoint(0, 2)
        pop_up(self._window, place, Label("Input"), slider, Label("Output"), said)
        slider.setFocus()

    def _use_result(self) -> None:
        """Put the result in place of the picture; of the list those steps stay that follow."""
        found = self._live.answer
        if isinstance(found, str) or found[0].large is not None:
            self._messages.show_message("info", found if isinstance(found, str) else A_COPY)
            return
        picture, result, _ = found

        def take(made: Picture) -> None:
            if self._state.picture is not picture:
                return
            steps = intents.with_filter(self._state, "identity") | {"mix": 1.0, "is_on": True}
            steps |= {"before": (), "compared": None}
            if self._state.after:
                behind = range(self._number() + 1, len(self._state.steps))
                steps = list_edits.ordered(self._state, behind, 0)
            self._store.update(**intents.with_picture(made) | steps)
            if not made.is_stored_as(self._state.pixel_type):
                self._opener.store_again(made)

        made = partial(_as_picture, picture, result)
        self._reading.run(made, take, self._messages.show_error)

    def _ask_file(self) -> None:
        where = self._window, self._settings, KIND
        if path := ask_which(*where, "Open a list of steps", FILES, None):
            self.open_file(path)

    def _save(self) -> None:
        name = slug(" ".join(each.filter for each in self._state.steps)) + ".toml"
        title = "Save the list of steps"
        if path := ask_where(self._window, self._settings, KIND, title, name, FILES):
            self._settings.add_recent_file(path, RECENT_LISTS)
            self._exporter.save_text(path, step_files.to_text(self._state))

    def _list_ready(self, menu: QMenu) -> None:
        ready = (
            (key[0].upper() + key[1:].replace("_", " "), each)
            for key, each in step_words.ready_made().items()
        )
        list_in(menu, ((title, e.about, partial(self._take, title, e)) for title, e in ready))

    def _list_recent(self, menu: QMenu) -> None:
        files = self._settings.recent_files(RECENT_LISTS)
        lines = [(path.name, str(path), partial(self.open_file, path)) for path in files]
        list_in(menu, lines or [("No list was opened or saved yet", "", None)])

    def _take(self, name: str, found: step_words.WrittenList) -> None:
        """Show a list; what is to run it and cannot here is replaced, and that is said."""
        state = replace(self._state, **step_files.changes_of(found))
        steps, lost = step_files.run_here(state, self._worker.device)
        changes = step_files.select(steps, len(state.before))
        of_list = ("border", "is_rounded", "region", "alpha", "compared")
        how = {name: getattr(state, name) for name in of_list} | changes
        if lost:  # in one message with what gives way
            words = " ".join([*lost, self._store.update_quietly(**how)]).rstrip()
            self._messages.show_message("warning", f"{name}: {words}")
        else:
            self._store.update(**how)


def to_whole_list(store: Store, part: str) -> list[Act]:
    """What a message offers about a `part` of the list, such as "step 1 of 3"."""
    act = "Show the &whole list", lambda: store.update(**step_files.select(store.state.steps, -1))
    return [act] if "step" in part else []


def is_list(path: Path) -> bool:
    """True for a file with a list of steps, by what is in it; False where that cannot be read."""
    with suppress(OSError, LimitedTomlError):
        return "step" in parse_toml(text_of_small_file(path) or "", path.name)
    return False


def _as_picture(picture: Picture, result: Result) -> Picture:
    samples = with_file_white(result.picture, picture.samples)
    made = Picture(suggested_name(picture, result), samples, metadata=picture.metadata)
    return made.looked_through()
