"""`workbench [IMAGE...]`: open the window; without a display, draw it into a file."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from workbench import qt_libraries
from workbench.commands import CommandError, shot

DRAWN = Path("workbench.png")


def run(arguments: Namespace) -> int:
    """Returns when the window was closed, or drawn."""
    platform = qt_libraries.platform()
    if platform == "offscreen" and "QT_QPA_PLATFORM" not in os.environ:
        print("There is no display, so the window is drawn into a file.")
        shot.draw(arguments, arguments.images[:1], DRAWN)
        return 0
    if reason := qt_libraries.why_no_window(platform):
        raise CommandError(reason)
    from workbench import app
    from workbench.commands.machine import engine_maker

    return app.run(arguments.images, engine_maker(arguments), _settings(arguments))


def _settings(arguments: Namespace) -> Settings:
    """The user's, with what the options choose put over what was chosen last time."""
