"""List filters, borders, implementations (why one cannot run) and presets: `workbench list`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np

from kernels import Engine, Job, filters
from kernels.core.borders import BORDERS, OUTSIDE, source_indices
from kernels.core.device import NoDevice
from kernels.engine.auto import AUTO
from kernels.engine.engine import Implementation, all_implementations
from kernels.filters import Filter
from kernels.rungs.rung import Rung
from kernels.sweeps.plan_files import presets
from workbench.base.columns import columns
from workbench.cli import output
from workbench.cli.this_machine import engine_maker

KINDS = {"cpu": "CPU", "cuda": "CUDA", "auto": "any"}
Data = dict[str, Any]


def run(arguments: Namespace) -> int:
    """Print the lists, or the named one."""
    wanted = (arguments.what,) if arguments.what else tuple(LISTS)
    found = {name: LISTS[name][0](arguments) for name in wanted}
    if arguments.json:
        print(output.json_of(found, indent=2))
    else:
        print("\n\n".join(LISTS[name][1](data) for name, data in found.items()))
    return 0


# -- filters


def _filters(_: Namespace) -> list[Data]:
    """List filters; the sizes are all odd ones from the smallest to the largest."""
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


def _filters_in_words(_: list[Data]) -> str:
    rows = [(each.key, each.title, _takes(each)) for each in filters.all_filters()]
    return f"Filters (--filter)\n{columns(rows)}"


def _takes(each: Filter) -> str:
    """Its sizes and parameters: "odd sizes from 1 to 127; --sigma 0.1 to 64"."""
    numbers = [p for p in each.parameters if p.low is not None]
    parts = [f"--{p.name} {p.low:g} to {p.high:g}" for p in numbers]
    weights = ["--weights"] if each.key == "custom" else []
    return "; ".join([each.sizes_in_words, *parts, *weights])


# -- borders and presets


def _borders(_: Namespace) -> list[Data]:
    return [{"key": each, "sketch": _sketch(each)} for each in BORDERS]


def _sketch(border: str) -> str:
    """The samples around a b c d, drawn by the definition itself."""
    letters = ["abcd"[at] if at != OUTSIDE else "0" for at in source_indices(-3, 7, 4, border)]
    return " | ".join(" ".join(each) for each in (letters[:3], letters[3:7], letters[7:]))


def _presets(_: Namespace) -> list[Data]:
    return [{"key": each.key, "title": each.plan.title} for each in presets()]


def _titled(title: str) -> Callable[[list[Data]], str]:
    return lambda data: f"{title}\n{columns([tuple(each.values()) for each in data])}"


# -- implementations


def _implementations(arguments: Namespace) -> list[Data]:
    engine = engine_maker(arguments)()
    reasons = {each.key: _why_not(each, engine) for each in all_implementations()}
    return [
        {
            "key": each.key,
            "title": each.title,
            "kind": each.kind,
            "idea": each.idea,
            "why_not": reasons.get(each.key),
        }
        for each in (AUTO, *all_implementations())
    ]


def _why_not(each: Implementation, engine: Engine) -> str | None:
    """The reason why it cannot run even the smallest job here, with the remedy."""
    device = engine.device
    pixel, weights = np.zeros((1, 1, 1), np.uint8), filters.get("box").weights(3)
    job = Job(pixel, weights, gradient=isinstance(each, Rung) and each.gradient)
    reason = each.why_not(job, device)
    if isinstance(device, NoDevice) and reason == device.reason:
        return f"{reason} {device.remedy}".rstrip()
    return reason


def _implementations_in_words(data: list[Data]) -> str:
    rows = [(each["key"], KINDS[each["kind"]], each["idea"]) for each in data]
    lines = ["Implementations (--implementation), from the plainest up", columns(rows)]
    reasons: dict[str, list[str]] = {}
    for each in data:
        if each["why_not"]:
            reasons.setdefault(each["why_not"], []).append(each["key"])
    lines += [f"Not here: {', '.join(keys)}. {reason}" for reason, keys in reasons.items()]
    return "\n".join(lines)


LISTS: dict[str, tuple[Callable[[Namespace], list[Data]], Callable[[list[Data]], str]]] = {
    "filters": (_filters, _filters_in_words),
    "borders": (_borders, _titled("Borders (--border)")),
    "implementations": (_implementations, _implementations_in_words),
    "presets": (_presets, _titled("Presets (workbench sweep NAME)")),
}
