"""What each kind of task gives away, and what it keeps."""

import numpy as np
import pytest

from latopo.errors import LatopoError
from latopo.reproduce.few_labels.tasks import TASKS, Task, find_tasks


def parts(task, draw=0):
    problem = task.problem(draw)
    chosen = [problem.train, problem.test] + ([] if problem.val is None else [problem.val])
    rows = np.concatenate(chosen)
    assert len(np.unique(rows)) == len(rows)
    return problem


@pytest.mark.parametrize("labels", [5, 10, 20])
def test_tables_have_so_many_labels_per_class_and_nothing_to_choose_on(labels):
    problem = parts(Task("wine", "tables", labels))
    assert np.bincount(problem.y[problem.train]).tolist() == [labels] * 3
    assert problem.val is None
    assert len(problem.test) == 178 - 3 * labels


def test_validated_tasks_have_every_class():
    for draw in range(5):
        problem = parts(Task("digits", "validated", 50), draw)
        assert set(problem.y[problem.train]) == set(range(10))
        assert (len(problem.train), len(problem.val)) == (50, 100)


def test_draws_differ_and_repeat():
    task = Task("iris", "tables", 5)
    first, again, other = (task.problem(draw).train for draw in (0, 0, 1))
    assert (first == again).all()
    assert set(first) != set(other)


def test_noise_stands_beside_the_moons():
    plain, noisy = Task("moons", "tables", 5).problem(0), Task("moons-noise", "tables", 5).problem(0)
    assert noisy.x.shape == (500, 10)
    assert (noisy.x[:, :2] == plain.x).all()


def test_there_are_21_tables():
    assert sum(task.kind == "tables" for task in TASKS.values()) == 21
    with pytest.raises(LatopoError, match="no task 'nothing'"):
        find_tasks(["nothing"])
