"""What a line of the ladder says for who cannot see its bar."""

from tests.made_up import IMPLEMENTATIONS
from workbench.model.rung_times import Place


def test_what_cannot_run_says_why_and_what_can_that_it_is_not_measured():
    shared = IMPLEMENTATIONS["shared"]
    refused = Place(shared, "There is no GPU.", None, None, None)
    assert refused.in_words == "Shared-memory tile: There is no GPU."
    able = Place(shared, None, None, None, None)
    assert able.in_words == "Shared-memory tile: not measured yet"
