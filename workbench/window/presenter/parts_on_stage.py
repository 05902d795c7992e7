"""The window's parts on stage: the picture's view, a panel beside it, or a chart of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QMainWindow, QWidget

from kernels.core.errors import SessionFileError
from kernels.core.job import Result
from kernels.sweeps.record import Session
from kernels.sweeps.session_files import read_session
from workbench.base.background import Background
from workbench.imaging.display import Display
from workbench.model import intents
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.session import session_store
from workbench.widgets.actions import menu_lines
from workbench.widgets.docks import Docks
from workbench.widgets.folding import set_staged
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.letters import factor_of, set_factor
from workbench.window.explanation.explanation_controller import ExplanationController
from workbench.window.presenter.lent import Lent
from workbench.window.presenter.talk_steps import PAGES, PANELS, StepLook

if TYPE_CHECKING:  # a start without a presentation does not need them
    from workbench.charts.chart_view import ChartView
    from workbench.panels.anatomy.anatomy_panel import AnatomyPane
    from workbench.panels.pixel.pixel_panel import PixelPane
    from workbench.panels.rung.rung_panel import RungPane
    from workbench.window.presenter.stage import Stage

# The keys of panels, on stage as in the window.
PANEL_KEYS = {
    "A": "anatomy",
    "P": "pixel",
    "H": "analysis",
    "Ctrl+L": "implementation",
    "Ctrl+K": "blocks",
    "Ctrl+E": "weights",
    "F9": "chart",
}
# Actions of the window that work on stage by their own keys.
ACTIONS = (
    *("Result", "Wipe", "Rotate divider", "Side by side", "Difference", "Mismatch"),
    *("Absolute or signed difference", "Next differing pixel", "Previous differing pixel"),
    *("Fit", "100 %", "Zoom in", "Zoom out"),
)
NO_CHART = "No session is shown: open one in the panel Sweep first."


class Staging(QObject):
    """The parts of the window that go on stage, and come back to their places.

    Signals:
        failed(sentence): what is not to be seen, and why.
    """

    failed = Signal(str)

    def __init__(
        self,
        compare: CompareView,
        docks: Docks,
        explanation: ExplanationController,
        pixel: LazyPanel[PixelPane],
        anatomy: LazyPanel[AnatomyPane],
        rung: LazyPanel[RungPane],
        sessions: Sessions,
        background: Background,
        window: QMainWindow,
    ) -> None:
        """Take the parts.

        background  reads sessions
        window      whose actions work on stage
        """
        super().__init__(window)
        self._compare, self._docks, self._explanation = compare, docks, explanation
        self._pixel, self._anatomy, self._rung = pixel, anatomy, rung
        self._sessions, self._background = sessions, background
        self._window = window
        self._stage: Stage | None = None
        self._lent: list[tuple[Lent, float]] = []  # each with the size of its letters before
        self._chart: ChartView | None = None
        self._panel = ""
        self._newest_request = 0

    # -- what there is to remember

    def now(self) -> StepLook:
        """Return what is looked at in the window."""
        seen = self._compare.in_view
        area = None
        if self._compare.choices()["place"] is not None and seen is not None:
            top, bottom, left, right = seen
            area = (float(left), float(top), float(right - left), float(bottom - top))
        open_now = [
            name
            for name, title in PANELS.items()
            if title in self._docks and _is_seen(self._docks.panel(title))
        ]
        panel = open_now[0] if open_now else ""
        page = self._rung.get().choices()["tab"] if panel == "implementation" else ""
        pixel = self._explanation.pixel if panel in ("pixel", "anatomy") else None
        return StepLook(area, panel, page, pixel=pixel)

    # -- on stage

    def enter(self, stage: Stage) -> None:
        """Bring the picture on stage, and the keys of the window with it."""
        self._stage = stage
        self._layout = self._docks.layout()
        self._view = self._compare.choices()
        self._tab = self._rung.get().choices()["tab"]
        self._was_held = self._pixel.made is not None and self._pixel.made.is_held
        self._focus = self._compare.focusPolicy()
        self._silenced = [
            each for each in self._compare.findChildren(QShortcut) if each.isEnabled()
        ]
        for each in self._silenced:
            each.setEnabled(False)  # Esc would mean two things
        self._lend(self._compare)
        stage.hold_picture(self._compare)
        stage.add_keys(self._keys())

    def leave(self) -> None:
        """Put all back as it was."""
        self._newest_request += 1
        self.close_panel()
        self._take_back()
        self._compare.setFocusPolicy(self._focus)
        for each in self._silenced:
            each.setEnabled(True)
        self._stage = None
        self._docks.restore_layout(self._layout)
        self._rung.get().show_tab(self._tab)
        if self._pixel.made is not None and not self._was_held:
            self._pixel.made.set_held(False)
        if self._view["place"] is None:
            self._compare.show_fit()
        self._compare.restore(self._view)

    def show(self, look: StepLook) -> None:
        """Show what a step looks at."""
        self._newest_request += 1
        if look.panel != self._panel or look.panel == "chart":
            self.close_panel()
            if look.panel:
                self._open(look.panel, look.session, look.page)
        if look.panel == "implementation" and look.page in PAGES:
            self._rung.get().show_tab(look.page)
        if look.area is None:
            self._compare.show_fit()
        else:
            self._compare.show_area(QRectF(*look.area))
        self.point(look)

    def point(self, look: StepLook) -> None:
        """Explain the pixel of a step, or its thread."""
        if look.pixel is None:
            return
        x, y = look.pixel
        if look.panel == "pixel":
            self._pixel.get().hold((x, y))
        elif look.panel == "anatomy":
            self._anatomy.get().point_at((x + 0.5, y + 0.5))

    def show_stand_in(self, result: Result, display: Display) -> None:
        """Show the answer of an implementation that can run here for one that cannot."""
        self._compare.show_after(result.picture, display, intents.job_caption(result.job))

    def toggle_panel(self, name: str) -> None:
        """Open a panel beside the picture, or close it again."""
        if self._stage is None:
            return
        is_open = self._panel == name
        self.close_panel()
        if not is_open:
            self._open(name)

    @property
    def panel(self) -> str:
        """Return the panel that is on stage; empty: none."""
        return self._panel

    def close_panel(self) -> None:
        """Take the panel, or the chart, off the stage."""
        if self._stage is None or not self._panel:
            return
        if self._chart is not None:
            self._stage.remove_panel()
            self._chart = None
        else:
            self._take_back(but=1)
            self._docks[PANELS[self._panel]].hide()
        self._panel = ""
        self._stage.drop_panel()

    # -- how

    def _open(self, name: str, session: str = "", kind: str = "") -> None:
        assert self._stage is not None
        if name == "chart":
            self._open_chart(session, kind)
            return
        openers: dict[str, Callable[[], object]] = {
            "pixel": self._explanation.explain_pixel,
            "anatomy": self._explanation.show_anatomy,
        }
        title = PANELS[name]
        openers.get(name, partial(self._docks.bring_forward, title))()
        panel = self._docks.panel(title).get()
        self._lend(panel)
        self._panel = name
        self._stage.hold_panel(panel, name)

    def _open_chart(self, session: str, kind: str) -> None:
        request = self._newest_request
        if not session:
            self._show_chart(self._sessions.sessions(), kind)
            return

        def show(found: Session) -> None:
            if request == self._newest_request:
                self._show_chart((found,), kind)

        def fail(error: Exception) -> None:
            if request == self._newest_request:
                self.failed.emit(str(error))

        self._background.run(partial(_read, session), show, fail)

    def _show_chart(self, sessions: tuple[Session, ...], kind: str) -> None:
        if not sessions:
            self.failed.emit(NO_CHART)
        if self._stage is None or not sessions:
            return
        from workbench.charts.chart_view import ChartView

        self._chart = ChartView()
        self._chart.setObjectName("stage-chart")
        self._chart.show_sessions(sessions)
        if kind:
            self._chart.show_kind(kind)
        self._panel = "chart"
        self._stage.hold_panel(self._chart, "chart")

    def _lend(self, widget: QWidget) -> None:
        self._lent.append((Lent(widget), factor_of(widget)))
        set_staged(widget, True)

    def _take_back(self, but: int = 0) -> None:
        while len(self._lent) > but:
            lent, factor = self._lent.pop()
            lent.give_back()
            set_factor(lent.widget, factor)
            set_staged(lent.widget, False)

    def _keys(self) -> Mapping[str, Callable[[], object]]:
        """Return what the keys of the window do on stage."""
        keys: dict[str, Callable[[], object]] = {
            key: partial(self.toggle_panel, name) for key, name in PANEL_KEYS.items()
        }
        for line in menu_lines(self._window):
            if line.action.objectName() in ACTIONS:
                for shortcut in line.action.shortcuts():
                    keys[shortcut.toString()] = line.action.trigger
        return {**keys, "0": self._compare.show_fit, "1": self._compare.show_exact}


def _is_seen(panel: LazyPanel[QWidget]) -> bool:
    return panel.made is not None and panel.made.isVisible()


def _read(name: str) -> Session:
    """Read a recorded session by its name, or a file.  Raises SessionFileError."""
    recorded = {path.name.partition(".")[0]: path for path in session_store.bundled()}
    path = recorded.get(name, Path(name))
    if name not in recorded and not path.is_absolute():
        raise SessionFileError(f"There is no recorded session called {name}.")
    return read_session(path)
