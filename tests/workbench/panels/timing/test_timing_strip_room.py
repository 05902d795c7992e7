"""The timing strip in a wide place: the small tiles stand beside the large ones."""

from tests.workbench.panels.timing.test_timing_strip import strip, tile  # noqa: F401


def test_small_tiles_stand_beside_large_ones_where_there_is_room(qtbot, strip):  # noqa: F811
    strip.resize(1600, 400)

    def is_beside():
        small, large = (tile(strip, name) for name in ("upload", "kernel"))
        return small.mapTo(strip, small.rect().topLeft()).y() < large.geometry().bottom()

    qtbot.waitUntil(is_beside)
