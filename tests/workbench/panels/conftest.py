"""What panels measure in a test takes few samples: none of its times count."""

from dataclasses import replace

import pytest

from kernels.sweeps import plan_run


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Have sweeps of a window take as few samples of each cell as they may."""

    def sweeping(plan, *how, **more):
        few = replace(plan.sampling, max_samples=plan.sampling.min_samples)
        return plan_run.sweeping(replace(plan, sampling=few), *how, **more)

    for module in ("session.session_store", "panels.sweep.sweep_controller"):
        monkeypatch.setattr(f"workbench.{module}.sweeping", sweeping)
