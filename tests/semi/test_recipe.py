"""The whole recipe: what unlabelled rows bring, new rows, odd tables."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.linear_model import LogisticRegression

from latopo.errors import LatopoError
from latopo.semi import Branch, learn
from latopo.semi.recipe import _folds
from latopo.semi.storage import from_tensors, to_tensors


def first_of_each(y, count):
    return np.concatenate([np.flatnonzero(y == label)[:count] for label in np.unique(y)])


def documents(seed=0, rows=150, words=90):
    """Three topics, each with words of its own beside common ones, and an empty row."""
    random = np.random.RandomState(seed)
    y = random.randint(3, size=rows)
    chance = np.full((rows, words), 0.03)
    for label in range(3):
        chance[np.ix_(y == label, np.arange(30 * label, 30 * label + 20))] = 0.2
    x = (random.rand(rows, words) < chance).astype(float)
    x[0] = 0
    return x, y


def test_unlabelled_digits_bring_several_points():
    x, y = load_digits(return_X_y=True)
    x, y = x[:700], y[:700]
    labelled = first_of_each(y, 4)
    others = np.setdiff1d(np.arange(700), labelled)
    plain = LogisticRegression(max_iter=500).fit(x[labelled] / 16, y[labelled]).score(x[others] / 16, y[others])
    answer = learn(x, y, labelled, 10).model.answer
    assert (answer.argmax(axis=1)[others] == y[others]).mean() > plain + 0.03


def test_noise_columns_do_not_break_two_moons():
    x, y = make_moons(300, noise=0.1, random_state=0)
    noisy = np.hstack([x, np.random.RandomState(0).randn(300, 8)])
    answer = learn(noisy, y, first_of_each(y, 6), 2).model.answer
    assert (answer.argmax(axis=1) == y).mean() > 0.93


def test_no_label_but_those_given_is_read():
    x, y = load_iris(return_X_y=True)
    labelled, other = first_of_each(y, 5), y.copy()
    other[np.setdiff1d(np.arange(150), labelled)] = 1
    first, second = (learn(x, target, labelled, 3).model.answer for target in (y, other))
    assert (first == second).all()


@pytest.mark.parametrize("kind", ["numbers", "words", "mixture"])
def test_new_rows_are_answered_alone_alike_and_after_storing(kind):
    words, y = documents()
    numbers = np.random.RandomState(1).randn(150, 3) + y[:, None]
    x = {"numbers": numbers, "words": words, "mixture": np.hstack([numbers, words])}[kind]
    model = learn(x[:120], y[:120], first_of_each(y[1:120], 8) + 1, 3).model
    assert model.metric.kind == kind
    together, rows = model.join(x[120:])
    again = from_tensors(to_tensors(model)).join(x[120:])[0]
    assert (again == together).all()
    for number in range(30):
        alone = model.join(x[120 + number : 121 + number])[0]
        np.testing.assert_allclose(alone[0], together[number], atol=1e-9)
    np.testing.assert_allclose(together.sum(axis=1), 1)
    assert (together.argmax(axis=1) == y[120:]).mean() > 0.7
    assert rows.shape == (30, 120)


def test_documents_with_validation_rows_train_the_metric():
    x, y = documents(rows=240)
    labelled, held_out = first_of_each(y[1:120], 6) + 1, np.arange(120, 160)
    found = learn(x, y, labelled, 3, held_out=held_out)
    assert {branch.space for branch in found.branches} == {"H", "X", "XH", "M"}
    assert (found.model.answer.argmax(axis=1)[160:] == y[160:]).mean() > 0.8
    model = from_tensors(to_tensors(found.model))
    np.testing.assert_allclose(model.join(x[:9])[0], found.model.join(x[:9])[0])


def test_probabilities_are_calibrated_better_than_those_of_one_branch():
    x, y = make_moons(400, noise=0.25, random_state=0)
    labelled = first_of_each(y, 20)
    others = np.setdiff1d(np.arange(400), labelled)
    found = learn(x, y, labelled, 2)

    def loss(p):
        return -np.log(np.clip(p[others, y[others]], 1e-6, 1)).mean()

    assert loss(found.model.answer) < min(loss(answer) for answer in found.branches.values()) + 0.05
    assert abs(found.model.answer.max(axis=1)[others].mean() - (found.model.answer.argmax(1) == y)[others].mean()) < 0.1


def test_values_with_few_targets():
    x = np.random.RandomState(0).uniform(-3, 3, (300, 1))
    y = np.sin(2 * x[:, 0])
    labelled = np.arange(25)
    model = learn(x, y, labelled, 0).model
    error = ((model.answer[25:, 0] - y[25:]) ** 2).mean() / y.var()
    assert error < 0.3
    new = np.linspace(-2.5, 2.5, 50)[:, None]
    assert ((model.join(new)[0][:, 0] - np.sin(2 * new[:, 0])) ** 2).mean() / y.var() < 0.35
    assert (from_tensors(to_tensors(model)).join(new)[0] == model.join(new)[0]).all()


def test_one_label_per_class_is_enough_to_answer():
    x, y = load_iris(return_X_y=True)
    model = learn(x, y, np.array([0, 50, 100]), 3).model
    assert not model.judged
    assert len(set(model.weights.values())) == 1
    assert (model.answer.argmax(axis=1) == y).mean() > 0.7


def test_a_chosen_list_of_branches_is_kept_to():
    x, y = load_iris(return_X_y=True)
    found = learn(x, y, first_of_each(y, 5), 3, branches=[Branch("X"), Branch("XH", 3.0)])
    assert list(found.branches) == [Branch("X"), Branch("XH", 3.0)]


def test_without_labels_there_is_nothing_to_learn():
    with pytest.raises(LatopoError, match="at least 4 rows and 1 label"):
        learn(np.zeros((5, 2)), np.zeros(5, int), np.array([], int), 2)


def test_folds_leave_each_row_out_once_and_a_single_row_never():
    label = np.array([0] * 7 + [1] * 3 + [2])
    left = np.concatenate(list(_folds(label)))
    assert sorted(left.tolist()) == list(range(10))


def test_where_no_label_comes_the_heads_answer():
    x, y = make_moons(200, noise=0.05, random_state=0)
    far = np.array([[60.0, 60.0], [60.1, 60.0], [60.0, 60.1], [60.1, 60.1], [60.2, 60.1]])  # a component of their own
    found = learn(np.vstack([x, far]), np.r_[y, np.zeros(5, np.int64)], first_of_each(y, 10), 2, degree=3)
    spread, answer = found.branches[Branch("S")], found.model.answer
    assert (spread[200:] == 0).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1)
    assert (np.abs(answer[200:] - 0.5) > 0.01).all()
    again, _ = found.model.join(far + 0.05)
    np.testing.assert_allclose(again.sum(axis=1), 1)
    assert (np.abs(again - 0.5) > 0.01).all()
