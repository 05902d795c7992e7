"""The GPUs that `--device` names for a window, which starts without what filters folders."""

from __future__ import annotations

from argparse import Namespace

from kernels.sweeps.plan_values import MAX_DEVICES
from workbench.model.intents import Changes


def devices_of_window(arguments: Namespace) -> Changes:
    """Return the State fields that say how many GPUs share a picture in the window.

    The `device` and the `devices` of `arguments` are then what its Engine has; whether they are
    there the window says, since to look takes a while.
    """
    named: tuple[int, ...] | None = arguments.devices
    arguments.device = named[0] if named else None
    if named is None:
        return {}
    if len(named) == 1:
        arguments.devices = None  # all may be chosen in the window, and begin with this one
    return {"devices": len(named) or MAX_DEVICES}
