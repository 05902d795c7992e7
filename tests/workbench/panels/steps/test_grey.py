"""Grey as a step: an edge filter of brightness, in the window, on the command line, in Python."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from kernels.oracle.reference import to_pixel_type
from kernels.pictures.generated import LUMA, noise
from tests.workbench.driving import action, settle, show_picture
from workbench.cli.main import main
from workbench.files.image_files import load, save

COLOURED = noise(24, 30, 4)


def luma(samples):
    return samples[..., :3].astype(np.float64) @ LUMA.astype(np.float64)


def sobel_x(grey):
    around = np.pad(grey, 1, mode="edge")
    down = around[:-2] + 2 * around[1:-1] + around[2:]
    return down[:, 2:] - down[:, :-2]


def test_an_edge_filter_is_put_on_brightness_with_one_click(qtbot, window):
    window.store.update(filter="sobel_x", ksize=3, alpha="apart")
    show_picture(qtbot, window, COLOURED)
    rainbow = window.live.result.picture
    assert (rainbow[..., 0] != rainbow[..., 1]).any()
    result = settle(qtbot, window, action(window, "On brightness").trigger)
    assert [each.filter for each in window.store.state.steps] == ["grey", "sobel_x"]
    assert window.store.state.filter == "sobel_x"  # is still the one that is chosen
    assert result.check.is_verified
    for channel in range(3):
        np.testing.assert_allclose(result.picture[..., channel], sobel_x(luma(COLOURED)), atol=1e-3)
    np.testing.assert_array_equal(result.picture[..., 3], COLOURED[..., 3])
    settle(
        qtbot,
        window,
        lambda: QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier),
    )
    np.testing.assert_array_equal(window.live.result.picture, rainbow)


def test_grey_alone_and_mixed_on_the_command_line(tmp_path, capsys):
    save(tmp_path / "in.png", COLOURED)
    for word, share in (("grey", 1.0), ("grey,mix=0.25", 0.25)):
        files = [str(tmp_path / name) for name in ("in.png", "out.png")]
        assert main(["apply", *files, "--step", word, "--alpha", "apart", "--replace"]) == 0
        found = load(tmp_path / "out.png").samples
        grey = luma(COLOURED)[..., np.newaxis]
        wanted = share * grey + (1 - share) * COLOURED[..., :3]
        assert (
            np.abs(found[..., :3] - to_pixel_type(wanted, np.dtype(np.uint8)).astype(int)).max()
            <= 1
        )
        np.testing.assert_array_equal(found[..., 3], COLOURED[..., 3])
    assert "verified" in capsys.readouterr().out
