"""Branches trained apart and fused late, as a model of the catalogue."""

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import FusedNet, build_model, load_model, save_model
from latopo.training import Run, TrainingSettings, train

QUICK = {"branch_epochs": 30, "members": 2, "weight_decays": (5e-4,)}


def clouds(count=40, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2 * count, 3, generator=generator)
    x[count:] += 2.5
    y = torch.arange(2 * count) // count
    ring = torch.stack([torch.arange(2 * count), (torch.arange(2 * count) + 1) % (2 * count)])
    return x, y, ring


def fitted(name="dcm-fused", graph=True, seed=0, y=None, **changes):
    x, labels, ring = clouds()
    y = labels if y is None else y
    model = build_model(name, 3, 2, graph, **{**QUICK, **changes})
    index = torch.arange(80)
    parts = index[index % 4 < 2], index[index % 4 == 2]
    settings = TrainingSettings(seed=seed)
    return model, train(model, x, y, ring if graph else None, *parts, settings, num_classes=2), x


def test_it_learns_and_its_weights_sum_to_one():
    model, result, x = fitted()
    y = clouds()[1]
    assert len(result.history) == result.best_epoch == 1
    assert (result.best_output.prediction.argmax(1) == y).float().mean() > 0.9
    torch.testing.assert_close(model(x).prediction.exp().sum(1), torch.ones(80))
    weights = [value for name, value in result.history[0].items() if name.startswith("weight_")]
    assert len(weights) == 6
    assert sum(weights) == pytest.approx(1)


def test_targets_of_other_nodes_are_not_read():
    y = clouds()[1].clone()
    y[3::4] = 1 - y[3::4]
    assert torch.equal(fitted(y=y)[1].best_output.prediction, fitted()[1].best_output.prediction)


def test_a_branch_left_out_changes_nothing_in_the_others():
    whole, part = fitted()[0], fitted("given-fused")[0]
    places = [whole.settings.branches.index(name) for name in part.settings.branches]
    for number, place in enumerate(places):
        for ours, theirs in zip(part.heads[number].parameters(), whole.heads[place].parameters(), strict=True):
            assert torch.equal(ours, theirs)


def test_branches_of_one_kind_differ_by_their_seeds():
    first, second, third = fitted("mlp-fused", graph=False)[0].heads
    weights = [members[0].first.weight for members in (first, second, third)]
    assert not torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[2])


def test_another_seed_is_another_training():
    assert not torch.equal(fitted(seed=1)[1].best_output.prediction, fitted()[1].best_output.prediction)


def test_it_comes_back_from_a_folder(tmp_path):
    model, _, x = fitted()
    save_model(model, tmp_path)
    again = load_model(tmp_path)
    assert torch.equal(again(x).prediction, model(x).prediction)
    new = x[:7].double() + 0.1
    assert torch.equal(again.double().join(new, None).prediction, model.double().join(new, None).prediction)


def test_new_rows_do_not_depend_on_each_other_and_fall_where_the_fitted_ones_do():
    model, result, x = fitted()
    model = model.double()
    together = model.join(x.double(), None)
    alone = torch.cat([model.join(row[None], None).prediction for row in x.double()])
    torch.testing.assert_close(alone, together.prediction, atol=1e-9, rtol=0)
    agree = together.prediction.argmax(1) == result.best_output.prediction.argmax(1)
    assert agree.float().mean() > 0.9
    assert together.query.ptr[-1] == together.query.anchor.numel()


def test_new_rows_need_a_branch_without_a_graph():
    model, _, x = fitted("gcn-fused")
    with pytest.raises(LatopoError, match="every branch hears a graph"):
        model.join(x, None)


def test_with_enough_held_out_nodes_each_branch_is_trained_once():
    assert [len(members) for members in fitted(enough=20)[0].heads] == [1] * 6
    assert [len(members) for members in fitted(enough=21)[0].heads] == [2] * 6


def test_the_complex_is_the_latent_graph_and_has_polygons_where_they_are_heard():
    edges_only, cells = fitted(graph=False)[1], fitted("dcm-fused-cells", graph=False)[1]
    assert edges_only.best_output.complex.num_edges == cells.best_output.complex.num_edges > 80
    assert edges_only.best_output.complex.num_polygons == 0
    assert cells.best_output.complex.num_polygons > 0
    assert fitted("mlp-fused", graph=False)[1].best_output.complex is None


def test_words_are_taken_as_they_are(tmp_path):
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(90) % 3
    topics = torch.rand(3, 120, generator=generator).pow(6)
    x = (torch.rand(90, 120, generator=generator) < 0.3 * topics[y]).float()
    model = FusedNet(120, 3, branches=("own", "latent+size", "own+latent"), **QUICK)
    index = torch.arange(90)
    result = train(model, x.to_sparse_csr(), y, None, index[:60], index[60:75], num_classes=3)
    assert (result.best_output.prediction.argmax(1) == y)[75:].float().mean() > 0.6
    assert model.heads[0][0].in_channels == 120
    assert model.heads[1][0].in_channels == 90  # 89 directions and the size
    save_model(model, tmp_path)
    again, new = load_model(tmp_path).double(), torch.cat([x[:9].double(), torch.ones(1, 120, dtype=torch.float64)])
    assert torch.equal(again.join(new, None).prediction, model.double().join(new, None).prediction)


def test_values_are_learned_in_their_units():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(150, 1, generator=generator) * 6
    y = 1000 + 50 * x[:, 0].sin()
    some = torch.arange(100)
    model = FusedNet(1, 1, branches=("own", "latent"), **{**QUICK, "branch_epochs": 150})
    result = train(model, x, y, None, some, some, num_classes=0)
    guess = result.target_mean + result.target_scale * result.best_output.prediction[:, 0]
    assert ((guess - y) ** 2)[100:].mean() / y.var() < 0.3


def test_it_says_what_it_needs():
    with pytest.raises(LatopoError, match="not fitted"):
        FusedNet(3, 2)(torch.zeros(4, 3))
    model, _, x = fitted(graph=False)
    with pytest.raises(LatopoError, match="fitted on 80 rows, got 5"):
        model(x[:5])
    with pytest.raises(LatopoError, match=r"adjacency, convolved, given, given\+adjacency need a graph"):
        train(FusedNet(3, 2), x, clouds()[1], None, torch.arange(9), torch.arange(9), num_classes=2)
    with pytest.raises(LatopoError, match="at least 2"):
        train(model, x, clouds()[1], None, torch.arange(1), torch.arange(1), num_classes=2)
    with pytest.raises(LatopoError, match="each needs at least one"):
        FusedNet(3, 2, branches=())
    with pytest.raises(LatopoError, match="use honest"):
        Run("wine", "dcm-fused", protocol="paper")
