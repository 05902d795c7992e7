"""What the tests of `kernels` share: one way to run any implementation, wherever it may run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.kernels.runners import Run, make_runner

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


@pytest.fixture(scope="session")
def runners(build_cache: Path) -> Run:
    """Gives the function that runs a job on a runner of `runners.NAMES`; skips with the reason
    where it cannot run here."""
    return cache(lambda name: make_runner(name, build_cache))


@pytest.fixture
def run(request: pytest.FixtureRequest, runners: Run) -> Run:
    """The function of one runner; parametrize it indirectly with names."""
    return runners(request.param)
