import pytest
import torch
from sklearn.model_selection import StratifiedKFold

from latopo.data import graph_split
from latopo.errors import LatopoError


def labels(count=203):
    return (torch.arange(count) % 3 == 0).long()


@pytest.mark.parametrize("fold", [0, 4, 9])
def test_the_test_graphs_are_the_fields_folds(fold):
    y = labels()
    parts = list(StratifiedKFold(10, shuffle=True, random_state=0).split(y, y))
    for protocol in ("honest", "paper"):
        assert graph_split(y, fold, protocol).test.tolist() == parts[fold][1].tolist()
    assert graph_split(y, fold, "paper").train.tolist() == parts[fold][0].tolist()


def test_a_ninth_of_the_rest_validates_and_nothing_is_lost():
    y = labels()
    split = graph_split(y, 2)
    together = torch.cat([split.train, split.val, split.test])
    assert together.sort().values.tolist() == list(range(203))
    assert abs(split.val.numel() - (203 - split.test.numel()) / 9) <= 1
    assert abs(y[split.val].float().mean() - y.float().mean()) < 0.05
    assert graph_split(y, 2, "paper").val is None


def test_values_have_plain_folds():
    y = torch.randn(60)
    tests = torch.cat([graph_split(y, fold).test for fold in range(10)])
    assert tests.sort().values.tolist() == list(range(60))


def test_a_wrong_fold_and_too_small_a_set_are_refused():
    with pytest.raises(LatopoError, match="expected 0 to 9"):
        graph_split(labels(), 10)
    with pytest.raises(LatopoError, match="cannot be cut"):
        graph_split(torch.tensor([0, 1, 0, 1]), 0)
