"""The main window, which makes the panels and the services and connects them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QVBoxLayout, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.engine.auto import AUTO
from kernels.engine.engine import Engine, all_implementations
from kernels.rungs.rung import broken_rungs
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.files.picture_errors import ImageFileError
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.panels.analysis.analysing import Analysing
from workbench.panels.analysis.analysis_panel import AnalysisPanel
from workbench.panels.anatomy.anatomy_panel import AnatomyPane
from workbench.panels.blocks.block_comparison import BlockComparison
from workbench.panels.blocks.blocks_panel import BlocksPanel
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.controls.auto_levels import AutoLevels
from workbench.panels.controls.controls_panel import ControlPanel
from workbench.panels.gallery.gallery_settings import make_gallery
from workbench.panels.pixel.pixel_panel import PixelPane
from workbench.panels.rung.rung_panel import RungPane
from workbench.panels.sweep.apply_measurement import ApplyMeasurement
from workbench.panels.sweep.detachable_chart import DetachableChart
from workbench.panels.sweep.report_writer import ReportWriter
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import SweepController
from workbench.panels.sweep.sweep_menu import SweepMenu
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.panels.sweep.unfinished_sweep import UnfinishedSweep
from workbench.panels.timing.history_plot import HistoryPlot
from workbench.panels.timing.timing_strip import TimingStrip
from workbench.panels.weights.weights_action import WeightsEditing
from workbench.session import clipboard
from workbench.session.analysis_thread import AnalysisThread
from workbench.session.exporter import Exporter
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.rung_compiler import RungCompiler
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.message_bar import MessageBar
from workbench.window.compare_menu import actions as comparing_actions
from workbench.window.copying.copy_as import CopyAs
from workbench.window.device_chip import DeviceChip
from workbench.window.explaining import Explaining
from workbench.window.gpu_loss import GpuLoss
from workbench.window.help.help_controller import HelpController
from workbench.window.intake.large_picture_prompt import ask_about_large_pictures
from workbench.window.intake.opening import Opening
from workbench.window.intake.picture_intake import PictureIntake
from workbench.window.on_screen import OnScreen
from workbench.window.panel_menu import PanelMenu
from workbench.window.presenter.presenter import Presenter
from workbench.window.program_dialogs import ProgramDialogs
from workbench.window.restoring.remembering import Memory
from workbench.window.restoring.restarting import Restarting
from workbench.window.restoring.snapshot import SnapshotContents
from workbench.window.result_views import ResultViews
from workbench.window.saving import Saving
from workbench.window.screenshots import Screenshots
from workbench.window.themes import Themes
from workbench.window.tune_for_job import TuneForJob
from workbench.window.undo.undoing import Undoing

TITLE = "Filter Workbench"
EXPECTED = (ImageFileError, KernelError)


class MainWindow(QMainWindow):
    """Everything on the screen: it makes the parts and connects them, without logic of its own."""

    def __init__(
        self, make_engine: Callable[[], Engine] = Engine, settings: Settings | None = None
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.store = Store(parent=self)
        self.store.choose(**choices.from_data(self.settings.get("choices", {}), self.store.state))
        self._make_session(make_engine)
        self._make_panels()
        self._connect_session()
        self._make_services()
        self._make_menus()
        self.docks.restore(self.settings.get)
        self._show_state(self.store.state)
        self._complain()
        self.worker.start()

    @property
    def device(self) -> Device | NoDevice | None:
        """Return the GPU, or why there is none; None while it is looked for."""
        return self.worker.device

    # -- the parts

    def _make_session(self, make_engine: Callable[[], Engine]) -> None:
        """Make the parts that have threads, and no widgets."""
        self.worker = Worker(make_engine, self)
        self.reading = Background(EXPECTED, self)
        self._writing = Background(EXPECTED, self)
        self.live = Live(self.store, self.worker, self.reading, self)
        self.sessions = Sessions(self.reading, self)
        self.opener = Opener(self.reading, self)
        self.opener.pixel_type = self.store.state.pixel_type
        self.exporter = Exporter(self._writing, self)
        self._compiling = RungCompiler(self)
        self.analysis_thread = AnalysisThread(self)

    def _make_panels(self) -> None:
        self.setWindowTitle(TITLE)
        self.resize(1280, 800)
        self.setAcceptDrops(True)
        self.compare, self.timing = CompareView(), TimingStrip()
        self.messages = MessageBar(self.compare)
        self.chip = DeviceChip(self.messages, self.settings)
        self.statusBar().addPermanentWidget(self.chip)
        self.controls = ControlPanel()
        self.sweep = SweepPanel(self.sessions, self.store, self.worker)
        self.rung = RungPane(self.store, self.worker)
        self.blocks = BlocksPanel()
        self.gallery = make_gallery(self.settings)
        self.pixel = PixelPane(self.store)
        self.anatomy = AnatomyPane(self.store, self.worker)
        self.analysis = AnalysisPanel()
        self.history = HistoryPlot()
        panels = (  # in the order in which Tab goes through them
            *(self.controls, self.sweep, self.rung, self.blocks, self.gallery),
            *(self.pixel, self.anatomy, self.analysis, self.history),
        )
        self.docks = Docks(self, _centre(self.compare, self.timing), panels)

    def _make_services(self) -> None:
        """Make the links between the session and the panels; each names the parts it takes."""
        store, worker, live, docks = self.store, self.worker, self.live, self.docks
        settings, messages, reading = self.settings, self.messages, self.reading
        # It hears of a change before the panels, which may cause another one.
        self.undoing = Undoing(store, reading, messages, self.statusBar(), self)
        store.changed.connect(lambda _old, new: self._show_state(new))
        # Before everything that analyses what is on the screen.
        self.result_views = ResultViews(
            store, worker, live, self.compare, self.timing, self.history, self.rung, messages, self
        )
        self.inspection = Inspection(store, live, self.compare, self.analysis_thread, self)
        self.analysing = Analysing(
            store, live, self.inspection, self.compare, self.analysis, self.analysis_thread, self
        )
        self.memory = Memory(store, worker, self.inspection, docks, settings)
        self.auto_levels = AutoLevels(store, self.controls, reading, messages, self)
        # Sweeps.
        self.sweep_controller = SweepController(
            store, worker, self.sessions, self.sweep, self.rung, docks, messages, self
        )
        self.unfinished_sweep = UnfinishedSweep(
            worker, reading, settings, self.sweep, self.sweep_controller, self
        )
        self.apply_measurement = ApplyMeasurement(
            store, worker, self.sessions, self.sweep, reading, messages, self
        )
        self.report_writer = ReportWriter(store, self.sessions, reading, settings, messages, self)
        self.sweep_menu = SweepMenu(
            self.sweep, self.sessions, docks, reading, self.exporter, settings, messages, self
        )
        # Input and output.
        self.intake = PictureIntake(
            *(store, worker, self.opener, self.timing, self.sweep, self.sweep_menu),
            *(reading, settings, messages, self),
        )
        self.opening = Opening(store, self.opener, settings, messages, self)
        self.saving = Saving(store, live, self.exporter, settings, messages, self)
        self.screenshots = Screenshots(
            *(live, self.compare, self.sweep, self.history, self.saving, self.exporter),
            *(self.memory, messages, self),
        )
        self.copy_as = CopyAs(store, worker, live, self.rung, reading, messages, self)
        # The GPU.
        self.restarting = Restarting(store, reading, messages, self)
        self.gpu_loss = GpuLoss(store, worker, live, messages, self.restarting, self)
        self.tuner = TuneForJob(store, worker, live, messages, self)
        self.block_comparison = BlockComparison(
            store, worker, live, self.blocks, docks, messages, self
        )
        # Explaining and presenting.
        self.explaining = Explaining(
            self.compare, self.inspection, live, docks, self.pixel, self.anatomy, self
        )
        self.presenter = Presenter(
            store, worker, live, self.undoing, reading, settings, messages, self
        )
        self.help_controller = HelpController(store, self)
        self.chart_place = DetachableChart(self.sweep, self.help_controller.serve, self)
        self.weights = WeightsEditing(store, self.help_controller.serve, self)
        # The window itself.
        self.on_screen = OnScreen(messages, self)
        self.themes = Themes(settings, self)
        self.panel_menu = PanelMenu(docks)
        self.dialogs = ProgramDialogs(
            store, worker, docks, self.sweep, self.memory, self.themes, self
        )
        self._connect_services()

    def _make_menus(self) -> None:
        self.menus = MenuTree(self)
        self.menus.add(self._actions())
        fillers = (self.undoing, self.opening, self.sweep_menu, self.themes, self.panel_menu)
        for each in fillers:
            each.fill(self.menus)

    def _actions(self) -> list[Action]:
        """Return every line of the menus that is always there, in order."""
        docks = self.docks
        return [
            *self.opening.actions(),
            docks.action("Gallery"),
            *self.opening.built_in_actions(),
            *self.saving.actions(),
            *self.screenshots.save_actions(),
            Action(
                *("&File", "&Quit", self.close, ("Ctrl+Q",)),
                "Close the window; what is chosen is there again next time.",
                separator=True,
            ),
            *self.undoing.actions(),
            *self.screenshots.copy_actions(),
            *self.copy_as.actions(),
            *self.intake.actions(),
            *self.weights.actions(),
            *comparing_actions(self.store, self.inspection),
            *self.compare.actions_of_menu(),
            *self.explaining.actions(),
            docks.action("Analysis"),
            docks.action("Rung"),
            *self.block_comparison.actions(),
            Action(
                *("&View", "F&ull screen", self._toggle_full_screen, ("F11",)),
                "The window over the whole screen, and back.",
                separator=True,
            ),
            *self.presenter.actions(),
            Action(
                *("&Run", "&Run again", self.live.run_again, ("R",)),
                "Filter and time once more, as things stand.",
            ),
            *self.controls.actions_of_menu(),
            *self.sweep_controller.ladder_actions(),
            *self.tuner.actions(),
            *self.sweep_controller.actions(),
            *self.sweep_menu.actions(),
            *self.report_writer.actions(),
            *self.chart_place.actions(),
            *self.apply_measurement.actions(),
            *self.gpu_loss.actions(),
            *self.help_controller.actions(),
            *self.dialogs.actions(),
        ]

    # -- what they say to each other

    def _connect_session(self) -> None:
        store, say = self.store, self.messages.show_message
        for panel in (self.controls, self.compare, self.rung, self.anatomy):
            panel.wanted.connect(lambda name, value: store.choose(**{name: value}))
        self.worker.device_found.connect(self._take_device)
        self.analysis_thread.hurries.connect(self.worker.hold)
        for each in (*self._backgrounds, self.worker, self.gallery):
            each.broke.connect(self.messages.show_bug)
        for failing in (self.opener, self.sessions, self.exporter):
            failing.failed.connect(lambda sentence: say("error", sentence))
        self.sessions.remarked.connect(lambda sentence: say("warning", sentence))
        self.opener.ended.connect(lambda sentence: say("info", sentence))
        self.exporter.saved.connect(lambda path: say("info", f"Saved {path}."))
        self.exporter.copied.connect(lambda what: say("info", f"Copied {what}."))
        ask_about_large_pictures(self.opener, self.messages)
        self.gallery.file_wanted.connect(self.opener.open_file)
        self.gallery.built_in_wanted.connect(self.opener.open_built_in)
        self.rung.ptx_wanted.connect(self._compiling.request)
        self._compiling.compiled.connect(self.rung.show_ptx)
        self.rung.large_wanted.connect(lambda: self.docks.enlarge("Rung"))
        self.docks["Rung"].topLevelChanged.connect(self.rung.show_large)

    def _connect_services(self) -> None:
        for source in (self.inspection, self.analysing):
            source.message.connect(lambda sentence: self.messages.show_message("info", sentence))
        self.inspection.message_withdrawn.connect(self.messages.dismiss)
        self.sweep.report_wanted.connect(self.report_writer.start)
        self.controls.filter.grid_wanted.connect(self.weights.open)
        self.weights.broke.connect(self.messages.show_bug)

    @property
    def _backgrounds(self) -> tuple[Background | RungCompiler | AnalysisThread, ...]:
        return self.reading, self._writing, self._compiling, self.analysis_thread

    def _show_state(self, state: State) -> None:
        availability = [
            (each, intents.why_unavailable(state, each, self.device))
            for each in all_implementations()
        ]
        self.controls.show_implementations([(AUTO, None), *availability])
        self.sweep.show_implementations(
            [(each, intents.why_not_here(each, self.device)) for each in all_implementations()]
        )
        self.rung.show_implementations(availability)
        views = (self.controls, self.compare, self.sweep, self.rung, self.anatomy, self.pixel)
        for view in views:
            view.show_state(state)
        name = f"{state.picture.name} — " if state.picture else ""
        self.setWindowTitle(f"{name}{TITLE}")

    @Slot(object)
    def _take_device(self, device: Device | NoDevice) -> None:
        """Say what became of the GPU, then run on what there is.

        In this order, as a GPU that was lost matters more than that there is none.
        """
        self.gpu_loss.take(device)
        for view in (self.chip, self.rung, self.anatomy, self.sweep):
            view.show_device(device)
        with self.undoing.quietly():  # the user did not choose it
            state = self.store.state
            self.store.update(implementation=intents.implementation_for(state, device))
        self._show_state(self.store.state)

    def _complain(self) -> None:
        """Show what was found broken at the start, with details if there are several things."""
        found = [self.settings.complaint, *(each.reason for each in broken_rungs())]
        if found := [each for each in found if each]:
            details = "\n".join(found) if len(found) > 1 else ""
            self.messages.show_message("warning", found[0], details)

    @property
    def contents(self) -> SnapshotContents:
        """Return the parts whose contents outlive a crash."""
        return SnapshotContents(
            store=self.store,
            worker=self.worker,
            live=self.live,
            opener=self.opener,
            background=self.reading,
            messages=self.messages,
            undoing=self.undoing,
            inspection=self.inspection,
            compare=self.compare,
            pixel=self.pixel,
            sessions=self.sessions,
            sweep=self.sweep,
            weights=self.weights,
            presenter=self.presenter,
            memory=self.memory,
        )

    # -- as any window

    def createPopupMenu(self) -> QMenu:  # noqa: N802
        """Make the menu of the right button on a panel's title."""
        return self.panel_menu.popup(self)

    def _toggle_full_screen(self) -> None:
        # A maximised window stays maximised underneath.
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        if clipboard.holds_picture(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        self.intake.take_content(event.mimeData())
        event.acceptProposedAction()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self.presenter.close()  # this restores the previous choices
        if complaint := self.memory.save():
            sys.stderr.write(f"{complaint}\n")  # the window is about to close
        for each in (
            self.tuner,
            self.report_writer,
            self.chart_place,
            self.weights,
            self.help_controller,
        ):
            each.close()
        self.worker.close()  # before the threads that work on its results
        self.gallery.close_threads()
        for background in self._backgrounds:
            background.close()
        super().closeEvent(event)


def _centre(compare: CompareView, timing: TimingStrip) -> QWidget:
    """Return the pictures with the timings below them."""
    centre = QWidget()
    column = QVBoxLayout(centre)
    column.setContentsMargins(4, 8, 4, 4)
    column.setSpacing(8)
    column.addWidget(compare, 1)
    column.addWidget(timing)
    return centre
