"""What a line of the ladder says to somebody who cannot see its bar, and what its time is of."""

from dataclasses import replace

from kernels.core.cpu_load import Load
from tests.made_up import a_job, implementations, result
from workbench.model.rung_times import LadderLine, RungTimes, ladder_places


def test_what_cannot_run_says_why_and_what_can_that_it_is_not_measured():
    shared = implementations()["shared"]
    refused = LadderLine(shared, "There is no GPU.", None, None, None)
    assert refused.in_words == "Shared-memory tile: There is no GPU."
    able = LadderLine(shared, None, None, None, None)
    assert able.in_words == "Shared-memory tile: not measured yet"


def test_a_disturbed_time_has_a_star_that_says_by_what():
    times, busy = RungTimes(), Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)
    found = result("opencv", (2.0,) * 6, load=busy)
    times.add_result(found)
    (line,) = ladder_places([(implementations()["opencv"], None)], times, found.job, "cold")
    assert line.time_in_words.endswith("ms*")
    said = line.in_words.splitlines()
    assert said[0].endswith("ms*")
    assert any("2.0 of 2 cores" in each for each in said)


def test_a_time_on_several_gpus_is_one_of_several_gpus():
    times, job = RungTimes(), a_job("shared")
    times.add_result(result(samples_ms=(1.0,), job=replace(job, devices=2)))
    assert times.of_work(job, "cold") == {}
    times.add_result(result(samples_ms=(2.0,), job=job))
    times.add_result(result(samples_ms=(3.0,), job=replace(a_job("opencv"), devices=2)))
    assert times.of_work(job, "cold")["shared"].median_ms == 2.0
    several = times.of_work(replace(job, devices=2), "cold")
    assert (several["shared"].median_ms, several["opencv"].median_ms) == (1.0, 3.0)
