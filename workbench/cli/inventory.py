"""What there is: `workbench list`, and `workbench doctor`, which works without Qt."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np

from kernels import Engine, Job, filters
from kernels.core.borders import BORDERS, OUTSIDE, source_indices
from kernels.core.device import Device, NoDevice
from kernels.core.version import kind
from kernels.engine.auto import AUTO
from kernels.engine.engine import Implementation, all_implementations
from kernels.filters.parameters import option_of
from kernels.rungs.rung import Rung
from kernels.sweeps.plan_files import presets
from kernels.sweeps.step_words import ready_made
from workbench.base import qt_libraries
from workbench.base.columns import aligned, columns
from workbench.base.diagnostics import facts, problems
from workbench.cli import output
from workbench.cli.argument_types import LISTS
from workbench.cli.output import FAILED
from workbench.cli.this_machine import engine_maker

HEADINGS = {
    "filters": "Filters (--filter)",
    "steps": "Lists of steps (--steps)",
    "borders": "Borders (--border)",
    "implementations": "Implementations (--implementation), from the plainest up",
    "presets": "Presets (workbench sweep NAME)",
}
KINDS = {"cpu": "CPU", "cuda": "CUDA", "auto": "any"}
Data = dict[str, Any]


def list_all(arguments: Namespace) -> int:
    """Print the lists, or the named one."""
    makers: dict[str, Callable[[], list[Data]]] = {
        "filters": _filters,
        "steps": lambda: [{"key": key, "about": e.about} for key, e in ready_made().items()],
        "borders": lambda: [{"key": each, "sketch": _sketch(each)} for each in BORDERS],
        "implementations": lambda: _implementations(engine_maker(arguments)()),
        "presets": lambda: [{"key": each.key, "title": each.plan.title} for each in presets()],
    }
    wanted = (arguments.what,) if arguments.what else LISTS
    found = {name: makers[name]() for name in wanted}
    if arguments.json:
        print(output.json_of(found, indent=2))
    else:
        print("\n\n".join(_in_words(name, data) for name, data in found.items()))
    return 0


def _in_words(name: str, data: list[Data]) -> str:
    rows = [tuple(each.values()) for each in data]
    if name == "filters":
        rows = [(each["key"], each["title"], _taken(each)) for each in data]
    elif name == "implementations":
        rows = [(each["key"], KINDS[each["kind"]], each["idea"]) for each in data]
    reasons: dict[str, list[str]] = {}
    for each in data:
        if reason := each.get("why_not"):
            reasons.setdefault(reason, []).append(each["key"])
    missing = [f"Not here: {', '.join(keys)}. {reason}" for reason, keys in reasons.items()]
    return "\n".join((HEADINGS[name], columns(rows), *missing))


def _filters() -> list[Data]:
    return [
        {
            "key": each.key,
            "title": each.title,
            "min_size": each.sizes[0],
            "max_size": each.sizes[-1],
            "parameters": [
                {"name": p.name, "low": p.low, "high": p.high, "default": p.default}
                for p in each.parameters
                if p.low is not None
            ],
            "takes_weights": each.key == "custom",
        }
        for each in filters.all_filters()
    ]


def _taken(data: Data) -> str:
    """Describe sizes and parameters: "odd sizes from 1 to 127; --sigma 0.1 to 64"."""
    parts = [
        f"{option_of(each['name'])} {each['low']:g} to {each['high']:g}"
        for each in data["parameters"]
    ]
    weights = ["--weights"] if data["takes_weights"] else []
    return "; ".join([filters.get(data["key"]).sizes_in_words, *parts, *weights])


def _sketch(border: str) -> str:
    """The samples around a b c d, drawn by the definition itself."""
    letters = ["abcd"[at] if at != OUTSIDE else "0" for at in source_indices(-3, 7, 4, border)]
    return " | ".join(" ".join(each) for each in (letters[:3], letters[3:7], letters[7:]))


def _implementations(engine: Engine) -> list[Data]:
    reasons = {each.key: _why_not(each, engine) for each in all_implementations()}
    return [
        {name: getattr(each, name) for name in ("key", "title", "kind", "idea")}
        | {"why_not": reasons.get(each.key)}
        for each in (AUTO, *all_implementations())
    ]


def _why_not(each: Implementation, engine: Engine) -> str | None:
    """The reason why it cannot run even the smallest job here, with the remedy."""
    device = engine.device
    pixel, weights = np.zeros((1, 1, 1), np.uint8), filters.get("box").weights(3)
    job = Job.of(pixel, weights, gradient=isinstance(each, Rung) and each.gradient)
    reason = each.why_not(job, device)
    if isinstance(device, NoDevice) and reason == device.reason:
        return f"{reason} {device.remedy}".rstrip()
    return reason


def doctor(arguments: Namespace) -> int:
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
        print(f"The window cannot open: {why_no_window}" if why_no_window else _where_it_opens())
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
    try:
        from PySide6 import QtWidgets  # noqa: F401
    except ImportError as error:
        again = "run `make setup`" if kind() == "checkout" else "install the program again"
        return f"Qt does not load ({error}); {again}."
    return None
