"""Report what is installed here, what the GPU is, and what is missing: `workbench doctor`.

Needs no Qt, so that it can say why Qt does not load.
"""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from kernels.core.device import Device, NoDevice
from kernels.core.installed import kind
from workbench.base import qt_libraries
from workbench.base.columns import aligned
from workbench.base.diagnostics import facts, problems
from workbench.cli import as_json
from workbench.cli.command_error import FAILED
from workbench.cli.this_machine import engine_maker


def run(arguments: Namespace) -> int:
    """Print all facts; FAILED where something keeps the window from opening."""
    device = engine_maker(arguments)().device
    why_no_window, found = _why_no_window(), problems(device)
    if arguments.json:
        data = {**_data(device, why_no_window), "problems": found}
        print(as_json.text_of(data, indent=2))
        return FAILED if why_no_window else 0
    print(aligned(facts(device)))
    for problem in found:
        print(f"\nProblem: {problem}", end="")
    print("\n" if found else "")
    print(f"The window cannot open: {why_no_window}" if why_no_window else _where_it_opens())
    return FAILED if why_no_window else 0


def _data(device: Device | NoDevice, why_no_window: str | None) -> dict[str, Any]:
    """Return the facts for programs."""
    return {
        "facts": dict(facts(device)),
        "has_gpu": isinstance(device, Device),
        "why_no_gpu": device.reason if isinstance(device, NoDevice) else None,
        "why_no_window": why_no_window,
        "window": None if why_no_window else _where_it_opens(),
    }


def _where_it_opens() -> str:
    """Return what `workbench` will do here, where Qt has all that it needs."""
    if qt_libraries.platform() != "offscreen":
        return "The window can open."
    if "QT_QPA_PLATFORM" in os.environ:
        return "The window opens unseen, as QT_QPA_PLATFORM=offscreen asks for; unset it to see it."
    return "No window opens, for lack of a display: `workbench` draws it into workbench.png."


def _why_no_window() -> str | None:
    if reason := qt_libraries.why_no_window(qt_libraries.platform()):
        return reason
    try:
        from PySide6 import QtWidgets  # noqa: F401
    except ImportError as error:
        again = "run `make setup`" if kind() == "checkout" else "install the program again"
        return f"Qt does not load ({error}); {again}."
    return None
