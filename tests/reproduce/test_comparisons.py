import math

import pytest
from scipy import stats

from latopo.reproduce import build_table


def test_comparisons_by_hand(make_record):
    scores = {
        ("dcm-plus", True): [0.9, 0.8, 0.9],
        ("dcm-judged", True): [0.9, 0.9, 0.9],
        ("mlp", False): [0.8, 0.8, 0.7],
        ("gcn", True): [0.6, 0.7, 0.5, 0.1],
        ("dgm-e", True): [0.9],
    }
    records = [
        make_record(score, model=model, graph=graph, fold=fold)
        for (model, graph), values in scores.items()
        for fold, score in enumerate(values)
    ]
    table = build_table("table2", records, ["texas"], protocols=["honest"])
    tests = list(table.tests.itertuples())
    found = {test.baseline: test for test in tests if test.graph == "with" and test.model == "dcm-plus"}
    assert list(found) == ["mlp", "gcn", "dgm-e", "dgm-m"]

    # Against the MLP (its runs have no graph): d = 10, 0, 20; s = 10, ratio 10/80.
    t_mlp = 10 / math.sqrt((1 / 3 + 1 / 8) * 100)
    # Against the GCN, on the three common folds: d = 30, 10, 40; s² = (100 + 2500 + 1600) / 9 / 2 = 700/3.
    t_gcn = (80 / 3) / math.sqrt((1 / 3 + 1 / 8) * 700 / 3)
    p_mlp, p_gcn = (2 * stats.t.sf(t, 2) for t in (t_mlp, t_gcn))
    assert found["mlp"].p == pytest.approx(p_mlp)
    assert found["gcn"].p == pytest.approx(p_gcn)
    assert found["gcn"].folds == 3
    assert p_gcn < p_mlp
    assert found["gcn"].p_holm == pytest.approx(4 * p_gcn)  # four baselines, two of them not yet testable
    assert found["mlp"].p_holm == pytest.approx(min(1, max(4 * p_gcn, 3 * p_mlp)))
    assert found["dgm-e"].difference == pytest.approx(0.0)
    assert found["dgm-e"].p_holm is None
    assert found["dgm-m"].folds == 0

    judged = [test for test in tests if test.model == "dcm-judged"]
    assert [(test.baseline, test.graph) for test in judged] == [(name, "with") for name in found]
    assert [test.folds for test in judged] == [3, 3, 1, 0]
    assert judged[1].difference == pytest.approx(30.0)

    without = [test for test in tests if test.graph == "without" and test.model == "dcm-plus"]
    assert [test.baseline for test in without] == ["mlp", "dgm-e", "dgm-m"]
    assert all(test.difference is None for test in without)
