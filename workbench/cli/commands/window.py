"""`workbench [IMAGE...]`: open the window; without a display, draw it into a file."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import qt_libraries
from workbench.base.importing import without_collecting
from workbench.cli import options
from workbench.cli.commands import shot
from workbench.cli.output import CommandError

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.model.intents import Changes

DRAWN = Path("workbench.png")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "images",
        metavar="IMAGE",
        nargs="*",
        type=Path,
        help="pictures or a folder to open; also sessions (.jsonl), plans (.toml), kernels (.cu)",
    )
    options.add_job_options(parser)
    options.add_devices_options(parser, "the rows of a picture")


def run(arguments: Namespace) -> int:
    """Open the window; return when it was closed, or drawn."""
    with without_collecting():
        from workbench.cli.recipe_options import devices_of_window, named_kernel
        from workbench.cli.this_machine import engine_maker
        from workbench.window import app

    platform = qt_libraries.platform()
    if platform == "offscreen" and "QT_QPA_PLATFORM" not in os.environ:
        print("There is no display, so the window is drawn into a file.")
        return _draw(arguments)
    if reason := qt_libraries.why_no_window(platform):
        raise CommandError(reason)
    kernel, devices = named_kernel(arguments), devices_of_window(arguments)
    engine = engine_maker(arguments)
    return app.run(arguments.images, engine, _settings(arguments, devices), kernel)


def _draw(arguments: Namespace) -> int:
    """Do what `workbench shot workbench.png IMAGE` does."""
    arguments.output, arguments.image = DRAWN, next(iter(arguments.images), None)
    arguments.size_px, arguments.theme = options.WINDOW_SIZE, "system"
    arguments.mode, arguments.at, arguments.zoom, arguments.baseline = (), None, None, None
    return shot.run(arguments)


def _settings(arguments: Namespace, devices: Changes) -> Settings:
    """Return the user's settings, with the options laid over what was chosen last time."""
    from workbench.base.settings import Settings
    from workbench.cli.recipe_options import changes_of
    from workbench.model import choices
    from workbench.model.state import State

    settings = Settings()
    remembered = settings.get("choices", {})
    state = replace(State(), **choices.from_data(remembered, State()))
    settings.set("choices", {**remembered, **changes_of(arguments, state), **devices})
    return settings
