"""A presentation under way: steps on the stage; when it is left all is as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QObject, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QAction, QFontInfo, QGuiApplication, QShortcut
from PySide6.QtWidgets import QBoxLayout, QWidget
from shiboken6 import isValid

from kernels.core.errors import SessionFileError
from kernels.core.plain_data import table_beside
from kernels.sweeps.record import Session
from kernels.sweeps.session_files import read_session
from workbench.charts.chart_view import ChartView
from workbench.imaging.pictures import Picture
from workbench.model import choices, intents
from workbench.model.rung_times import RungTimes, recorded_times
from workbench.session import session_store
from workbench.widgets import keyboard
from workbench.widgets.actions import menu_lines
from workbench.widgets.folding import set_staged
from workbench.widgets.letters import factor_of, set_factor
from workbench.window.result_views import ExplanationController
from workbench.window.stage import (
    BACK,
    FORWARD,
    SMALL,
    LadderBar,
    NotesWindow,
    Stage,
    figures_of,
    recorded_figures,
    work_of,
)
from workbench.window.talk import CHART, PAGES, PANELS, StepLook, TalkStep
from workbench.window.window_layout import Parts

NOTES = "presenter-notes"  # the setting
STEP = "step of a presentation"  # what of is loaded in the background
PANEL_LETTERS_PX = 19  # of a panel to read in
FULL_WIDTH = ("implementation", "kernel")  # panels; others have half of it
_TABLE = table_beside(__file__)
PANEL_KEYS, ACTIONS, STEPPING = (_TABLE[name] for name in ("panel_keys", "actions", "stepping"))


class Show(QObject):
    """Steps shown in the window itself, which is the stage meanwhile."""

    ended = Signal()  # the stage was left

    def __init__(
        self, steps: tuple[TalkStep, ...], parts: Parts, explanation: ExplanationController
    ) -> None:
        super().__init__(parts.window)
        self.steps, self._parts, self._explanation = steps, parts, explanation
        self._docks, self._compare = parts.docks, parts.compare
        self._at = -1
        self._then = ""  # a rung that cannot run here, shown once its output was computed
        self._is_refused = False  # the present settings were refused
        self._recorded = RungTimes()
        self._bars: dict[int, tuple[object, LadderBar]] = {}  # with the work, by the step
        self._panel = ""  # on stage
        self._chart: ChartView | None = None
        self._letters = 1.0  # of that panel before
        self._notes = NotesWindow(parts.window)
        self.stage = Stage(parts.window, self._keys(), self._size_letters)
        live = parts.live
        self._followed: tuple[tuple[Any, Callable[..., None]], ...] = (
            (live.after_ready, self._follow_answer),
            (live.baseline_ready, self._refresh),
            (live.settled, self._refresh),
            (live.refused, self._show_refusal),
        )
        for signal, slot in self._followed:
            signal.connect(slot)
        self._enter()
        parts.reading.run(recorded_times, self._take_recorded, lambda _: None)
        self.go_to(0)

    # -- entering and leaving

    def _enter(self) -> None:
        parts, stage, compare, rows = self._parts, self.stage, self._compare, self._rows
        own = parts.window.screen()
        others = [each for each in QGuiApplication.screens() if each is not own]
        self._usual_notes = "window" if others else "off"  # one of them is the speaker's own
        self._notes.move(own.availableGeometry().topLeft())
        pixel = self._docks.panel("Pixel").made
        was_held = pixel is not None and pixel.is_held
        self._before = (parts.store.state, compare.choices(), self._rung.choices()["tab"], was_held)
        parts.messages.clear("info")  # it would lie over the figures
        keys = *compare.findChildren(QShortcut), *parts.messages.findChildren(QShortcut)
        self._silenced = [each for each in keys if each.isEnabled()]
        for each in self._silenced:
            each.setEnabled(False)  # Esc would mean two things
        rows.insertWidget(rows.indexOf(self._docks), stage.head)
        rows.addWidget(stage.foot)
        for part in (stage.head, stage.foot):
            part.show()  # else the layout does it later, and keys wait for it
        parts.layout.enter_stage((others or [own])[0])  # the projector, if there is one
        self._focus_picture()
        stage.size_letters()

    def end(self) -> None:
        """Leave the stage, and put all back as it was."""
        parts, compare = self._parts, self._compare
        state, view, tab, was_held = self._before
        parts.reading.drop(STEP)
        for signal, slot in self._followed:
            signal.disconnect(slot)
        self._close_panel()
        self.stage.remove()
        self._notes.close()
        self._notes.deleteLater()
        set_factor(compare, 1.0)
        for each in self._silenced:
            each.setEnabled(True)
        parts.layout.leave_stage()
        self._rung.show_tab(tab)
        pixel = self._docks.panel("Pixel").made
        if pixel is not None and not was_held:
            pixel.set_held(False)
        with parts.undo.quietly():
            parts.store.restore(state)
        if view["place"] is None:
            compare.show_fit()
        compare.restore(view)
        self._focus_picture()
        self.ended.emit()
        self.deleteLater()

    def _focus_picture(self) -> None:
        keyboard.enter(self._compare, Qt.FocusReason.OtherFocusReason)

    @property
    def _rows(self) -> QBoxLayout:
        return cast("QBoxLayout", cast("QWidget", self._docks.parentWidget()).layout())

    @property
    def _rung(self) -> Any:
        return self._docks.panel("Implementation").get()

    def _keys(self) -> dict[str, Callable[[], object]]:
        keys: dict[str, Callable[[], object]] = {}
        for line in menu_lines(self._parts.window):
            name, shortcuts = line.action.objectName(), line.action.shortcuts()
            if name in ACTIONS or name in STEPPING:
                do = partial(self._walk, line.action) if name in STEPPING else line.action.trigger
                keys |= dict.fromkeys((each.toString() for each in shortcuts), do)
        return {
            **keys,
            **{key: partial(self._toggle_panel, name) for key, name in PANEL_KEYS.items()},
            **dict.fromkeys(FORWARD, lambda: self.go_to(self._at + 1)),
            **dict.fromkeys(BACK, lambda: self.go_to(self._at - 1)),
            "Home": lambda: self.go_to(0),
            "End": lambda: self.go_to(len(self.steps) - 1),
            "F7": self._toggle_notes,
            "Esc": self.end,
            "0": self._compare.show_fit,
            "1": self._compare.show_exact,
        }

    def _walk(self, action: QAction) -> None:
        if self._panel == "kernel":
            action.trigger()

    def _size_letters(self, factor: float) -> None:
        _set_letters(self._compare, SMALL * factor)
        panel = self._chart or (self._panel and self._made_panel)
        if panel:
            _set_letters(panel, PANEL_LETTERS_PX * max(factor, 1.0))  # it scrolls

    # -- steps

    def go_to(self, number: int) -> None:
        """Show a step, from 0; a number beyond either end changes nothing."""
        if not 0 <= number < len(self.steps):
            return
        self._at = number
        self._parts.reading.drop(STEP)
        step = self.steps[number]
        self._parts.messages.clear()  # what was said was about the step before
        self.stage.show_step(step.name, number + 1, len(self.steps))
        self._show_notes()
        if step.picture is None or step.picture.is_of(self._parts.store.state.picture):
            self._change(step, None)
            return
        ref, pixel_type = step.picture, step.data.get("pixel_type")
        self._read(lambda: ref.load().stored_as(pixel_type), partial(self._change, step))

    def _read(self, load: Callable[[], Any], take: Callable[[Any], None]) -> None:
        """Load something in the background, and `take` it unless another step came meanwhile."""
        self._parts.reading.run(load, take, lambda error: self.stage.say(str(error)), of=STEP)

    def _change(self, step: TalkStep, picture: Picture | None) -> None:
        store, device = self._parts.store, self._parts.worker.device
        state = store.state
        changes = choices.from_data(step.data, state)
        if picture is not None:
            changes |= intents.with_picture(picture)
        if any(getattr(state, name) != value for name, value in changes.items()):
            self._is_refused = False
        wanted, self._then = changes.get("implementation", state.implementation), ""
        if device is not None and intents.why_not_here(intents.implementation(wanted), device):
            # Its output is that of the CPU, which is shown with the time that was recorded.
            self._then = wanted
            changes["implementation"] = intents.first_choice(state, device)
        with self._parts.undo.quietly():
            store.choose(**changes)
        if step.look.panel != self._panel or step.look.panel == CHART:
            self._close_panel()
            self._open_panel(step.look)
        if step.look.panel == "implementation" and step.look.page in PAGES:
            self._rung.show_tab(step.look.page)
        if step.look.area is None:
            self._compare.show_fit()
        else:
            self._compare.show_area(QRectF(*step.look.area))
        self._point(step.look)
        self._follow_answer()

    @Slot()
    def _follow_answer(self) -> None:
        """Choose a rung that cannot run here, once its picture is there."""
        store, result = self._parts.store, self._parts.live.result
        if self._then and result is not None and intents.is_answer(result, store.state):
            wanted, self._then = self._then, ""
            with self._parts.undo.quietly():
                store.choose(implementation=wanted)
            self._point(self.steps[self._at].look)
        self._refresh()

    @Slot(str, str)
    def _show_refusal(self, sentence: str, _details: str) -> None:
        """Say why there is no result, unless a recorded one stands in for it."""
        self._is_refused = True
        parts = self._parts
        parts.messages.clear("error")  # it would lie over the picture
        if recorded_figures(parts.store.state, self._recorded) is None:
            self.stage.say(sentence)
        elif (seen := parts.live.of_view) is not None:
            _, result, display = seen
            self._compare.show_after(result.picture, display, intents.job_caption(result.job))
        self._refresh()

    def _take_recorded(self, recorded: RungTimes) -> None:
        self._recorded = recorded
        if isValid(self.stage):  # else it was left meanwhile
            self._refresh()

    @Slot()
    def _refresh(self) -> None:
        if self._then:
            return
        live, state = self._parts.live, self._parts.store.state
        result, baseline = live.result, None
        if result is not None and intents.is_answer(result, state):
            baseline = live.baseline_of(result)
        figures = figures_of(state, result, baseline, is_refused=self._is_refused)
        if self._is_refused:
            figures = recorded_figures(state, self._recorded) or figures
        self.stage.show_figures(figures)
        work, at = work_of(state), self._at
        if figures.bar is not None:
            self._bars[at] = work, figures.bar
        same = {n: bar for n, (known, bar) in sorted(self._bars.items()) if known == work}
        newest = {(bar.work, bar.source): bar for n, bar in same.items() if n <= at}
        self.stage.ladder.show_bars(list(newest.values()), same.get(at))

    # -- the look of a step

    def _point(self, look: StepLook) -> None:
        if look.pixel is None:
            return
        x, y = look.pixel
        if look.panel == "pixel":
            self._docks.panel("Pixel").get().hold((x, y))
        elif look.panel == "anatomy":
            self._docks.panel("Anatomy").get().point_at((x + 0.5, y + 0.5))

    def _toggle_panel(self, name: str) -> None:
        is_open = self._panel == name
        self._close_panel()
        if not is_open:
            self._open_panel(StepLook(panel=name))

    @property
    def _made_panel(self) -> QWidget:
        made: QWidget = self._docks.panel(self._panel.capitalize()).get()
        return made

    def _open_panel(self, look: StepLook) -> None:
        if look.panel == CHART:
            if look.session:
                show = partial(self._show_chart, look.page)
                self._read(partial(_read, look.session), lambda session: show((session,)))
            else:
                self._show_chart(look.page, self._parts.sessions.sessions())
        elif look.panel:
            self._panel, title = look.panel, look.panel.capitalize()
            self._letters = factor_of(self._made_panel)
            self._docks[title].show_bar(False)
            self._docks.set_share(1.0 if look.panel in FULL_WIDTH else 0.5)
            set_staged(self._made_panel, True)
            openers = {
                "pixel": self._explanation.explain_pixel,
                "anatomy": self._explanation.show_anatomy,
            }
            openers.get(look.panel, partial(self._docks.bring_forward, title))()
            self._focus_picture()
            self._make_room()

    def _show_chart(self, kind: str, sessions: tuple[Session, ...]) -> None:
        if not sessions:
            self.stage.say("No session is shown: open one in the panel Sweep first.")
            return
        self._panel, self._chart = CHART, ChartView()
        self._chart.setObjectName("stage-chart")
        self._chart.show_sessions(sessions)
        if kind:
            self._chart.show_kind(kind)
        rows = self._rows
        rows.insertWidget(rows.indexOf(self.stage.foot), self._chart, 1)
        self._docks.hide()
        self._make_room()

    def _make_room(self) -> None:
        """Hide the numbers: a panel is there to be read from the back row."""
        self.stage.size_letters()
        self.stage.numbers.hide()

    def _close_panel(self) -> None:
        if self._chart is not None:
            self._chart.hide()
            self._chart.deleteLater()
            self._chart = None
            self._docks.show()
        elif self._panel:
            frame = self._docks[self._panel.capitalize()]
            frame.hide()
            frame.show_bar(True)
            self._docks.set_share(None)
            set_factor(self._made_panel, self._letters)
            set_staged(self._made_panel, False)
        self._panel = ""
        self.stage.numbers.show()

    # -- notes

    def _toggle_notes(self) -> None:
        self._parts.settings.set(NOTES, "off" if self._notes.isVisible() else "window")
        self._show_notes()

    def _show_notes(self) -> None:
        step, *following = self.steps[self._at : self._at + 2]
        count = f"{self._at + 1} of {len(self.steps)}"
        self._notes.show_note(step.note, count, following[0].name if following else "")
        is_wanted = self._parts.settings.get(NOTES, self._usual_notes, ("off", "window")) != "off"
        if self._notes.isVisible() != is_wanted:
            self._notes.setVisible(is_wanted)
            self._parts.window.activateWindow()


def now(parts: Parts, explanation: ExplanationController) -> StepLook:
    """Present look of the window, to be remembered by a step."""
    compare, docks = parts.compare, parts.docks
    area, seen = None, compare.in_view
    if compare.choices()["place"] is not None and seen is not None:
        top, bottom, left, right = seen
        area = (float(left), float(top), float(right - left), float(bottom - top))
    made = {name: docks.panel(name.capitalize()).made for name in PANELS}
    seen_now = [(name, each) for name, each in made.items() if each and each.isVisible()]
    panel, shown = seen_now[0] if seen_now else ("", None)
    page = shown.choices()["tab"] if shown and panel == "implementation" else ""
    pixel = explanation.pixel if panel in ("pixel", "anatomy") else None
    return StepLook(area, panel, page, pixel=pixel)


def _read(name: str) -> Session:
    """Read a recorded session by its name, or a file.  Raises SessionFileError."""
    recorded = {path.name.partition(".")[0]: path for path in session_store.bundled()}
    path = recorded.get(name, Path(name))
    if name not in recorded and not path.is_absolute():
        raise SessionFileError(f"There is no recorded session called {name}.")
    return read_session(path)


def _set_letters(panel: QWidget, px: float) -> None:
    """Enlarge the program's letters in `panel` to `px` pixels."""
    set_factor(panel, max(px / QFontInfo(QGuiApplication.font()).pixelSize(), 1.0))
