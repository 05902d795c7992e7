"""The cases hold what they promise: few, all pairs, the same everywhere."""

from itertools import combinations, product

from tests.kernels.cases import LEVELS, cases_of, groups, pairwise_cases


def test_every_two_levels_meet_in_some_case():
    rows = [tuple(getattr(case, name) for name in LEVELS) for case in pairwise_cases()]
    for (f, a), (g, b) in combinations(enumerate(LEVELS.values()), 2):
        met = {(row[f], row[g]) for row in rows}
        assert met == set(product(a, b))


def test_the_full_product_has_every_combination_once():
    cases = [case for group in groups() for case in cases_of(*group)]
    assert len(cases) == len(set(cases)) == 6 * 4 * 4 * 6 * 5 * 5
