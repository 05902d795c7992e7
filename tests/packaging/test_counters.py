"""What a profiler counted where aims are missed: which launches, and what is kept of them."""

import pytest

AIM = {"precision": "float32", "aim": 85, "best": "shared", "share": 60.0, "met": False}
SHARED = {"key": "shared", "passes": 1, "block_xy": [16, 16]}
TWO = {"key": "separable", "passes": 2, "block_xy": [32, 8]}
CELL = {
    **{"weights": "gaussian", "pixel_type": "uint8", "channels": 3, "ksize": 5},
    **{"width": 96, "height": 64, "size": "96x64", "rungs": [SHARED, TWO], "aims": [AIM]},
}


def row(script, function, duration, **stalls):
    """A line of Nsight Compute's: every share 50, every count 1,000."""
    return {
        "Kernel Name": f"{function}(const unsigned char *)",
        script.DURATION: str(duration),
        **dict.fromkeys(script.SHARES.values(), "50.0"),
        **dict.fromkeys(script.COUNTS.values(), "1,000"),
        **{f"{script.STALL}{name}{script.PER_ISSUE}": str(n) for name, n in stalls.items()},
    }


def test_what_missed_an_aim_is_launched_once_however_many_it_missed(script):
    met, unknown = {**AIM, "met": True}, {**AIM, "met": None}
    twice = {**CELL, "aims": [AIM, {**AIM, "precision": "reduced"}]}
    cells = [{**CELL, "aims": [met, unknown]}, {**CELL, "aims": []}, twice]
    (found,) = script.missed({"cells": cells})
    assert (found["rung"], found["passes"], found["block_xy"]) == ("shared", 1, [16, 16])
    assert (found["share"], found["aim"], found["size"]) == (60.0, 85, "96x64")


def test_of_several_passes_the_longest_counts_and_no_stall_is_what_was_ready(script):
    one, two = script.missed(
        {"cells": [CELL, {**CELL, "ksize": 7, "aims": [{**AIM, "best": "separable"}]}]}
    )
    rows = [
        row(script, "convolve", 5, barrier=0.5, wait=2.0, selected=1.0, not_selected=9.0),
        row(script, "rows", 3, barrier=4.0),
        row(script, "columns", 7, wait=1.0),
    ]
    first, second = script.counters([one, two], rows)
    assert (first["function"], second["function"]) == ("convolve", "columns")
    assert list(first["stalls"].items()) == [("wait", 2.0), ("barrier", 0.5)]
    assert (first["issue"], first["instructions"]) == (50.0, 1000.0)
    with pytest.raises(SystemExit, match="saw 2 kernels where 3 were launched"):
        script.counters([one, two], rows[:2])


def test_without_the_profiler_it_says_so_and_keeps_what_was_there(script, monkeypatch, capsys):
    monkeypatch.setattr(script.shutil, "which", lambda _: None)
    monkeypatch.setattr(script, "WRITTEN", None)
    assert script.main([]) == 1
    assert "`ncu` is not on the path" in capsys.readouterr().err
