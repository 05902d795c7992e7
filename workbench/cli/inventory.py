"""What there is: `workbench list`, and `workbench doctor`, which works without Qt."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from kernels import Engine, Job, filters
from kernels.core.borders import BORDERS, OUTSIDE, source_indices
from kernels.core.device import Device, NoDevice
from kernels.core.errors import BadJobError
from kernels.core.version import kind
from kernels.engine.auto import AUTO, Auto
from kernels.engine.engine import Implementation, all_implementations
from kernels.filters import Filter, all_filters
from kernels.filters.parameters import DISK, option_of
from kernels.rungs.rung import Rung
from kernels.sweeps.plan_files import presets
from kernels.sweeps.step_words import WrittenStep, job_steps, ready_made
from workbench.base import qt_libraries
from workbench.base.columns import aligned, columns
from workbench.base.diagnostics import facts, problems
from workbench.cli import output
from workbench.cli.commands import LISTS
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
    makers: dict[str, Callable[[], list[Data]]] = {
        "filters": _filters,
        "steps": lambda: [{"key": key, "about": e.about} for key, e in ready_made().items()],
        "borders": lambda: [{"key": each, "sketch": _sketch(each)} for each in BORDERS],
        "implementations": lambda: _implementations(engine_maker(arguments)(), arguments.filter),
        "presets": lambda: [{"key": each.key, "title": each.plan.title} for each in presets()],
    }
    if arguments.filter is not None:
        filters.get(arguments.filter)  # or a sentence on what is meant
        if arguments.what not in (None, "implementations"):
            raise BadJobError(f"--filter lists implementations; leave it out for {arguments.what}.")
        arguments.what = "implementations"
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
        option_of(each["name"])
        + ("" if each["name"] == DISK.name else f" {each['low']:g} to {each['high']:g}")
        for each in data["parameters"]
    ]
    weights = ["--weights"] if data["takes_weights"] else []
    return "; ".join([filters.get(data["key"]).sizes_in_words, *parts, *weights])


def _sketch(border: str) -> str:
    letters = ["abcd"[at] if at != OUTSIDE else "0" for at in source_indices(-3, 7, 4, border)]
    return " | ".join(" ".join(each) for each in (letters[:3], letters[3:7], letters[7:]))


def _implementations(engine: Engine, key: str | None) -> list[Data]:
    """Those of the filter `key`, or all, each with the reason why it runs no small job here."""
    jobs = [job for e in all_filters() if key in (None, e.key) for job in _small_jobs(e)]
    found: list[Data] = []
    for each in (AUTO, *all_implementations()):
        its = [e for e in jobs if not isinstance(each, Rung) or each.does(e)]
        reasons = [None if isinstance(each, Auto) else _why_not(each, e, engine) for e in its]
        data = {name: getattr(each, name) for name in ("key", "title", "kind", "idea")}
        found += [data | {"why_not": None if None in reasons else reasons[0]}] if its else []
    return found


def _small_jobs(chosen: Filter) -> Iterator[Job]:
    pixels = [np.zeros((1, 1, c), kind) for c in (1, 3) for kind in ("uint8", "float32")]
    for pixel, ksize, is_disk in product(pixels, map(chosen.nearest_size, (3, 5)), (False, True)):
        with suppress(BadJobError):  # own weights have one size
            yield Job(pixel, job_steps(WrittenStep(chosen.key, ksize, is_disk=is_disk)))


def _why_not(each: Implementation, job: Job, engine: Engine) -> str | None:
    """The reason why it cannot run `job` here, with the remedy."""
    device = engine.device
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
