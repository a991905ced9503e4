import pytest
import torch
from torch_geometric.data import Data

from latopo.data import from_graphs
from latopo.errors import LatopoError
from latopo.models import GraphNet
from latopo.training import seeded
from latopo.training.graph_settings import GraphTrainingSettings
from latopo.training.graph_trainer import GraphTrainer, predict_graphs


def rings(count=40, values=False):
    """Squares and pentagons with random features; the value is ten times the number of nodes."""
    graphs = []
    for number in range(count):
        size = 4 + number % 2
        around = torch.arange(size)
        y = torch.tensor([10.0 * size]) if values else torch.tensor([number % 2])
        x = torch.randn(size, 1, generator=torch.Generator().manual_seed(number))
        graphs.append(Data(x=x, edge_index=torch.stack([around, (around + 1) % size]), y=y))
    return from_graphs(graphs)[0]


def trainer(graphs, seed=0, **settings):
    with seeded(seed):
        model = GraphNet(1, graphs.num_classes or 1, rings="all")
    index = torch.arange(len(graphs))
    given = GraphTrainingSettings(**{"epochs": 30, "batch_size": 8, "lr": 0.01, "seed": seed, **settings})
    return GraphTrainer(model, graphs, index[:30], index[30:], given)


def test_it_learns_classes_and_values():
    learned = trainer(rings())
    learned.advance()
    learned.restore_best()
    assert learned.result().best_score == 1.0
    regression = trainer(rings(values=True), epochs=60)
    regression.advance()
    result = regression.result()
    assert result.best_score > 0.9
    assert (result.target_mean, result.target_scale) == (45.0, 5.0)


def test_the_same_seed_gives_the_same_numbers_also_with_pauses():
    histories = []
    for stops in ((12,), (3, 7, 12)):
        run = trainer(rings())
        for stop in stops:
            run.advance(stop)
        histories.append(run.history)
    assert histories[0] == histories[1]
    other = trainer(rings(), seed=1)
    other.advance()
    assert other.history != histories[0]


def test_the_global_random_numbers_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    trainer(rings()).advance(2)
    assert torch.equal(torch.rand(1), expected)


def test_the_learning_rate_falls_to_zero():
    run = trainer(rings())
    run.advance(1)
    early = run._optimizer.param_groups[0]["lr"]
    run.advance()
    assert early > 0.009
    assert 0 < run._optimizer.param_groups[0]["lr"] < 0.0005


def test_targets_of_test_graphs_are_not_read():
    graphs = rings()
    graphs.y[35:] = torch.tensor([0, 1, 1, 0, 1])
    index = torch.arange(40)
    first = GraphTrainer(GraphNet(1, 2), graphs, index[:25], index[25:35], GraphTrainingSettings(epochs=1))
    assert first.objective.target[35:].tolist() == [-1] * 5


def test_a_diverging_loss_is_said():
    graphs = rings(values=True)
    run = trainer(graphs, epochs=50)
    with torch.no_grad():
        run.model.head[-1].weight.fill_(1e38)
    with pytest.raises(LatopoError, match="the loss became"):
        run.advance()


def test_predictions_do_not_depend_on_the_batches():
    graphs, model = rings(), GraphNet(1, 2, rings="all")
    index = torch.arange(40)
    whole = predict_graphs(model, graphs, index)
    parts = torch.cat([predict_graphs(model, graphs, part) for part in index.split(7)])
    torch.testing.assert_close(whole, parts)
