import pytest

from latopo.errors import LatopoError
from latopo.models import SYSTEMS
from latopo.reproduce.experiments import (
    DATASET_TITLES,
    DEVELOPMENT,
    EXPERIMENTS,
    ResultRow,
    default_settings,
    experiment,
    seeds_of,
)
from latopo.reproduce.paper import paper_numbers


def test_tables_are_the_papers():
    assert tuple(EXPERIMENTS) == ("table1", "table2", "sampling", "depth", "cycle-length", "homophily", "graphs")
    for name, item in list(EXPERIMENTS.items())[:-1]:
        assert set(item.datasets) == {number.dataset for number in paper_numbers(name)}
        assert set(item.datasets) <= set(DATASET_TITLES)


def test_rows_without_a_graph_come_first():
    rows = list(experiment("depth").rows())
    assert rows == [ResultRow("dcm", graph, value) for graph in (False, True) for value in (0, 1, 2, 3, 4)]


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


def test_some_sets_outside_the_paper_are_like_those_of_table_2():
    assert experiment("table2").suits("cornell")
    assert not experiment("table1").suits("cornell")


def test_only_large_sets_have_settings_of_their_own():
    decay, sample = {"weight_decay": 5e-4}, {"search": "auto"}
    for dataset in DATASET_TITLES:
        large = dataset in ("pubmed", "cs", "physics")
        assert default_settings("dcm", dataset, "honest") == (decay | sample if large else {})
        assert default_settings("dcm-released", dataset, "honest") == (sample if large else {})
        assert default_settings("dcm", dataset, "paper") == (sample if large else {})
        assert default_settings("topk-dcm", dataset, "paper") == {}
        for other in ("mlp", "gcn", "dgm-e", "dcm-fused"):
            assert default_settings(other, dataset, "paper") == {}
        for ours in ("dcm-plus", "dcm-judged"):
            assert default_settings(ours, dataset, "honest") == (decay | sample if large else {})
        assert default_settings("mlp", dataset, "honest") == (decay if large else {})


def test_only_what_departs_from_a_default_is_named():
    def named(table, value, **settings):
        return experiment(table).unit(ResultRow("dcm", False, value), "texas", "honest", settings, 0, 0).settings

    assert named("depth", 1, gain=5) == {"gain": 5}
    assert named("depth", 2, gain=5) == {"gain": 5, "rounds": 2}
    assert named("table1", None, gain=5) == {"gain": 5}
    assert named("table1", None, epochs=100) == {}
    assert named("table1", None, epochs=99) == {"epochs": 99}


def test_models_by_role():
    assert EXPERIMENTS["table1"].models == EXPERIMENTS["table2"].models
    assert EXPERIMENTS["table1"].models == tuple(
        name for name in SYSTEMS if not name.startswith("topk") and name not in ("alpha-diffusion", "dcm-per-length")
    )
    assert EXPERIMENTS["sampling"].models == ("dcm", "dcm-all", "topk-dcm", "topk-dcm-all")
    assert EXPERIMENTS["depth"].models == ("dcm",)
    assert EXPERIMENTS["cycle-length"].models == ("dcm", "dcm-per-length")
    assert EXPERIMENTS["homophily"].models == ("dcm", "alpha-dgm", "dcm-plus-edges", "dcm-plus")


def test_seeds():
    assert {name: len(seeds_of(name)) for name in DATASET_TITLES} == {
        **dict.fromkeys(DATASET_TITLES, 1), "texas": 3, "wisconsin": 3, "mutag": 3, "bzr": 3, "dhfr": 3,
    }  # fmt: skip
