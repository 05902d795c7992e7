"""How many threads may run at once: bound to cores, or held to a container's quota."""

import os

import pytest

from kernels.core import cores
from kernels.core.control_group import control_group, quota_of


@pytest.fixture
def bound_to_eight(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    cores.usable_cores.cache_clear()
    yield monkeypatch
    cores.usable_cores.cache_clear()


@pytest.mark.parametrize(("quota", "usable"), [(None, 8), (16.0, 8), (4.0, 4), (2.5, 3), (0.2, 1)])
def test_a_quota_allows_fewer_threads_than_there_are_cores(bound_to_eight, quota, usable):
    bound_to_eight.setattr(cores, "quota_of", lambda group: quota)
    assert cores.usable_cores() == usable


def test_the_quota_is_that_of_the_own_group(tmp_path):
    proc, cgroups = tmp_path / "proc", tmp_path / "cgroups"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("0::/mine\n")
    (cgroups / "mine").mkdir(parents=True)
    (cgroups / "mine" / "cpu.stat").write_text("nr_throttled 0\n")
    assert quota_of(control_group(proc, cgroups)) is None
    (cgroups / "mine" / "cpu.max").write_text("max 100000\n")
    assert quota_of(control_group(proc, cgroups)) is None
    (cgroups / "mine" / "cpu.max").write_text("250000 100000\n")
    assert quota_of(control_group(proc, cgroups)) == 2.5


def test_where_no_group_is_told_there_is_no_quota(tmp_path):
    assert quota_of(control_group(tmp_path, tmp_path)) is None
