"""`workbench [IMAGE...]`: open the window; without a display, draw it into a file."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from workbench.base import qt_libraries
from workbench.base.settings import Settings
from workbench.cli.output import CommandError
from workbench.cli.recipe_options import changes_of, devices_of_window, named_kernel
from workbench.cli.this_machine import engine_maker
from workbench.model import choices
from workbench.model.intents import Changes
from workbench.model.state import State
from workbench.window import app

DRAWN = Path("workbench.png")


def run(arguments: Namespace) -> int:
    """Open the window; return when it was closed, or drawn."""
    platform = qt_libraries.platform()
    if platform == "offscreen" and "QT_QPA_PLATFORM" not in os.environ:
        print("There is no display, so the window is drawn into a file.")
        from workbench.cli import draw_window

        arguments.output, arguments.image = DRAWN, next(iter(arguments.images), None)
        arguments.size_px, arguments.theme = draw_window.WINDOW_SIZE, "system"
        arguments.baseline = arguments.page = None
        return draw_window.run(arguments)
    if reason := qt_libraries.why_no_window(platform):
        raise CommandError(reason)
    kernel, devices = named_kernel(arguments), devices_of_window(arguments)
    return app.run(arguments.images, engine_maker(arguments), _settings(arguments, devices), kernel)


def _settings(arguments: Namespace, devices: Changes) -> Settings:
    settings = Settings()
    remembered = settings.get("choices", {})
    state = replace(State(), **choices.from_data(remembered, State()))
    changes = choices.as_data(changes_of(arguments, state))
    if "chosen_implementation" in changes:  # of a list; what was remembered was of another step
        remembered.pop("implementation", None)
    settings.set("choices", {**remembered, **changes, **devices})
    return settings
