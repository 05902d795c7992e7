"""pyqtgraph comes in a thread of its own, and asks there for nothing that Qt has yet to make."""

import subprocess
import sys

# PySide keeps a type in its module as soon as it is made.
PROGRAM = """
import sys
from threading import current_thread, main_thread
from time import monotonic

from PySide6 import QtCore, QtGui, QtWidgets
from workbench.charts.canvas import plot_import

MODULES = (QtCore, QtGui, QtWidgets)


def unmade():
    return [name for module in MODULES for name in dir(module) if name not in vars(module)]


def look(event, arguments):
    if event == "import" and current_thread() is not main_thread():
        if arguments[0] == "pyqtgraph":
            found.append(unmade())
        if arguments[0].startswith("PySide6."):
            found.append(arguments[0])


found = []
app = QtWidgets.QApplication([])
assert len(unmade()) > 100
sys.addaudithook(look)
plot_import.begin()
end = monotonic() + 60
while not plot_import.is_over and monotonic() < end:
    app.processEvents()
assert "pyqtgraph" in sys.modules
assert found == [[]], found
"""


def test_no_module_and_no_type_is_left_for_its_thread_to_make():
    child = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
