"""Memory kept by its size: exact, the same again, and never much more than one run needs."""

from kernels.cuda_child.guarded_run import KeptMemory


def made():
    """Memory whose makings and drops are written down."""
    log = []
    kept = KeptMemory(lambda size: log.append(size) or bytearray(size), lambda: log.append("drop"))
    return kept, log


def test_a_crop_a_strip_and_the_whole_are_made_once():
    kept, log = made()
    first = [kept.get(size) for size in (10, 20, 300)]
    assert [len(each) for each in first] == [10, 20, 300]
    assert all(kept.get(len(each)) is each for each in (*first, *first))
    assert log == [10, 20, 300]


def test_what_is_larger_goes_and_so_does_the_oldest():
    kept, log = made()
    for size in (10, 20, 300, 25):
        kept.get(size)
    assert log == [10, 20, 300, "drop", 25]
    kept.get(200)  # 10 goes, the oldest of three
    assert log[-2:] == ["drop", 200]
    kept.get(20)
    assert log[-1] == 200  # 20 is still there
    kept.get(10)
    assert log[-2:] == ["drop", 10]
