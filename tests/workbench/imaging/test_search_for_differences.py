"""The search for pixels that differ tells how far it is, now and then and at its end."""

from itertools import count

import pytest

from kernels import filters
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import noise
from workbench.imaging import mismatch
from workbench.imaging.display import to_display
from workbench.imaging.mismatch import Mismatch, searching


@pytest.fixture(scope="module")
def found():
    samples = noise(130, 130, 1)
    samples.flags.writeable = False
    job = Job(samples, filters.get("gaussian").weights(3), "mirror")
    answer = to_pixel_type(filtered(job), job.picture.dtype)
    answer[0, 0] ^= 64
    return lambda: list(searching(job, answer, to_display(answer), Tolerance(9)))


def test_in_a_short_time_only_the_end_is_told(found, monkeypatch):
    monkeypatch.setattr(mismatch, "monotonic", lambda: 0.0)
    *before, last = found()
    assert before == [None] * len(before)
    assert len(before) > 1
    assert (last.differing, last.wrong, last.scope) == (1, 1, "all compared")


def test_in_a_long_time_shares_are_told_up_to_the_whole(found, monkeypatch):
    clock = count(0.0, 60.0)
    monkeypatch.setattr(mismatch, "monotonic", lambda: next(clock))
    told = [each for each in found() if each is not None]
    assert all(isinstance(each, Mismatch) for each in told)
    shares = [each.compared * 100 // (130 * 130) for each in told]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 50
    assert [each.scope for each in told] == [
        *(f"{share} % compared" for share in shares[:-1]),
        "all compared",
    ]
    assert len(told) > 2
