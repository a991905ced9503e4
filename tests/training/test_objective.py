import pytest
import torch
from sklearn.metrics import r2_score

from latopo.errors import LatopoError
from latopo.training.objective import Objective, score

NODES = torch.arange(2)


def test_targets_of_other_nodes_are_erased():
    y = torch.tensor([2, 0, 1, 1])
    objective = Objective(y, torch.tensor([0]), torch.tensor([2]), num_classes=3)
    assert objective.target.tolist() == [2, -1, 1, -1]
    assert objective.train_labels().tolist() == [2, -1, -1, -1]
    assert y.tolist() == [2, 0, 1, 1]


def test_regression_is_standardised_by_the_training_nodes():
    y = torch.tensor([1.0, 5.0, 9.0, 1e6])
    objective = Objective(y, torch.tensor([0, 1]), torch.tensor([2]), num_classes=0)
    assert (objective.mean, objective.scale) == (3.0, 2.0)
    assert objective.target.tolist() == [-1.0, 1.0, 3.0, 0.0]
    assert objective.train_labels() is None
    prediction = torch.tensor([[0.0], [3.0], [0.0], [0.0]])
    assert objective.loss(prediction, torch.tensor([0, 1])).item() == 2.5


def test_a_constant_target_is_told_exactly():
    objective = Objective(torch.full((3,), 7.0), NODES, NODES, num_classes=0)
    assert (objective.mean, objective.scale) == (7.0, 0.0)


def test_cross_entropy_at_some_nodes():
    objective = Objective(torch.tensor([0, 1, 1]), NODES, NODES, num_classes=2)
    prediction = torch.tensor([[0.0, 0.0], [5.0, 5.0], [100.0, 0.0]])
    assert objective.loss(prediction, NODES).item() == pytest.approx(torch.tensor(2.0).log().item())
    assert objective.score(prediction, torch.tensor([0])) == 1.0


def test_scores():
    generator = torch.Generator().manual_seed(1)
    target, guess = torch.randn(2, 9, generator=generator)
    assert score(guess[:, None], target, 0) == pytest.approx(r2_score(target, guess))
    assert score(torch.zeros(2, 1), torch.zeros(2), 0) == 1.0
    assert score(torch.ones(2, 1), torch.zeros(2), 0) == 0.0
    assert score(torch.eye(3), torch.tensor([0, 1, 1]), 3) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("y", "index", "num_classes", "message"),
    [
        (torch.zeros(2, 1), NODES, 0, r"y has shape \[2, 1\]"),
        (
            torch.zeros(2),
            torch.tensor([True, False]),
            0,
            r"train_index must be a non-empty int64 vector, got torch.bool",
        ),
        (torch.zeros(2), torch.tensor([], dtype=torch.int64), 0, "non-empty"),
        (torch.zeros(2), torch.tensor([0, 2]), 0, "names nodes from 0 to 2 of 2"),
        (torch.zeros(2), NODES, 2, r"y must be int64 classes, got torch\.float32"),
        (torch.tensor([0, 2]), NODES, 2, "classes from 0 to 2, expected 0 to 1"),
        (torch.tensor([0, 1]), NODES, 0, "regression needs finite floating point targets, got torch.int64"),
        (torch.tensor([0.0, torch.nan]), NODES, 0, "finite"),
    ],
)
def test_bad_targets(y, index, num_classes, message):
    with pytest.raises(LatopoError, match=message):
        Objective(y, index, index, num_classes)
