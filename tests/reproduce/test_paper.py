import pytest

from latopo.errors import LatopoError
from latopo.reproduce.experiments import EXPERIMENTS
from latopo.reproduce.paper import (
    contradictions,
    figure_points,
    paper_number,
    paper_numbers,
    remarks,
)

NINE = ("cora", "citeseer", "pubmed", "physics", "cs", "texas", "wisconsin", "squirrel", "chameleon")

# Literal rows of the paper: (table, graph, model, value), then the means and deviations in the order of the columns.
ROWS = [
    ("table1", False, "mlp", None, [58.92, 59.48, 85.75, 94.91, 87.80], [3.28, 2.14, 1.02, 0.28, 1.54]),
    ("table1", False, "dgm-e", None, [62.48, 62.47, 83.89, 94.03, 76.05], [3.24, 3.20, 0.70, 0.45, 6.89]),
    ("table1", False, "dgm-m", None, [70.85, 68.86, 87.43, 95.25, 92.22], [4.30, 2.97, 0.40, 0.36, 1.09]),
    ("table1", False, "dcm", None, [78.80, 76.47, 87.38, 96.45, 95.40], [1.84, 2.45, 0.91, 0.12, 0.40]),
    ("table1", True, "gcn", None, [83.11, 69.97, 85.75, 95.51, 87.28], [2.29, 2.00, 1.01, 0.34, 1.54]),
    ("table1", True, "dgm-m", None, [86.63, 75.42, 87.82, 96.21, 92.86], [3.25, 2.39, 0.59, 0.44, 0.96]),
    ("table1", True, "dcm", None, [85.78, 78.72, 88.49, 96.99, 95.79], [1.71, 2.84, 0.62, 0.44, 0.48]),
    ("table1", True, "dcm-all", None, [85.97, 78.60, 88.61, 96.69, 95.78], [1.86, 3.16, 0.69, 0.46, 0.49]),
    ("table2", False, "mlp", None, [77.78, 85.33, 30.44, 40.35], [10.24, 4.99, 2.55, 3.37]),
    ("table2", False, "dgm-e", None, [80.00, 88.00, 34.35, 48.90], [8.31, 5.65, 2.34, 3.61]),
    ("table2", False, "dcm", None, [85.71, 87.49, 35.55, 53.63], [7.87, 5.94, 2.24, 3.07]),
    ("table2", False, "dcm-all", None, [84.96, 86.72, 35.25, 53.67], [10.24, 6.02, 2.22, 3.19]),
    ("table2", True, "gcn", None, [41.66, 47.20, 24.19, 32.56], [11.72, 9.76, 2.56, 3.53]),
    ("table2", True, "dgm-e", None, [60.56, 70.67, 29.87, 44.19], [8.03, 10.49, 2.46, 3.85]),
    ("table2", True, "dcm-all", None, [84.96, 85.36, 35.13, 53.76], [5.60, 5.05, 2.27, 3.72]),
    (
        "sampling", False, "topk-dcm", None,
        [76.16, 73.21, 87.13, 96.51, 95.25, 84.21, 84.10, 33.90, 52.88],
        [3.71, 2.73, 1.22, 0.49, 0.08, 8.21, 6.60, 1.38, 4.24],
    ),
    (
        "sampling", True, "topk-dcm-all", None,
        [77.55, 75.66, 86.64, 96.21, 94.79, 84.66, 82.10, 33.52, 51.61],
        [3.18, 2.67, 0.74, 0.34, 0.37, 9.33, 6.64, 1.08, 4.07],
    ),
    (
        "depth", False, "dcm", 2,
        [76.90, 75.86, 87.77, 97.10, 94.81, 87.89, 84.80, 33.30, 52.22],
        [2.81, 2.35, 0.53, 0.15, 0.40, 10.24, 4.81, 1.67, 4.22],
    ),
    (
        "depth", True, "dcm", 4,
        [86.00, 76.62, 88.62, 96.86, 93.66, 74.76, 76.13, 33.45, 43.65],
        [2.21, 2.86, 0.76, 0.19, 0.51, 12.01, 7.43, 2.59, 3.07],
    ),
    (
        "cycle-length", False, "dcm", 3,
        [78.38, 75.56, 87.44, 96.32, 95.41, 85.53, 84.80, 35.15, 53.41],
        [2.50, 1.45, 0.91, 0.28, 0.60, 9.85, 6.29, 1.76, 3.30],
    ),
    (
        "cycle-length", True, "dcm", 5,
        [85.54, 78.32, 85.75, 97.07, 95.68, 84.21, 81.71, 33.88, 52.92],
        [2.43, 1.47, 1.02, 0.40, 0.56, 9.15, 6.33, 1.49, 3.30],
    ),
    ("homophily", False, "dcm", None, [0.93, 0.96, 0.84, 0.98, 0.99, 0.99, 0.99, 0.3, 0.64], [None] * 9),
    ("homophily", True, "dcm", None, [0.89, 0.78, 0.82, 0.96, 0.92, 0.80, 0.70, 0.29, 0.62], [None] * 9),
    ("homophily", True, "input", None, [0.81, 0.74, 0.80, 0.93, 0.80, 0.11, 0.21, 0.22, 0.23], [None] * 9),
]  # fmt: skip


@pytest.mark.parametrize(("table", "graph", "model", "value", "means", "stds"), ROWS)
def test_rows_are_as_printed(table, graph, model, value, means, stds):
    datasets = {"table1": NINE[:5], "table2": NINE[5:]}.get(table, NINE)
    numbers = [paper_number(table, dataset, graph, model, value) for dataset in datasets]
    assert [number.mean for number in numbers] == means
    assert [number.std for number in numbers] == stds


def test_digits_are_kept_as_printed():
    printed = {paper_number("table2", "texas", False, "dgm-e").printed}
    printed |= {paper_number("homophily", name, False, "dcm").printed for name in ("squirrel", "pubmed")}
    assert printed == {"80.00 ± 8.31", "0.3", "0.84"}


def test_number_of_cells():
    counts = {table: len(paper_numbers(table)) for table in EXPERIMENTS}
    expected = {
        "table1": 50,
        "table2": 40,
        "sampling": 72,
        "depth": 72,
        "cycle-length": 54,
        "homophily": 27,
        "graphs": 0,
    }
    assert counts == expected
    assert len(paper_numbers()) == sum(expected.values())


@pytest.mark.parametrize(
    ("table", "means", "stds"),
    [
        ("table1", 4226.24, 82.34),
        ("table2", 2347.24, 204.17),
        ("sampling", 5534.39, 219.40),
        ("depth", 5476.38, 219.16),
        ("cycle-length", 4173.42, 161.81),
    ],
)
def test_sums_over_a_table(table, means, stds):
    # Sums of all printed cells: a wrong digit in a row that is not spelled out above changes them.
    assert sum(number.mean for number in paper_numbers(table)) == pytest.approx(means, abs=1e-6)
    assert sum(number.std for number in paper_numbers(table)) == pytest.approx(stds, abs=1e-6)


def test_no_cell_is_printed_twice_in_a_table():
    places = {(n.table, n.dataset, n.graph, n.model, n.value) for n in paper_numbers()}
    assert len(places) == len(paper_numbers())


def test_every_number_has_a_row_in_our_tables():
    for number in paper_numbers():
        item = EXPERIMENTS[number.table]
        assert number.dataset in item.datasets
        assert number.model in (*item.models, "input")
        assert (number.value is None) == (item.variable is None)
        assert number.value is None or number.value in item.values


def test_missing_number_is_none_and_missing_table_an_error():
    assert paper_number("table1", "cora", False, "dcm-plus") is None
    assert paper_number("table1", "cora", False, "gcn") is None
    with pytest.raises(LatopoError, match="no table 'table3'"):
        paper_number("table3", "cora", False, "dcm")


def test_contradictions_keep_both_values():
    rounding, real = contradictions()
    assert [(n.table, n.printed) for n in rounding] == [("table1", "96.22 ± 0.27"), ("sampling", "96.2 ± 0.27")]
    assert [(n.table, n.printed) for n in real] == [("table1", "95.78 ± 0.49"), ("sampling", "94.81 ± 0.49")]
    assert {(n.dataset, n.graph, n.model) for n in real} == {("cs", True, "dcm-all")}


def test_figures():
    assert [point.epoch for point in figure_points("wisconsin")] == [0, 10, 50, 100, 150, 200]
    assert [point.polygon_percent for point in figure_points("wisconsin")] == [100, 75, 51, 55, 36, 18]
    assert [point.homophily for point in figure_points("texas")] == [0.11, 0.4, 0.99]
    with pytest.raises(LatopoError, match="texas and wisconsin, not 'cora'"):
        figure_points("cora")


def test_remarks_speak_about_true_facts():
    same = [paper_number("table2", "chameleon", False, model).printed for model in ("dgm-e", "dgm-m")]
    assert same == ["48.90 ± 3.61"] * 2
    assert any("48.90 ± 3.61" in remark for remark in remarks("table2"))
    slip = paper_number("cycle-length", "pubmed", True, "dcm", 5)
    assert slip.printed == paper_number("table1", "pubmed", False, "mlp").printed
    assert figure_points("wisconsin")[0].homophily != paper_number("homophily", "wisconsin", True, "input").mean
