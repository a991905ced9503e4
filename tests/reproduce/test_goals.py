import pytest

from latopo.reproduce.goals import count_goals, goals_text


@pytest.fixture
def runs(make_record):
    """Runs of a model on CiteSeer, ten folds; the score moves a little from fold to fold."""

    def make(model, score, graph=False, protocol="honest", folds=range(10), dataset="citeseer", wiggle=0.001, **fields):
        return [
            make_record(
                score + wiggle * (fold % 3), model=model, graph=graph, protocol=protocol, fold=fold, dataset=dataset,
                **fields,
            )
            for fold in folds
        ]  # fmt: skip

    return make


def printed_cell(records, dataset="citeseer", graph=False, model="dcm-released"):
    return next(c for c in count_goals(records).printed[model] if (c.dataset, c.graph) == (dataset, graph))


def lead_cell(records, model="dcm-plus", dataset="citeseer", graph=False):
    return next(c for c in count_goals(records).lead[model] if (c.dataset, c.graph) == (dataset, graph))


def test_eighteen_cells_and_all_are_missing_at_first():
    goals = count_goals([])
    released = goals.printed["dcm-released"]
    assert len(released) == len(goals.printed["dcm"]) == 18
    assert {cell.graph for cell in released} == {False, True}
    assert all(cell.ours is None and not cell.met for cells in goals.printed.values() for cell in cells)
    for cells in goals.lead.values():
        assert [(c.dataset, c.graph) for c in cells] == [(c.dataset, c.graph) for c in released]
        assert not any(cell.met or cell.significantly_below for cell in cells)


@pytest.mark.parametrize(("score", "met"), [(0.7395, False), (0.7403, True), (0.8, True)])
def test_the_print_is_reached_within_one_standard_deviation(runs, score, met):
    # Printed: 76.47 ± 2.45.
    cell = printed_cell(runs("dcm-released", score, protocol="paper", wiggle=0.0))
    assert cell.printed == "76.47 ± 2.45"
    assert cell.ours == pytest.approx(100 * score)
    assert cell.met == met


def test_runs_that_do_not_count_for_the_print(runs):
    released = runs("dcm-released", 0.8, protocol="paper")
    assert printed_cell(released).met
    assert printed_cell(released[:9]).ours is None
    assert printed_cell(runs("dcm-released", 0.8, protocol="honest")).ours is None
    described = runs("dcm", 0.8, protocol="paper")
    assert printed_cell(described).ours is None
    assert printed_cell(described, model="dcm").met
    assert printed_cell(runs("dcm-released", 0.8, protocol="paper", settings={"lift": "mean"})).ours is None
    # Three seeds on Texas, three folds on PubMed.
    assert printed_cell(runs("dcm-released", 0.9, protocol="paper", dataset="texas"), "texas").ours is None
    three = {"protocol": "paper", "dataset": "pubmed", "folds": range(3)}
    assert printed_cell(runs("dcm-released", 0.9, settings={"search": "auto"}, **three), "pubmed").met
    assert printed_cell(runs("dcm-released", 0.9, **three), "pubmed").ours is None  # all pairs: another recipe


def test_without_a_graph_the_mlp_alone_is_the_measure(runs):
    mlp = runs("mlp", 0.7)
    above = lead_cell([*mlp, *runs("dcm-plus", 0.7)])
    assert (above.baseline, above.difference, above.met) == ("mlp", 0.0, True)
    assert lead_cell(mlp).ours is None
    assert lead_cell(mlp).baseline_mean == pytest.approx(70.09)
    assert not lead_cell([*mlp, *runs("dcm-plus", 0.7)[:9]]).met
    assert lead_cell(runs("dcm-plus", 0.7)).difference is None


def test_below_is_significant_only_beyond_the_spread(runs, make_record):
    noisy = [
        make_record(0.69 + 0.02 * (-1) ** fold, model="dcm-plus", fold=fold, dataset="citeseer") for fold in range(10)
    ]
    chance, clear = (
        lead_cell([*runs("mlp", 0.7), *noisy]),
        lead_cell([*runs("mlp", 0.7), *runs("dcm-plus", 0.6, wiggle=0)]),
    )
    assert not chance.met
    assert not chance.significantly_below
    assert not clear.met
    assert clear.significantly_below


def test_with_a_graph_the_better_of_both_and_holms_correction(runs):
    records = [*runs("mlp", 0.7), *runs("gcn", 0.8, graph=True), *runs("dcm-judged", 0.75, graph=True, wiggle=0.002)]
    cell = lead_cell(records, "dcm-judged", graph=True)
    assert cell.baseline == "gcn"
    assert cell.difference == pytest.approx(-5.0 + 0.09, abs=0.05)
    assert cell.significantly_below
    assert lead_cell([r for r in records if r.unit.model != "gcn"], "dcm-judged", graph=True).difference is None
    better = lead_cell([*records[:20], *runs("dcm-judged", 0.85, graph=True)], "dcm-judged", graph=True)
    assert better.met


def test_the_best_model_is_the_one_that_meets_most(runs):
    records = [*runs("mlp", 0.7), *runs("gcn", 0.6, graph=True)]
    assert count_goals([*records, *runs("dcm-plus", 0.71)]).best == "dcm-plus"
    assert count_goals([*records, *runs("dcm-judged", 0.71, graph=True)]).best == "dcm-judged"


def test_the_text_has_counts_and_a_line_for_every_cell(runs):
    records = [*runs("mlp", 0.7), *runs("dcm-plus", 0.69), *runs("dcm-released", 0.7, protocol="paper")]
    records += runs("dcm", 0.75, protocol="paper")
    lines = goals_text(count_goals(records)).splitlines()
    assert "`dcm-released` (`paper`)" in lines[0]
    assert "in 0 of 18 cells, 17 missing" in lines[0]
    assert "`dcm` (`paper`)" in lines[1]
    assert "in 1 of 18 cells, 17 missing" in lines[1]
    (plus,) = [line for line in lines if "dcm-plus" in line and line.startswith("- ")]
    assert "in 0 of 18 cells, below in 1, significantly in 0, 17 missing" in plus
    table = [line for line in lines if line.startswith("| ")]
    assert len(table) == 20
    (shown,) = [line for line in table if line.startswith("| CiteSeer | without")]
    assert shown == "| CiteSeer | without | 76.47 ± 2.45 | 70.1 | no | 75.1 | yes | MLP 70.1 | 69.1 | −1.0 |"
