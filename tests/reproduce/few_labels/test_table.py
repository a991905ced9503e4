"""The tables from made-up records."""

from latopo.reproduce.few_labels.table import accuracies, first_places, markdown, paired_tests, published
from latopo.reproduce.few_labels.tasks import TASKS
from latopo.reproduce.few_labels.work import FewLabelsRecord, FewLabelsUnit


def record(model, task, draw, accuracy):
    unit = FewLabelsUnit(model, task, draw)
    return FewLabelsRecord(unit, accuracy, 15, 135, 1.5, resolved=unit.resolved())


RECORDS = [
    *(record("alpha-diffusion", "iris-tables-5", draw, 0.95 + 0.01 * (draw % 2)) for draw in range(10)),
    *(record("logistic", "iris-tables-5", draw, 0.85 + 0.01 * (draw % 3)) for draw in range(10)),
    *(record("forest", "iris-tables-5", draw, 0.958) for draw in range(4)),
    record("alpha-diffusion", "wine-tables-5", 0, 0.9),
    record("k-nn", "wine-tables-5", 0, 0.91),
    record("alpha-diffusion", "cora-public-20", 0, 0.745),
    record("gcn", "cora-public-20", 0, 0.81),
]


def test_means_spreads_and_counts():
    cells = accuracies(RECORDS).set_index(["task", "model"])
    ours = cells.loc[("iris-tables-5", "alpha-diffusion")]
    assert round(ours["mean"], 6) == 95.5
    assert ours["draws"] == 10
    assert first_places(cells.reset_index()) == (1, 2)


def test_the_tests_are_paired_and_adjusted():
    tests = paired_tests(RECORDS).set_index(["task", "against"])
    line = tests.loc[("iris-tables-5", "logistic")]
    assert line["draws"] == 10
    assert line["difference"] > 9
    assert line["p"] < line["p_holm"] < 0.05
    assert tests.loc[("iris-tables-5", "forest")]["draws"] == 4


def test_the_page_says_what_a_reader_has_to_know():
    page = markdown(RECORDS)
    assert "takes the shares of the classes from them" in page
    assert "4 of 10 draws" in page
    assert "in 1 of 2." in page
    assert "SLAPS (published) | 73.4 (re-run 71.0 to 72.3)" in page
    assert "**74.5**" in page  # the ceiling does not compete
    assert all(item["task"] in TASKS for item in published()["figures"])


def test_rivals_and_tasks_that_are_no_more_are_left_out():
    gone = [
        FewLabelsRecord(FewLabelsUnit("gone", "iris-tables-5", 0), 0.99, 15, 135, 1.5),
        FewLabelsRecord(FewLabelsUnit("logistic", "gone-tables-5", 0), 0.99, 15, 135, 1.5),
    ]
    assert markdown([*RECORDS, *gone]) == markdown(RECORDS)


def test_changed_settings_are_not_mixed_in():
    stale = record("logistic", "iris-tables-5", 0, 0.1)
    object.__setattr__(stale, "resolved", type(stale.resolved)(other=1))
    assert accuracies([*RECORDS, stale]).equals(accuracies(RECORDS))
