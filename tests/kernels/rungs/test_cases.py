"""The cases hold what they promise: few, all pairs, the same everywhere."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from tests.kernels.cases import LEVELS, all_pairs, cases_of, groups, pairwise_cases


def test_every_two_levels_meet_in_some_case():
    rows = [tuple(getattr(case, name) for name in LEVELS) for case in pairwise_cases()]
    for (f, a), (g, b) in combinations(enumerate(LEVELS.values()), 2):
        met = {(row[f], row[g]) for row in rows}
        assert met == set(product(a, b))


def test_pairs_need_few_cases():
    assert 36 <= len(pairwise_cases()) <= 54


def test_two_factors_alone_give_their_product():
    assert sorted(all_pairs(["ab", "xyz"])) == sorted(product("ab", "xyz"))


def test_the_full_product_has_every_combination_once():
    cases = [case for group in groups() for case in cases_of(*group)]
    assert len(cases) == len(set(cases)) == 5 * 4 * 4 * 6 * 6 * 6


def test_a_case_makes_the_same_job_every_time_and_another_case_another():
    first, second = (pairwise_cases()[k] for k in (0, 1))
    np.testing.assert_array_equal(first.job().picture, first.job().picture)
    np.testing.assert_array_equal(first.job().weights, first.job().weights)
    assert not np.array_equal(first.job().weights, second.job().weights)
