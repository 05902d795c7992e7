"""Pinned results, and the difference and mismatch computed against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from kernels.core.errors import KernelError
from kernels.core.job import Job, Progress, Result
from kernels.core.verdict import Tolerance
from kernels.engine.auto import Auto
from kernels.rungs.rung import BrokenRung
from workbench.base import numbers
from workbench.base.numbers import star
from workbench.imaging.cell_values import CellRequest, written
from workbench.imaging.differences import Difference, Mismatch, searching, subtracting
from workbench.imaging.display import Display, show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.speed_up import no_time_in_words, single_in_words
from workbench.model.state import State, has_row
from workbench.model.step_files import select
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.full_resolution import ONCE
from workbench.panels.compare.picture_layer import Shown
from workbench.panels.compare.wipe_view import MAX_PINS, Pin, pin_name
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread
from workbench.session.worker import REGION, Worker
from workbench.widgets.message_bar import MessageBar

DIFFERENCE, MISMATCH = "difference", "mismatch"  # names of modes and of their computations
MAX_RINGS = 200  # around single pixels; more pixels are seen without rings
URGENCY = 1  # quick work goes before long work and mere reading
COMPARING = "Mismatch\ncomparing every pixel…"
# Names of background work.
LOOK_AGAIN, BRING_BACK, BEFORE = "pins", "pins set aside", "the picture before"
SET_ASIDE = "What was pinned is of {}, and will be there again with that picture."
TOO_LARGE = "What was pinned of {} is too large to be kept, and was removed."
MAX_BYTES = 256 << 20  # of pins of pictures that are not in view
CELLS_URGENCY = 2  # numbers in cells are seen at once: they go first
DISPLAY_FIELDS = "levels", "tone", "result_levels", "negative_display"  # of pins as well


class Inspection(QObject):
    """The difference and the mismatch, computed off the GUI thread, and up to three pinned results.

    Pins are of the picture in view, shown between the newest result's levels.

    against  the result is compared with 0 the picture before, else the pin of that number
    """

    found = Signal(object)  # (pixel): the view went to the differing pixel (x, y)
    pins_changed = Signal()  # another pin, or another `against`

    def __init__(
        self,
        store: Store,
        live: Live,
        worker: Worker,
        compare: CompareView,
        steps: AnalysisThread,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._live, self._compare, self._steps = store, live, compare, steps
        self._messages, self._inform = messages, partial(messages.show_message, "info")
        self._worker = worker
        self._up_to: tuple[Job, tuple[DisplayMapping, str]] | None = None  # the step compared with
        self._file: tuple[Picture, DisplayMapping] | None = None  # the other file, and how shown
        self.pins: tuple[Pin, ...] = ()
        self.against = 0
        self._aside: list[Pins] = []  # of pictures that are not in view, the newest last
        self._coming: Picture | None = None  # the picture that is to come on screen
        self._of: tuple[Any, ...] = ()  # the inputs of the picture shown or being computed
        self._mismatch: Mismatch | None = None
        self._at = -1  # y · width + x of the differing pixel visited last
        self._step_wanted = 0  # 1: to the next that is found, -1: back, 0: stay
        self._is_stopped = False
        self._is_subtracting = False
        store.changed.connect(self._follow)
        live.after_ready.connect(lambda *_: self._ask_before())
        live.after_ready.connect(lambda *_: self.refresh())
        live.computed.connect(self._hurry)
        steps.dropped.connect(self._drop)
        options = compare.options
        options.previous.clicked.connect(lambda: self.go_to_differing(-1))
        options.next.clicked.connect(lambda: self.go_to_differing(1))
        options.cancel.clicked.connect(self.cancel)
        live.before_ready.connect(lambda picture, _: self._bring_back(picture))
        live.settled.connect(self._refine)
        live.timed_again.connect(self._refine)
        compare.cells_wanted.connect(self._write_cells)
        compare.unpin_wanted.connect(self.unpin)
        compare.read_out_row.pin.clicked.connect(self.pin)
        compare.options.against.activated.connect(self.set_against)

    # -- searching, and comparing

    def go_to_differing(self, step: int) -> None:
        """Go to the next (step 1) or previous (-1) pixel that differs from the reference."""
        self._step_wanted = step
        if self._store.state.view_mode != MISMATCH:
            self._store.update(view_mode=MISMATCH)  # which goes there once it is found
        elif self._is_stopped and (self._mismatch is None or not self._mismatch.count):
            self._of = ()
            self.refresh()  # which keeps _step_wanted
        self._go_on()

    def cancel(self) -> None:
        """Stop comparing with the reference; the pixels found so far stay."""
        self._steps.cancel(MISMATCH)
        self._step_wanted, self._is_stopped = 0, True
        self._compare.show_worked_out(*self._marked("stopped; N resumes"))
        self._tell_search()

    # -- following

    def refresh(self) -> None:
        """Compute the mode's picture, unless it is on screen or under way already."""
        state, shown = self._store.state, self._live.shown
        mode, picture = state.view_mode, state.picture
        result = self._live.newest if mode == DIFFERENCE else self._live.result
        for name in {DIFFERENCE, MISMATCH} - {mode}:
            self._drop(name)
        if (
            mode not in (DIFFERENCE, MISMATCH)
            or picture is None
            or shown is None
            or result is None
            or not intents.is_of(result.job, picture)
        ):
            self._forget()
        elif mode == MISMATCH:
            file = None if self._file is None else self._file[0].samples
            if self._is_new((mode, result.picture, file)):
                self._search(result, shown, file)
        elif not self._is_subtracting:  # else none would ever end while a slider is dragged
            other, (name, _) = self.other(picture)
            inputs = (mode, result.picture, other, name, state.difference, state.gain)
            if self._is_new(inputs):
                self._subtract(result.picture, other, name, picture, state)

    def _hurry(self) -> None:
        """Subtract at once: a difference need not wait until the result is shown."""
        if self._store.state.view_mode == DIFFERENCE:
            self.refresh()

    def _follow(self, old: State, new: State) -> None:
        before, now = (state.picture and state.picture.samples for state in (old, new))
        is_other = before is not now
        if is_other:
            self._forget()  # the new picture's result may never come
        if (old.view_mode, old.difference, old.gain) != (new.view_mode, new.difference, new.gain):
            self.refresh()
        if old.compared != new.compared and old.steps == new.steps:  # else it only moved
            self.set_against(0)
        if not intents.needs_run(old, new):
            self._ask_before()
        if is_other:
            self._show_before(None)
            self._set_aside(old.picture)
            self._coming = new.picture
        elif any(getattr(old, name) != getattr(new, name) for name in DISPLAY_FIELDS):
            self._look_again()

    def _is_new(self, inputs: tuple[Any, ...]) -> bool:
        last, self._of = self._of, inputs
        return len(inputs) != len(last) or not all(
            a is b or (isinstance(a, (str, float)) and a == b)
            for a, b in zip(inputs, last, strict=True)
        )

    def _forget(self) -> None:
        for name in (DIFFERENCE, MISMATCH):
            self._drop(name)
        self._step_wanted = 0
        if self._of:
            self._of, self._mismatch = (), None
            self._compare.show_worked_out(None, "", ())

    def _drop(self, name: str) -> None:
        self._steps.cancel(name)
        if name == DIFFERENCE:
            self._is_subtracting = False

    # -- the difference

    def _subtract(
        self, one: NDArray[Any], other: NDArray[Any], name: str, picture: Picture, state: State
    ) -> None:
        def end(display: Display | None, caption: str) -> None:
            self._compare.show_worked_out(display, caption, ())
            self._is_subtracting = False
            self.refresh()  # as there may be a newer result by now

        def show(found: Difference) -> None:
            end(found.display, f"{self._compare.after_name} − {name} · {found}")

        def fail(sentence: str) -> None:
            self._inform(sentence)
            end(None, "")

        is_signed, gain = state.difference == "signed", state.gain
        make = partial(subtracting, one, other, picture.white, is_signed=is_signed, gain=gain)
        self._is_subtracting = True
        self._steps.ask(DIFFERENCE, make, show, fail, URGENCY, hurries=True)

    # -- the step compared with

    def _ask_before(self) -> None:
        """Filter up to the step that the result is compared with, unless that is there."""
        state, job, look = self._store.state, None, DisplayMapping()
        if state.reference is not None:
            self._show_reference(state.reference)
            return
        if (number := state.compared) in range(len(state.steps)) and has_row(state):
            at = replace(state, **select(state.steps, number or 0))
            with suppress(KernelError):  # the window says why, once that step is selected
                job, look = intents.job_for(at, is_newest=False), intents.look_for(at)
        if job is None:
            self._show_before(None)
            return
        shown = look, f"After step {(number or 0) + 1} · {intents.work_in_words(job)}"
        if self._up_to is None or shown != self._up_to[1] or not job.same_run(self._up_to[0]):
            self._up_to = job, shown
            make = partial(_filtering, self._worker, job, *shown)
            self._worker.ask(BEFORE, make, self._show_before, self._fail_before, REGION)

    def _show_reference(self, picture: Picture) -> None:
        of, look = picture.samples, intents.look_before(self._store.state)
        if (picture, look) == self._file:
            return
        self._file = picture, look
        caption = f"A: {picture.title} · {of.shape[1]}×{of.shape[0]}"
        take, fail = self._show_before, self._fail_before
        self._steps.ask(BEFORE, lambda: iter((Shown(show(of, look), caption, of),)), take, fail)

    def _fail_before(self, sentence: str) -> None:
        self._show_before(None)
        self._inform(sentence)

    def _show_before(self, before: Shown | Progress | None) -> None:
        if before is None:
            self._up_to = self._file = None
            self._worker.cancel(BEFORE)
            self._steps.cancel(BEFORE)
        if not isinstance(before, Progress) and before is not self._compare.compared:
            self._compare.show_compared(before)
            self.refresh()
            self.pins_changed.emit()

    # -- the mismatch

    def _search(self, result: Result, shown: Display, other: NDArray[Any] | None) -> None:
        tolerances = [_tolerance(each) for each in result.steps]
        self._mismatch, self._at, self._is_stopped = None, -1, False
        self._compare.show_worked_out(shown, COMPARING, ())
        answer, tolerance = result.picture, tolerances or _tolerance(result)
        in_view = self._compare.in_view
        make = partial(searching, result.job, answer, shown, tolerance, in_view, other)

        def fail(sentence: str) -> None:
            self.cancel()
            self._inform(sentence)

        self._steps.ask(MISMATCH, make, self._show_mismatch, fail)
        self._tell_search()

    def _show_mismatch(self, found: Mismatch) -> None:
        self._mismatch = found
        self._compare.show_worked_out(*self._marked())
        self._tell_search()
        self._go_on()

    def _marked(self, note: str = "") -> tuple[Display | None, str, list[tuple[int, int]]]:
        found = self._mismatch
        if found is None:
            return self._live.shown, f"Mismatch\n{note}", []
        width = found.display.size[0]
        few = found.places if found.count <= MAX_RINGS else []
        rings = [(place % width, place // width) for place in few]
        above = " · ".join(filter(None, ("Mismatch", found.scope, note)))
        return found.display, f"{above}\n{found}", rings

    def _tell_search(self) -> None:
        found, is_stopped = self._mismatch, self._is_stopped
        is_over = is_stopped or (found is not None and found.is_over)
        is_under_way = not is_over and self._steps.is_under_way(MISMATCH)
        has_places = found is not None and found.count > 0
        self._compare.show_search(is_under_way, is_stopped or has_places)

    def _go_on(self) -> None:
        found, step = self._mismatch, self._step_wanted
        if found is None or not step:
            return
        place = found.next_after(self._at, step)
        if place is not None:
            self._at, self._step_wanted = place, 0
            y, x = divmod(place, found.display.size[0])
            self._compare.go_to(x, y)
            self.found.emit((x, y))
        elif found.is_over:
            self._step_wanted = 0
            self._inform("No pixel differs.")

    # -- pins

    def pin(self) -> None:
        """Keep the newest result beside those to come."""
        if (found := self._live.of_view) is None:
            self._inform("There is no result of this picture to pin yet.")
        elif len(self.pins) == MAX_PINS:
            self._inform(f"{MAX_PINS} results are pinned already; remove one first (Shift+K).")
        else:
            _, result, shown = found
            self._set_pins((*self.pins, _pinned(result, shown, self._live.look)), self.against)
            self._look_again()  # the levels may have just changed

    def unpin(self, index: int | None = None) -> None:
        """Forget a pinned result; None: the last."""
        if not self.pins:
            self._inform("No result is pinned.")
            return
        number = len(self.pins) if index is None else index + 1
        against = 0 if self.against == number else self.against - (self.against > number)
        self._set_pins((*self.pins[: number - 1], *self.pins[number:]), against)

    def set_against(self, index: int) -> None:
        """Compare with the original, 0, or with the pin of that number."""
        self._set_pins(self.pins, index)

    def step_against(self) -> None:
        """Compare with the next pin; after the last, with the original."""
        if not self.pins:
            self._inform("No result is pinned; the result is compared with the original.")
            return
        self.set_against((self.against + 1) % (len(self.pins) + 1))

    def forget(self) -> None:
        """Forget the pins of pictures that are not in view."""
        self._aside.clear()

    def other(self, picture: Picture) -> tuple[NDArray[Any], tuple[str, str]]:
        """The samples to compare the result with, their name, and that of the result."""
        after = "after" if self._store.state.reference is None else self._compare.after_name
        if self.against == 0:
            before = self._compare.compared
            if before is None or before.samples is None:
                return picture.samples, ("before", after)
            return before.samples, (self._compare.before_name, after)
        return self.pins[self.against - 1].samples, (pin_name(self.against).lower(), after)

    def _set_aside(self, picture: Picture | None) -> None:
        """Set the pins aside with the former `picture`."""
        self._steps.cancel(BRING_BACK)
        if picture is None or not self.pins:
            return
        pins = Pins(picture, self.pins, self.against)
        fits = pins.nbytes <= MAX_BYTES
        self._aside += [pins] * fits
        while sum(each.nbytes for each in self._aside) > MAX_BYTES:
            self._aside.pop(0)
        self._set_pins((), 0)
        self._inform((SET_ASIDE if fits else TOO_LARGE).format(picture.name))

    def _bring_back(self, picture: Picture) -> None:
        """Restore the pins of this picture, which may have been opened once more."""
        if picture is not self._coming:
            return
        self._coming = None

        def take(found: Pins) -> None:
            if self.pins:
                return  # others have been pinned meanwhile
            self._aside = [each for each in self._aside if each is not found]
            self._set_pins(found.pins, found.against)
            self._look_again()  # the levels may differ from those when they were pinned
            self._messages.dismiss(SET_ASIDE.format(picture.name))

        if self._aside and not self.pins:
            kept = self._aside[::-1]
            self._steps.ask(BRING_BACK, lambda: _of_same(picture, kept), take)

    def _refine(self, result: Result) -> None:
        def refined(pin: Pin) -> Pin:
            is_older = pin.result.job is result.job and pin.result is not result
            return _pinned(result, pin.display, pin.look) if is_older else pin

        pins = tuple(map(refined, self.pins))
        if pins != self.pins:
            self._set_pins(pins, self.against)
            self._look_again()  # work under way is for the former pins

    def _set_pins(self, pins: tuple[Pin, ...], against: int) -> None:
        self.pins, self.against = pins, against
        self._compare.show_pins(pins, against)
        self.refresh()
        self.pins_changed.emit()

    def _look_again(self) -> None:
        """Map the pins as the newest; else the eye compares levels, not results."""
        pins, state = self.pins, self._store.state
        looks = [intents.look_at(pin.result.job, state) for pin in pins]
        if looks == [pin.look for pin in pins]:
            self._steps.cancel(LOOK_AGAIN)
            return

        def make() -> Iterator[tuple[Display, ...] | None]:
            displays = []
            for pin, look in zip(pins, looks, strict=True):
                displays.append(pin.display if look == pin.look else show(pin.samples, look))
                yield None
            yield tuple(displays)

        def take(displays: tuple[Display, ...]) -> None:
            if self.pins is pins:  # else newer pins have asked again
                results = [pin.result for pin in pins]
                self._set_pins(tuple(map(_pinned, results, displays, looks)), self.against)

        self._steps.ask(LOOK_AGAIN, make, take, self._inform, CELLS_URGENCY)

    # -- values in cells

    def _write_cells(self, request: CellRequest, deliver: partial[None]) -> None:
        name = f"cells {id(deliver.func.__self__)}"  # type: ignore[attr-defined]
        self._steps.ask(name, lambda: iter((written(request),)), deliver, urgency=CELLS_URGENCY)


def _filtering(worker: Worker, job: Job, look: DisplayMapping, caption: str) -> Iterator[object]:
    """Filter, without a time; the last step is what is shown."""
    for step in worker.engine.filtering(job, ONCE):
        found = step.picture if isinstance(step, Result) else None
        yield step if found is None else Shown(show(found, look), caption, found)


def _tolerance(result: Result) -> Tolerance:
    implementation = intents.implementation_of(result.job, result.picked)
    assert not isinstance(implementation, Auto | BrokenRung)  # only what can run has results
    return implementation.tolerance(result.job)


def _pinned(result: Result, display: Display, look: DisplayMapping) -> Pin:
    title = intents.job_caption(result.job, result.picked)
    if result.block_xy and not result.steps:
        title = "{} {}×{}".format(title, *result.block_xy)
    below = filter(None, (_time(result), intents.look_in_words(result.job, look)))
    return Pin(result, display, look, f"{title}\n{' · '.join(below)}")


def _time(result: Result) -> str:
    """Write the time, but only beside a passed check; else the check's verdict."""
    if result.check is None:
        return "not verified yet"
    if not result.check.ok:
        return "✗ wrong" if result.check.wrong else "✗ not verified"
    if result.kernel is None:
        verdict = "✓ verified" if result.check.is_verified else "right, not verified"
        return f"{verdict}, {no_time_in_words(result)}"
    single = f", {single_in_words(result)}" if result.kernel.is_single else ""
    return f"{numbers.duration(result.kernel.median_ms)}{star(result.disturbances)}{single}"


class Pins(NamedTuple):
    """The pins of `picture`, at least one, and the number of that compared with, or 0."""

    picture: Picture
    pins: tuple[Pin, ...]
    against: int

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that are kept with them, each counted once."""
        arrays = [self.picture.samples, self.picture.as_in_file]
        for pin in self.pins:
            arrays += [pin.samples, pin.result.job.picture, *pin.display.pixels]
            arrays += [each.picture for each in pin.result.steps]
        return sum({id(each): each.nbytes for each in arrays}.values())


def _of_same(picture: Picture, kept: Sequence[Pins]) -> Iterator[Pins | None]:
    """Yield None on the way, and at last the first of `kept` that is of the same samples."""
    wanted = picture.samples
    for pins in kept:
        there = pins.picture.samples
        is_like = there.shape == wanted.shape and there.dtype == wanted.dtype
        if is_like and np.array_equal(_as_bytes(wanted), _as_bytes(there)):
            yield pins
            return
        yield None


def _as_bytes(samples: NDArray[Any]) -> NDArray[np.uint8]:  # as NaN is not equal to itself
    return samples.reshape(-1).view(np.uint8)
