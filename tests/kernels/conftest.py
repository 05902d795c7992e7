"""What the tests of `kernels` share: one way to run any implementation, wherever it may run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.kernels.runners import Run, make_runner


@pytest.fixture(scope="session")
def runners(build_cache: Path) -> Callable[[str], Run]:
    """The function of one of `runners.NAMES`, made once; asking for it skips a test, with the
    reason, where it cannot run here."""
    return cache(lambda name: make_runner(name, build_cache))
