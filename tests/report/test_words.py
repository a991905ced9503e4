import pytest

from latopo.report import Baseline, Score
from latopo.report.common import CommonGround
from latopo.report.facts import Agreement, Facts, Purity
from latopo.report.words import (
    against,
    counted,
    in_common,
    percent,
    probability,
    score_distance,
    score_figure,
    score_text,
    value_verdict,
    verdict,
)


@pytest.mark.parametrize(
    ("share", "text"), [(0.5, "50 %"), (0.1234, "12.3 %"), (None, "–"), (float("nan"), "–"), (0.0, "0 %")]
)
def test_percent(share, text):
    assert percent(share) == text


def test_probabilities_have_three_digits():
    assert [probability(value) for value in (0.75, 0.00012345, None)] == ["0.75", "0.000123", "–"]


def test_accuracies_are_per_cent_and_r2_is_not():
    accuracy, r2 = Score(0.625, spread=0.177), Score(0.4, "r2", spread=0.05)
    assert (score_text(accuracy, 0.5), score_text(r2, 0.5)) == ("50 %", "0.500")
    assert (score_distance(accuracy, 0.05), score_distance(r2, 0.05)) == ("5.0 points", "0.050")
    assert (score_figure(accuracy), score_figure(r2)) == ("62.5 ± 17.7 %", "0.400 ± 0.050")
    assert (score_figure(Score(0.625)), score_figure(Score(0.4, "r2"))) == ("62.5 %", "0.400")


@pytest.mark.parametrize(
    ("baseline", "sentence"),
    [
        (Baseline("gcn", 0.5, "a net"), "It is 30.0 points better than “gcn” (a net, 50 %)."),
        (
            Baseline("mlp", 0.82),
            "It is 2.0 points worse than “mlp” (82 %), which is less than the spread over the folds.",
        ),
        (Baseline("same", 0.8002), "It is as good as “same” (80 %)."),
    ],
)
def test_baselines_are_better_worse_or_the_same(baseline, sentence):
    assert against(Score(0.8, spread=0.05), baseline) == sentence


def test_r2_is_compared_without_points():
    assert against(Score(0.4, "r2"), Baseline("mean", 0.0)) == "It is 0.400 better than “mean” (0.000)."


@pytest.mark.parametrize(
    ("pure", "word"), [(95, "Yes, strongly."), (60, "Partly."), (26, "Hardly"), (5, "No: it joins different")]
)
def test_verdict_measures_the_way_from_chance_to_perfect(pure, word):
    assert verdict(Purity(2, pure, 100, 0.25)).startswith(word)


@pytest.mark.parametrize(
    ("correlation", "word"),
    [(0.8, "Yes, strongly."), (0.4, "Partly."), (0.15, "A little."), (0.05, "Hardly"), (-0.5, "No: joined points")],
)
def test_values_are_judged_beside_chance(correlation, word):
    assert value_verdict(Agreement(correlation, 0.1, 50)).startswith(word)
    assert value_verdict(Agreement(correlation, 0.9, 5)).startswith("Hardly")


def test_few_counted_cells_are_said():
    facts = Facts(5, 8, {3: 2}, 0, (1, 0, 0), 1)
    assert counted(Purity(2, 1, 8, 0.5), facts) == "edges"
    assert counted(Purity(2, 1, 3, 0.5), facts) == "3 edges between points of known class"
    assert counted(Purity(3, 1, 1, 0.5), facts) == "1 triangle between points of known class"


def test_nothing_in_common_is_said():
    assert in_common(CommonGround((), 4), 3).startswith("In none of 4 columns they are closer")
    assert in_common(CommonGround(("a 1",) * 5, 9), 3).endswith("a 1; a 1; a 1; and 2 more.")


def test_verdict_without_edges_or_with_one_class():
    assert "no edges" in verdict(Purity(2, 0, 0, 0.5))
    assert verdict(Purity(2, 10, 10, 1.0)).startswith("Hardly")
