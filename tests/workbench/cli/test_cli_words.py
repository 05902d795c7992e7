"""Results and computers in words, also of a GPU that is not here."""

from dataclasses import replace

from tests import made_up
from tests.made_up import H200
from workbench.base import diagnostics
from workbench.base.numbers import GAP
from workbench.cli.result_words import in_one_line

DEVICE = replace(H200, index=1, name="Test GPU", watchdog=True, driver_version=13_020, count=2)


def plain(text):
    return text.replace(GAP, " ")


def test_a_line_has_kernel_transfers_verdict_and_what_auto_picked():
    made = made_up.result("shared", device_name="Test GPU", upload_ms=0.384)
    line = plain(in_one_line("box 5×5", made))
    for words in ("upload 384 µs", "download 310 µs", "200 µs", "verified"):
        assert words in line
    resident = made_up.result("shared", device_name="Test GPU")
    assert "resident" in in_one_line("box 5×5", resident)
    result = made_up.picked_result("shared", why="the quickest of 3 measured here")
    assert "auto: shared 32×8" in in_one_line("box 5×5", result)
    made = made_up.result("shared", (80.0,), strips=5, device_name="Test GPU")
    assert "80.0 ms (a sum of 5 strips, cold)" in plain(in_one_line("box 5×5", made))
    assert "WRONG in 12 samples" in in_one_line("", made_up.result("shared", check=made_up.FAILED))


def test_a_list_has_a_time_of_its_own_beside_those_of_its_steps():
    steps = tuple(made_up.result(key, (ms,)) for key, ms in (("shared", 0.2), ("ring", 0.1)))
    line = plain(in_one_line("…", replace(made_up.result(samples_ms=(0.25,) * 20), steps=steps)))
    assert line.startswith(
        "…, shared ▸ ring: time 250 µs (20 samples, cold), steps 200 µs + 100 µs"
    )
    summed = replace(made_up.result(samples_ms=(0.2 + 0.1,)), steps=steps)
    assert "300 µs (a sum of 2 single runs, cold), steps 200" in plain(in_one_line("…", summed))


def test_the_doctor_knows_what_limits_a_block_and_a_launch():
    facts = dict(diagnostics.facts(DEVICE))
    assert "Test GPU (number 1 of 2), sm_90, 132 multiprocessors at 1.98 GHz" in facts["GPU"]
    assert "runs CUDA up to 13.2" in facts["NVIDIA driver"]
    assert facts["CUDA runtime"] == "13.0"
    assert plain(facts["Block"]) == "at most 1024 threads, 1024×1024, 227 KiB shared memory"
    assert facts["Watchdog"].startswith("on")
    assert dict(diagnostics.facts(replace(DEVICE, watchdog=False)))["Watchdog"] == "off"
