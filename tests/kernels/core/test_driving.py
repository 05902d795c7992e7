from kernels.core.driving import in_place_of, outcome_of


def counting(to):
    yield from range(to)
    return "counted"


def test_what_a_generator_returns_comes_at_once():
    assert outcome_of(counting(3)) == "counted"
    assert outcome_of(counting(0)) == "counted"


def test_steps_are_called_otherwise_and_what_is_returned_stays():
    seen = []

    def whole():
        seen.append((yield from in_place_of(counting(3), "here")))

    assert list(whole()) == ["here"] * 3
    assert seen == ["counted"]
