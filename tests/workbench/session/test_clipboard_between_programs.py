"""A picture between two programs with one real clipboard: depth and alpha stay what they were."""

import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from kernels.pictures.generated import noise
from tests.workbench.real_screen import missing
from workbench.files import image_files

pytestmark = pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")

OFFER = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QImage
from workbench.files import image_files
from workbench.session import clipboard
app = QGuiApplication(sys.argv)
samples = image_files.load(sys.argv[1]).samples
clipboard.copy(samples, clipboard.to_image(samples, QImage()))
QTimer.singleShot(0, lambda: print("offered", flush=True))
app.exec()
"""
TAKE = """
import sys
from PySide6.QtGui import QGuiApplication
from workbench.files import image_files
from workbench.session import clipboard
app = QGuiApplication(sys.argv)
found = clipboard.image_in(QGuiApplication.clipboard().mimeData())
image_files.save(sys.argv[1], clipboard.picture_in(found).samples)
"""


@contextmanager
def offering(screen, path):
    """Another process that has put the picture in a file on the clipboard."""
    words = [sys.executable, "-c", OFFER, str(path)]
    with subprocess.Popen(
        words, env=screen.environment, stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout.readline() == "offered\n"
            yield
        finally:
            program.kill()


@pytest.mark.nightly
def test_16_bits_and_alpha_go_from_one_program_to_another(screen, tmp_path):
    samples = noise(30, 40, 4, "uint16")
    image_files.save(tmp_path / "sent.png", samples)
    taken = tmp_path / "taken.png"
    with offering(screen, tmp_path / "sent.png"):
        subprocess.run([sys.executable, "-c", TAKE, taken], env=screen.environment, check=True)
    np.testing.assert_array_equal(image_files.load(taken).samples, samples)
