"""`workbench compare`: who is compared, what is faster, and what could not be compared."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import H200, LAPTOP, a_session, wrong
from workbench.cli import main


@pytest.fixture
def kept(tmp_path):
    """Writes a session into a folder of its own, and names that."""

    def kept(name, session):
        with SessionFile.create(
            tmp_path / name, session.plan, session.machine, session.started
        ) as f:
            for record in session.records:
                f.append(record)
        return str(tmp_path / name)

    return kept


def times_as_long(factor):
    def changed(_, measured):
        samples = tuple(each * factor for each in measured.kernel.samples_ms)
        return replace(measured, kernel=replace(measured.kernel, samples_ms=samples))

    return changed


def said_of(capsys, *words):
    assert main.main(["compare", *words]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out.replace("\u202f", " ")


def test_a_row_says_what_b_is(kept, capsys):
    a = kept("a", a_session("transfers"))
    b = kept("b", a_session("transfers", outcome=times_as_long(0.5)))
    said = said_of(capsys, a, b)
    who = "2048², with transfers, NVIDIA H200 and Intel Xeon Platinum 8481C, 2025-11-21"
    assert said.startswith(f"A  {who}\nB  {who}\n")
    (row,) = [line for line in said.splitlines() if "OpenCV" in line]
    assert "7.36 ms  3.68 ms  2.00× " in row
    assert "faster in 6" in said
    assert "slower in 6" in said_of(capsys, b, a)


def test_what_only_one_machine_can_run_is_not_compared(kept, capsys):
    said = said_of(
        capsys, kept("a", a_session("sizes", LAPTOP)), kept("b", a_session("sizes", H200))
    )
    assert said.count("A: No GPU was found.") == 15
    assert "H200" not in said  # which ran nothing that is compared
    assert "noise in 15 cells" in said


def test_wrong_answers_are_never_a_speed(kept, capsys):
    a = kept("a", a_session("transfers"))
    b = kept("b", a_session("transfers", outcome=lambda cell, _: wrong(cell)))
    said = said_of(capsys, a, b)
    assert said.count("B: Its answer is WRONG in 12 samples") == 6
    assert "geometric mean" not in said


def test_a_disturbed_time_fails_nothing_and_is_counted(kept, capsys):
    busy = Load(1.0, 8, 4.0, 0.0)

    def slower_and_busy(cell, measured):
        slower = times_as_long(3)(cell, measured)
        return (
            replace(slower, load=busy) if cell.implementation in ("opencv", "parallel") else slower
        )

    a = kept("a", a_session("transfers"))
    b = kept("b", a_session("transfers", outcome=slower_and_busy))
    assert main.main(["compare", a, b, "--fail-slower", "5%"]) == 1
    *complaints, last = capsys.readouterr().err.splitlines()
    assert len(complaints) == 4
    assert not any("opencv" in each or "parallel" in each for each in complaints)
    assert last.endswith("2 cells.")

    def all_busy(cell, measured):
        return replace(times_as_long(3)(cell, measured), load=busy)

    c = kept("c", a_session("transfers", outcome=all_busy))
    assert main.main(["compare", a, c, "--json", "--fail-slower", "5%"]) == 1
    said = capsys.readouterr()
    assert "6 cells.\nworkbench: Nothing was judged" in said.err
    data = json.loads(said.out)
    assert (data["disturbed"], data["incomparable"], data["failures"]) == (6, 0, [])
    for pair in data["pairs"]:
        assert (pair["verdict"], pair["ratio"]) == (None, None)
        assert "disturbed" in pair["why_not"]
        assert pair["disturbances"] == ["other programs kept 4.0 of 8 cores busy"]
    assert main.main(["compare", a, c]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_slower_fails_only_where_that_is_asked_for_and_beyond_noise(kept, capsys):
    a = kept("a", a_session("transfers"))
    b = kept("b", a_session("transfers", outcome=times_as_long(1.2)))
    assert main.main(["compare", a, b]) == 0
    assert main.main(["compare", a, b, "--fail-slower", "25%"]) == 0
    assert main.main(["compare", b, a, "--fail-slower", "1%"]) == 0  # faster
    capsys.readouterr()
    assert main.main(["compare", a, b, "--fail-slower", "5%"]) == 1
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == 6
    # What two sessions differ by anyway is allowed as well: on the CPU that is more than 5 %.
    limits = Counter(each.partition("longer in B; ")[2] for each in complaints)
    assert set(limits) == {"5 % is the limit.", "15 % is the limit."}
    assert complaints[0].startswith("workbench: sequential, laplacian_diagonal 3×3, 2048² takes ")
    assert main.main(["compare", a, a, "--fail-slower", "0"]) == 0


def test_noise_is_no_reason_to_fail(kept, capsys):
    def noisy(seed):
        def changed(_, measured):
            drawn = np.random.default_rng(seed)
            samples = tuple(float(each) for each in 1 + drawn.random(20))
            return replace(measured, kernel=Timing(samples, None, "time", rounds=(2,) * 10))

        return changed

    a, b = (kept(f"{n}", a_session("blocks", outcome=noisy(n))) for n in (3, 4))
    assert main.main(["compare", a, b, "--fail-slower", "1%"]) == 0


def test_what_is_missing_fails_as_well_and_is_named(kept, capsys):
    whole = kept("whole", a_session("blocks"))
    cut = kept("cut", a_session("blocks", first=1))
    assert main.main(["compare", whole, cut, "--fail-slower", "5%"]) == 1
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == len(set(complaints)) == 20
    assert all(each.endswith("has no time in B any more: it is only in A.") for each in complaints)
    assert main.main(["compare", cut, whole, "--fail-slower", "5%"]) == 0  # B has more
    wrong_a = kept("wrong", a_session("blocks", outcome=lambda cell, _: wrong(cell)))
    assert main.main(["compare", wrong_a, cut, "--fail-slower", "5%"]) == 1  # nothing is judged


def test_json_is_printed_where_nothing_is_shared_too(kept, capsys):
    a, b = kept("a", a_session("sizes")), kept("b", a_session("transfers"))
    code = main.main(["compare", a, b, "--json"])
    said = capsys.readouterr()
    assert (code, json.loads(said.out)["verdicts"]["same"]) == (1, 0)
    assert "nothing can be compared" in said.err


def test_json_holds_every_pair_and_what_fails(kept, capsys):
    a = kept("a", a_session("sizes", LAPTOP))
    b = kept("b", a_session("sizes", H200, outcome=times_as_long(2)))
    assert main.main(["compare", a, b, "--json", "--fail-slower", "5%"]) == 1
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert said.out.count("\n") == 1
    assert (data["command"], data["verdicts"]) == (
        "compare",
        {"faster": 0, "slower": 15, "same": 0},
    )
    assert data["ratio"] == pytest.approx(0.5)
    assert len(data["failures"]) == 15 == said.err.count("\n")
    assert (data["a"]["machine"]["gpu"], data["b"]["machine"]["gpu"]) == ("", "NVIDIA H200")
    compared = [pair for pair in data["pairs"] if pair["verdict"]]
    assert len(data["pairs"]) == 30
    assert len(compared) == 15
    for pair in compared:
        assert pair["b_median_ms"] == pytest.approx(2 * pair["a_median_ms"], rel=1e-4)
        assert pair["low"] <= pair["ratio"] <= pair["high"] < 1
        assert pair["why_not"] is None
    (reason,) = {pair["why_not"] for pair in data["pairs"]} - {None}
    assert reason == "A: No GPU was found."
