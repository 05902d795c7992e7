"""What kernels on the CPU are compiled to is kept for all tests, and never in the user's folder."""

import pytest

from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.cuda_on_cpu import cpu_runs
from kernels.cuda_on_cpu.children import end_children


@pytest.fixture(scope="module", autouse=True)
def children_end():
    yield
    end_children()


@pytest.fixture(autouse=True)
def kept_builds(monkeypatch, tmp_path_factory, build_cache):
    folder = tmp_path_factory.mktemp("cache")
    (folder / "cuda-on-cpu").symlink_to(build_cache)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))


@pytest.fixture
def without_cuda(monkeypatch):
    """Texts are compiled by the C++ compiler alone: CUDA's own takes as long again."""
    monkeypatch.setattr(cpu_runs, "cuda_errors", lambda *_: (each for each in ()))
