import pytest

from latopo.report import Baseline, Score
from latopo.report.facts import Purity, Strongest, measure_complex
from latopo.report.words import agreement_words, percent, score_words, size_words, strongest_words, verdict


@pytest.mark.parametrize(
    ("share", "text"), [(0.5, "50 %"), (0.1234, "12.3 %"), (None, "–"), (float("nan"), "–"), (0.0, "0 %")]
)
def test_percent(share, text):
    assert percent(share) == text


def test_score_words_name_better_and_worse_and_doubt():
    score = Score(
        0.8, spread=0.05, folds=(0.75, 0.85), baselines=(Baseline("mlp", 0.82), Baseline("gcn", 0.5, "a net"))
    )
    first, spread, worse, better = score_words(score)
    assert "80 %" in first
    assert "5.0 points" in spread
    assert worse == "Against mlp (82 %) it is 2.0 points worse, which is less than the spread over the folds."
    assert better == "Against gcn (a net, 50 %) it is 30.0 points better."
    assert score_words(Score(0.8, baselines=(Baseline("same", 0.8),)))[1] == "Against same (80 %) it is as good."


def test_score_words_of_r2_have_no_per_cent():
    assert "%" not in " ".join(score_words(Score(0.4, "r2", baselines=(Baseline("mean", 0.0),))))


@pytest.mark.parametrize(
    ("pure", "word"), [(95, "Yes, strongly."), (60, "Partly."), (26, "Hardly"), (5, "No: it joins different")]
)
def test_verdict_measures_the_way_from_chance_to_perfect(pure, word):
    assert verdict(Purity(2, pure, 100, 0.25)).startswith(word)


def test_verdict_without_edges_or_with_one_class():
    assert "no edges" in verdict(Purity(2, 0, 0, 0.5))
    assert verdict(Purity(2, 10, 10, 1.0)).startswith("Hardly")


def test_agreement_words_set_polygons_beside_all_rings():
    words = agreement_words(Purity(2, 9, 10, 0.2), [Purity(3, 3, 4, 0.1)], {3: Purity(3, 8, 10, 0.1)})
    assert words[2] == (
        "75 % of the triangles have all corners in one class; of 3 random points 10 % would, of all such rings of "
        "these edges 80 % do."
    )


def test_size_words_name_lonely_points(run):
    assert "3 of the points stand alone" in size_words(measure_complex(run.snapshots[0].complex), 6)


def test_strongest_words_name_members_and_classes(run):
    words = strongest_words(Strongest((0, 1, 2), 0.75), run.points)
    assert "triangle of ada, bob and cyd (probability 0.75)" in words
    assert "all of them have the same class" in words
    mixed = strongest_words(Strongest((2, 3, 4, 5), None), run.points)
    assert "square of cyd, <b>dan</b>, eve and fay; their classes are" in mixed
    assert mixed.endswith("second, second, unknown.")
    assert strongest_words(Strongest((0, 1, 2), None), None).endswith("triangle of 0, 1 and 2.")
