import math

import pytest
from scipy import stats

from latopo.errors import LatopoError
from latopo.reproduce import build_table
from latopo.reproduce.experiments import EXPERIMENTS, Row


def test_cell_has_ours_the_papers_and_the_difference(make_record):
    records = [make_record(score, fold=fold) for fold, score in enumerate([0.75, 0.85])]
    table = build_table("table2", records, ["texas"])
    cell = table.cells[Row("dcm", False)]["texas"]
    assert cell.ours["honest"].mean == pytest.approx(80.0)
    assert cell.ours["honest"].std == pytest.approx(math.sqrt(50))
    assert cell.ours["paper"] is None
    assert cell.paper.mean == 85.71
    assert cell.difference("honest") == pytest.approx(-5.71)
    assert cell.difference("paper") is None
    assert (cell.expected_folds, cell.expected_seeds) == (10, 3)
    assert table.cells[Row("dcm", True)]["texas"].ours["honest"] is None


def test_protocols_graph_and_data_sets_are_kept_apart(make_record):
    records = [
        make_record(0.1, protocol="honest"),
        make_record(0.2, protocol="paper"),
        make_record(0.3, graph=True),
        make_record(0.4, dataset="wisconsin"),
        make_record(0.5, model="dcm-all"),
        make_record(0.6, dataset="cora"),
        make_record(0.7, model="topk-dcm"),
    ]
    table = build_table("table2", records)
    found = {
        (row.model, row.graph, dataset, protocol): round(ours.mean)
        for row, cells in table.cells.items()
        for dataset, cell in cells.items()
        for protocol, ours in cell.ours.items()
        if ours is not None
    }
    assert found == {
        ("dcm", False, "texas", "honest"): 10,
        ("dcm", False, "texas", "paper"): 20,
        ("dcm", True, "texas", "honest"): 30,
        ("dcm", False, "wisconsin", "honest"): 40,
        ("dcm-all", False, "texas", "honest"): 50,
    }


def test_ablations_are_told_apart_by_their_setting(make_record):
    records = [
        make_record(0.1),
        make_record(0.2, settings={"rounds": 2}),
        make_record(0.3, settings={"max_length": 3}),
        make_record(0.4, settings={"max_length": 5, "rounds": 2}),
    ]

    def means(name):
        cells = build_table(name, records, ["texas"]).cells.items()
        texas = {row.value: cell["texas"].ours["honest"] for row, cell in cells if row.model == "dcm" and not row.graph}
        return {value: ours and round(ours.mean) for value, ours in texas.items()}

    assert means("table2") == {None: 10}
    assert means("depth") == {0: None, 1: 10, 2: 20, 3: None, 4: None}
    assert means("cycle-length") == {3: 30, 4: 10, 5: None}


def test_homophily_table_shows_homophily_as_a_share(make_record):
    records = [make_record(0.5, fold=0, homophily=0.9), make_record(0.5, fold=1, homophily=0.8)]
    table = build_table("homophily", records, ["texas"])
    cell = table.cells[Row("dcm", False)]["texas"]
    assert cell.ours["honest"].mean == pytest.approx(0.85)
    assert cell.difference("honest") == pytest.approx(0.85 - 0.99)
    assert table.cells[Row("input", True)]["texas"].paper.mean == 0.11
    assert table.comparisons == ()
    assert "latent graph at the reported epoch" in table.caption


def test_settings_are_never_mixed_in_a_cell(make_record):
    trial = [make_record(0.9, fold=fold, settings={"epochs": 5}) for fold in range(2)]
    real = [make_record(0.5, fold=fold) for fold in range(3)]
    table = build_table("table2", [*trial, *real], ["texas"])
    assert table.cells[Row("dcm", False)]["texas"].ours["honest"].mean == pytest.approx(50.0)
    assert "texas, without graph, dcm, honest: 2 runs of other settings or versions left out" in table.notes

    chosen = build_table("table2", [*trial, *real], ["texas"], settings_for=lambda *_: {"epochs": 5})
    assert chosen.cells[Row("dcm", False)]["texas"].ours["honest"].folds.keys() == {0, 1}
    assert not any("left out" in note for note in chosen.notes)


def test_of_equal_groups_the_latest_is_shown(make_record):
    records = [make_record(0.5, version="1"), make_record(0.75, version="2")]
    cell = build_table("table2", records, ["texas"]).cells[Row("dcm", False)]["texas"]
    assert cell.ours["honest"].mean == 75.0


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
    found = {item.baseline: item for item in table.comparisons if item.graph and item.model == "dcm-plus"}
    assert list(found) == ["mlp", "gcn", "dgm-e", "dgm-m"]

    # Against the MLP (its runs have no graph): d = 10, 0, 20; s = 10, ratio 10/80.
    t_mlp = 10 / math.sqrt((1 / 3 + 1 / 8) * 100)
    # Against the GCN, on the three common folds: d = 30, 10, 40; s² = (100 + 2500 + 1600) / 9 / 2 = 700/3.
    t_gcn = (80 / 3) / math.sqrt((1 / 3 + 1 / 8) * 700 / 3)
    p_mlp, p_gcn = (2 * stats.t.sf(t, 2) for t in (t_mlp, t_gcn))
    assert found["mlp"].test.p_value == pytest.approx(p_mlp)
    assert found["gcn"].test.p_value == pytest.approx(p_gcn)
    assert found["gcn"].test.num_folds == 3
    assert p_gcn < p_mlp
    assert found["gcn"].p_adjusted == pytest.approx(4 * p_gcn)  # four baselines, two of them not yet testable
    assert found["mlp"].p_adjusted == pytest.approx(min(1, max(4 * p_gcn, 3 * p_mlp)))
    assert found["dgm-e"].test.difference == pytest.approx(0.0)
    assert found["dgm-e"].p_adjusted is None
    assert found["dgm-m"].test.num_folds == 0

    judged = [item for item in table.comparisons if item.model == "dcm-judged"]
    assert [(item.baseline, item.graph) for item in judged] == [(name, True) for name in found]
    assert [item.test.num_folds for item in judged] == [3, 3, 1, 0]
    assert judged[1].test.difference == pytest.approx(30.0)

    without = [item for item in table.comparisons if not item.graph]
    assert [item.baseline for item in without] == ["mlp", "dgm-e", "dgm-m"]
    assert all(item.test.difference is None for item in without)


def test_the_papers_contradictions_are_noted_where_they_are_shown():
    assert any(
        note == "† cs, with graph, dcm-all: the paper prints 95.78 ± 0.49 in table1 and 94.81 ± 0.49 in sampling"
        for note in build_table("table1", []).notes
    )
    assert any("94.81" in note for note in build_table("sampling", []).notes)
    assert not any("94.81" in note for note in build_table("table1", [], ["cora"]).notes)
    # Each table is compared with its own printed value.
    cells = [build_table(name, []).cells[Row("dcm-all", True)]["cs"].paper.mean for name in ("table1", "sampling")]
    assert cells == [95.78, 94.81]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_caption_states_how_the_numbers_were_made(name):
    caption = build_table(name, []).caption
    for words in ("row-normalised", "raw 0/1", "Protocol honest", "Protocol paper", "sample standard deviation"):
        assert words in caption
    assert ("Nadeau–Bengio" in caption) == (name in ("table1", "table2"))


def test_wrong_metric_and_unknown_names_are_refused(make_record):
    with pytest.raises(LatopoError, match="metric 'r2', expected accuracy"):
        build_table("table2", [make_record(0.5, metric="r2")])
    with pytest.raises(LatopoError, match="no table 'figure'"):
        build_table("figure", [])
    with pytest.raises(LatopoError, match="no protocol 'fair'"):
        build_table("table1", [], protocols=["fair"])


def test_a_set_outside_the_paper_has_a_column_when_named(make_record):
    records = [make_record(0.75, dataset="cornell"), make_record(0.5)]
    table = build_table("table2", records, ["cornell"], ["dcm"], ["honest"])
    assert table.datasets == ("cornell",)
    cell = table.cells[Row("dcm", False)]["cornell"]
    assert cell.ours["honest"].mean == 75.0
    assert cell.paper is None
    assert "cornell" not in build_table("table2", records).datasets


def test_caption_names_other_settings(make_record):
    usual = build_table("table2", [make_record()], ["texas"])
    assert "Other settings" not in usual.caption
    deeper = build_table("depth", [make_record(model="dcm", settings={"rounds": 2})], ["texas"])
    assert "Other settings" not in deeper.caption
    longer = build_table("table2", [make_record(settings={"epochs": 400})], ["texas"])
    assert longer.caption.endswith("Other settings here: epochs=400.")


def test_top_k_systems_are_said_to_have_the_reward():
    assert "trained with the reward of the DGM" in build_table("sampling", [], ["texas"]).caption
    assert "trained with the reward of the DGM" not in build_table("table2", [], ["texas"]).caption


def test_a_sample_of_the_cycles_is_noted(make_record):
    records = [make_record(fold=fold, graph=True, budget_sampled=fold < 2) for fold in range(3)]
    table = build_table("table2", [*records, make_record()], ["texas"])
    assert [note for note in table.notes if "sample" in note] == [
        "texas, with graph, dcm, honest: in 2 of 3 runs the graph had more induced cycles than are scored, "
        "so the polygons are chosen among a sample"
    ]
