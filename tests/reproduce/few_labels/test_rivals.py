"""Every rival answers, and none sees a label that it may not."""

import numpy as np
import pytest
from scipy import sparse

from latopo.reproduce.few_labels.rivals import RIVALS, _features, _knn_graph
from latopo.reproduce.few_labels.tasks import Problem, Task

NAMES = [name for name in RIVALS if name not in ("gcn", "knn-gcn", "forest")]


@pytest.mark.parametrize("name", NAMES)
def test_a_rival_is_better_than_chance_and_blind_to_the_rest(name):
    problem = Task("iris", "tables", 10).problem(3)
    answer, chosen = RIVALS[name].solve(name, problem)
    assert (answer[problem.test] == problem.y[problem.test]).mean() > 0.8
    assert chosen
    scrambled = problem.y.copy()
    scrambled[problem.test] = (scrambled[problem.test] + 1) % 3
    assert (RIVALS[name].solve(name, problem._replace(y=scrambled))[0] == answer).all()


@pytest.mark.parametrize("name", ["knn-gcn", "forest"])
def test_the_slow_ones_answer_too(name):
    problem = Task("iris", "tables", 5).problem(3)
    answer = RIVALS[name].answer(problem.x, np.where(np.isin(np.arange(150), problem.train), problem.y, -1),
                                 problem.train, RIVALS[name].settings[0])  # fmt: skip
    assert (answer[problem.test] == problem.y[problem.test]).mean() > 0.8


def test_validation_rows_choose_where_there_are_some():
    problem = Task("wine", "validated", 10).problem(0)
    seen = []
    rival = RIVALS["logistic"]

    def answer(x, y, train, settings):
        seen.append((len(train), settings["C"]))
        return np.full(len(y), 0 if settings["C"] < 1 else problem.y[problem.val][0])

    chosen = type(rival)(rival.words, answer, rival.settings).solve("logistic", problem)[1]
    assert len(seen) == 7
    assert {count for count, _ in seen} == {10}
    assert chosen in rival.settings


def test_at_most_six_settings_each():
    assert all(len(rival.settings) <= 6 for rival in RIVALS.values())
    assert isinstance(Task("iris", "tables", 5).problem(0), Problem)


def test_rows_without_words_are_nobodys_neighbours():
    random = np.random.RandomState(0)
    words = random.rand(60, 200) < 0.04
    words[:3] = False
    x = sparse.csr_array(words.astype(float))
    graph = _knn_graph(_features(x), 2).toarray()
    assert words[3:].any(axis=1).all()
    assert graph[3:, :3].sum() == 0
