import pytest

from latopo.errors import LatopoError
from latopo.reproduce import describe_cost, plan_units


def test_size_of_the_main_table():
    # Thirteen models: nine without graph (four need one) and twelve with it (no MLP), ten folds, two protocols. Five
    # that are fused late: three without and four with graph, one protocol.
    units = plan_units("table2")
    per_dataset = {name: sum(unit.dataset == name for unit in units) for name in ("texas", "wisconsin", "squirrel")}
    assert per_dataset == {"texas": 49 * 10 * 3, "wisconsin": 49 * 10 * 3, "squirrel": 49 * 10}
    assert len({unit.key for unit in units}) == len(units)
    assert not any(unit.model in ("gcn", "gcn-plus", "gcn-judged", "dcm-judged") and not unit.graph for unit in units)
    assert not any(unit.model == "mlp" and unit.graph for unit in units)


def test_order_is_data_set_protocol_row_fold_seed():
    units = plan_units("table2", ["wisconsin", "texas"], ["dcm", "mlp"], folds=[0, 1], seeds=[0, 1])
    assert [(u.dataset, u.protocol, u.graph, u.model, u.fold, u.seed) for u in units] == [
        (dataset, protocol, graph, model, fold, seed)
        for dataset in ("texas", "wisconsin")
        for protocol in ("honest", "paper")
        for graph, model in ((False, "mlp"), (False, "dcm"), (True, "dcm"))
        for fold in (0, 1)
        for seed in (0, 1)
    ]


def test_settings_come_from_the_caller_the_data_set_and_the_variable():
    chosen = {"folds": [0], "seeds": [0], "protocols": ["honest"], "settings": {"gain": 5.0}}
    units = plan_units("cycle-length", ["texas", "pubmed"], ["dcm"], **chosen)
    base = {"gain": 5.0}
    assert [unit.settings for unit in units if not unit.graph and unit.dataset == "texas"] == [
        {**base, "max_length": 3}, base, {**base, "max_length": 5},
    ]  # fmt: skip
    assert {unit.settings["weight_decay"] for unit in units if unit.dataset == "pubmed"} == {5e-4}


def test_settings_that_a_model_does_not_have_are_refused_at_once():
    with pytest.raises(LatopoError, match=r"model mlp: rounds: there is no such setting"):
        plan_units("table2", ["texas"], ["dcm", "mlp"], settings={"rounds": 2})


def test_values_choose_rows():
    units = plan_units("depth", ["texas"], folds=[0], seeds=[0], protocols=["paper"], values=[0, 1])
    assert [(unit.graph, unit.settings) for unit in units] == [
        (False, {"rounds": 0}), (False, {}), (True, {"rounds": 0}), (True, {}),
    ]  # fmt: skip


def test_tables_share_runs():
    arguments = {"datasets": ["texas"], "models": ["dcm"], "folds": [0], "seeds": [0], "protocols": ["honest"]}
    units = {name: {unit.key for unit in plan_units(name, **arguments)} for name in ("table2", "depth", "homophily")}
    assert units["table2"] == units["homophily"]
    assert units["table2"] < units["depth"]
    together = plan_units("all", **arguments)
    # One default run, four depths and two cycle lengths more, with and without graph.
    assert len(together) == 2 * (1 + 4 + 2)
    assert len({unit.key for unit in together}) == len(together)


def test_all_takes_from_each_table_what_it_knows():
    units = plan_units("all", ["cora"], ["topk-dcm", "mlp"], folds=[0], protocols=["honest"])
    assert [(unit.model, unit.graph) for unit in units] == [("mlp", False), ("topk-dcm", False), ("topk-dcm", True)]
    with pytest.raises(LatopoError, match="no data set 'coral'"):
        plan_units("all", ["coral"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": "table3"}, "no table 'table3'; choose from table1"),
        (
            {"table": "table1", "datasets": ["texas"]},
            "table1: no data set 'texas'; choose from cora",
        ),
        ({"table": "depth", "models": ["mlp"]}, "depth: no model 'mlp'; choose from dcm"),
        (
            {"table": "depth", "values": [0, 7]},
            r"depth: the values of this table's variable are 0, 1, 2, 3, 4, got \[0, 7\]",
        ),
        ({"table": "all", "values": [0]}, "all: the values of this table's variable are none, got"),
        ({"table": "table1", "folds": [10]}, "no fold 10; choose from 0, 1"),
        ({"table": "table1", "protocols": ["fair"]}, "no protocol 'fair'; choose from honest, paper"),
    ],
)
def test_bad_choices_are_named(arguments, message):
    with pytest.raises(LatopoError, match=message):
        plan_units(**arguments)


def test_cost_uses_the_most_similar_runs(make_record):
    deep = {"rounds": 4}
    records = [
        make_record(fold=0, seconds=10.0),
        make_record(fold=1, seconds=20.0),
        make_record(fold=0, seconds=90.0, settings=deep),
        make_record(fold=0, seconds=40.0, graph=True),
    ]

    def cost(**fields):
        return describe_cost([make_record(**fields).unit], records)

    assert cost(fold=5) == "1 run: about 15 s"
    assert cost(fold=5, settings=deep) == "1 run: about 2 min"
    assert cost(fold=5, settings={"rounds": 3}) == "1 run: about 40 s"  # mean of 10, 20, 90
    assert cost(fold=5, protocol="paper") == "1 run: about 40 s"  # mean of all four
    assert cost(fold=5, dataset="cora") == "1 run of unknown cost"
    assert cost(fold=5, settings={"epochs": 200}) == "1 run: about 80 s"  # Texas has 100 by default


def test_unknown_costs_are_probed_once_per_kind(make_record):
    units = [make_record(fold=fold, dataset=name).unit for name in ("texas", "cora", "cs") for fold in (0, 1)]
    asked = []

    def probe(unit):
        asked.append((unit.dataset, unit.fold))
        return 30.0 if unit.dataset == "cora" else None

    cost = describe_cost(units, [make_record(dataset="texas", seconds=5.0)], probe)
    assert asked == [("cora", 0), ("cs", 0)]
    assert cost == "6 runs: about 70 s for 4 of them, 2 of unknown cost"


def test_a_table_of_numbers_has_no_rows_with_graph():
    units = plan_units("table2", ["wine", "cornell"], ["mlp", "gcn", "dcm"], folds=[0], protocols=["honest"])
    assert [(unit.dataset, unit.model, unit.graph) for unit in units] == [
        ("cornell", "mlp", False), ("cornell", "dcm", False), ("cornell", "gcn", True), ("cornell", "dcm", True),
        ("wine", "mlp", False), ("wine", "dcm", False),
    ]  # fmt: skip


def test_cost_in_words(make_record):
    done = make_record(seconds=18_000.0)
    units = [make_record(fold=fold).unit for fold in (1, 2)]
    assert describe_cost([], []) == "nothing left to run"
    assert describe_cost(units, []) == "2 runs of unknown cost"
    assert describe_cost(units, [done]) == "2 runs: about 10 h 0 min"
    assert describe_cost(units, [done], jobs=2) == "2 runs: about 5 h 0 min"


def test_a_system_without_epochs_to_choose_has_no_runs_under_paper():
    units = plan_units("table2", ["texas"], ["mlp", "dcm-fused"], folds=[0], seeds=[0])
    assert [(unit.model, unit.graph, unit.protocol) for unit in units] == [
        ("mlp", False, "honest"),
        ("dcm-fused", False, "honest"),
        ("dcm-fused", True, "honest"),
        ("mlp", False, "paper"),
    ]
