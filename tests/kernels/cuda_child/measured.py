"""How long a user waits for a kernel on the GPU: `python -m tests.kernels.cuda_child.measured`.

From a text that nothing has compiled before to its picture, to its check, and to its time, on a
picture of a megapixel; and after a kernel that had to be ended, to the next one's picture.
"""

# ruff: noqa: T201

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter, sleep, time_ns

import numpy as np

from kernels import filters
from kernels.core.device import NoDevice
from kernels.core.job import Job
from kernels.cuda.probing import probe
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.warm_children import WarmChildren
from kernels.cuda_on_cpu.kernel_trial import KernelTrial
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.kernels.cuda_child.gpu_kernels import ENDED

RUNS = 10
READY_S = 4.0  # for a spare child to be warm


def main() -> None:
    """Measure, and print."""
    device = probe()
    if isinstance(device, NoDevice):
        sys.exit(device.reason)
    print(f"{device.name}; 1,000×1,000×3 uint8, Gaussian 5×5; ms")
    children = WarmChildren()
    try:
        _print("the very first run, CUDA and all", [_waited(children, "shared")])
        sleep(READY_S)
        for key in ("global", "shared", "ring"):
            _print(f"a new text of {key}", [_waited(children, key) for _ in range(RUNS)])
        for name in ("far outside, written", "endless loop"):
            waits = []
            for _ in range(3):
                *_, bad = gpu_trial(_text(ENDED[name][0]), _job(), children=children)
                assert bad.problem
                waits.append(_waited(children, "shared"))
                sleep(READY_S)
            _print(f"after {name}", waits)
        print(children.held())
        print(_gpu_memory(device.index))
    finally:
        children.end(30)


def _job() -> Job:
    picture = np.random.default_rng(1).integers(0, 256, (1000, 1000, 3), np.uint8)
    return Job(picture, filters.get("gaussian").weights(5))


def _text(source: str):
    """A rung that no cache has, wherever it lies."""
    return own_kernel("mine.cu", f"{source}\n// {time_ns()}\n__device__ int unique_{time_ns()};\n")


def _waited(children: WarmChildren, key: str) -> dict[str, float]:
    """Milliseconds until each part of the outcome is there."""
    source = next(each.source for each in ladder() if each.key == key)
    rung, job, begun = _text(source), _job(), perf_counter()
    waited: dict[str, float] = {}
    for step in gpu_trial(rung, job, children=children):
        if not isinstance(step, KernelTrial):
            continue
        known = {"built": step.built, "picture": step.answer, "check": step.check}
        for name, found in {**known, "time": step.kernel}.items():
            if found is not None:
                waited.setdefault(name, (perf_counter() - begun) * 1e3)
        assert not step.problem, step.problem
    return waited


def _print(what: str, waits: list[dict[str, float]]) -> None:
    cells = (f"{name} {median(each[name] for each in waits):.0f}" for name in waits[0])
    worst = max(each["time"] for each in waits)
    print(f"{what:40} {', '.join(cells)}; at most {worst:.0f}; n {len(waits)}", flush=True)


def _gpu_memory(index: int) -> str:
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        sizes = [(each.usedGpuMemory or 0) >> 20 for each in found]
        return f"MiB of the GPU's memory, by process: {sizes}"
    except Exception as error:  # noqa: BLE001 - NVML need not be there
        return f"NVML tells nothing: {error}"


if __name__ == "__main__":
    main()
