import pytest

from latopo.errors import LatopoError
from latopo.reproduce.experiments import (
    DATASET_TITLES,
    DEVELOPMENT,
    EXPERIMENTS,
    Row,
    default_settings,
    experiment,
    seeds_of,
)
from latopo.reproduce.paper import paper_numbers, paper_tables


def test_tables_are_the_papers():
    assert tuple(EXPERIMENTS) == paper_tables()
    for name, item in EXPERIMENTS.items():
        assert set(item.datasets) == {number.dataset for number in paper_numbers(name)}
        assert set(item.datasets) <= set(DATASET_TITLES)


def test_rows_without_a_graph_come_first():
    rows = list(experiment("depth").rows())
    assert rows == [Row("dcm", graph, value) for graph in (False, True) for value in (0, 1, 2, 3, 4)]


def test_an_mlp_has_no_graph_and_a_gcn_needs_one():
    rows = {(row.model, row.graph) for row in experiment("table1").rows()}
    assert {("mlp", False), ("gcn", True), ("dgm-e", False), ("dgm-e", True)} <= rows
    assert not {("mlp", True), ("gcn", False)} & rows


def test_columns_keep_the_tables_order():
    assert experiment("table1").columns(["cs", "cora"]) == ("cora", "cs")
    with pytest.raises(LatopoError, match="no data set 'Cora'"):
        experiment("table1").columns(["Cora"])


def test_sets_outside_the_paper_come_last_and_only_if_named():
    assert experiment("table2").columns(["cornell", "wine", "texas"]) == ("texas", "cornell", "wine")
    assert not set(DEVELOPMENT) & set(experiment("table2").columns())
    assert "diabetes" not in DEVELOPMENT  # accuracy is what the tables show
    assert "cora" not in DEVELOPMENT


def test_only_large_sets_have_a_fixed_weight_decay():
    for dataset in DATASET_TITLES:
        fixed = {"weight_decay": 5e-4} if dataset in ("pubmed", "cs", "physics") else {}
        assert default_settings("dcm", dataset, False, "honest") == fixed
        assert default_settings("dcm", dataset, False, "paper") == {}


def test_the_variable_is_named_only_away_from_its_default():
    depth = experiment("depth")
    assert depth.settings({"gain": 5}, Row("dcm", False, 1)) == {"gain": 5}
    assert depth.settings({"gain": 5}, Row("dcm", False, 2)) == {"gain": 5, "rounds": 2}
    assert experiment("table1").settings({"gain": 5}, Row("dcm", False)) == {"gain": 5}


def test_seeds():
    assert {name: len(seeds_of(name)) for name in DATASET_TITLES} == {
        **dict.fromkeys(DATASET_TITLES, 1), "texas": 3, "wisconsin": 3,
    }  # fmt: skip
