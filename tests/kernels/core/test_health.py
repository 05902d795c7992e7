"""The GPU's health, from an NVML that does as a test says."""

import sys
from types import SimpleNamespace

import pytest

from kernels.core.health import LOOK_EVERY_S, Health, Nvml, Watch, health_of_all

BUS_ID = "0000:1B:00.0"


class NVMLError(Exception):
    """As pynvml's."""


class FakeNvml:
    """Stands for the module pynvml; what is None in `facts` is not supported here."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self, **facts):
        self.facts = {"sm": 1980, "memory": 3201, "celsius": 40, "milliwatts": 250_500, **facts}
        self.facts = {"reasons": 0, "processes": None, "used": None, **self.facts}
        self.asked_for = None

    def nvmlInit(self):  # noqa: N802
        if error := self.facts.get("error"):
            raise error

    def nvmlDeviceGetHandleByPciBusId(self, bus_id):  # noqa: N802
        self.asked_for = bus_id
        return "the handle"

    def nvmlDeviceGetClockInfo(self, handle, which):  # noqa: N802
        return self._fact(handle, "sm" if which == self.NVML_CLOCK_SM else "memory")

    def nvmlDeviceGetTemperature(self, handle, sensor):  # noqa: N802
        return self._fact(handle, "celsius")

    def nvmlDeviceGetPowerUsage(self, handle):  # noqa: N802
        return self._fact(handle, "milliwatts")

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle):  # noqa: N802
        return self._fact(handle, "reasons")

    def nvmlDeviceGetComputeRunningProcesses(self, handle):  # noqa: N802
        return [SimpleNamespace(pid=pid) for pid in self._fact(handle, "processes")]

    def nvmlDeviceGetProcessUtilization(self, handle, since_us):  # noqa: N802
        used = self._fact(handle, "used")
        return [SimpleNamespace(pid=p, timeStamp=since_us + at, smUtil=sm) for p, at, sm in used]

    def _fact(self, handle, name):
        assert handle == "the handle"
        if self.facts[name] is None:
            raise NVMLError("Not Supported")
        return self.facts[name]


@pytest.fixture
def nvml(monkeypatch):
    """Makes an Nvml of a fake module."""

    def make(fake):
        monkeypatch.setitem(sys.modules, "pynvml", fake)
        return Nvml(BUS_ID, lambda _: True)

    return make


class Clock(SimpleNamespace):
    """Goes on by `each_s` whenever it is asked."""

    def __call__(self):
        self.now_s += self.each_s
        return self.now_s


def test_lowest_and_highest_of_all_looks_are_kept(nvml):
    fake = FakeNvml()
    clock = Clock(now_s=0.0, each_s=0.0)
    watch = Watch(nvml(fake), clock)
    for sm, celsius in ((1980, 41), (1755, 55), (1830, 60)):
        fake.facts.update(sm=sm, celsius=celsius)
        watch.look()
        clock.now_s += LOOK_EVERY_S
    assert watch.health() == Health(
        sm_mhz=(1755, 1980), memory_mhz=(3201, 3201), temperature_c=(41, 60), power_w=(250.5, 250.5)
    )


def test_throttling_is_said_in_words_even_if_it_was_seen_once(nvml):
    fake = FakeNvml(reasons=0x4 | 0x20)
    clock = Clock(now_s=0.0, each_s=0.0)
    watch = Watch(nvml(fake), clock)
    watch.look()
    fake.facts["reasons"] = 0
    clock.now_s += 1
    watch.look()
    assert watch.health().throttled == ("power limit", "heat, by the driver")


@pytest.mark.parametrize("error", [NVMLError("Driver Not Loaded"), OSError("no library")])
def test_without_nvml_there_is_no_health_and_no_failure(nvml, error):
    watch = Watch(nvml(FakeNvml(error=error)))
    watch.look()
    assert watch.health() is None


def test_of_several_gpus_the_lowest_and_highest_are_kept_and_all_that_throttled():
    one = Health((1500, 1600), None, (40, 50), (200.0, 250.0), ("power limit",))
    other = Health((1400, 1700), None, (45, 60), None, ("power limit", "power brake"))
    assert health_of_all([one, None, other]) == Health(
        (1400, 1700), None, (40, 60), (200.0, 250.0), ("power limit", "power brake")
    )
    assert health_of_all([None, None]) is None


OURS, THEIRS = 11, 12


@pytest.fixture
def watched(monkeypatch):
    """Makes the Health of a GPU that is looked at once, which a fake module tells of."""

    def make(why="", **facts):
        monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(**facts))
        watch = Watch(Nvml(BUS_ID, lambda pid: pid == OURS), why_not_alone=lambda: why)
        watch.look()
        return watch.health()

    return make


def test_another_program_that_uses_the_gpu_disturbs(watched):
    used = [(OURS, 5, 90), (THEIRS, 5, 30), (THEIRS, 9, 40)]
    health = watched(processes=[OURS, THEIRS], used=used)
    assert len(health.disturbances) == 1
    assert f"process {THEIRS}" in health.disturbances[0]
    assert "40 %" in health.disturbances[0]
    assert health_of_all([health, Health()]).others == health.others


@pytest.mark.parametrize(
    "facts",
    [
        {"processes": [OURS, THEIRS], "used": [(OURS, 5, 90), (THEIRS, 5, 2)]},  # it idles
        {"processes": [OURS, THEIRS], "used": [(THEIRS, -5, 90)]},  # it did so long before
        {"processes": [OURS, THEIRS], "used": None},  # not supported
        {"processes": [], "used": [(THEIRS, 5, 90)]},  # a container
        {"processes": [THEIRS], "used": [(THEIRS, 5, 90)]},  # by the numbers of its host
    ],
)
def test_what_is_ours_idle_or_not_known_does_not(watched, facts):
    assert watched(**facts).disturbances == ()
