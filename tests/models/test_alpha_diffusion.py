"""The recipe for few labels as a model of the catalogue."""

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import AlphaDiffusion, find_system, load_model, save_model
from latopo.training import Run, TrainingSettings, train


def clouds(count=40, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2 * count, 3, generator=generator)
    x[count:] += 2.5
    return x, torch.arange(2 * count) // count


def fitted(max_length=4):
    x, y = clouds()
    model = find_system("alpha-diffusion").build(3, 2, max_length=max_length)
    few = torch.tensor([0, 1, 2, 40, 41, 42])
    return model, train(model, x, y, None, few, few, TrainingSettings(epochs=50), num_classes=2), x, y


def test_one_epoch_is_the_whole_training():
    model, result, x, y = fitted()
    assert len(result.history) == result.best_epoch == 1
    assert (result.best_output.prediction.argmax(1) == y).float().mean() > 0.9
    torch.testing.assert_close(model(x).prediction.exp().sum(1), torch.ones(80))


def test_the_complex_has_the_latent_edges_and_polygons():
    _, result, _, _ = fitted()
    cells = result.best_output.complex
    assert cells.num_edges > 80
    assert set(cells.polygons) == {3, 4}
    assert cells.num_polygons > 0
    assert bool(((cells.edge_prob > 0) & (cells.edge_prob <= 1)).all())


def test_polygons_do_not_change_the_answer():
    with_polygons, without = fitted(4)[1], fitted(0)[1]
    assert torch.equal(with_polygons.best_output.prediction, without.best_output.prediction)
    assert without.best_output.complex.num_polygons == 0


def test_it_comes_back_from_a_folder(tmp_path):
    model, _, x, _ = fitted()
    save_model(model, tmp_path)
    again = load_model(tmp_path)
    new = x[:7].double() + 0.1
    assert torch.equal(again.join(new, None).prediction, model.join(new, None).prediction)
    assert torch.equal(again(x).prediction, model(x).prediction)


def test_new_rows_do_not_depend_on_each_other():
    model, _, x, _ = fitted()
    new = x.double() + 0.05
    together = model.join(new, None)
    alone = torch.cat([model.join(row[None], None).prediction for row in new])
    torch.testing.assert_close(alone, together.prediction, atol=1e-9, rtol=0)
    assert together.query.ptr[-1] == together.query.anchor.numel()


def test_the_test_protocol_of_the_paper_is_refused():
    with pytest.raises(LatopoError, match="use honest"):
        Run("wine", "alpha-diffusion", protocol="paper")


def test_it_says_what_it_needs():
    model = AlphaDiffusion(3, 2)
    with pytest.raises(LatopoError, match="not fitted"):
        model(torch.zeros(4, 3))
    model, _, x, _ = fitted()
    with pytest.raises(LatopoError, match="fitted on 80 rows, got 5"):
        model(x[:5])


def test_values_are_learned_in_their_units():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(120, 1, generator=generator) * 6
    y = 1000 + 50 * x[:, 0].sin()
    few = torch.arange(20)
    model = AlphaDiffusion(1, 1)
    result = train(model, x, y, None, few, few, num_classes=0)
    guess = result.target_mean + result.target_scale * result.best_output.prediction[:, 0]
    assert ((guess - y) ** 2).mean() / y.var() < 0.3
