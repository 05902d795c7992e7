"""The main window, which makes the panels and the services and connects them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import CompileFailedError, KernelError
from kernels.engine.auto import AUTO
from kernels.engine.engine import Engine, all_implementations
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.rung import broken_rungs
from workbench.base.background import Background, bugs
from workbench.base.plain_text import ask_before
from workbench.base.settings import Settings
from workbench.files.picture_errors import ImageFileError
from workbench.model import choices, intents
from workbench.model.rung_times import RungTimes
from workbench.model.state import OwnFile, State, Step
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.full_resolution import FullResolution
from workbench.panels.compare.inspection import Inspection
from workbench.panels.controls.tool_row import ToolRow
from workbench.panels.kernel import KernelMenu
from workbench.panels.steps.chip_row import StepRow
from workbench.panels.sweep.chart_links import ApplyMeasurement
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import SweepController
from workbench.panels.sweep.sweep_menu import ReportWriter, SweepMenu
from workbench.panels.timing.history_plot import RunHistory
from workbench.panels.timing.status_line import TimingViews
from workbench.session.exporter import Exporter
from workbench.session.kernel_folder import KernelFolder
from workbench.session.live import Live
from workbench.session.opener import Opener, Walk
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, Actions, Do, MenuTree
from workbench.widgets.boxes import Steady, VBox
from workbench.widgets.docks import Docks
from workbench.widgets.keyboard import WindowWithHome
from workbench.widgets.lazy_panel import DOCKS, Dock, LazyPanel
from workbench.widgets.message_bar import MessageBar
from workbench.window.copy_as import CopyAs
from workbench.window.open_menu import OpenMenu, PageBox, PlaceBar
from workbench.window.picture_intake import DropTarget, PictureIntake
from workbench.window.picture_menus import ExposureMenu, PartMenu
from workbench.window.presenter import Presenter
from workbench.window.remembering import CrashRestore, Memory, ScreenshotRestore
from workbench.window.result_views import DeviceChip, ExplanationController, ResultViews
from workbench.window.save_menu import SaveMenu, Screenshots, filter_actions
from workbench.window.steps_menu import StepsMenu
from workbench.window.undo_history import UndoHistory
from workbench.window.view_menus import HelpController, PanelLetters, ProgramDialogs, fill_panels
from workbench.window.view_menus import actions as comparing_actions
from workbench.window.window_layout import OnScreen, Parts, Toolbar, WindowLayout

TITLE = "Filter Workbench"
TAKE_BACK = "Ctrl+Z takes the change back."
EXPECTED = (ImageFileError, KernelError)
C = TypeVar("C", bound=intents.Choice)


DONE = "What was under way is done by now. Close the window?"


class MainWindow(WindowWithHome):
    """Everything on the screen: it makes the parts and connects them."""

    def __init__(
        self, make_engine: Callable[[], Engine] = Engine, settings: Settings | None = None
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.store = Store(parent=self)
        remembered = self.settings.get("choices", {})
        changes, self._left_out = choices.recalled(remembered, self.store.state)
        self._lost = ""  # the sentence on what cannot be had
        self._is_begun = self._is_leaving = False  # the first until the GPU was looked for
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
        """The GPU, or why there is none; None while it is looked for."""
        return self.worker.device

    def open_kernel(self, path: Path) -> None:
        """Filter with the kernel in a file, and show it."""
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
        self.sessions = Sessions(self.reading, self)
        self.opener = Opener(self.reading, self)
        self.kernel_folder = KernelFolder(self.store, self.reading, self)
        self.opener.pixel_type = self.store.state.pixel_type
        self.exporter = Exporter(self._writing, self)
        self._compiling = Background((CompileFailedError,), self)
        self._rung_times = RungTimes()
        self.analysis_thread = AnalysisThread(self)

    def _make_panels(self) -> None:
        self.setWindowTitle(TITLE)
        self.compare = CompareView(self.store)
        self.home = self.compare.main
        self.messages = MessageBar(self)
        self.chip = DeviceChip(self.store, self.worker, self.live, self.messages, self.settings)
        self.page_box, self.place = PageBox(), PlaceBar()
        row = self.compare.read_out_row
        self.statusBar().addWidget(row.read_out, 1)  # which a message may hide, and nothing else
        for each in (self.page_box, self.chip, self.place, row):  # buttons last: not pushed
            self.statusBar().addPermanentWidget(each)
        store, worker, reading = self.store, self.worker, self.reading
        self.tool_row = ToolRow(
            store, reading, partial(self._enter, "Settings"), lambda: self.dialogs
        )
        self.runs = RunHistory(self)
        times, panel = self._rung_times, LazyPanel[Any]
        self.controls = panel(
            *(DOCKS["Settings"], store, self.live, reading, self.messages),
            partial(self._enter, "Weights"),
        )
        self.timing = panel(DOCKS["Timing"], self.runs)
        self.timing_views = TimingViews(self.timing, self)
        self.analysis = panel(DOCKS["Analysis"])
        self.pixel = panel(DOCKS["Pixel"], store)
        self.anatomy = panel(DOCKS["Anatomy"], store, worker, self.analysis_thread)
        self.rung = panel(DOCKS["Implementation"], store, worker, times, reading, self._compiling)
        self.blocks = panel(DOCKS["Blocks"], store, worker, self.live, reading, self.messages)
        self.sweep = panel(DOCKS["Sweep"], self.sessions, store, worker)
        self.weights = panel(DOCKS["Weights"], store, self._writing)
        self.gallery = panel(DOCKS["Gallery"])
        self.kernel = panel(
            DOCKS["Kernel"], store, times, worker, self.kernel_folder, self.messages
        )
        panels = (  # in the order of the rail
            *(self.controls, self.analysis, self.pixel, self.anatomy, self.rung),
            *(self.blocks, self.sweep, self.weights, self.gallery, self.timing, self.kernel),
        )
        body = QWidget()
        rows = VBox(body, 0, 0)
        self.setCentralWidget(Steady(body))  # first: Qt styles all that is in what it takes up
        self.toolbar = Toolbar(self.tool_row, self.compare.bar)
        rows.addWidget(self.toolbar)
        self.step_row, steps = StepRow(self.store, self.live), QWidget()
        VBox(steps, 0).add(self.step_row)  # which hides by itself as well
        rows.addWidget(steps)
        self.docks = Docks(body, self.compare, self.timing_views.line, panels)
        rows.addWidget(self.docks, 1)
        line, status = self.timing_views.line, self.statusBar()
        chrome = (self.toolbar, steps, self.docks.rail, line, status)
        self.window_layout = WindowLayout(self, self.docks, self.compare, chrome, self.messages)
        row = self.compare.read_out_row
        self.messages.lie_over(row.read_out, row, self.compare)
        self.compare.changed.connect(self._show_title)
        self.compare.keys.tabbed.connect(self.window_layout.toggle_bare)

    def _make_services(self) -> None:
        """Make the links between the session and the panels; each names the parts it takes."""
        store, worker, live, docks = self.store, self.worker, self.live, self.docks
        settings, messages, reading = self.settings, self.messages, self.reading
        # It hears of a change before the panels, which may cause another one.
        self.undo_history = UndoHistory(store, reading, messages, self.statusBar(), self)
        store.changed.connect(lambda _old, new: self._show_state(new))
        store.gave_way.connect(lambda why: messages.show_message("info", f"{why} {TAKE_BACK}"))
        self.parts = parts = Parts(
            *(self, settings, store, worker, reading, self.exporter, self.sessions),
            *(self.kernel_folder, docks, messages, self.sweep, self.undo_history, live),
            *(self.opener, self.compare, self.window_layout),
        )
        # Before everything that analyses what is on the screen.
        self.result_views = ResultViews(
            parts, self.timing_views, self.runs, self.rung, self._rung_times
        )
        self.full_resolution = FullResolution(store, live, worker, self.compare, self)
        self.inspection = Inspection(
            store, live, worker, self.compare, self.analysis_thread, messages, self
        )
        self.analysis.serve(
            *(store, live, self.inspection, self.compare, self.analysis_thread, messages)
        )
        self.memory = Memory(parts, self.inspection)
        self.screenshot_restore = ScreenshotRestore(parts, self.inspection)
        # Sweeps.
        self.sweep_controller = SweepController(parts, self.rung, self._rung_times)
        self.apply_measurement = ApplyMeasurement(parts)
        self.report_writer = ReportWriter(parts)
        self.sweep_menu = SweepMenu(parts)
        # Input and output.
        self.intake = PictureIntake(parts, self.sweep_menu)
        self.walk = Walk(store, self.opener, reading, self)
        self.open_menu = OpenMenu(parts, self.walk)
        self.gallery.serve(settings, self.opener, self.walk, self.open_menu.ask_for_folder)
        self.drop_target = DropTarget(self)
        self.save_menu = SaveMenu(parts)
        self.screenshots = Screenshots(parts, self.timing, self.save_menu, self.memory)
        self.copy_as = CopyAs(parts, self.rung)
        self.steps_menu = StepsMenu(parts, self.step_row, self.tool_row)
        # Explaining and presenting.
        panels = self.pixel, self.anatomy, self.rung
        self.explanation = ExplanationController(parts, self.inspection, *panels)
        self.part_menu = PartMenu(parts, self.inspection, self.analysis_thread)
        self.exposure_menu = ExposureMenu(parts)
        self.presenter = Presenter(parts, self.explanation)
        self.crash_restore = CrashRestore(
            parts, self.weights, self.memory, lambda: self.presenter.show is not None
        )
        self.help_controller = HelpController(parts)
        add_help = self.help_controller.serve
        self.filter_menu = LazyPanel[Any](
            Dock("Filter a folder", "workbench.window.file_filter:FileFilter"),
            *(parts, self.save_menu.ask_path, add_help),
        )
        # The window itself.
        self.on_screen = OnScreen(messages, self)
        self.kernel_menu = KernelMenu(self.kernel, docks)
        self.panel_letters = PanelLetters(parts)
        self.dialogs = ProgramDialogs(parts, self.memory)
        self._connect_services()
        self._connect_panels()

    def _make_menus(self) -> None:
        self.menus = MenuTree(self, self._actions())
        for each in (
            *(self.open_menu, self.sweep_menu, self.dialogs, self.steps_menu),
            *(self.part_menu, self.exposure_menu),
        ):
            each.fill(self.menus)
        fill_panels(self.menus, self.docks)
        self.menus.offer_on(self.compare, "picture")
        menu = self.open_menu.menu_of_button(self.menus)
        self.toolbar.connect_action("open", self.menus.action("Open…"), menu)
        self.toolbar.connect_action("save", self.menus.action("Save result as…"))
        sources = self.sessions.changed, self.sweep_controller.changed, self.undo_history.moved
        for signal in (*sources, self.compare.read_out_row.read_out.first_pointed):
            signal.connect(lambda *_: self.menus.refresh())

    def _actions(self) -> Actions:
        """Callables of all menu lines, by their texts; the table has their order."""
        found: dict[str, Do | Action] = {
            "Gallery": partial(self._enter, "Gallery"),
            "Weights": partial(self._enter, "Weights"),
            "Block shapes, live": partial(self._enter, "Blocks"),
            "Save result as…": self.save_menu.save_result,
            "Paste picture": self.intake.paste,
            "Run again": self.live.run_again,
            "Try the GPU again": self.chip.try_again,
            "Chart in a window": self._enlarge_chart,
            "Back to my picture": self.apply_measurement.back,
            "Quit": self.close,
            **comparing_actions(self.store, self.inspection),
            **self.compare.menu_actions(),
            **self.tool_row.menu_actions(),
            **filter_actions(self.filter_menu, self.store),
        }
        for each in (
            *(self.open_menu, self.kernel_menu, self.screenshots, self.copy_as),
            *(self.undo_history, self.explanation, self.window_layout, self.sweep_menu),
            *(self.panel_letters, self.presenter, self.steps_menu, self.part_menu),
            *(self.sweep_controller, self.report_writer, self.help_controller, self.dialogs),
            *(self.exposure_menu, self.intake),
        ):
            found |= each.actions()
        return found

    # -- connections

    def _connect_session(self) -> None:
        say, messages, folder = self.messages.show_message, self.messages, self.kernel_folder
        self.worker.device_found.connect(self._take_device)
        self.analysis_thread.hurries.connect(self.worker.hold)
        bugs.met.connect(messages.show_bug)
        opener, sessions, exporter = self.opener, self.sessions, self.exporter
        for failed in (opener.failed, sessions.failed, exporter.failed, folder.refused):
            failed.connect(lambda sentence: say("error", sentence))
        self.sessions.remarked.connect(lambda sentence: say("warning", sentence))
        folder.changed.connect(lambda: self._show_state(self.store.state))
        folder.arrived.connect(self._take_own_kernel)
        folder.mended.connect(lambda: messages.clear("error"))
        folder.lost.connect(self._leave_own_kernel)
        self.opener.ended.connect(lambda sentence: say("info", sentence))
        self.exporter.copied.connect(lambda what: say("info", f"Copied {what}."))
        self.opener.busy.connect(self.compare.show_opening)
        self.opener.progressed.connect(self.compare.show_share)
        self.timing_views.line.clicked.connect(lambda: self.docks.enter("Timing"))

    def _connect_services(self) -> None:
        self.place.stepped.connect(self.open_menu.step)
        self.page_box.turned.connect(self.open_menu.turn)
        self.walk.placed.connect(self.place.show_place)
        self.intake.restoring.connect(self.screenshot_restore.start)
        self.save_menu.to_file_wanted.connect(lambda: self.filter_menu.get().open_file())
        self.gallery.when_made(
            lambda panel: panel.filter_wanted.connect(
                lambda files: self.filter_menu.get().open_files(files)
            )
        )
        self.drop_target.dropped.connect(self.intake.take_content)
        self.intake.talk_wanted.connect(self.presenter.open_file)
        self.intake.kernel_wanted.connect(self.kernel_menu.open_file)
        self.intake.steps_wanted.connect(self.steps_menu.open_file)

    def _connect_panels(self) -> None:
        self.compare.drawn.connect(lambda *_: self.analysis.get())  # it shows values along the line
        self.pixel.when_made(lambda panel: panel.step_wanted.connect(self.step_row.select))
        report = self.report_writer
        self.sweep.when_made(lambda panel: panel.report.clicked.connect(lambda: report.start()))
        self.kernel.when_made(self._connect_kernel)
        self._of_device = (self.controls, self.sweep, self.timing, self.kernel)
        for panel in self._of_device:
            panel.when_made(self._tell_device)
        # Those that follow the state.
        self._following: tuple[tuple[LazyPanel[Any], Callable[[Any], None]], ...] = (
            (self.controls, self._tell_controls),
            (self.sweep, self._tell_sweep),
            (self.rung, self._tell_rung),
            *((each, self._tell) for each in (self.anatomy, self.pixel, self.weights, self.kernel)),
        )
        for panel, tell in self._following:
            panel.when_made(tell)

    def _connect_kernel(self, panel: Any) -> None:
        self.compare.picked.connect(panel.look_at)
        panel.width_changed.connect(self.docks.arrange)
        self.compare.add_overlay(panel.steps.paint)
        panel.steps.look_changed.connect(self.compare.repaint_overlays)
        self.live.after_ready.connect(lambda result, _: panel.show_result(result))
        if self.live.result is not None:
            panel.show_result(self.live.result)

    def _enlarge_chart(self) -> None:
        self.docks.enlarge("Sweep")
        self.sweep.get().show_choice(False)  # the chart has its room

    def _enter(self, title: str) -> None:
        self.docks.enter(title)

    # -- the state, and the device, to the panels

    def _show_state(self, state: State) -> None:
        self.tool_row.show_implementations(self._choices)
        self.tool_row.show_state(state)
        self.step_row.show_state(state)
        self.compare.show_state(state)
        for panel, tell in self._following:
            panel.if_made(tell)
        self.page_box.show_picture(state.picture)
        if state.picture is not None and state.picture.path is None:
            self.place.show_outside()
        self.menus.refresh()

    def _show_title(self) -> None:
        assert self.compare.picture is not None
        self.setWindowTitle(f"{self.compare.picture.title} — {TITLE}")
        self.setWindowFilePath(str(self.compare.picture.path or ""))

    def _tell(self, panel: Any) -> None:
        panel.show_state(self.store.state)

    def _tell_controls(self, panel: Any) -> None:
        panel.show_implementations(self._choices)
        self._tell(panel)

    def _tell_sweep(self, panel: Any) -> None:
        ready = [(each, intents.why_not_here(each, self.device)) for each in all_implementations()]
        folder = self.kernel_folder
        own: list[tuple[OwnKernel, str | None]] = []
        for name, read in folder.kernels.items():
            if isinstance(read, str):
                own.append((OwnKernel(name), read))
            else:
                kernel = OwnKernel(name, read.source)
                own.append((kernel, intents.why_untimed(kernel, self.device)))
        panel.choice.show_implementations((*ready, *own))
        self._tell(panel)

    def _tell_rung(self, panel: Any) -> None:
        own = ((each, why) for each, why in self._with_reasons(self.kernel_folder.all) if each.text)
        rungs = [(replace(each.rung, title=each.title), why) for each, why in own]
        panel.show_implementations([*self._with_reasons(all_implementations()), *rungs])
        self._tell(panel)

    @property
    def _choices(self) -> list[tuple[intents.Choice, str | None]]:
        """What the selected filter may be run on, with the reason why not, or None."""
        return self._with_reasons((AUTO, *all_implementations(), *self.kernel_folder.all))

    def _with_reasons(self, choices: Iterable[C]) -> list[tuple[C, str | None]]:
        state, device = self.store.state, self.device
        offered = (each for each in choices if intents.is_offered(state, each))
        return [(each, intents.why_unavailable(state, each, device)) for each in offered]

    def _tell_device(self, panel: Any) -> None:
        if self.device is not None:
            panel.show_device(self.device)

    @Slot(object)
    def _take_device(self, device: Device | NoDevice) -> None:
        """Report a change of the GPU first, then run on what there is."""
        self.chip.report(device)
        if not self._is_begun:
            self._is_begun = True
            for sentence in intents.not_as_chosen(self.store.state, device):
                self._say_lost(sentence)
        self.chip.show_device(device)
        for each in (*self._of_device, self.filter_menu):
            each.if_made(lambda panel: panel.show_device(device))
        with self.undo_history.quietly():  # the user did not choose it
            self.store.update(**intents.changes_on(self.store.state, device))
        self._show_state(self.store.state)

    @Slot(object)
    def _take_own_kernel(self, kernel: OwnFile) -> None:
        """Filter with the present source of a file, which is no step to undo."""
        with self.undo_history.quietly():
            state = self.store.state
            before, after = (
                tuple(_with_text(each, kernel) for each in steps)
                for steps in (state.before, state.after)
            )
            self.store.update(own_kernel=kernel, before=before, after=after)

    @Slot(str)
    def _leave_own_kernel(self, sentence: str) -> None:
        with self.undo_history.quietly():
            best = intents.first_choice(self.store.state, self.device)
            self.store.update(implementation=best, chosen_implementation=None)
        self._say_lost(sentence)

    def _say_lost(self, sentence: str) -> None:
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

    def leave(self) -> None:
        """Close the window without a question."""
        self._is_leaving = True
        if self.presenter.show is not None:
            self.presenter.show.end()
        self.close()

    @property
    def _question(self) -> str:
        """What is asked before this closes."""
        files = self.filter_menu.made
        under_way = self.sweep_controller.under_way, files.under_way if files is not None else ""
        return " ".join([*filter(None, under_way), "Close the window?"]) if any(under_way) else DONE

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if self.presenter.show is not None:  # what closes windows closes the stage
            self.presenter.show.end()
            event.ignore()
            return
        if self._question != DONE and not self._is_leaving:
            box = ask_before(self, self._question, "Close", self.leave)
            follow = QTimer(box, interval=250)  # what it asks about goes on
            follow.timeout.connect(lambda: box.setText(self._question))
            follow.start()
            event.ignore()
            return
        self.presenter.close()
        if complaint := self.memory.save():
            sys.stderr.write(f"{complaint}\n")  # the window is about to close
        for each in (self.report_writer, self.help_controller):
            each.close()
        self.filter_menu.if_made(lambda dialog: dialog.close_threads())  # it can be resumed
        self.kernel.if_made(lambda panel: panel.close_threads())
        self.worker.close()  # before the threads that work on its results
        self.gallery.if_made(lambda panel: panel.close_threads())
        for thread in (
            *(self.reading, self._writing, self._compiling, self.analysis_thread),
            *(self.live.previews, self.full_resolution),
        ):
            thread.close()
        super().closeEvent(event)


def _with_text(step: Step, kernel: OwnFile) -> Step:
    return replace(step, own_kernel=kernel) if step.implementation == kernel.name else step
