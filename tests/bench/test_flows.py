"""The proving ground of benchmarks/flows.py, in small."""

import flows


def test_both_find_what_flows_without_noise():
    case = flows.make_case(40, 4, flows=10, noise=0.0, seed=1)
    truth = flows.names(case.cells)
    assert len(truth) == 4
    assert flows.by_latopo("pursuit", 6)(case) == truth
    assert flows.by_cell_flower("MAX")(case) == truth


def test_the_table():
    rows = flows.measure([30], [0.5], seeds=1, max_length=6, flows=5)
    table = flows.markdown(rows, 1, 6)
    assert table.startswith("| nodes | planted | noise | latopo, pursuit | latopo, at once | cell-flower, similarity |")
    assert "| 30 | 3 | 0.5 | " in table
