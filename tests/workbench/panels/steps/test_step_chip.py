"""The chip of a step: what it writes where there is little room."""

from PySide6.QtGui import QPainter

from workbench.panels.steps import step_chip
from workbench.panels.steps.step_chip import StepChip, StepLook


class Writing(QPainter):
    """A painter that keeps what it writes."""

    written: list[str] = []  # noqa: RUF012 - of one test

    def drawText(self, *given):  # noqa: N802
        self.written.append(given[-1])
        super().drawText(*given)


def test_a_name_that_is_cut_ends_with_an_ellipsis(qtbot, monkeypatch):
    monkeypatch.setattr(step_chip, "QPainter", Writing)
    chip = StepChip()
    qtbot.addWidget(chip)
    chip.show_look(StepLook(8, "Laplacian of Gaussian", "11×11"))
    chip.setFixedHeight(chip.sizeHint().height())
    for width in range(step_chip.LEAST_PX, chip.width_of(has_time=False), 7):
        chip.setFixedWidth(width)
        Writing.written.clear()
        chip.grab()
        cut = Writing.written[0]
        assert "…" in cut or "Laplacian of Gaussian" in cut, width
    chip.setFixedWidth(chip.width_of(has_time=False))
    Writing.written.clear()
    chip.grab()
    assert Writing.written == ["Laplacian of Gaussian 11×11"]
