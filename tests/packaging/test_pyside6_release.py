"""The PySide6 at hand survives what releases 6.10.1 and 6.12.0 (before Python 3.12) did not.

Those abort the whole process, after some 570 signals, so the trial runs in one of its own.
"""

import os
import subprocess
import sys

import pytest

TRIAL = """
import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

class Sender(QObject):
    said = Signal(bool, int, object)

class Painted(QWidget):
    paints = 0

    def paintEvent(self, event):
        self.paints += 1

application = QApplication([])
heard = []
sender = Sender()
sender.said.connect(lambda *arguments: heard.append(arguments))
for number in range(5000):
    sender.said.emit(number % 2 == 0, number, {"number": number})
assert len(heard) == 5000, len(heard)

widget = Painted()
widget.show()
application.processEvents()
before = widget.paints
for _ in range(500):
    widget.repaint()
assert widget.paints - before == 500, widget.paints
print("survived")
"""


@pytest.mark.nightly
def test_5000_signals_and_500_repaints():
    trial = subprocess.run(
        [sys.executable, "-c", TRIAL],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert trial.returncode == 0, trial.stderr
    assert trial.stdout.strip() == "survived"
