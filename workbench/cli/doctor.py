"""`workbench doctor`: what is installed here, and what is missing.

Needs no Qt, so that it can say why Qt does not load.
"""

from __future__ import annotations

import os
from argparse import Namespace

from kernels.core.device import Device
from workbench.base import qt_libraries
from workbench.base.columns import aligned
from workbench.base.diagnostics import facts, problems
from workbench.cli import output
from workbench.cli.output import FAILED
from workbench.cli.this_machine import engine_maker


def run(arguments: Namespace) -> int:
    """Print all facts; FAILED where something keeps the window from opening."""
    device = engine_maker(arguments)().device
    why_no_window, found = _why_no_window(), problems(device)
    if arguments.json:
        data = {
            "facts": dict(facts(device)),
            "has_gpu": isinstance(device, Device),
            "why_no_gpu": None if isinstance(device, Device) else device.reason,
            "why_no_window": why_no_window,
            "window": None if why_no_window else _where_it_opens(),
            "problems": found,
        }
        print(output.json_of(data, indent=2))
    else:
        print(aligned(facts(device)), end="\n\n")
        for problem in found:
            print(f"Problem: {problem}\n")
        cannot = f"The window cannot open: {why_no_window}"
        print(cannot if why_no_window else _where_it_opens())
    return FAILED if why_no_window else 0


def _where_it_opens() -> str:
    if qt_libraries.platform() != "offscreen":
        return "The window can open."
    if "QT_QPA_PLATFORM" in os.environ:
        return "The window opens unseen, as QT_QPA_PLATFORM=offscreen asks for; unset it to see it."
    return "No window opens, for lack of a display: `workbench` draws it into workbench.png."


def _why_no_window() -> str | None:
    if reason := qt_libraries.why_no_window(qt_libraries.platform()):
        return reason
    from kernels.core.version import kind

    try:
        from PySide6 import QtWidgets  # noqa: F401
    except ImportError as error:
        again = "run `make setup`" if kind() == "checkout" else "install the program again"
        return f"Qt does not load ({error}); {again}."
    return None
