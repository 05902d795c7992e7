"""Looking closely: what the modes "difference" and "mismatch" show, pins, and values in cells.

Stands between what is shown and the thread that works it out; lives on the GUI thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from kernels.auto import Auto
from kernels.job import Result
from workbench import intents, numbers
from workbench.display import Display
from workbench.live import Live
from workbench.looking.cells import CellWish, written
from workbench.looking.differences import Difference, subtracting
from workbench.looking.mismatch import Mismatch, searching
from workbench.looking.steps import Steps
from workbench.state import Picture, State, Store
from workbench.views.compare_view import CompareView
from workbench.views.pins import MOST, Pin

DIFFERENCE, MISMATCH = "difference", "mismatch"  # the names of modes, and of what is under way
MOST_RINGS = 200  # around single pixels; more are seen without
CELLS_URGENCY, SEEN_URGENCY = 2, 1  # before what is only read


class Inspection(QObject):
    """Works out what a mode shows, while it is shown.

    Attributes:
        pins: the pinned results of the picture in view.
        against: what differences are to: 0 the original, else the pinned result of that number.

    Signals:
        pins_changed(): another pin, or another `against`.
        said(sentence): why nothing happened.
    """

    pins_changed = Signal()
    said = Signal(str)

    def __init__(
        self,
        store: Store,
        live: Live,
        compare: CompareView,
        steps: Steps,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.pins: tuple[Pin, ...] = ()
        self.against = 0
        self._store, self._live, self._compare, self._steps = store, live, compare, steps
        self._mismatch: Mismatch | None = None
        self._shown: tuple[Any, ...] = ()  # what the difference or mismatch on screen is of
        self._at = -1  # y · width + x of the differing pixel gone to last
        self._step_wanted = 0  # to the next that is found, or back
        store.changed.connect(self._follow)
        live.after_ready.connect(lambda *_: self._refresh())
        live.settled.connect(lambda _: self._refresh())
        compare.cells_wanted.connect(self._write_cells)
        compare.unpin_wanted.connect(self.unpin)
        compare.bar.pin_wanted.connect(self.pin)
        options = compare.options
        options.against_wanted.connect(self.set_against)
        options.next_wanted.connect(self.go_to_differing)
        options.cancel_wanted.connect(self.cancel)

    # -- what the user may want

    def pin(self) -> None:
        """Keep the newest result beside those to come."""
        result, shown = self._live.result, self._live.shown
        picture = self._store.state.picture
        if result is None or shown is None or picture is None:
            self.said.emit("There is no result to pin yet.")
        elif not intents.is_of(result.job, picture):
            self.said.emit("The result in view is of another picture; wait for the new one.")
        elif len(self.pins) == MOST:
            self.said.emit(f"{MOST} results are pinned already; remove one first (Shift+K).")
        else:
            caption = f"Pinned {len(self.pins) + 1} · {self.caption_of(result, with_time=True)}"
            self._set_pins((*self.pins, Pin(result.picture, shown, caption)), self.against)

    def unpin(self, index: int | None = None) -> None:
        """Forget a pinned result; None: the last."""
        if not self.pins:
            self.said.emit("No result is pinned.")
            return
        index = len(self.pins) - 1 if index is None else index
        kept = (*self.pins[:index], *self.pins[index + 1 :])
        renamed = tuple(
            Pin(pin.samples, pin.display, f"Pinned {number} · {pin.caption.split(' · ', 1)[1]}")
            for number, pin in enumerate(kept, 1)
        )
        self._set_pins(renamed, 0 if self.against == index + 1 else min(self.against, len(kept)))

    def set_against(self, index: int) -> None:
        self._set_pins(self.pins, index)

    def go_to_differing(self, step: int) -> None:
        """Go to the next pixel (step 1) that is not what the oracle says, or the previous (-1)."""
        self._step_wanted = step
        if self._store.state.view_mode != MISMATCH:
            self._store.update(view_mode=MISMATCH)  # and go there when it is found
        self._go_on()

    def cancel(self) -> None:
        """Stop comparing with the oracle."""
        self._steps.cancel(MISMATCH)
        self._step_wanted = 0
        self._tell_search()

    def caption_of(self, result: Result, *, with_time: bool = False) -> str:
        """What was done and, on a second line, how it is shown: "clipped: below 0 is black"."""
        title, below = intents.caption(result.job, result.picked), []
        if with_time:
            if result.block_xy:
                title = "{} {}×{}".format(title, *result.block_xy)
            below.append(numbers.duration(result.kernel.median_ms))
        if (picture := self._store.state.picture) is not None:
            below.append(intents.look_in_words(result.job, self._live.look, picture))
        return "\n".join(filter(None, (title, " · ".join(filter(None, below)))))

    def other(self, picture: Picture) -> tuple[NDArray[Any], str]:
        """What the result is compared with, and what that is called."""
        if self.against == 0:
            return picture.samples, "before"
        return self.pins[self.against - 1].samples, f"pinned {self.against}"

    # -- following

    def _follow(self, old: State, new: State) -> None:
        samples = [state.picture and state.picture.samples for state in (old, new)]
        if samples[0] is not samples[1] and self.pins:
            self._set_pins((), 0)
        if (old.view_mode, old.difference, old.gain) != (new.view_mode, new.difference, new.gain):
            self._refresh()
            self._show_pins()

    def _set_pins(self, pins: tuple[Pin, ...], against: int) -> None:
        self.pins, self.against = pins, against
        self._compare.show_pins(pins)
        self._show_pins()
        self._refresh()
        self.pins_changed.emit()

    def _show_pins(self) -> None:
        names = [f"pinned {number}" for number in range(1, len(self.pins) + 1)]
        is_shown = self._store.state.view_mode == DIFFERENCE
        self._compare.options.show_pins(names, self.against, is_shown)

    def _refresh(self) -> None:
        """Work out what the mode shows, unless that is on screen, or under way, already."""
        state, result, shown = self._store.state, self._live.result, self._live.shown
        mode = state.view_mode
        for name in {DIFFERENCE, MISMATCH} - {mode}:
            self._steps.cancel(name)
        if mode not in (DIFFERENCE, MISMATCH):
            self._forget()
            return
        picture = state.picture
        if (
            picture is None
            or result is None
            or shown is None
            or not intents.is_of(result.job, picture)
        ):
            self._forget()
            return
        if mode == DIFFERENCE:
            other, name = self.other(picture)
            self._anew(
                (mode, result.picture, other, state.difference, state.gain),
                lambda: self._subtract(result.picture, other, name, picture, state),
            )
        else:
            self._anew((mode, result.picture), lambda: self._search(result, shown))

    def _anew(self, what: tuple[Any, ...], ask: Callable[[], None]) -> None:
        is_same = len(what) == len(self._shown) and all(
            a is b or (isinstance(a, (str, float)) and a == b)
            for a, b in zip(what, self._shown, strict=True)
        )
        if not is_same:
            self._shown = what
            ask()

    def _forget(self) -> None:
        if self._shown:
            self._shown, self._mismatch, self._step_wanted = (), None, 0
            self._compare.show_worked_out(None, "", ())

    # -- the difference

    def _subtract(
        self, one: NDArray[Any], other: NDArray[Any], name: str, picture: Picture, state: State
    ) -> None:
        def show(found: Difference) -> None:
            kind = "orange above, blue below" if found.is_signed else "absolute"
            largest = numbers.three_digits(found.largest)
            gain = numbers.three_digits(found.gain)
            words = f"After − {name} · ×{gain}\n{kind} · largest {largest}"
            self._compare.show_worked_out(found.display, words, ())

        make = partial(
            subtracting,
            one,
            other,
            picture.white,
            is_signed=state.difference == "signed",
            gain=state.gain,
        )
        self._steps.ask(DIFFERENCE, make, show, self.said.emit, SEEN_URGENCY)

    # -- the mismatch

    def _search(self, result: Result, shown: Display) -> None:
        implementation = intents.implementation(result.implementation)
        assert not isinstance(implementation, Auto)  # a result is of what it picked
        chain, factor = implementation.chain(result.job), implementation.error_factor
        self._mismatch, self._at = None, -1
        self._compare.show_worked_out(shown, "Mismatch\ncomparing with the float64 oracle…", ())
        make = partial(
            searching, result.job, result.picture, shown, chain, factor, self._compare.in_view
        )
        self._steps.ask(MISMATCH, make, self._show_mismatch, self.said.emit, SEEN_URGENCY)
        self._tell_search()

    def _show_mismatch(self, found: Mismatch) -> None:
        self._mismatch = found
        width = found.display.size[0]
        few = found.places.tolist() if found.places.size <= MOST_RINGS else []
        rings = [(place % width, place // width) for place in few]
        self._compare.show_worked_out(found.display, f"Mismatch\n{found}", rings)
        self._tell_search()
        self._go_on()

    def _tell_search(self) -> None:
        found = self._mismatch
        is_over = found is not None and found.is_over
        is_under_way = not is_over and self._steps.is_under_way(MISMATCH)
        has_places = found is not None and found.places.size > 0
        self._compare.options.show_search(is_under_way, has_places)

    def _go_on(self) -> None:
        """Go where the user wants to, if that is known by now."""
        found, step = self._mismatch, self._step_wanted
        if found is None or not step:
            return
        place = found.next_after(self._at, step)
        if place is not None:
            self._at, self._step_wanted = place, 0
            width = found.display.size[0]
            self._compare.go_to(place % width, place // width)
        elif found.is_over:
            self._step_wanted = 0
            self.said.emit("No pixel differs from what the float64 oracle says.")

    # -- values in cells

    def _write_cells(self, wish: CellWish, deliver: Callable[[Any], None]) -> None:
        name = f"cells {id(deliver.__self__)}"  # type: ignore[attr-defined]
        self._steps.ask(name, lambda: iter((written(wish),)), deliver, urgency=CELLS_URGENCY)
