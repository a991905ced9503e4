from copy import deepcopy
from functools import partial

import pytest
import torch

pytest.importorskip("entmax")
pytest.importorskip("igraph")

from peers.step import bag_of_words, dense_step, make, same_complex, shares, step


def gradients(model):
    return {name: part.grad.clone() for name, part in model.named_parameters() if part.grad is not None}


def test_features_are_words_of_the_class():
    x, y = bag_of_words(200, 300, 0.05)
    dense = x.to_dense()
    assert set(dense.unique().tolist()) == {0.0, 1.0}
    assert dense.sum(1).max() <= 15
    alike = dense @ dense.t()
    same = y[:, None] == y
    assert alike[same].mean() > 1.5 * alike[~same].mean()


def test_both_sides_learn_the_same():
    model, reward, x, y = make(120, 60, 0.1, warm=3)
    assert "edges" in same_complex(model, x)
    model.eval()  # without dropout the steps are the same
    step(model, deepcopy(reward), x, y)  # a copy, since the reward's baseline moves with every step
    ours = gradients(model)
    dense_step(model, deepcopy(reward), x.to_dense(), y)
    theirs = gradients(model)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-2, atol=1e-4, msg=name)


def test_shares_add_up_and_leave_no_hooks():
    model, reward, x, y = make(60, 30, 0.1, warm=1)
    text = shares(model, partial(step, model, reward, x, y), repeats=1)
    parts = [part.rpartition(" ")[0].rpartition(" ") for part in text.split(", ")]
    assert [name for name, _, _ in parts] == ["features", "graph", "cycles and polygons", "messages", "backward"]
    assert sum(int(share) for _, _, share in parts) == pytest.approx(100, abs=3)
    assert not any(part._forward_hooks for part in model.modules())
