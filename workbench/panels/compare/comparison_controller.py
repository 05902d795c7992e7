"""The pictures of the modes "difference" and "mismatch": computed, updated and searched."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from kernels.core.job import Result
from kernels.engine.auto import Auto
from kernels.rungs.rung import BrokenRung
from workbench.imaging.differences import Difference, subtracting
from workbench.imaging.display import Display
from workbench.imaging.mismatch import Mismatch, searching
from workbench.model import intents
from workbench.model.state import Picture, State
from workbench.panels.compare.compare_view import CompareView
from workbench.session.analysis_thread import AnalysisThread
from workbench.session.live import Live
from workbench.session.store import Store

DIFFERENCE, MISMATCH = "difference", "mismatch"  # names of modes and of their computations
MAX_RINGS = 200  # around single pixels; more pixels are seen without rings
URGENCY = 1  # quick work goes before long work and mere reading
COMPARING = "Mismatch\nverifying against the float64 reference…"
STOPPED = "stopped; N resumes"

Other = Callable[[Picture], tuple[NDArray[Any], str]]


class ComparisonController(QObject):
    """The computing of what a mode shows, while it is shown, off the GUI thread.

    Signals:
        message(sentence): why nothing happened.
        found(pixel): the differing pixel (x, y) that was gone to.
    """

    message = Signal(str)
    found = Signal(object)

    def __init__(
        self,
        store: Store,
        live: Live,
        compare: CompareView,
        steps: AnalysisThread,
        other: Other,
        parent: QObject | None = None,
    ) -> None:
        """Connect the store and the results.

        other  returns what the result is compared with, and what that is called
        """
        super().__init__(parent)
        self._store, self._live, self._compare, self._steps = store, live, compare, steps
        self._other = other
        self._of: tuple[Any, ...] = ()  # what the view shows or computes
        self._mismatch: Mismatch | None = None
        self._at = -1  # y · width + x of the differing pixel visited last
        self._step_wanted = 0  # 1: to the next that is found, -1: back, 0: stay
        self._is_stopped = False
        self._is_subtracting = False
        store.changed.connect(self._follow)
        live.after_ready.connect(lambda *_: self.refresh())
        live.computed.connect(self._hurry)
        steps.dropped.connect(self._drop)
        compare.options.next_wanted.connect(self.go_to_differing)
        compare.options.cancel_wanted.connect(self.cancel)

    # -- what the user may want

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
        """Stop comparing with the reference; what was found stays."""
        self._steps.cancel(MISMATCH)
        self._step_wanted, self._is_stopped = 0, True
        self._compare.show_worked_out(*self._marked(STOPPED))
        self._tell_search()

    # -- following

    def refresh(self) -> None:
        """Compute what the mode shows, unless that is on screen or under way already."""
        state, result, shown = self._store.state, self._live.result, self._live.shown
        mode, picture = state.view_mode, state.picture
        if mode == DIFFERENCE:
            result = self._live.newest
        for name in {DIFFERENCE, MISMATCH} - {mode}:
            self._drop(name)
        if mode not in (DIFFERENCE, MISMATCH) or (
            picture is None
            or result is None
            or shown is None
            or not intents.is_of(result.job, picture)
        ):
            self._forget()
        elif mode == DIFFERENCE and self._is_subtracting:
            pass  # let it end first, or none ever would while a slider is dragged
        elif mode == DIFFERENCE:
            other, name = self._other(picture)
            self._anew(
                (mode, result.picture, other, name, state.difference, state.gain),
                lambda: self._subtract(result.picture, other, name, picture, state),
            )
        else:
            self._anew((mode, result.picture), lambda: self._search(result, shown))

    def _hurry(self) -> None:
        """Subtract at once: a difference need not wait until the result can be shown."""
        if self._store.state.view_mode == DIFFERENCE:
            self.refresh()

    def _follow(self, old: State, new: State) -> None:
        samples = [state.picture and state.picture.samples for state in (old, new)]
        if samples[0] is not samples[1]:
            self._forget()  # the new picture's result may never come
        if (old.view_mode, old.difference, old.gain) != (new.view_mode, new.difference, new.gain):
            self.refresh()

    def _anew(self, what: tuple[Any, ...], ask: Callable[[], None]) -> None:
        is_same = len(what) == len(self._of) and all(
            a is b or (isinstance(a, (str, float)) and a == b)
            for a, b in zip(what, self._of, strict=True)
        )
        if not is_same:
            self._of = what
            ask()

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
        def show(found: Difference) -> None:
            self._compare.show_worked_out(found.display, f"After − {name} · {found}", ())
            self._go_on_subtracting()

        def fail(sentence: str) -> None:
            self._compare.show_worked_out(None, "", ())
            self.message.emit(sentence)
            self._go_on_subtracting()

        make = partial(
            subtracting,
            one,
            other,
            picture.white,
            is_signed=state.difference == "signed",
            gain=state.gain,
        )
        self._is_subtracting = True
        self._steps.ask(DIFFERENCE, make, show, fail, URGENCY, hurries=True)

    def _go_on_subtracting(self) -> None:
        """Subtract again, as there may be a newer result by now."""
        self._is_subtracting = False
        self.refresh()

    # -- the mismatch

    def _search(self, result: Result, shown: Display) -> None:
        implementation = intents.implementation_of(result.job, result.picked)
        assert not isinstance(implementation, Auto | BrokenRung)  # only what can run has results
        tolerance = implementation.tolerance(result.job)
        self._mismatch, self._at, self._is_stopped = None, -1, False
        self._compare.show_worked_out(shown, COMPARING, ())
        make = partial(
            searching, result.job, result.picture, shown, tolerance, self._compare.in_view
        )

        def fail(sentence: str) -> None:
            self.cancel()
            self.message.emit(sentence)

        self._steps.ask(MISMATCH, make, self._show_mismatch, fail)
        self._tell_search()

    def _show_mismatch(self, found: Mismatch) -> None:
        self._mismatch = found
        self._compare.show_worked_out(*self._marked())
        self._tell_search()
        self._go_on()

    def _marked(self, note: str = "") -> tuple[Display | None, str, list[tuple[int, int]]]:
        """Return what is found so far: its display, caption and rings."""
        found = self._mismatch
        if found is None:
            return self._live.shown, f"Mismatch\n{note}", []
        width = found.display.size[0]
        few = found.places if found.count <= MAX_RINGS else []
        rings = [(place % width, place // width) for place in few]
        above = " · ".join(filter(None, ("Mismatch", found.scope, note)))
        return found.display, f"{above}\n{found}", rings

    def _tell_search(self) -> None:
        found = self._mismatch
        is_over = self._is_stopped or (found is not None and found.is_over)
        can_go = self._is_stopped or (found is not None and found.count > 0)
        is_under_way = not is_over and self._steps.is_under_way(MISMATCH)
        self._compare.show_search(is_under_way, can_go)

    def _go_on(self) -> None:
        """Go where the user wants to, if that is known by now."""
        found, step = self._mismatch, self._step_wanted
        if found is None or not step:
            return
        place = found.next_after(self._at, step)
        if place is not None:
            self._at, self._step_wanted = place, 0
            width = found.display.size[0]
            x, y = place % width, place // width
            self._compare.go_to(x, y)
            self.found.emit((x, y))
        elif found.is_over:
            self._step_wanted = 0
            self.message.emit("No pixel differs from the float64 reference.")
