import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from latopo.errors import LatopoError
from latopo.reproduce.statistics import corrected_paired_t, fold_means, holm, summarize


def test_seeds_are_averaged_within_a_fold_first(make_record):
    # Fold 0 has three seeds: their mean counts once, not three times.
    scores = {(0, 0): 0.5, (0, 1): 0.6, (0, 2): 0.7, (1, 0): 0.8}
    records = [make_record(score, fold=fold, seed=seed) for (fold, seed), score in scores.items()]
    summary = summarize(records[::-1], scale=100)
    assert summary.folds == pytest.approx({0: 60.0, 1: 80.0})
    assert list(summary.folds) == [0, 1]
    assert summary.mean == pytest.approx(70.0)
    assert summary.std == pytest.approx(math.sqrt(200.0))  # n − 1: (10² + 10²) / 1
    assert summary.seeds == (1, 3)
    assert fold_means(records) == pytest.approx({0: 0.6, 1: 0.8})


def test_summary_of_one_fold_and_of_none(make_record):
    assert summarize([make_record(0.5)]).std is None
    assert summarize([]) is None
    assert summarize([make_record()], "homophily") is None


def test_records_without_a_value_are_left_out(make_record):
    records = [make_record(fold=0, homophily=0.75), make_record(fold=1)]
    assert summarize(records, "homophily").folds == {0: 0.75}


def test_corrected_t_by_hand():
    # d = 1, 2, 3, 6: mean 3, s² = (4 + 1 + 0 + 9) / 3 = 14/3; variance (1/4 + 1/8)·14/3 = 7/4.
    ours, baseline = {0: 2.0, 1: 4.0, 2: 6.0, 3: 7.0}, {0: 1.0, 1: 2.0, 2: 3.0, 3: 1.0}
    test = corrected_paired_t(ours, baseline, 1 / 8)
    assert test.difference == 3.0
    assert test.statistic == pytest.approx(3 / math.sqrt(7 / 4))
    assert test.p_value == pytest.approx(2 * stats.t.sf(3 / math.sqrt(7 / 4), 3))
    assert test.num_folds == 4


def test_textbook_p_value():
    # Two degrees of freedom have the closed form p = 1 − t / sqrt(t² + 2).
    test = corrected_paired_t({0: 1.0, 1: 2.0, 2: 3.0}, {0: 0.0, 1: 0.0, 2: 0.0}, 1 / 9)
    assert test.statistic == pytest.approx(2 / math.sqrt(1 / 3 + 1 / 9)) == 3.0
    assert test.p_value == pytest.approx(1 - 3 / math.sqrt(11))


scores = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=3, max_size=10)


@settings(deadline=None)
@given(pairs=scores)
def test_limits_and_symmetry(pairs):
    ours, baseline = ({fold: pair[side] for fold, pair in enumerate(pairs)} for side in (0, 1))
    test, mirrored = corrected_paired_t(ours, baseline, 1 / 8), corrected_paired_t(baseline, ours, 1 / 8)
    assert test.difference == pytest.approx(-mirrored.difference, abs=1e-9)
    assert test.p_value == pytest.approx(mirrored.p_value)
    differences = np.subtract(*zip(*pairs, strict=True))
    if differences.std() > 1e-6:
        # Without overlap of the training sets the correction vanishes; with it, the test is stricter.
        plain = stats.ttest_rel(*zip(*pairs, strict=True))
        uncorrected = corrected_paired_t(ours, baseline, 1e-15)
        assert uncorrected.statistic == pytest.approx(plain.statistic, rel=1e-6, abs=1e-9)
        assert uncorrected.p_value == pytest.approx(plain.pvalue, rel=1e-6, abs=1e-12)
        assert test.p_value >= plain.pvalue - 1e-12


def test_only_common_folds_are_paired():
    test = corrected_paired_t({0: 1.0, 1: 2.0, 5: 90.0}, {0: 0.0, 1: 0.0, 7: 50.0}, 1 / 8)
    assert (test.num_folds, test.difference) == (2, 1.5)


def test_too_few_folds_give_no_p():
    one = corrected_paired_t({0: 3.0}, {0: 1.0, 1: 1.0}, 1 / 8)
    assert (one.difference, one.statistic, one.p_value, one.num_folds) == (2.0, None, None, 1)
    none = corrected_paired_t({0: 3.0}, {1: 1.0}, 1 / 8)
    assert (none.difference, none.p_value, none.num_folds) == (None, None, 0)


def test_differences_that_do_not_vary():
    same = corrected_paired_t({0: 80.0, 1: 70.0}, {0: 80.0, 1: 70.0}, 1 / 8)
    assert (same.difference, same.statistic, same.p_value) == (0.0, 0.0, 1.0)
    # 0.1 + 0.2 and 0.3 differ by rounding alone: no evidence of anything.
    rounded = corrected_paired_t({0: 0.1 + 0.2, 1: 0.7}, {0: 0.3, 1: 0.7}, 1 / 8)
    assert rounded.p_value == 1.0
    constant = corrected_paired_t({0: 1.1, 1: 2.2}, {0: 2.1, 1: 3.2}, 1 / 8)
    assert constant.difference == pytest.approx(-1.0)
    assert constant.statistic is constant.p_value is None  # two equal differences are no proof


def test_bad_ratio_is_refused():
    with pytest.raises(LatopoError, match="test_train_ratio is 0"):
        corrected_paired_t({0: 1.0}, {0: 1.0}, 0)


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 = 0.02, 0.03, 0.06, 0.04; the last is raised to 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([None, 0.02, None]) == [None, pytest.approx(0.06), None]


@settings(deadline=None)
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=6), level=st.floats(0.001, 0.999))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values, level):
    order = np.argsort(p_values, kind="stable")
    rejected = set()
    for rank, place in enumerate(order):
        if (len(p_values) - rank) * p_values[place] > level:
            break
        rejected.add(place)
    assert {place for place, p_value in enumerate(holm(p_values)) if p_value <= level} == rejected
