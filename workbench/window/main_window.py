"""The window: builds the panels and connects them; no logic of its own."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    Signal,
)
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QMainWindow, QMenu, QVBoxLayout, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Result
from kernels.engine.auto import AUTO
from kernels.engine.engine import Engine, all_implementations
from kernels.rungs.rung import broken_rungs
from workbench.base.background import Background
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import Display
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.panels.analysis.analysing import Analysing
from workbench.panels.analysis.analysis_panel import AnalysisPanel
from workbench.panels.anatomy.anatomy_panel import AnatomyPane
from workbench.panels.blocks.block_comparison import BlockComparison
from workbench.panels.blocks.blocks_panel import BlocksPanel
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.controls.controls_panel import ControlPanel
from workbench.panels.controls.display_controls import stretched
from workbench.panels.gallery.gallery_settings import make_gallery
from workbench.panels.pixel.pixel_panel import PixelPane
from workbench.panels.rung.rung_panel import RungPane
from workbench.panels.sweep.apply_measurement import Picking
from workbench.panels.sweep.detachable_chart import DetachableChart
from workbench.panels.sweep.measuring import Measuring
from workbench.panels.sweep.report_writer import Reporting
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_menu import SweepMenu
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.panels.sweep.unfinished_sweep import LeftOver
from workbench.panels.timing.history_plot import HistoryPlot
from workbench.panels.timing.timing_strip import TimingStrip
from workbench.panels.weights.weights_action import WeightsEditing
from workbench.session import clipboard
from workbench.session.analysis_thread import Steps
from workbench.session.exporter import Exporter
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.rung_compiler import Compiling
from workbench.session.session_store import is_of_sweep
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.docks import Docks
from workbench.widgets.message_bar import MessageBar
from workbench.window.copying.copy_as import CopyAs
from workbench.window.explaining import Explaining
from workbench.window.gpu_loss import GpuLoss
from workbench.window.help.helping import Helping
from workbench.window.large_picture_prompt import ask_about_large_pictures
from workbench.window.menus import Menus
from workbench.window.on_screen import OnScreen
from workbench.window.picture_intake import PictureIntake
from workbench.window.presenter.presenter import Presenting
from workbench.window.saving import Saving
from workbench.window.tune_for_job import TuneForJob
from workbench.window.undo.undoing import Undoing

TITLE = "Filter Workbench"
EXPECTED = (ImageFileError, KernelError)


class MainWindow(QMainWindow):
    """Everything on the screen.

    Signals:
        settled(result): the newest wish was filtered, timed and checked, and nothing waits.
    """

    settled = Signal(object)

    def __init__(
        self,
        make_engine: Callable[[], Engine] = Engine,
        settings: Settings | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.settings = settings or Settings()
        self.store = Store(parent=self)
        remembered = choices.from_data(self.settings.get("choices", {}), self.store.state)
        self.store.choose(**remembered)
        self._make_services(make_engine)
        self._make_views()
        self._connect()
        self.menus = Menus(self)
        self.docks.restore(self.settings.get)
        self._show_state(self.store.state)
        self._complain()
        self.worker.start()

    def createPopupMenu(self) -> QMenu:  # noqa: N802
        """Of the right button on a panel's title; Qt's own would hide what is behind a tab."""
        return self.menus.panels_menu()

    # -- what others may ask for

    @property
    def device(self) -> Device | NoDevice | None:
        """What there is to run on; None while that is looked for."""
        return self.worker.device

    def open_paths(self, paths: list[Path]) -> None:
        """Open the sessions and plans among `paths`, and the first picture, or the one that comes
        with the program."""
        pictures = [path for path in paths if not is_of_sweep(path)]
        if pictures:
            self.opener.open_file(pictures[0])
        else:
            self.opener.open_start_picture()
        for path in paths:
            self.arriving.take_sweep(path)  # what is wrong with it is said after the picture came

    def screenshot(self) -> QImage:
        """The window as it is."""
        self.history.draw_now()
        self.sweep.draw_now()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        return self.grab().toImage()

    def choices_to_keep(self) -> dict[str, Any]:
        """What a screenshot remembers: the choices, and which built-in picture they were for."""
        picture = self.store.state.picture
        built_in = picture.built_in if picture else None
        return {**choices.to_data(self.store.state), "built_in": built_in}

    def settings_to_keep(self) -> dict[str, Any]:
        """All that the next start takes up, by its name in the settings."""
        return {
            **self.settings.values(),
            "choices": choices.to_settings(self.store.state),
            **self.docks.choices(),
        }

    def forget_all(self) -> None:
        """Begin anew: choices and layout as on the first day."""
        self.settings.forget()
        fresh = State(picture=self.store.state.picture, levels=self.store.state.levels)
        if self.device is not None:
            best = intents.implementation_for(fresh, self.device)
            fresh = replace(fresh, implementation=best)
        self.store.restore(fresh)
        self.inspection.forget()
        self.docks.forget()

    def show_bug(self, sentence: str, details: str) -> None:
        """Say that something went wrong in here, with a traceback to copy."""
        self._show_bug(sentence, details)

    def show_exception(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        """What Python calls for an exception nobody caught: a bug, shown with its traceback."""
        details = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(details)
        self._show_bug(f"{kind.__name__}: {error}", details)

    # -- building

    def _make_services(self, make_engine: Callable[[], Engine]) -> None:
        self.worker = Worker(make_engine, self)
        self.reading = Background(EXPECTED, self)
        self._writing = Background(EXPECTED, self)
        self.live = Live(self.store, self.worker, self.reading, self)
        self.sessions = Sessions(self.reading, self)
        self.opener = Opener(self.reading, self)
        self.opener.pixel_type = self.store.state.pixel_type
        self.exporter = Exporter(self._writing, self)
        self._compiling = Compiling(self)
        self.looking = Steps(self)
        self.gpu_loss = GpuLoss(self)
        self.undoing = Undoing(self)

    def _make_views(self) -> None:
        self.setWindowTitle(TITLE)
        self.resize(1280, 800)
        self.setAcceptDrops(True)
        self.compare = CompareView()
        self.messages = MessageBar(self.compare)
        self.timing = TimingStrip()
        self.analysis = AnalysisPanel()
        self.history = HistoryPlot()
        self.controls = ControlPanel()
        self.sweep = SweepPanel(self.sessions)
        self.rung = RungPane()
        self.blocks = BlocksPanel()
        self.gallery = make_gallery(self.settings)
        self.anatomy, self.pixel = AnatomyPane(), PixelPane()
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(4, 8, 4, 4)
        column.setSpacing(8)
        for view, stretch in ((self.compare, 1), (self.timing, 0)):
            column.addWidget(view, stretch)
        panels = (
            *(self.controls, self.sweep, self.rung, self.blocks, self.gallery),
            *(self.pixel, self.anatomy, self.analysis, self.history),
        )
        self.docks = Docks(self, centre, panels)
        self._chip = Label("Looking for a GPU…")
        self._chip.setObjectName("device")
        self.statusBar().addPermanentWidget(self._chip)

    def _connect(self) -> None:
        store, worker, live, say = self.store, self.worker, self.live, self.messages.show_message
        store.changed.connect(lambda _old, new: self._show_state(new))
        for panel in (self.controls, self.compare, self.rung, self.anatomy):
            panel.wanted.connect(lambda name, value: store.choose(**{name: value}))
        self.controls.stretch_wanted.connect(self._stretch)

        worker.device_found.connect(self._show_device)
        worker.progressed.connect(lambda doing: self.timing.show_progress(doing or None))
        worker.broke.connect(self._show_bug)
        for background in (self.reading, self._writing, self._compiling, self.looking):
            background.broke.connect(self._show_bug)
        live.before_ready.connect(self.compare.show_before)
        live.after_ready.connect(self._show_after)
        self.inspection = Inspection(store, live, self.compare, self.looking, self)
        self.analysing = Analysing(
            store, live, self.inspection, self.compare, self.analysis, self.looking, self
        )
        for teller in (self.inspection, self.analysing):
            teller.said.connect(lambda sentence: say("info", sentence))
        self.inspection.unsaid.connect(self.messages.dismiss)
        live.baseline_ready.connect(self.timing.show_baseline)
        for told in (live.settled, live.timed_again):
            told.connect(self.history.add)
            told.connect(self.rung.show_result)
        live.settled.connect(self.settled)
        live.refused.connect(self._show_refusal)
        live.recovered.connect(lambda: self.messages.clear("error"))

        ask_about_large_pictures(self.opener, self.messages)
        self.arriving = PictureIntake(self)
        self.opener.failed.connect(lambda sentence: say("error", sentence))
        self.sessions.failed.connect(lambda sentence: say("error", sentence))
        self.sessions.remarked.connect(lambda sentence: say("warning", sentence))
        self.opener.ended.connect(lambda sentence: say("info", sentence))
        self.exporter.saved.connect(lambda path: say("info", f"Saved {path}."))
        self.exporter.copied.connect(lambda what: say("info", f"Copied {what}."))
        self.exporter.failed.connect(lambda sentence: say("error", sentence))
        self.gallery.file_wanted.connect(self.opener.open_file)
        self.gallery.built_in_wanted.connect(self.opener.open_built_in)
        self.gallery.broke.connect(self._show_bug)

        self.measuring = Measuring(
            *(store, worker, self.sessions, self.sweep, self.rung, self.docks, self.messages, self)
        )
        self.following = BlockComparison(self)
        self.presenting = Presenting(self)
        self._left_over = LeftOver(
            worker, self.reading, self.settings, self.sweep, self.measuring, self
        )
        self.picking = Picking(self)
        self.explaining = Explaining(
            self.compare, self.inspection, live, self.docks, self.pixel, self.anatomy, self
        )
        self.reporting = Reporting(
            store, self.sessions, self.reading, self.settings, self.messages, self
        )
        self.helping = Helping(store, self)
        self.sweep.report_wanted.connect(self.reporting.start)
        self.sweep_menu = SweepMenu(
            *(self.sweep, self.sessions, self.docks, self.reading, self.exporter),
            *(self.settings, self.messages, self),
        )
        self.chart_place = DetachableChart(self.sweep, self.helping.serve, self)
        self.weights = WeightsEditing(self)
        self.saving = Saving(store, live, self.exporter, self.settings, self.messages, self)
        self.copy_as = CopyAs(store, worker, live, self.rung, self.reading, self.messages, self)
        self.tuner = TuneForJob(store, worker, live, self.messages, self)
        self.on_screen = OnScreen(self.messages, self)
        self.sweep.chart.copy_wanted.connect(
            lambda image: self.exporter.copy_image(image, "the chart")
        )
        self.sweep.chart.save_wanted.connect(self._save_chart)
        self.rung.ptx_wanted.connect(self._compiling.request)
        self._compiling.compiled.connect(self.rung.show_ptx)
        self.rung.large_wanted.connect(lambda: self.docks.enlarge("Rung"))
        self.docks["Rung"].topLevelChanged.connect(self.rung.show_large)

    # -- passing on

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

    def _show_device(self, device: Device | NoDevice) -> None:
        if isinstance(device, Device):
            self._chip.setText(device.name)
            self._chip.setToolTip(tip_text(f"CUDA device {device.index} of {device.count}"))
        else:
            self._chip.setText("GPU lost" if device.is_lost else "No GPU")
            self._chip.setToolTip(tip_text(f"{device.reason}\n{device.remedy}".strip()))
            self._say_once_why(device)
        self.rung.show_device(device)
        self.anatomy.show_device(device)
        self.sweep.show_device(device)
        self._choose_implementation(device)
        self._show_state(self.store.state)

    def _complain(self) -> None:
        """Say what was found broken at the start; all of it stands in the details."""
        found = [self.settings.complaint, *(each.reason for each in broken_rungs())]
        if found := [each for each in found if each]:
            details = "\n".join(found) if len(found) > 1 else ""
            self.messages.show_message("warning", found[0], details)

    def _say_once_why(self, device: NoDevice) -> None:
        """At the first start in full, over the pictures; later the status bar has it."""
        told = device.reason
        if device.is_lost:
            return  # which GpuLoss says
        if self.settings.get("told-no-gpu", "") == told or self.messages.kind is not None:
            return  # it was said before, or something that matters more is being said
        self.settings.set("told-no-gpu", told)
        self.messages.show_message("info", device.reason, device.remedy)

    def _choose_implementation(self, device: Device | NoDevice) -> None:
        """Take what the user chose, or the best there is where that cannot run here."""
        with self.undoing.quietly():  # it was not the user who chose it
            state = self.store.state
            self.store.update(implementation=intents.implementation_for(state, device))

    def _show_after(self, result: Result, display: Display) -> None:
        self._show_picture(result, display)
        self.timing.show_result(result)
        self.rung.show_ran(result)

    def _show_picture(self, result: Result, display: Display) -> None:
        self.compare.show_after(result.picture, display, self.inspection.caption_of(result))

    def _show_refusal(self, sentence: str, details: str) -> None:
        """Why there is no new result.  The last one of the same picture stays, with its figures,
        and says that it is not of the present settings."""
        if self.live.of_view is None:
            self.timing.show_refused()
        else:
            _, result, display = self.live.of_view
            self._show_picture(result, display)
        self.messages.show_message("error", sentence, details)

    def _show_bug(self, sentence: str, details: str) -> None:
        self.messages.show_message("error", f"Something went wrong here: {sentence}", details)

    def _stretch(self) -> None:
        picture = self.store.state.picture

        def show(levels: tuple[float, float] | None) -> None:
            if self.store.state.picture is picture:  # and not another one meanwhile
                self.store.update(levels=levels)

        if picture is not None:
            self.reading.run(
                lambda: stretched(picture),
                show,
                lambda error: self.messages.show_message("error", str(error)),
            )

    def _save_chart(self, path: Path, content: QImage | str) -> None:
        """As PNG, with the settings inside, or the text of an SVG."""
        if isinstance(content, str):
            self.exporter.save_text(path, content)
        else:
            settings = self.choices_to_keep() | self.sweep.conditions()
            self.exporter.save_screenshot(path, content, settings)

    # -- coming and going

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        if clipboard.holds_picture(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        self.arriving.take_content(event.mimeData())
        event.acceptProposedAction()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self.presenting.close()  # which puts back what was chosen before
        for name, value in self.settings_to_keep().items():
            self.settings.set(name, value)
        if complaint := self.settings.save():
            sys.stderr.write(f"{complaint}\n")  # there soon is no window to say it in
        self.tuner.close()
        self.reporting.close()
        self.chart_place.close()
        self.weights.close()
        self.helping.close()
        self.worker.close()
        self.gallery.close_threads()
        for background in (self.reading, self._writing, self._compiling, self.looking):
            background.close()
        super().closeEvent(event)
