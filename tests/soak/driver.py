"""Does random acts in a window for a while, and looks now and then whether it is as it was."""

import faulthandler
import json
import traceback
from random import Random
from time import monotonic

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.soak.acts import ACTS
from tests.soak.judging import grown, most_grown
from tests.soak.measures import held
from tests.soak.rest import is_right, known_picture, rest
from tests.soak.tour import tour

HANGS_S = 120  # an act after which the window answers no more ends the process, with all stacks
STUCK_MS = 1500  # an act that waits inside a loop of its own, as a drag of text does
WARM_UP = 0.3  # of all that is done: what is made once is made by then
MAX_COMPLAINTS = 10  # then it stops
RESTS = 4  # so often the window is brought back to one state and measured, or each MAX_SECONDS
MAX_SECONDS = 120


class Driver(QObject):
    """Runs a script, a generator of milliseconds to wait, inside Qt's own loop.

    seconds  how long to go on; it decides that and nothing else
    acts     how many acts to do, however long they take; 0: those of `seconds`
    log      an open text file: a line a act, as JSON
    replay   acts to do instead of random ones: (name, words) each
    """

    def __init__(self, stage, seed, seconds, log, replay=None, acts=0):
        super().__init__()
        self.done = 0
        self.measured = []  # (share of all that is to be done, Held)
        self.complaints = []  # what went wrong, each kind once, with the acts before it
        self._kinds = set()
        self._stage, self._seed, self._seconds, self._log = stage, seed, seconds, log
        self._replay, self._acts = replay, acts
        self._known = known_picture(stage.home)
        self._recent = []
        self._rescue = QTimer(self, interval=STUCK_MS)
        self._rescue.timeout.connect(_let_go)

    def run(self):
        """Until the time is over, or too much went wrong."""
        self._script = self._all()
        QTimer.singleShot(0, self._advance)
        self._stage.app.exec()
        faulthandler.cancel_dump_traceback_later()

    def _advance(self):
        faulthandler.dump_traceback_later(HANGS_S, exit=True)
        self._rescue.start()
        try:
            wait_ms = next(self._script, None)
        except Exception:  # noqa: BLE001 - the script's own mistake, told like any other
            self._complain(traceback.format_exc())
            wait_ms = None
        self._rescue.stop()
        if faults := self._stage.take_faults():
            self._complain("\n".join(faults))
        if not self._stage.window.isVisible():
            self._complain("The window closed.")
            wait_ms = None
        if wait_ms is None or len(self.complaints) >= MAX_COMPLAINTS:
            self._stage.app.quit()
        else:
            QTimer.singleShot(wait_ms, self._advance)

    def _all(self):
        yield from tour(self._stage)
        self._begun = monotonic()
        yield from self._measure(0.0)
        most = 1.0 if self._acts else MAX_SECONDS / self._seconds
        next_rest = min(WARM_UP, most)
        while (done := self._share()) < 1 and not self._is_over():
            if done >= next_rest:
                yield from self._measure(done)
                next_rest += min((1 - WARM_UP) / RESTS, most)
            yield from self._act()
        yield from tour(self._stage)  # what is left over by one thing only, too
        yield from self._measure(1.0)

    def _share(self):
        """How much is done of what is to be done, 0 to 1, or more."""
        if self._acts:
            return self.done / self._acts
        return (monotonic() - self._begun) / self._seconds

    def _is_over(self):
        return self._replay is not None and self.done >= len(self._replay)

    def _act(self):
        number = self.done
        self.done += 1
        rng = Random(f"{self._seed} {number}")
        if self._replay is not None:
            name, words = self._replay[number]
        else:
            name = rng.choices(list(ACTS), [each.weight for each in ACTS.values()])[0]
            words = ACTS[name].choose(rng, self._stage)
        if words is None or None in words:
            return
        self._write({"act": number, "name": name, "words": words})
        self._stage.dialogs.answer_by(f"{self._seed} {number}")
        yield from ACTS[name].do(self._stage, *words) or ()
        yield rng.choice((0, 0, 5, 20, 60, 200))

    def _measure(self, share):
        result = yield from rest(self._stage, self._known)
        if not is_right(result):
            self._complain(f"The known picture came out wrong: {result.check}.")
        found = held()
        self.measured.append((share, found))
        self._write(
            {
                "rest_s": round(monotonic() - self._begun),
                "acts": self.done,
                "rss_mib": round(found.rss_mib, 1),
                "totals": {
                    name: sum(getattr(found, name).values())
                    for name in ("files", "threads", "windows", "qt_objects", "objects")
                },
            }
        )

    def figures(self):
        """What was measured, as JSON takes it."""
        rests = [held for _, held in self.measured]
        kinds = ("files", "threads", "windows", "qt_objects", "objects")
        return {
            "rss_mib": [round(each.rss_mib, 1) for each in rests],
            **{kind: [sum(getattr(each, kind).values()) for each in rests] for kind in kinds},
            "more": most_grown(*self._ends()) if self._ends() else {},
        }

    def grown(self):
        """What there is more of at the end than after the warm-up, if it went on for as long."""
        return grown(*self._ends()) if self._ends() else []

    def _ends(self):
        """What there was after the warm-up and at the end."""
        warm = [held for share, held in self.measured if share >= WARM_UP]
        return warm[:1] + warm[-1:]

    def _complain(self, what):
        kind = what.strip().rpartition("\n")[2]
        if kind in self._kinds:
            return
        self._kinds.add(kind)
        last = "\n".join(self._recent[-15:])
        told = f"{what}\nseed {self._seed}, after {self.done} acts; the last ones:\n{last}"
        self.complaints.append(told)
        self._write({"complaint": what})

    def _write(self, line):
        text = json.dumps(line)
        self._recent.append(text)
        del self._recent[:-40]
        print(text, file=self._log, flush=True)


def _let_go():
    """Whatever holds an act up, a drag or a menu with a loop of its own: Esc ends it."""
    if (window := QGuiApplication.focusWindow()) is not None:
        QTest.keyClick(window, Qt.Key.Key_Escape)
    if (window := QGuiApplication.focusWindow()) is not None:
        QTest.mouseRelease(window, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))
