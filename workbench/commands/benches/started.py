"""The process that `workbench bench startup` starts: opens the window and says how far it is."""

from __future__ import annotations

import sys

from workbench import cli
from workbench.commands import real_window
from workbench.commands.benches.modes import named_view
from workbench.commands.benches.painted import Painted, ms_until_painted


def main() -> None:
    """Print a line when the window, and one when the filtered picture, has been painted."""
    arguments = cli.parse(sys.argv[1:])
    with real_window.real_window(arguments, {}) as window:
        first = Painted(window)
        first.painted.connect(lambda: print("first paint", flush=True))
        first.expect()
        ms_until_painted(window, named_view(window, "After"), lambda: window.open_paths([]))
        print("filtered picture", flush=True)


if __name__ == "__main__":
    main()
