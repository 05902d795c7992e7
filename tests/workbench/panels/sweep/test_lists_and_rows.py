"""What may stand in a plan's lists, and widgets that break into rows."""

import pytest

from workbench.model.plan_dimensions import DIMENSIONS

OF = {each.field: each for each in DIMENSIONS}


@pytest.mark.parametrize("text", ["1", "1, 8 1024", "1024"])
def test_counts_go_up_to_1024(text):
    assert OF["counts"].values(text) == tuple(map(int, text.replace(",", " ").split()))


@pytest.mark.parametrize("text", ["0", "1025", "-1", "1.5", "many", "99999999999"])
def test_other_counts_are_refused_with_the_limits(text):
    with pytest.raises(ValueError, match="whole numbers from 1 to 1024"):
        OF["counts"].values(text)
