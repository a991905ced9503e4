import pytest

from latopo.errors import LatopoError
from latopo.reproduce import Store, estimate_cost, plan_units, unfinished
from latopo.reproduce.plan import CostEstimate


def test_size_of_the_main_table():
    # Twelve models: eight without graph (four need one) and eleven with it (no MLP), ten folds, two protocols.
    units = plan_units("table2")
    per_dataset = {name: sum(unit.dataset == name for unit in units) for name in ("texas", "wisconsin", "squirrel")}
    assert per_dataset == {"texas": 19 * 10 * 2 * 3, "wisconsin": 19 * 10 * 2 * 3, "squirrel": 19 * 10 * 2}
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


def test_settings_come_from_the_caller_and_the_variable():
    def settings_for(model, dataset, graph, protocol):
        return {"gain": 5.0, "tag": f"{model} {dataset} {graph} {protocol}"}

    units = plan_units("cycle-length", ["texas"], folds=[0], seeds=[0], protocols=["paper"], settings_for=settings_for)
    without = [unit.settings for unit in units if not unit.graph]
    base = {"gain": 5.0, "tag": "dcm texas False paper"}
    assert without == [{**base, "max_length": 3}, base, {**base, "max_length": 5}]


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
    with pytest.raises(LatopoError, match="no data set 'coral' in this table"):
        plan_units("all", ["coral"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": "table3"}, "no table 'table3'; expected one of table1"),
        (
            {"table": "table1", "datasets": ["texas"]},
            "table1: no data set 'texas' in this table; expected some of cora",
        ),
        ({"table": "depth", "models": ["mlp"]}, "depth: no model 'mlp' in this table; expected some of dcm"),
        (
            {"table": "depth", "values": [0, 7]},
            r"depth: the values of this table's variable are 0, 1, 2, 3, 4, got \[0, 7\]",
        ),
        ({"table": "all", "values": [0]}, "all: the values of this table's variable are none, got"),
        ({"table": "table1", "folds": [10]}, "no fold 10; expected folds from 0 to 9"),
        ({"table": "table1", "protocols": ["fair"]}, "no protocol 'fair'; expected one of honest, paper"),
    ],
)
def test_bad_choices_are_named(arguments, message):
    with pytest.raises(LatopoError, match=message):
        plan_units(**arguments)


def test_unfinished_depends_on_settings_and_version(tmp_path, make_record):
    store = Store(tmp_path)
    choice = {"datasets": ["texas"], "models": ["mlp"], "folds": [0], "seeds": [0], "protocols": ["honest"]}
    store.append(make_record(model="mlp", version="1"))
    assert unfinished(plan_units("table2", **choice, version="1"), store) == []
    assert len(unfinished(plan_units("table2", **choice, version="2"), store)) == 1
    changed = plan_units("table2", **choice, version="1", settings_for=lambda *_: {"epochs": 5})
    assert unfinished(changed, store) == changed


def test_cost_uses_the_most_similar_runs(make_record):
    deep = {"rounds": 4}
    records = [
        make_record(fold=0, seconds=10.0),
        make_record(fold=1, seconds=20.0),
        make_record(fold=0, seconds=90.0, settings=deep),
        make_record(fold=0, seconds=40.0, graph=True),
    ]

    def cost(**fields):
        return estimate_cost([make_record(**fields).unit], records)

    assert cost(fold=5).seconds == pytest.approx(15.0)
    assert cost(fold=5, settings=deep).seconds == pytest.approx(90.0)
    assert cost(fold=5, settings={"rounds": 3}).seconds == pytest.approx(40.0)  # mean of 10, 20, 90
    assert cost(fold=5, protocol="paper").seconds == pytest.approx(40.0)  # mean of all four
    assert cost(fold=5, dataset="cora") == CostEstimate(0.0, 0, 1)
    assert cost(fold=5, settings={"epochs": 400}).seconds == pytest.approx(4 * 40.0)  # Texas has 100 by default


def test_unknown_costs_are_probed_once_per_kind(make_record):
    units = [make_record(fold=fold, dataset=name).unit for name in ("texas", "cora", "cs") for fold in (0, 1)]
    asked = []

    def probe(unit):
        asked.append((unit.dataset, unit.fold))
        return 30.0 if unit.dataset == "cora" else None

    cost = estimate_cost(units, [make_record(dataset="texas", seconds=5.0)], probe)
    assert asked == [("cora", 0), ("cs", 0)]
    assert cost == CostEstimate(5.0 + 5.0 + 30.0 + 30.0, 4, 2)


def test_a_table_of_numbers_has_no_rows_with_graph():
    units = plan_units("table2", ["wine", "cornell"], ["mlp", "gcn", "dcm"], folds=[0], protocols=["honest"])
    assert [(unit.dataset, unit.model, unit.graph) for unit in units] == [
        ("cornell", "mlp", False), ("cornell", "dcm", False), ("cornell", "gcn", True), ("cornell", "dcm", True),
        ("wine", "mlp", False), ("wine", "dcm", False),
    ]  # fmt: skip


def test_cost_in_words():
    assert CostEstimate(0.0, 0, 0).text() == "nothing left to run"
    assert CostEstimate(0.0, 0, 3).text() == "3 runs of unknown cost"
    assert CostEstimate(60.0, 2, 0).text() == "2 runs: about 60 s"
    assert CostEstimate(36_000.0, 2, 1).text(jobs=2) == "3 runs: about 5 h 0 min for 2 of them, 1 of unknown cost"
