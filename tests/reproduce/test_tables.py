import math

import pytest

from latopo.errors import LatopoError
from latopo.reproduce import build_table
from latopo.reproduce.experiments import EXPERIMENTS
from latopo.reproduce.unit import Hashed


def cell_of(table, model="dcm", graph="without", dataset="texas", protocol="honest"):
    chosen = {"model": model, "graph": graph, "dataset": dataset, "protocol": protocol}
    (cell,) = table.cells[(table.cells[list(chosen)] == list(chosen.values())).all(axis=1)].itertuples()
    return cell


def test_cell_has_ours_the_papers_and_the_difference(make_record):
    records = [make_record(score, fold=fold) for fold, score in enumerate([0.75, 0.85])]
    table = build_table("table2", records, ["texas"])
    cell, other = cell_of(table), cell_of(table, protocol="paper")
    assert cell.ours_mean == pytest.approx(80.0)
    assert cell.ours_std == pytest.approx(math.sqrt(50))
    assert cell.scores == {0: 75.0, 1: 85.0}
    assert cell.paper_mean == other.paper_mean == 85.71
    assert cell.difference == pytest.approx(-5.71)
    assert (other.ours_mean, other.difference) == (None, None)
    assert (cell.folds, cell.expected_folds, cell.expected_seeds) == (2, 10, 3)
    assert cell_of(table, graph="with").ours_mean is None


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
        (cell.model, cell.graph == "with", cell.dataset, cell.protocol): round(cell.ours_mean)
        for cell in table.cells.itertuples()
        if cell.ours_mean is not None
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
        cells = build_table(name, records, ["texas"], ["dcm"], ["honest"]).cells
        texas = cells[cells.graph == "without"].itertuples()
        return {cell.value: cell.ours_mean and round(cell.ours_mean) for cell in texas}

    assert means("table2") == {None: 10}
    assert means("depth") == {0: None, 1: 10, 2: 20, 3: None, 4: None}
    assert means("cycle-length") == {3: 30, 4: 10, 5: None}


def test_homophily_table_shows_homophily_as_a_share(make_record):
    records = [make_record(0.5, fold=0, homophily=0.9), make_record(0.5, fold=1, homophily=0.8)]
    table = build_table("homophily", records, ["texas"])
    assert cell_of(table).ours_mean == pytest.approx(0.85)
    assert cell_of(table).difference == pytest.approx(0.85 - 0.99)
    assert cell_of(table, "input", "with").paper_mean == 0.11
    assert table.tests.empty
    assert "latent graph at the reported epoch" in table.caption


def test_settings_are_never_mixed_in_a_cell(make_record):
    trial = [make_record(0.9, fold=fold, settings={"epochs": 5}) for fold in range(2)]
    real = [make_record(0.5, fold=fold) for fold in range(3)]
    table = build_table("table2", [*trial, *real], ["texas"])
    assert cell_of(table).ours_mean == pytest.approx(50.0)
    assert "texas, without graph, dcm, honest: 2 runs with other settings left out" in table.notes

    chosen = build_table("table2", [*trial, *real], ["texas"], settings={"epochs": 5})
    assert cell_of(chosen).scores.keys() == {0, 1}
    assert not any("left out" in note for note in chosen.notes)


def test_of_equal_groups_the_latest_is_shown(make_record):
    records = [make_record(0.5, settings={"epochs": 5}), make_record(0.75, settings={"epochs": 6})]
    assert cell_of(build_table("table2", records, ["texas"])).ours_mean == 75.0


@pytest.mark.parametrize("settings", [None, {}])
def test_a_run_of_earlier_settings_is_shown_only_for_want_of_a_present_one(make_record, settings):
    earlier = Hashed(make_record().resolved, numerics=0)
    old = [make_record(0.5, fold=fold, resolved=earlier) for fold in range(3)]

    def texas(records):
        table = build_table("table2", records, ["texas"], ["dcm"], ["honest"], settings)
        return cell_of(table).scores, [n for n in table.notes if "dcm" in n]

    alone, notes = texas(old)
    assert len(alone) == 3
    assert notes == [
        "texas, without graph, dcm, honest: trained with settings that have changed since; to be run again"
    ]
    both, notes = texas([*old, make_record(0.75)])
    assert both == {0: 75.0}
    assert notes == ["texas, without graph, dcm, honest: 3 runs with other settings left out"]


def test_a_named_default_is_the_default(make_record):
    records = [make_record(0.5)]
    named = build_table("table2", records, ["texas"], settings={"dropout": 0.5})
    assert cell_of(named).ours_mean == 50.0
    other = build_table("table2", records, ["texas"], settings={"dropout": 0.4})
    assert cell_of(other).ours_mean is None


def test_runs_whose_settings_no_model_has_any_more_are_shown_as_such(make_record):
    resolved = Hashed(make_record().resolved, hue="red")
    gone = make_record(0.5, settings={"hue": "red"}, resolved=resolved)
    table = build_table("table2", [gone], ["texas"])
    assert cell_of(table).ours_mean == 50.0
    assert any("have changed since" in note for note in table.notes)


def test_the_papers_contradictions_are_noted_where_they_are_shown():
    assert any(
        note == "† cs, with graph, dcm-all: the paper prints 95.78 ± 0.49 in table1 and 94.81 ± 0.49 in sampling"
        for note in build_table("table1", []).notes
    )
    assert any("94.81" in note for note in build_table("sampling", []).notes)
    assert not any("94.81" in note for note in build_table("table1", [], ["cora"]).notes)
    # Each table is compared with its own printed value.
    tables = [build_table(name, []) for name in ("table1", "sampling")]
    assert [cell_of(table, "dcm-all", "with", "cs").paper_mean for table in tables] == [95.78, 94.81]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_caption_states_how_the_numbers_were_made(name):
    caption = build_table(name, []).caption
    features = ("StratifiedKFold",) if name == "graphs" else ("row-normalised", "raw 0/1")
    for words in (*features, "Protocol honest", "Protocol paper", "sample standard deviation"):
        assert words in caption
    assert ("Nadeau–Bengio" in caption) == (name in ("table1", "table2", "graphs"))


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
    cell = cell_of(table, dataset="cornell")
    assert (cell.ours_mean, cell.paper_printed) == (75.0, None)
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


def test_graphs_under_paper_show_the_epoch_that_is_best_over_all_folds(make_record):
    curves = {0: (0.5, 0.9, 0.6), 1: (0.7, 0.3, 0.8)}
    place = {"model": "gin", "dataset": "mutag", "graph": True, "protocol": "paper"}
    records = [make_record(max(curve), fold=fold, curve=curve, **place) for fold, curve in curves.items()]
    cells = build_table("graphs", records, ["mutag"], ["gin"], ["paper"]).cells
    assert cells[cells.graph == "with"].scores.tolist() == [{0: 60.0, 1: 80.0}]


def test_published_numbers_stand_below_the_table_of_graphs():
    notes = build_table("graphs", [], ["nci1"]).notes
    assert "Published: DiffLift has 79.8 on nci1 (test at the best validation epoch)" in notes
    assert not any("mutag" in note for note in notes)
