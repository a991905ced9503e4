import torch

from latopo.models import MLP
from latopo.training import TrainingSettings, seeded, train
from latopo.training.objective import Objective
from latopo.training.parts import train_part


def problem():
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(60) % 3
    x = torch.randn(60, 4, generator=generator) + 2 * torch.nn.functional.one_hot(y, 4)
    return x, y, torch.arange(0, 40), torch.arange(40, 50)


def part(rows, x=None, decays=(5e-4,), **settings):
    plain, y, train_index, selection = problem()
    objective = Objective(y, train_index, selection, 3)
    return train_part(
        objective, 3, lambda: MLP(4, 3), plain if x is None else x, None, rows, train_index, selection, 0,
        weight_decays=decays, first_rung=6, epochs=20, **settings,
    )  # fmt: skip


def test_a_part_is_trained_like_a_model():
    x, y, train_index, selection = problem()
    with seeded(3):
        model = MLP(4, 3)
    whole = train(model, x, y, None, train_index, selection, TrainingSettings(epochs=20, seed=3), num_classes=3)
    found = part(None)
    assert (found.score, found.loss) == (whole.best_score, whole.best_loss)
    assert torch.equal(found.model(x).prediction, whole.best_output.prediction)


def test_rows_that_are_not_needed_make_no_difference():
    x, _, train_index, selection = problem()
    rows = torch.cat([train_index, selection])
    whole, some = part(None), part(rows)
    assert some.model(x[rows]).prediction.shape == (50, 3)
    assert whole.score > 0.5 < some.score
    sparse = part(rows, x.to_sparse_csr())
    assert abs(sparse.loss - some.loss) < 1e-4


def test_the_best_weight_decay_goes_on():
    search = part(None, decays=(5e-4, 50.0))
    alone = part(None)
    assert search.score == alone.score
    assert search.loss == alone.loss
