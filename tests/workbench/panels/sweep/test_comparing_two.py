"""Two sessions compared: the sentence, the rows, and what is copied and saved of them."""

from dataclasses import replace

from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from tests.made_sessions import a_session, wrong
from workbench.panels.sweep.compare_dialog import compared


def twice_as_fast(cell, found):
    samples = tuple(each / 2 for each in found.kernel.samples_ms)
    return replace(found, kernel=Timing(samples, found.kernel.cache))


A, B = a_session("ksizes"), a_session("ksizes", outcome=twice_as_fast)


def test_what_is_twice_as_fast_is_said_to_be():
    sentence, rows, _, pairs = compared(A, B)
    assert f"B is faster in {len(pairs)}, slower in 0" in sentence
    assert "is 2.00" in sentence
    assert {row[3:6:2] for row in rows} == {("2.00×", "faster")}
    low, high = rows[0][4].split(" – ")
    assert float(low) <= 2 <= float(high)
    back, rows, *_ = compared(B, A)
    assert f"slower in {len(pairs)} and" in back
    assert {row[5] for row in rows} == {"slower"}
    low, high = rows[0][4].split(" – ")
    assert float(low) <= 0.5 <= float(high)


def test_what_was_disturbed_is_counted_apart():
    busy = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)

    def opencv_disturbed(cell, found):
        return replace(found, load=busy) if cell.implementation == "opencv" else found

    sentence, rows, tips, pairs = compared(A, a_session("ksizes", outcome=opencv_disturbed))
    starred = sum(pair.cell.implementation == "opencv" for pair in pairs)
    assert f"without a verdict: {starred} cells" in sentence
    assert all(row[5].startswith("No verdict") for row in rows[-starred:])
    assert all("B: * Disturbed" in tip for tip in tips[-starred:])


def test_a_wrong_answer_is_not_compared_and_says_why():
    bad = a_session("ksizes", outcome=lambda cell, found: wrong(cell))
    sentence, rows, _, _ = compared(A, bad)
    assert "faster in 0, slower in 0" in sentence
    assert all(row[5] and row[3] == row[4] == "" for row in rows)
    assert all(row[1] != row[2] == "—" for row in rows), rows[0]
