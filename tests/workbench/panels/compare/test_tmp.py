import numpy as np
from PySide6.QtCore import *
from PySide6.QtTest import QTest
from kernels.pictures.generated import noise
from tests.workbench.driving import *
def test_x(window, qtbot):
    show_picture(qtbot, window, noise(80, 120, 3))
    from PySide6.QtWidgets import QMenu
    m=QMenu(); m.addActions(window.compare.actions()); m.popup(QPoint(0,0)); m.grab().save('/tmp/m.png')
    for i in range(30): window.compare.zoom(-1)
    print(window.compare.scale)
    for _ in range(20): QTest.keyClick(view(window,'After'), Qt.Key.Key_Left)
    window.grab().save('/tmp/p.png')
