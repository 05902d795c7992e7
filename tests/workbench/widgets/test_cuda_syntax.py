"""The parts of CUDA C++: a line that stays is the same line, whatever changes elsewhere."""

from kernels.rungs.own_kernels import starting_points
from workbench.widgets.code_view import spans_of


def test_a_line_that_stays_has_the_same_parts_in_the_same_order():
    ring = next(each.text for each in starting_points() if each.key == "ring")
    first, other = (spans_of(f"{ring}// {note}\n") for note in ("one", "another"))
    changed = [line for line, parts in enumerate(first) if parts != other[line]]
    assert changed == [ring.count("\n")]
