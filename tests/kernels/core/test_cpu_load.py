"""What the machine leaves this process: cpu_load, quotas and the load of others."""

import os
import sys

import pytest

from kernels.core import cpu_load
from kernels.core.cpu_load import Load, LoadWatch, control_group, quota_of


class Linux:
    """A made-up /proc and control group; time passes when a test says so."""

    def __init__(self, tmp_path, monkeypatch):
        self.proc, self.cgroups = tmp_path / "proc", tmp_path / "cgroup"
        (self.proc / "self").mkdir(parents=True)
        (self.cgroups / "mine").mkdir(parents=True)
        (self.proc / "self" / "cgroup").write_text("4:memory:/x\n0::/mine\n")
        self.clock_s = self.own_s = 0.0
        monkeypatch.setattr(cpu_load, "perf_counter", lambda: self.clock_s)
        monkeypatch.setattr(cpu_load, "process_time", lambda: self.own_s)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
        monkeypatch.setattr(os, "sysconf", lambda _: 100, raising=False)
        self.show()

    def show(self, user=(0, 0, 0), stolen=(0, 0, 0), throttled=0, quota="max 100000"):
        """Ticks of three CPUs, of which this process may use two."""
        lines = [
            f"cpu{n} {u} 0 0 500 0 0 0 {s} 0 0"
            for n, (u, s) in enumerate(zip(user, stolen, strict=True))
        ]
        (self.proc / "stat").write_text("\n".join(["cpu  9 9 9 9 9 9 9 9 9 9", *lines, "intr 1 2"]))
        (self.cgroups / "mine" / "cpu.stat").write_text(f"usage_usec 5\nnr_throttled {throttled}\n")
        (self.cgroups / "mine" / "cpu.max").write_text(f"{quota}\n")

    def after(self, seconds, own_s, **counters):
        """What is known after so long."""
        watch = LoadWatch(self.proc, self.cgroups)
        watch.start()
        self.clock_s, self.own_s = seconds, own_s
        self.show(**counters)
        return watch.load()


@pytest.fixture
def linux(tmp_path, monkeypatch):
    return Linux(tmp_path, monkeypatch)


def test_our_own_work_is_no_disturbance(linux):
    found = linux.after(2.0, own_s=4.0, user=(200, 200, 900))
    assert (found.seconds, found.cores, found.others_s, found.quota) == (2.0, 2, 0.0, None)
    assert found.disturbances == ()


def test_other_programs_on_our_cores_are_and_on_others_are_not(linux):
    found = linux.after(2.0, own_s=1.0, user=(200, 50, 900))
    assert found.others_s == pytest.approx(1.5)
    assert found.disturbances == ("other programs kept 0.8 of 2 cores busy",)


@pytest.mark.parametrize(
    ("times", "words"),
    [(1, "a quota of 1.5 cores held it back 1×"), (3, "a quota of 1.5 cores held it back 3×")],
)
def test_a_quota_that_held_it_back_is_said(linux, times, words):
    found = linux.after(1.0, own_s=0.0, throttled=times, quota="150000 100000")
    assert found.disturbances == (words,)


def test_parts_add_up_and_what_was_short_is_told_apart_from_nothing(linux):
    part = Load(seconds=0.05, cores=2, others_s=0.05, stolen_s=0.0)
    assert part.disturbances == ()  # five ticks are no more than chance
    whole = part.plus(part).plus(part)
    assert (whole.seconds, whole.others_s) == (pytest.approx(0.15), pytest.approx(0.15))
    assert whole.disturbances == ("other programs kept 1.0 of 2 cores busy",)


@pytest.mark.parametrize("text", ["", "cpu0 a b c\n", "cpu7 1 2 3 4 5 6 7 8\n", "cpu0 1 2\n"])
def test_where_the_counters_cannot_be_read_nothing_is_said(linux, text):
    (linux.proc / "stat").write_text(text)
    watch = LoadWatch(linux.proc, linux.cgroups)
    watch.start()
    assert watch.load() is None


@pytest.mark.skipif(sys.platform != "linux", reason="counters of Linux")
def test_on_linux_it_is_known():
    watch = LoadWatch()
    watch.start()
    sum(range(10**7))  # counters tick every 10 ms
    found = watch.load()
    assert found.seconds > 0
    assert 1 <= found.cores <= os.cpu_count()
    assert 0 <= found.others <= os.cpu_count() + 1


@pytest.fixture
def bound_to_eight(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    cpu_load.usable_cores.cache_clear()
    yield monkeypatch
    cpu_load.usable_cores.cache_clear()


@pytest.mark.parametrize(("quota", "usable"), [(None, 8), (16.0, 8), (4.0, 4), (2.5, 3), (0.2, 1)])
def test_a_quota_allows_fewer_threads_than_there_are_cores(bound_to_eight, quota, usable):
    bound_to_eight.setattr(cpu_load, "quota_of", lambda group: quota)
    assert cpu_load.usable_cores() == usable


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
