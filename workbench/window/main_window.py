"""The main window, which makes the panels and the services and connects them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.engine.auto import AUTO
from kernels.engine.engine import Engine, Implementation, all_implementations
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.rung import broken_rungs
from workbench.base.background import Background
from workbench.base.bugs import bugs
from workbench.base.settings import Settings
from workbench.files.picture_errors import ImageFileError
from workbench.model import choices, intents
from workbench.model.rung_times import RungTimes
from workbench.model.state import Matrix, OwnFile, State
from workbench.panels import (
    analysis,
    anatomy,
    blocks,
    controls,
    gallery,
    kernel,
    pixel,
    rung,
    sweep,
    timing,
    weights,
)
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.full_resolution import FullResolution
from workbench.panels.compare.inspection import Inspection
from workbench.panels.controls.previewing import AutoLevels, FilterPreviews
from workbench.panels.controls.tool_row import ToolRow
from workbench.panels.kernel import KernelMenu
from workbench.panels.sweep.chart_links import ApplyMeasurement, DetachableChart
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import SweepController
from workbench.panels.sweep.sweep_menu import ReportWriter, SweepMenu
from workbench.panels.timing.history_plot import RunHistory
from workbench.panels.timing.timing_views import TimingViews
from workbench.session.analysis_thread import AnalysisThread
from workbench.session.exporter import Exporter
from workbench.session.kernel_folder import KernelFolder
from workbench.session.large_regions import Previews, Regions
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.ptx import RungCompiler
from workbench.session.store import Store
from workbench.session.walk import Walk
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.boxes import Steady, VBox
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar
from workbench.window.copy_as import CopyAs
from workbench.window.crash_restore import CrashRestore
from workbench.window.explanation_controller import ExplanationController
from workbench.window.help_controller import HelpController
from workbench.window.open_menu import OpenMenu, PlaceBar
from workbench.window.picture_intake import DropTarget, PictureIntake, ask_about_large_pictures
from workbench.window.presenter import Presenter
from workbench.window.program_dialogs import ProgramDialogs, Themes
from workbench.window.remembering import Memory
from workbench.window.result_views import DeviceChip, GpuLoss, ResultViews
from workbench.window.save_menu import FilterMenu, SaveMenu
from workbench.window.screenshots import Screenshots
from workbench.window.undo_history import UndoHistory
from workbench.window.view_menus import PanelLetters, PanelMenu
from workbench.window.view_menus import actions as comparing_actions
from workbench.window.window_layout import OnScreen, Toolbar, WindowLayout
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.analysis.analysis_panel import AnalysisPanel
    from workbench.panels.anatomy.anatomy_panel import AnatomyPane
    from workbench.panels.blocks.blocks_panel import BlocksPanel
    from workbench.panels.controls.controls_panel import ControlPanel
    from workbench.panels.gallery.gallery import Gallery
    from workbench.panels.kernel.kernel_pane import KernelPane
    from workbench.panels.pixel.pixel_panel import PixelPane
    from workbench.panels.rung.rung_panel import RungPane
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.panels.timing.timing_panel import TimingPanel
    from workbench.panels.weights.weights_editor import WeightsEditor
    from workbench.window.remembering import ScreenshotRestore

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
        remembered = self.settings.get("choices", {})
        changes, self._left_out = choices.recalled(remembered, self.store.state)
        self._lost = ""  # the sentence on what cannot be had
        self._is_begun = False  # until the GPU was looked for
        self._screenshot_restore: ScreenshotRestore | None = None  # until one is dropped
        self.store.choose(**changes)
        self._make_session(make_engine)
        self._make_panels()
        self._connect_session()
        self._make_services()
        self._make_menus()
        self.memory.take_up_layout()
        self._show_state(self.store.state)
        self._complain()
        self.kernel_folder.look()
        self.memory.look_for_folders(self._writing, self._say_lost)
        self.worker.start()

    @property
    def device(self) -> Device | NoDevice | None:
        """Return the GPU, or why there is none; None while it is looked for."""
        return self.worker.device

    def open_kernel(self, path: Path) -> None:
        """Filter with the kernel in a file, and show it: the user named it to be run."""
        self.kernel_folder.admit(path)
        with self.undo_history.quietly():
            self.store.choose(implementation=path.name)
        self.kernel_menu.open_file(path, is_named=True)

    # -- the parts

    def _make_session(self, make_engine: Callable[[], Engine]) -> None:
        """Make the parts that have threads, and no widgets."""
        self.worker = Worker(make_engine, self)
        self.reading = Background(EXPECTED, self)
        self._writing = Background(EXPECTED, self)
        self.live = Live(self.store, self.worker, self.reading, self)
        self.regions = Regions(self.worker, self)
        self.sessions = Sessions(self.reading, self)
        self.opener = Opener(self.reading, self)
        self.kernel_folder = KernelFolder(self.store, self.reading, self)
        self.opener.pixel_type = self.store.state.pixel_type
        self.exporter = Exporter(self._writing, self)
        self._compiling = RungCompiler(self)
        self._rung_times = RungTimes()
        self.analysis_thread = AnalysisThread(self)

    def _make_panels(self) -> None:
        self.setWindowTitle(TITLE)
        self.compare = CompareView()
        self.messages = MessageBar(self.compare)
        self.chip = DeviceChip(self.messages, self.settings)
        self.place = PlaceBar()
        self.statusBar().addPermanentWidget(self.place)
        self.chip.setContentsMargins(0, 0, 8, 0)
        self.statusBar().addPermanentWidget(self.chip)
        store, worker, reading = self.store, self.worker, self.reading
        self.tool_row, self.runs = ToolRow(), RunHistory(self)
        self.controls: LazyPanel[ControlPanel] = LazyPanel(controls.DOCK)
        self.timing: LazyPanel[TimingPanel] = LazyPanel(timing.DOCK, self.runs)
        self.timing_views = TimingViews(self.timing, self)
        self.analysis: LazyPanel[AnalysisPanel] = LazyPanel(analysis.DOCK)
        self.pixel: LazyPanel[PixelPane] = LazyPanel(pixel.DOCK, store)
        self.anatomy: LazyPanel[AnatomyPane] = LazyPanel(
            anatomy.DOCK, store, worker, self.analysis_thread
        )
        times = self._rung_times
        self.rung: LazyPanel[RungPane] = LazyPanel(rung.DOCK, store, worker, times, reading)
        self.blocks: LazyPanel[BlocksPanel] = LazyPanel(blocks.DOCK)
        self.sweep: LazyPanel[SweepPanel] = LazyPanel(sweep.DOCK, self.sessions, store, worker)
        self.weights: LazyPanel[WeightsEditor] = LazyPanel(weights.DOCK, store)
        self.gallery: LazyPanel[Gallery] = LazyPanel(gallery.DOCK, self.settings)
        self.kernel: LazyPanel[KernelPane] = LazyPanel(kernel.DOCK, store, times, worker.trials)
        panels: tuple[LazyPanel[Any], ...] = (  # in the order of the rail
            *(self.controls, self.analysis, self.pixel, self.anatomy, self.rung),
            *(self.blocks, self.sweep, self.weights, self.gallery, self.timing, self.kernel),
        )
        body = QWidget()
        rows = VBox(body, 0, 0)
        self.setCentralWidget(Steady(body))  # first: Qt styles all that is in what it takes up
        self.toolbar = Toolbar(self.tool_row, self.compare.bar)
        rows.addWidget(self.toolbar)
        self.docks = Docks(body, self.compare, self.timing_views.line, panels)
        rows.addWidget(self.docks.area, 1)
        self.docks.area.drawer_moved.connect(self.compare.make_way)
        self.docks.area.drawer_moved.connect(self.messages.make_way)
        self.statusBar().addWidget(self.compare.read_out_row, 1)
        line, status = self.timing_views.line, self.statusBar()
        chrome = (self.toolbar, self.docks.rail, line, status)
        self.window_layout = WindowLayout(self, self.docks, self.compare, chrome, self.messages)
        self.compare.tabbed.connect(self.window_layout.toggle_bare)

    def _make_services(self) -> None:
        """Make the links between the session and the panels; each names the parts it takes."""
        store, worker, live, docks = self.store, self.worker, self.live, self.docks
        settings, messages, reading = self.settings, self.messages, self.reading
        # It hears of a change before the panels, which may cause another one.
        self.undo_history = UndoHistory(store, reading, messages, self.statusBar(), self)
        store.changed.connect(lambda _old, new: self._show_state(new))
        self.parts = parts = Parts(
            *(self, settings, store, self.undo_history, worker, live, reading, self.opener),
            *(self.exporter, self.sessions, self.kernel_folder, self.compare, docks),
            *(self.window_layout, messages),
        )
        # Before everything that analyses what is on the screen.
        self.result_views = ResultViews(
            parts, self.timing_views, self.runs, self.rung, self._rung_times
        )
        self.full_resolution = FullResolution(store, live, self.regions, self.compare, self)
        self.inspection = Inspection(store, live, self.compare, self.analysis_thread, self)
        self.memory = Memory(parts, self.inspection)
        self.filter_previews = FilterPreviews(store, self.tool_row.filter, reading, self)
        self.auto_levels = AutoLevels(store, live, self.controls, reading, messages, self)
        # Sweeps.
        self.sweep_controller = SweepController(
            *(store, worker, self.sessions, self.sweep, self.rung, self._rung_times),
            *(self.kernel_folder, reading, settings, docks, messages, self),
        )
        self.apply_measurement = ApplyMeasurement(
            *(store, worker, self.sessions, self.sweep, self.kernel_folder, reading, messages, self)
        )
        self.report_writer = ReportWriter(store, self.sessions, reading, settings, messages, self)
        self.sweep_menu = SweepMenu(
            *(worker, self.sweep, self.sessions, docks, reading),
            *(self.exporter, settings, messages, self),
        )
        # Input and output.
        self.intake = PictureIntake(parts, self.timing_views, self.sweep, self.sweep_menu)
        self.open_menu = OpenMenu(parts)
        self.walk = Walk(store, self.opener, reading, self)
        self.drop_target = DropTarget(self)
        self.save_menu = SaveMenu(parts)
        self.screenshots = Screenshots(parts, self.sweep, self.timing, self.save_menu, self.memory)
        self.copy_as = CopyAs(parts, self.rung)
        self.gpu_loss = GpuLoss(parts)
        # Explaining and presenting.
        self.explanation = ExplanationController(parts, self.inspection, self.pixel, self.anatomy)
        self.presenter = Presenter(parts, self.explanation)
        self.crash_restore = CrashRestore(
            parts, self.weights, self.memory, lambda: self.presenter.show is not None
        )
        self.help_controller = HelpController(parts)
        add_help = self.help_controller.serve
        self.filter_menu = FilterMenu(parts, self.save_menu.ask_path, add_help)
        self.chart_place = DetachableChart(self.sweep, add_help, self)
        # The window itself.
        self.on_screen = OnScreen(messages, self)
        self.themes = Themes(settings, self)
        self.panel_menu = PanelMenu(docks)
        self.kernel_menu = KernelMenu(self.kernel, docks)
        self.panel_letters = PanelLetters(parts)
        self.dialogs = ProgramDialogs(parts, self.sweep, self.memory, self.themes)
        self._connect_services()
        self._connect_panels()

    def _make_menus(self) -> None:
        self.menus = MenuTree(self)
        self.menus.add(self._actions())
        fillers = (self.undo_history, self.open_menu, self.sweep_menu, self.themes, self.panel_menu)
        for each in fillers:
            each.fill(self.menus)
        for button, name in (("open", "Open…"), ("save", "Save result as…")):
            self.toolbar.connect_action(button, self.menus.action(name))
        self.toolbar.offer("open", self.open_menu.menu_of_button(self.menus))
        for signal in (self.sessions.changed, self.sweep_controller.changed):
            signal.connect(lambda *_: self.menus.refresh())

    def _actions(self) -> list[Action]:
        """Return every line of the menus that is always there, in order."""
        docks = self.docks
        return [
            *self.open_menu.actions(),
            docks.action("Gallery"),
            *self.open_menu.built_in_actions(),
            *self.save_menu.actions(),
            *self.filter_menu.actions(),
            *self.kernel_menu.actions(kernel.FILES),
            *self.screenshots.save_actions(),
            Action(
                *("&File", "&Quit", self.close, ("Ctrl+Q",)),
                "Close the window; what is chosen is there again next time.",
                separator=True,
            ),
            *self.undo_history.actions(),
            *self.screenshots.copy_actions(),
            *self.copy_as.actions(),
            *self.intake.actions(),
            docks.action("Weights"),
            *comparing_actions(self.store, self.inspection),
            *self.compare.actions_of_menu(),
            *self.explanation.actions(),
            docks.action("Blocks"),
            *self.window_layout.actions(),
            *self.panel_letters.actions(),
            *self.presenter.actions(),
            Action(*("&Run", "&Run again", self.live.run_again, ("R",)), "Run and time again."),
            *self.kernel_menu.actions(kernel.RUN),
            *self.tool_row.actions_of_menu(),
            *self.sweep_controller.ladder_actions(),
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
        say = self.messages.show_message
        for part in (self.tool_row, self.compare):
            part.wanted.connect(self._choose)
        self.worker.device_found.connect(self._take_device)
        self.analysis_thread.hurries.connect(self.worker.hold)
        bugs.met.connect(self.messages.show_bug)
        for failing in (self.opener, self.sessions, self.exporter):
            failing.failed.connect(lambda sentence: say("error", sentence))
        self.sessions.remarked.connect(lambda sentence: say("warning", sentence))
        self.kernel_folder.changed.connect(lambda: self._show_state(self.store.state))
        self.kernel_folder.arrived.connect(self._take_own_kernel)
        self.kernel_folder.refused.connect(lambda sentence: say("error", sentence))
        self.kernel_folder.mended.connect(lambda: self.messages.clear("error"))
        self.kernel_folder.lost.connect(self._leave_own_kernel)
        self.opener.ended.connect(lambda sentence: say("info", sentence))
        self.exporter.copied.connect(lambda what: say("info", f"Copied {what}."))
        ask_about_large_pictures(self.opener, self.messages)
        self.opener.busy.connect(self.compare.show_opening)
        self.timing_views.line.clicked.connect(lambda: self.docks.enter("Timing"))

    def _connect_services(self) -> None:
        self.inspection.message.connect(self._inform)
        self.inspection.message_withdrawn.connect(self.messages.dismiss)
        self.place.stepped.connect(self.open_menu.step)
        self.walk.placed.connect(self.place.show_place)
        self.intake.restoring.connect(self._bring_back)
        self.save_menu.to_file_wanted.connect(self.filter_menu.open_file)
        self.drop_target.dropped.connect(self.intake.take_content)
        self.intake.talk_wanted.connect(self.presenter.open_file)
        self.intake.kernel_wanted.connect(self.kernel_menu.open_file)
        self.tool_row.filter.settings_wanted.connect(lambda: self.docks.enter("Settings"))

    # -- what panels are told and say, once they are made

    def _connect_panels(self) -> None:
        self.compare.drawn.connect(lambda *_: self.analysis.get())  # it shows values along the line
        self.controls.when_made(self._connect_controls)
        self.analysis.when_made(self._connect_analysis)
        self.anatomy.when_made(lambda panel: panel.wanted.connect(self._choose))
        self.rung.when_made(self._connect_rung)
        self.blocks.when_made(self._connect_blocks)
        self.sweep.when_made(self._connect_sweep)
        self.timing.when_made(self._tell_device)
        self.weights.when_made(self._connect_weights)
        self.gallery.when_made(self._connect_gallery)
        self.kernel.when_made(self._connect_kernel)
        for panel, tell in self._following:
            panel.when_made(tell)

    def _connect_controls(self, panel: ControlPanel) -> None:
        panel.wanted.connect(self._choose)
        panel.weights.grid_wanted.connect(lambda: self.docks.enter("Weights"))
        self._tell_device(panel)

    def _connect_analysis(self, panel: AnalysisPanel) -> None:
        from workbench.panels.analysis.analysis_controller import AnalysisController

        link = AnalysisController(
            *(self.store, self.live, self.inspection, self.compare, panel, self.analysis_thread)
        )
        link.message.connect(self._inform)

    def _connect_rung(self, panel: RungPane) -> None:
        frame = self.docks["Implementation"]
        panel.wanted.connect(self._choose)
        panel.ptx_wanted.connect(self._compiling.request)
        self._compiling.compiled.connect(panel.show_ptx)
        panel.large_wanted.connect(lambda: self.docks.enlarge("Implementation"))
        panel.show_large(frame.is_enlarged)
        frame.enlarged.connect(panel.show_large)

    def _connect_blocks(self, panel: BlocksPanel) -> None:
        from workbench.panels.blocks.block_comparison import BlockComparison

        frame = self.docks["Blocks"]
        BlockComparison(
            *(self.store, self.worker, self.live, panel, frame, self.reading, self.messages)
        )

    def _connect_sweep(self, panel: SweepPanel) -> None:
        panel.report_wanted.connect(self.report_writer.start)
        self._tell_device(panel)

    def _tell_device(self, panel: Any) -> None:
        if self.device is not None:
            panel.show_device(self.device)

    def _connect_weights(self, panel: WeightsEditor) -> None:
        panel.picked.connect(self._take_weights)

    def _connect_gallery(self, panel: Gallery) -> None:
        panel.file_wanted.connect(self.opener.open_file)
        panel.built_in_wanted.connect(self.opener.open_built_in)
        panel.folder_wanted.connect(self.open_menu.ask_for_folder)
        panel.show_shelf(self.walk.shelf)
        self.walk.placed.connect(panel.show_shelf)

    def _connect_kernel(self, panel: KernelPane) -> None:
        panel.said.connect(self.messages.show_message)
        panel.refused.connect(self.messages.show_error_if_free)
        panel.unsaid.connect(self.messages.dismiss)
        panel.worked_on.connect(lambda _: self.kernel_folder.look())
        self.compare.picked.connect(panel.look_at)
        self._tell_device(panel)

    @Slot(object)
    def _bring_back(self, kept: dict[str, Any]) -> None:
        from workbench.window.remembering import ScreenshotRestore

        if self._screenshot_restore is None:
            self._screenshot_restore = ScreenshotRestore(
                self.parts, self.inspection, self.memory.pin_notes
            )
        self._screenshot_restore.start(kept)

    @Slot(str)
    def _inform(self, sentence: str) -> None:
        self.messages.show_message("info", sentence)

    @Slot(str, object)
    def _choose(self, name: str, value: object) -> None:
        self.store.choose(**{name: value})

    @Slot(object, float)
    def _take_weights(self, matrix: Matrix, offset: float) -> None:
        self.store.choose(filter="custom", matrix=matrix, offset=offset)

    @property
    def _backgrounds(
        self,
    ) -> tuple[Background | RungCompiler | AnalysisThread | Previews | Regions, ...]:
        return (
            *(self.reading, self._writing, self._compiling, self.analysis_thread),
            *(self.live.previews, self.regions),
        )

    def _show_state(self, state: State) -> None:
        self.tool_row.show_implementations(self._choices(state))
        self.tool_row.show_state(state)
        self.compare.show_state(state)
        for panel, tell in self._following:
            if panel.made is not None:
                tell(panel.made)
        name = f"{state.picture.name} — " if state.picture else ""
        self.setWindowTitle(f"{name}{TITLE}")
        self.menus.refresh()

    @property
    def _following(self) -> tuple[tuple[LazyPanel[Any], Callable[[Any], None]], ...]:
        """Return the panels that follow the state, and what tells them of it."""
        return (
            (self.controls, self._tell_controls),
            (self.sweep, self._tell_sweep),
            (self.rung, self._tell_rung),
            (self.anatomy, self._tell),
            (self.pixel, self._tell),
            (self.weights, self._tell),
            (self.kernel, self._tell),
        )

    def _tell_controls(self, panel: ControlPanel) -> None:
        panel.show_implementations(self._choices(self.store.state))
        self._tell(panel)

    def _tell_sweep(self, panel: SweepPanel) -> None:
        ready = ((each, intents.why_not_here(each, self.device)) for each in all_implementations())
        panel.choice.show_implementations((*ready, *self._own_to_time()))
        self._tell(panel)

    def _own_to_time(self) -> list[tuple[OwnKernel, str | None]]:
        """Return the user's own kernels, each with why it cannot be timed, or None."""
        folder = self.kernel_folder
        found: list[tuple[OwnKernel, str | None]] = []
        for name, read in zip(folder.names, folder.kernels, strict=True):
            if isinstance(read, str):
                found.append((OwnKernel(name), read))
            else:
                own = OwnKernel(name, read.source)
                found.append((own, intents.why_untimed(own, self.device)))
        return found

    def _tell_rung(self, panel: RungPane) -> None:
        state = self.store.state
        panel.show_implementations([*self._availability(state), *self._own_rung(state)])
        self._tell(panel)

    def _own_rung(self, state: State) -> list[tuple[Implementation, str | None]]:
        """Return the user's kernel that is chosen, as one of the ladder's, by its file's name."""
        return [
            (
                replace(each.rung, title=each.title),
                intents.why_unavailable(state, each, self.device),
            )
            for each in self.kernel_folder.all
            if each.text
        ]

    def _tell(self, panel: Any) -> None:
        panel.show_state(self.store.state)

    def _choices(self, state: State) -> list[tuple[intents.Choice, str | None]]:
        """Return all that may be chosen to run on, each with the reason it cannot, or None."""
        own = [
            (each, intents.why_unavailable(state, each, self.device))
            for each in self.kernel_folder.all
        ]
        return [(AUTO, None), *self._availability(state), *own]

    def _availability(self, state: State) -> list[tuple[Implementation, str | None]]:
        return [
            (each, intents.why_unavailable(state, each, self.device))
            for each in all_implementations()
        ]

    @Slot(object)
    def _take_device(self, device: Device | NoDevice) -> None:
        """Say what became of the GPU, then run on what there is.

        In this order, as a GPU that was lost matters more than that there is none.
        """
        self.gpu_loss.take(device)
        if not self._is_begun:
            self._is_begun = True
            for sentence in intents.not_as_chosen(self.store.state, device):
                self._say_lost(sentence)
        self.chip.show_device(device)
        self.filter_menu.show_device(device)
        panels: tuple[LazyPanel[Any], ...] = (
            *(self.controls, self.timing, self.rung, self.anatomy, self.sweep, self.kernel),
        )
        for panel in panels:
            if panel.made is not None:
                panel.made.show_device(device)
        with self.undo_history.quietly():  # the user did not choose it
            state = self.store.state
            self.store.update(
                implementation=intents.implementation_for(state, device),
                devices=intents.devices_for(state, device),
            )
        self._show_state(self.store.state)

    @Slot(object)
    def _take_own_kernel(self, kernel: OwnFile) -> None:
        """Filter with the text that a file has now, which is nothing that is undone here."""
        with self.undo_history.quietly():
            self.store.update(own_kernel=kernel)

    @Slot(str)
    def _leave_own_kernel(self, sentence: str) -> None:
        """Run on what there is in place of a kernel that cannot be read, and say so."""
        with self.undo_history.quietly():
            state = self.store.state
            best = intents.first_choice(state, self.device)
            self.store.update(implementation=best, chosen_implementation=None)
        self._say_lost(sentence)

    def _say_lost(self, sentence: str) -> None:
        """Say that something cannot be had, behind what was said so and is still to be read."""
        before = self._lost if self.messages.sentence == self._lost else ""
        self._lost = f"{before} {sentence}".strip()
        self.messages.show_message("warning", self._lost)

    def _complain(self) -> None:
        """Show what was found broken at the start, with details if there are several things."""
        broken = (each.reason for each in broken_rungs())
        lost = ", ".join((*sorted(self.settings.lost), *self._left_out))
        gone = f"Remembered, but not to be had any more: {lost}." if lost else ""
        found = [each for each in (self.settings.complaint, gone, *broken) if each]
        if found:
            self._lost = found[0]
            details = "\n".join(found) if len(found) > 1 else ""
            self.messages.show_message("warning", found[0], details)

    # -- as any window

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self.presenter.close()  # this restores the previous choices
        if complaint := self.memory.save():
            sys.stderr.write(f"{complaint}\n")  # the window is about to close
        for each in (
            self.filter_menu,
            self.report_writer,
            self.chart_place,
            self.help_controller,
        ):
            each.close()
        if self.weights.made is not None:
            self.weights.made.close_thread()
        if self.kernel.made is not None:
            self.kernel.made.close_threads()
        self.worker.close()  # before the threads that work on its results
        if self.gallery.made is not None:
            self.gallery.made.close_threads()
        for background in self._backgrounds:
            background.close()
        super().closeEvent(event)
