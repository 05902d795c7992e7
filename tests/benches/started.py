"""The process that the bench startup starts: opens the window and reports its progress."""

from __future__ import annotations

import sys

from workbench.base.importing import without_collecting
from workbench.cli.main import parse

with without_collecting():  # as the program starts
    from tests.benches.views import Painted, ms_until_painted, named_view
    from workbench.cli import draw_window
    from workbench.cli.recipe_options import devices_of_window


def main() -> None:
    """Print a line when the window, and one when the filtered picture, has been painted."""
    arguments = parse(sys.argv[1:])
    with draw_window.real_window(arguments, devices_of_window(arguments)) as window:
        first = Painted(window)
        first.painted.connect(lambda: print("first paint", flush=True))
        first.expect()
        ms_until_painted(window, named_view(window, "After"), lambda: window.intake.open_paths([]))
        print("filtered picture", flush=True)


if __name__ == "__main__":
    main()
