"""List filters, borders, implementations (why one cannot run) and presets: `workbench list`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from kernels import Engine, Job, filters
from kernels.core.borders import BORDERS, OUTSIDE, source_indices
from kernels.core.device import Device, NoDevice
from kernels.engine.auto import AUTO, Auto
from kernels.engine.engine import Implementation, all_implementations
from kernels.filters import Filter
from kernels.rungs.rung import Rung
from kernels.sweeps.plan_files import presets
from workbench.base.columns import columns
from workbench.cli import output
from workbench.cli.options import LISTS
from workbench.cli.this_machine import engine_maker

KINDS = {"cpu": "CPU", "cuda": "CUDA", "auto": "any"}


def run(arguments: Namespace) -> int:
    """Print the lists, or the one that is named."""
    wanted = (arguments.what,) if arguments.what else LISTS
    if arguments.json:
        print(output.json_of({name: _data(name, arguments) for name in wanted}, indent=2))
    else:
        print("\n\n".join(_section(name, arguments) for name in wanted))
    return 0


def _data(name: str, arguments: Namespace) -> list[dict[str, Any]]:
    """Return one list for programs, by the keys that the options take."""
    if name == "filters":
        return [_filter_data(each) for each in filters.all_filters()]
    if name == "borders":
        return [{"key": each, "sketch": _sketch(each)} for each in BORDERS]
    if name == "presets":
        return [{"key": each.key, "title": each.plan.title} for each in presets()]
    engine = engine_maker(arguments)()
    listed: tuple[Auto | Implementation, ...] = (AUTO, *all_implementations())
    return [
        {
            "key": each.key,
            "title": each.title,
            "kind": each.kind,
            "idea": each.idea,
            "why_not": None if isinstance(each, Auto) else _why_not(each, engine.device),
        }
        for each in listed
    ]


def _filter_data(each: Filter) -> dict[str, Any]:
    """Return a filter; its sizes are all the odd ones from the smallest to the largest."""
    parameters = [
        {"name": p.name, "low": p.low, "high": p.high, "default": p.default}
        for p in each.parameters
        if p.low is not None
    ]
    return {
        "key": each.key,
        "title": each.title,
        "min_size": each.sizes[0],
        "max_size": each.sizes[-1],
        "parameters": parameters,
        "takes_weights": each.key == "custom",
    }


def _section(name: str, arguments: Namespace) -> str:
    """Return one list with its heading."""
    if name == "filters":
        rows = [(each.key, each.title, _takes(each)) for each in filters.all_filters()]
        return f"Filters (--filter)\n{columns(rows)}"
    if name == "borders":
        return f"Borders (--border)\n{columns([(name, _sketch(name)) for name in BORDERS])}"
    if name == "presets":
        plans = [(each.key, each.plan.title) for each in presets()]
        return f"Presets (workbench sweep NAME)\n{columns(plans)}"
    rows = [(each.key, KINDS[each.kind], each.idea) for each in (AUTO, *all_implementations())]
    lines = ["Implementations (--implementation), from the plainest up", columns(rows)]
    refusals = _refusals(engine_maker(arguments)())
    lines += [f"Not here: {', '.join(keys)}. {reason}" for reason, keys in refusals.items()]
    return "\n".join(lines)


def _takes(each: Filter) -> str:
    """Return its sizes and parameters: "odd sizes from 1 to 127; --sigma 0.1 to 64"."""
    numbers = [p for p in each.parameters if p.low is not None]
    parts = [f"--{p.name} {p.low:g} to {p.high:g}" for p in numbers]
    if each.key == "custom":
        parts.append("--weights")
    return "; ".join([each.sizes_in_words, *parts])


def _sketch(border: str) -> str:
    """Return what lies around the samples a b c d, drawn by the definition itself."""
    letters = ["abcd"[at] if at != OUTSIDE else "0" for at in source_indices(-3, 7, 4, border)]
    left, picture, right = letters[:3], letters[3:7], letters[7:]
    return f"{' '.join(left)} | {' '.join(picture)} | {' '.join(right)}"


def _refusals(engine: Engine) -> dict[str, list[str]]:
    """Return why some cannot run even the smallest job here: each reason, and whose it is."""
    refusals: dict[str, list[str]] = {}
    for each in all_implementations():
        if reason := _why_not(each, engine.device):
            refusals.setdefault(reason, []).append(each.key)
    return refusals


def _why_not(each: Implementation, device: Device | NoDevice) -> str | None:
    """Return why it cannot run even the smallest job here, and what would mend that, or None."""
    pixel, weights = np.zeros((1, 1, 1), np.uint8), filters.get("box").weights(3)
    job = Job(pixel, weights, gradient=isinstance(each, Rung) and each.gradient)
    reason = each.why_not(job, device)
    return _with_remedy(reason, device) if reason else None


def _with_remedy(reason: str, device: Device | NoDevice) -> str:
    if isinstance(device, NoDevice) and reason == device.reason:
        return f"{reason} {device.remedy}".rstrip()
    return reason
