"""One kind of act: a choice, written down, and the doing of what was written down."""

from PySide6.QtWidgets import QApplication

from tests.soak import finding


class Act:
    """weight  how often it is chosen
    choose  (rng, stage) -> its words, fit for JSON, with a None where there is nothing to do it to;
            or None
    do      (stage, *words): the words alone repeat it; where it takes a while, a generator of
            milliseconds to wait
    """

    def __init__(self, weight, choose, do):
        self.weight, self.choose, self.do = weight, choose, do


def one_of(rng, found):
    """Any of them; None: there are none."""
    return rng.choice(sorted(found)) if found else None


def trigger(stage, name):
    """Choose a line of a menu, where no dialog is in the way."""
    action = finding.actions(stage.window).get(name)
    if action is not None and QApplication.activeModalWidget() is None:
        action.trigger()
