"""Views of every result, and of a GPU that fails: the CPU takes over."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QEvent, QObject, QRectF, QTimer
from PySide6.QtGui import QAction, QPainter
from PySide6.QtWidgets import QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job, Result
from kernels.engine.auto import AUTO
from workbench.base.background import Throttle
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
from workbench.imaging.display import Display
from workbench.model import intents
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.model.step_files import steps_in_words
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.timing.history_plot import RunHistory
from workbench.panels.timing.status_line import COMING, PREVIEWED, REFUSED, TimingViews
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Actions
from workbench.widgets.keyboard import is_escape
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.panels.anatomy.anatomy_panel import AnatomyPane
    from workbench.panels.pixel.pixel_panel import PixelPane
    from workbench.panels.rung.rung_panel import RungPane

FRESH_MS = 1000  # what was said just now may be why there is another picture
LATE_MS = 200  # without a new result, until the one in sight is said to be of earlier settings
COPY = "of the {}copy, {:,}×{:,}"  # that is shown of a picture larger than memory
TWO_FILES = "Two files are compared as they are: no times are shown."
PREVIEW = "preview, from the reduced picture"


class ResultViews(QObject):
    """A link that takes results to the views.

    Made before everything that analyses what is on the screen: Qt calls the slots of a signal in
    the order in which they were connected, and the picture has to be there first.

    runs, times  those of this session, to which every final result is added
    """

    def __init__(
        self,
        parts: Parts,
        timing: TimingViews,
        runs: RunHistory,
        rung: LazyPanel[RungPane],
        times: RungTimes,
    ) -> None:
        super().__init__(parts.window)
        store, live, messages = parts.store, parts.live, parts.messages
        worker, compare = parts.worker, parts.compare
        self._store, self._live, self._compare = store, live, compare
        self._timing, self._runs = timing, runs
        self._rung, self._times = rung, times
        self._messages, self._is_late = messages, False
        self._says_why = False  # there is no new result; no more once that was dismissed
        self._late = Throttle(LATE_MS, self._say_late, self)
        store.changed.connect(self._follow)
        worker.progressed.connect(timing.show_progress)
        compare.changed.connect(lambda: timing.show_empty(REFUSED if live.refusal else COMING))
        live.before_ready.connect(compare.show_before)
        live.preview_ready.connect(self._show_preview)
        live.after_ready.connect(self._show)
        live.baseline_ready.connect(timing.show_baseline)
        for settled in (live.settled, live.timed_again):
            settled.connect(self._show_settled)
        live.refused.connect(self._show_refusal)
        live.recovered.connect(lambda: messages.clear("error"))
        messages.cleared.connect(self._say_again)
        rung.when_made(
            lambda panel: panel.show_ran(intents.last_run(live.result)) if live.result else None
        )

    def _follow(self, old: State, new: State) -> None:
        if old.picture is not None and intents.needs_run(old, new):
            self._messages.outdate(FRESH_MS)
            self._late.start()
        elif self._live.of_view is not None and (
            old.reference is not new.reference or steps_in_words(old) != steps_in_words(new)
        ):
            self._show(*self._live.of_view[1:])

    def _say_late(self) -> None:
        """Let the last result not pass for that of the present settings, which takes long."""
        if (found := self._live.of_view) and not self._live.refusal:
            self._is_late = not intents.is_answer(found[1], self._store.state)
            self._show(*found[1:])  # a preview of settings that were undone may be in sight

    def _show(self, result: Result, display: Display) -> None:
        if intents.is_answer(result, self._store.state):
            self._late.stop()
            self._is_late = False
        self._show_picture(result, display)
        picture, job = self._store.state.picture, result.job
        is_copy = picture is not None and picture.large is not None
        whole = "whole " if job.region is not None else ""  # of which the part is taken
        of_copy = COPY.format(whole, job.width, job.height) if is_copy else ""
        self._timing.show_subject(of_copy or (whole and f"of the {whole}picture"))
        if self._is_of_files(result):
            self._timing.show_empty(TWO_FILES)
        elif self._is_late or self._live.refusal:
            self._timing.show_late(REFUSED if self._live.refusal else COMING)
        else:
            self._timing.show_result(result, self._live.baseline_of(result))
        self._rung.if_made(lambda panel: panel.show_ran(intents.last_run(result)))

    def _show_preview(self, job: Job, display: Display) -> None:
        self._late.stop()
        self._compare.show_preview(display, f"{intents.job_caption(job, None)}\n{PREVIEW}")
        self._timing.show_empty(PREVIEWED)

    def _show_settled(self, result: Result) -> None:
        if not self._is_of_files(result):
            self._runs.add(result)
            for each in result.steps or (result,):
                self._times.add_result(each)
        self._rung.if_made(lambda panel: panel.show_result(intents.last_run(result)))

    def _show_picture(self, result: Result, display: Display) -> None:
        self._compare.show_after(result.picture, display, self._caption_of(result))

    def _show_refusal(self, sentence: str, details: str) -> None:
        """Say why there is no new result; the last one stays, marked."""
        self._timing.show_empty(REFUSED)
        if self._live.of_view is not None:
            self._show_picture(*self._live.of_view[1:])
        self._messages.show_message("error", sentence, details)
        self._says_why = True

    def _say_again(self, kind: str | None) -> None:
        """Say once more why there is no new result, if what took its place is gone."""
        self._says_why &= kind != "error"
        if self._says_why and kind is not None and (refusal := self._live.refusal) is not None:
            self._messages.show_message("error", *refusal)

    def _caption_of(self, result: Result) -> str:
        """Format the job and, on a second line, its display: "clipped: below 0 is black"."""
        picture, job = self._store.state.picture, result.job
        parts = [intents.look_in_words(job, self._live.look)]
        if parts[0] and picture is not None and str(picture.samples.dtype) != job.pixel_type:
            parts.append(f"as {job.pixel_type}")
        if picture is not None and picture.large is not None:
            parts.append(f"1/{picture.large.step:.4g} of its size")
        if intents.is_answer(result, self._store.state):
            parts.append(steps_in_words(self._store.state))
        parts.append("unverified" * result.is_wrong)
        parts.append("of earlier settings" if self._live.refusal or self._is_late else "")
        below = " · ".join(filter(None, parts))
        told = f"{job.width}×{job.height}" if self._is_of_files(result) else ""
        return "\n".join(filter(None, (told or intents.job_caption(job, result.picked), below)))

    def _is_of_files(self, result: Result) -> bool:
        """True if two files are compared as they are: then no time of a filter is looked for."""
        return self._store.state.reference is not None and intents.change_nothing(result.job.steps)


TOLD = "told-no-gpu"  # the setting with the reason that was shown last
STILL = "The GPU still does not work in this program; close it and start it again to use the GPU."
BACK = "The GPU works again."
WORKS = "The GPU works; there is nothing to try again."


class DeviceChip(Label):
    """A label that names the GPU, says what becomes of it, and offers ways back to it."""

    def __init__(
        self, store: Store, worker: Worker, live: Live, messages: MessageBar, settings: Settings
    ) -> None:
        super().__init__("Looking for a GPU…")
        self.setObjectName("device")
        self._store, self._worker, self._live = store, worker, live
        self._messages, self._settings = messages, settings
        self._is_lost = self._is_trying = False

    def show_device(self, device: Device | NoDevice) -> None:
        """Show the GPU's name, or say why there is none."""
        if isinstance(device, Device):
            self.setText(device.name)
            self.setToolTip(tip_text(f"CUDA device {device.index} of {device.count}"))
        else:
            self.setText("GPU lost" if device.is_lost else "No GPU")
            self.setToolTip(tip_text(f"{device.reason}\n{device.remedy}".strip()))
            is_told = self._settings.get(TOLD, "") == device.reason
            if not (is_told or device.is_lost or self._messages.kind):  # `report` says the latter
                self._settings.set(TOLD, device.reason)
                self._messages.show_message("info", device.reason, device.remedy)

    def try_again(self) -> None:
        """Try the GPU again; where it works already, say so."""
        if self._worker.gpu is not None:
            self._messages.show_message("info", WORKS)
            return
        self._is_trying = True
        self._messages.show_message("info", "Trying the GPU…")
        self._worker.try_device()

    def report(self, device: Device | NoDevice) -> None:
        """Report a change of the GPU, before the window takes it in."""
        was_trying, self._is_trying = self._is_trying, False
        say = self._messages.show_message
        if isinstance(device, Device):
            if self._is_lost or was_trying:
                self._is_lost = False  # the window uses it again by itself where that was chosen
                say("info", BACK)
        elif device.is_lost:
            if was_trying:
                say("warning", STILL, device.reason)
            else:
                say("warning", device.reason, actions=[("&Try again", self.try_again)])
            if not self._is_lost:
                self._is_lost = True
                # The window must know first that there is no GPU.
                QTimer.singleShot(0, self, self._go_on)
        elif was_trying:
            say("info", device.reason, device.remedy)

    def _go_on(self) -> None:
        """Run again on the CPU, which `auto` now picks; another choice was replaced already."""
        if self._store.state.implementation == AUTO.key:
            self._live.run_again()


P = TypeVar("P", bound=QWidget)


class ExplanationController(QObject):
    """A link that takes the pointer to the panels, and their painting to the pictures."""

    def __init__(
        self,
        parts: Parts,
        inspection: Inspection,
        pixel: LazyPanel[PixelPane],
        anatomy: LazyPanel[AnatomyPane],
        rung: LazyPanel[RungPane],
    ) -> None:
        super().__init__(parts.window)
        compare, live, docks = parts.compare, parts.live, parts.docks
        self._compare, self._live, self._docks = compare, live, docks
        self._pixel, self._anatomy, self._rung = pixel, anatomy, rung
        self._places: tuple[Any, Any] | None = None  # in view before Anatomy, and since
        self._pointed: tuple[float, float] | None = None  # the last place in a picture
        self._held_before: tuple[int, int] | None = None  # the last click
        self._over_pictures: tuple[LazyPanel[Any], ...] = (anatomy, pixel, rung)
        for panel in self._over_pictures:
            compare.add_overlay(partial(_paint, panel))
        for panel in (anatomy, pixel):
            panel.when_made(self._connect)
        compare.hides_values = lambda: bool(anatomy.made and anatomy.made.is_painting)
        compare.pointed.connect(self._point)
        compare.picked.connect(self._pick)
        compare.installEventFilter(self)  # for Esc
        for view in compare.findChildren(PictureView):
            view.installEventFilter(self)  # for double clicks
        inspection.found.connect(self._hold)
        pixel.when_made(self._connect_pixel)
        anatomy.when_made(self._connect_anatomy)
        rung.when_made(self._connect_list)
        for title in ("Anatomy", "Pixel"):
            docks[title].opened.connect(compare.repaint_overlays)
        # The right button's menu, in any picture.
        here = QAction("Explain this pixel", compare)
        here.triggered.connect(lambda: self._raise("Pixel", pixel).hold(self._pointed_pixel))
        compare.addAction(here)

    def _connect(self, panel: Any) -> None:
        live = self._live
        live.after_ready.connect(lambda result, _: panel.show_result(result))
        live.settled.connect(panel.show_settled)
        if live.result is not None:
            panel.show_result(live.result)

    def _connect_pixel(self, pixel: PixelPane) -> None:
        pixel.pixel_changed.connect(self._compare.repaint_overlays)
        pixel.zoom_wanted.connect(self._compare.go_to)
        pixel.view_wanted.connect(self._compare.follow)

    def _connect_anatomy(self, anatomy: AnatomyPane) -> None:
        anatomy.look_changed.connect(self._compare.repaint_overlays)
        anatomy.area_wanted.connect(self._show_area)
        anatomy.entered.connect(self._enter_anatomy)
        anatomy.left.connect(self._leave_anatomy)

    def _connect_list(self, rung: RungPane) -> None:
        rung.list_page.look_changed.connect(self._compare.repaint_overlays)
        rung.list_page.area_wanted.connect(self._compare.show_area)

    def actions(self) -> Actions:
        return {
            "Explain the whole list": self.explain_list,
            "This pixel": self.explain_pixel,
            "Anatomy of a launch": self.show_anatomy,
            "Next part of the anatomy": self.show_next_part,
        }

    def explain_pixel(self) -> None:
        """Bring the Pixel panel forward, with the pixel pointed at last unless one is held."""
        panel = self._raise("Pixel", self._pixel)
        pointed = None if panel.is_held else self._pointed_pixel
        panel.show_pixel(pointed)
        if pointed is not None:
            panel.ask_view()

    @property
    def pixel(self) -> tuple[int, int] | None:
        """The pixel that is held, or that was pointed at last."""
        panel = self._pixel.made
        return panel.pixel if panel is not None and panel.is_held else self._pointed_pixel

    @property
    def _pointed_pixel(self) -> tuple[int, int] | None:
        at = self._pointed
        return None if at is None else (math.floor(at[0]), math.floor(at[1]))

    def show_anatomy(self) -> None:
        """Bring the Anatomy panel forward, with the thread that was pointed at last."""
        self._raise("Anatomy", self._anatomy).point_at(self._pointed)

    def explain_list(self) -> None:
        """Bring forward what the steps cost as a whole."""
        self._raise("Implementation", self._rung).show_tab("list")

    def show_next_part(self) -> None:
        """Show the next part of the launch, or the panel where it is not open."""
        panel = self._anatomy.made
        if panel is not None and panel.isVisible():
            panel.show_next_part()
        else:
            self.show_anatomy()

    def _enter_anatomy(self, area: QRectF) -> None:
        if self._places is None:
            self._places = self._place, self._place
        self._show_area(area)

    def _show_area(self, area: QRectF) -> None:
        """Fill the view with a block; leaving goes back to the view before."""
        is_there = self._places is not None and self._place == self._places[1]
        self._compare.show_area(area)
        if is_there and self._places is not None:
            self._places = self._places[0], self._place

    @property
    def _place(self) -> Any:
        return self._compare.choices().get("place")

    def _leave_anatomy(self) -> None:
        """Go back to where the view was, unless it was moved since."""
        self._compare.repaint_overlays()
        places, self._places = self._places, None
        if places is None or self._place != places[1]:
            return
        if places[0] is None:
            self._compare.show_fit()
        else:
            self._compare.restore({"place": places[0]})

    def _raise(self, title: str, panel: LazyPanel[P]) -> P:
        self._docks.bring_forward(title)
        panel.get().setFocus()
        return panel.get()

    def _point(self, point: tuple[float, float] | None) -> None:
        if point is not None:
            self._pointed = point
            for each in self._over_pictures:
                each.if_made(lambda panel: panel.point_at(point))

    @property
    def _seen_pixel(self) -> PixelPane | None:
        panel = self._pixel.made
        return panel if panel is not None and panel.isVisible() else None

    def _pick(self, pixel: tuple[int, int]) -> None:
        if (panel := self._seen_pixel) is not None:
            self._held_before = panel.pixel if panel.is_held else None
            panel.pick(pixel)

    def _hold(self, pixel: tuple[int, int]) -> None:
        if (panel := self._seen_pixel) is not None:
            panel.hold(pixel)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Let Esc over the picture let go of the pixel that is held, before it clears a message.

        A double click zooms: the effect of its first click on the pixel is undone.
        """
        is_double = event.type() == QEvent.Type.MouseButtonDblClick
        if is_double and (panel := self._seen_pixel) is not None:
            if self._held_before is None:
                panel.set_held(False)
            else:
                panel.hold(self._held_before)
        is_press = is_escape(event, QEvent.Type.KeyPress)
        if is_press or is_escape(event, QEvent.Type.ShortcutOverride):
            panel = self._seen_pixel
            if panel is not None and panel.is_held:
                event.accept()
                if is_press:
                    panel.set_held(False)
                return True
        return super().eventFilter(watched, event)


def _paint(panel: LazyPanel[Any], painter: QPainter, visible: QRectF, scale: float) -> None:
    panel.if_made(lambda made: made.paint(painter, visible, scale))
