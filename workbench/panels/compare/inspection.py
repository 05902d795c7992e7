"""The results kept beside the newest, what it is compared with, and their captions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from kernels.core.job import Result
from workbench.base import numbers
from workbench.base.disturbed_words import star
from workbench.imaging.cell_values import CellRequest, written
from workbench.imaging.display import Display
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.showing import show
from workbench.model import intents
from workbench.model.speed_up import no_time_in_words, single_in_words
from workbench.model.state import Picture, State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.comparison_controller import ComparisonController
from workbench.panels.compare.pin_cache import Pins, SetAside, of_same
from workbench.panels.compare.pins import MAX_PINS, Pin, pin_name
from workbench.session.analysis_thread import AnalysisThread
from workbench.session.live import Live
from workbench.session.store import Store

LOOK_AGAIN, BRING_BACK = "pins", "pins set aside"  # names of background work
SET_ASIDE = "What was pinned is of {}, and will be there again with that picture."
GONE = "What was pinned of {} is gone: pictures of that size are not kept."
CELLS_URGENCY = 2  # what is seen at once goes before what is read


class Inspection(QObject):
    """The keeper of up to three results of the picture in view, on the GUI thread.

    Attributes:
        pins: the pinned results, all shown between the same levels as the newest.
        against: what the result is compared with: 0 the original, else the pin of that number.
        worked_out: what the modes "difference" and "mismatch" show.

    Signals:
        pins_changed(): another pin, or another `against`.
        message(sentence): why nothing happened, or what was set aside.
        message_withdrawn(sentence): that is there again.
    """

    pins_changed = Signal()
    message = Signal(str)
    message_withdrawn = Signal(str)

    def __init__(
        self,
        store: Store,
        live: Live,
        compare: CompareView,
        steps: AnalysisThread,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.pins: tuple[Pin, ...] = ()
        self.against = 0
        self._aside = SetAside()
        self._coming: Picture | None = None  # the picture that is to come on screen
        self._store, self._live, self._compare, self._steps = store, live, compare, steps
        self.worked_out = ComparisonController(store, live, compare, steps, self.other, self)
        self.worked_out.message.connect(self.message)
        self.pins_changed.connect(self.worked_out.refresh)
        store.changed.connect(self._follow)
        live.before_ready.connect(lambda picture, _: self._bring_back(picture))
        live.settled.connect(self._refine)
        live.timed_again.connect(self._refine)
        compare.cells_wanted.connect(self._write_cells)
        compare.unpin_wanted.connect(self.unpin)
        compare.pin_wanted.connect(self.pin)
        compare.options.against_wanted.connect(self.set_against)

    # -- what the user may want

    def pin(self) -> None:
        """Keep the newest result beside those to come."""
        if (found := self._live.of_view) is None:
            self.message.emit("There is no result of this picture to pin yet.")
        elif len(self.pins) == MAX_PINS:
            self.message.emit(f"{MAX_PINS} results are pinned already; remove one first (Shift+K).")
        else:
            _, result, shown = found
            pin = _pinned(result, shown, self._live.look)
            self._set_pins((*self.pins, pin), self.against)
            self._look_again()  # the levels may have just changed

    def unpin(self, index: int | None = None) -> None:
        """Forget a pinned result; None: the last."""
        if not self.pins:
            self.message.emit("No result is pinned.")
            return
        index = len(self.pins) - 1 if index is None else index
        kept = (*self.pins[:index], *self.pins[index + 1 :])
        number = index + 1
        against = 0 if self.against == number else self.against - (self.against > number)
        self._set_pins(kept, against)

    def set_against(self, index: int) -> None:
        """Compare with the original, 0, or with the pin of that number."""
        self._set_pins(self.pins, index)

    def step_against(self) -> None:
        """Compare with the next pin; after the last, with the original."""
        if not self.pins:
            self.message.emit("No result is pinned; the result is compared with the original.")
            return
        self.set_against((self.against + 1) % (len(self.pins) + 1))

    def forget(self) -> None:
        """Forget what was pinned of pictures that are not in view."""
        self._aside.forget()

    # -- what others may ask

    def other(self, picture: Picture) -> tuple[NDArray[Any], str]:
        """Return the samples that the result is compared with, and their name."""
        if self.against == 0:
            return picture.samples, "before"
        return self.pins[self.against - 1].samples, pin_name(self.against).lower()

    # -- following

    def _follow(self, old: State, new: State) -> None:
        samples = [state.picture and state.picture.samples for state in (old, new)]
        if samples[0] is not samples[1]:
            self._set_aside(old.picture)
            self._coming = new.picture
        elif _display_of(old) != _display_of(new):
            self._look_again()

    def _set_aside(self, picture: Picture | None) -> None:
        """Set the pins aside with `picture`, which is no longer in view."""
        self._steps.cancel(BRING_BACK)
        if picture is None or not self.pins:
            return
        is_kept = self._aside.put(Pins(picture, self.pins, self.against))
        self._set_pins((), 0)
        self.message.emit((SET_ASIDE if is_kept else GONE).format(picture.name))

    def _bring_back(self, picture: Picture) -> None:
        """Restore the pins of this picture, which may have been opened once more since."""
        if picture is not self._coming:
            return
        self._coming = None
        likely = self._aside.like(picture)

        def take(found: Pins) -> None:
            if self.pins:
                return  # others have been pinned meanwhile
            self._aside.take(found)
            self._set_pins(found.pins, found.against)
            self._look_again()  # the levels may differ from those when they were pinned
            self.message_withdrawn.emit(SET_ASIDE.format(picture.name))

        if likely and not self.pins:
            self._steps.ask(BRING_BACK, lambda: of_same(picture, likely), take)

    def _refine(self, result: Result) -> None:
        """Update the pins of a job with its final result: its time, and whether it is right."""

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
        self.pins_changed.emit()

    def _look_again(self) -> None:
        """Show the pins as the newest is shown; else the eye compares levels, not results."""
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

        self._steps.ask(LOOK_AGAIN, make, take, self.message.emit, CELLS_URGENCY)

    # -- values in cells

    def _write_cells(self, request: CellRequest, deliver: Callable[[Any], None]) -> None:
        name = f"cells {id(deliver.__self__)}"  # type: ignore[attr-defined]
        self._steps.ask(name, lambda: iter((written(request),)), deliver, urgency=CELLS_URGENCY)


def _display_of(state: State) -> tuple[object, ...]:
    """Return the choices that pins are shown by."""
    return state.levels, state.result_levels, state.negative_display


def _pinned(result: Result, display: Display, look: DisplayMapping) -> Pin:
    title = intents.job_caption(result.job, result.picked)
    if result.block_xy:
        title = "{} {}×{}".format(title, *result.block_xy)
    below = filter(None, (_time(result), intents.look_in_words(result.job, look)))
    return Pin(result, display, look, f"{title}\n{' · '.join(below)}")


def _time(result: Result) -> str:
    """Return a time as text, but only beside a passed check; else what the check says."""
    if result.check is None:
        return "not verified yet"
    if not result.check.ok:
        return "✗ wrong" if result.check.wrong else "✗ not verified"
    if result.kernel is None:
        verdict = "✓ verified" if result.check.is_verified else "right, not verified"
        return f"{verdict}, {no_time_in_words(result)}"
    single = f", {single_in_words(result)}" if result.kernel.is_single else ""
    return f"{numbers.duration(result.kernel.median_ms)}{star(result.disturbances)}{single}"
