import json

import pytest
import torch
from torch_geometric.data import Data

from latopo.data import load_graphs
from latopo.errors import LatopoError
from latopo.models import MLP, save_model
from latopo.training import GraphPredictor, Run, RunFolder, cross_validate, fit_graphs, train_folds
from latopo.training.graph_protocol import run_graph_fold

QUICK = {"epochs": 4, "batch_size": 16, "lr": 0.01}


def rings(count=40, values=False, targets=True, first=0):
    """Squares and pentagons with features of nodes and edges, and coordinates far from 0."""
    graphs = []
    for number in range(first, first + count):
        size, random = 4 + number % 2, torch.Generator().manual_seed(number)
        around = torch.arange(size)
        y = {"y": 10.0 * size if values else number % 2} if targets else {}
        edges = torch.stack([around, (around + 1) % size])
        position = 50 + 7 * torch.randn(size, 3, generator=random)
        x, attr = torch.randn(size, 2, generator=random), torch.randn(size, 1, generator=random)
        graphs.append(Data(x=x, edge_index=edges, edge_attr=attr, pos=position, **y))
    return graphs


def test_it_predicts_graphs_that_it_has_not_seen():
    predictor = fit_graphs(rings(), epochs=25, batch_size=8, lr=0.01)
    new = rings(7, targets=False, first=100)
    assert predictor.predict(new).tolist() == [0, 1, 0, 1, 0, 1, 0]
    proba = predictor.predict_proba(new)
    assert (proba.shape, proba.dtype) == ((7, 2), torch.float32)
    torch.testing.assert_close(proba.sum(1), torch.ones(7))
    assert torch.equal(proba.argmax(1), predictor.predict(new))


def test_values_come_in_the_units_of_training():
    predictor = fit_graphs(rings(values=True), epochs=50, batch_size=8, lr=0.01)
    found = predictor.predict(rings(6, targets=False, first=100))
    torch.testing.assert_close(found, torch.tensor([40.0, 50.0] * 3), atol=3.0, rtol=0)
    with pytest.raises(LatopoError, match="values have no probabilities"):
        predictor.predict_proba(rings(1, targets=False))


@pytest.mark.parametrize("model", ["gin", "cells-rings", "cells-chosen", "cells-latent"])
@pytest.mark.parametrize("graph", [True, False])
def test_known_graphs_get_the_predictions_of_the_fold(model, graph):
    """Features, coordinates and their unit are those of training, whatever graphs stand beside them."""
    graphs = rings(20)
    result = cross_validate(graphs, model, graph=graph, folds=[2], **QUICK)[0]
    expected = result.training.best_output.prediction.softmax(1)
    torch.testing.assert_close(result.predictor.predict_proba(graphs), expected)
    torch.testing.assert_close(result.predictor.predict_proba(graphs[3:4]), expected[3:4], rtol=1e-4, atol=1e-5)


def test_a_cloud_needs_coordinates_alone():
    predictor = fit_graphs(rings(20), graph=False, **QUICK)
    bare = [Data(pos=graph.pos) for graph in rings(3)]
    assert torch.equal(predictor.predict_proba(bare), predictor.predict_proba(rings(3)))
    with pytest.raises(LatopoError, match="graph 0 has neither edge_index nor pos"):
        predictor.predict([Data(x=torch.ones(2, 2))])


def test_it_comes_back_from_a_folder(tmp_path):
    predictor = fit_graphs(rings(20, values=True), "cells-chosen", **QUICK)
    predictor.save(tmp_path)
    again = GraphPredictor.load(tmp_path)
    new = rings(5, targets=False, first=100)
    assert torch.equal(again.predict(new), predictor.predict(new))
    assert again.form == predictor.form


def test_every_fold_of_a_run_predicts(tmp_path):
    graphs = rings(20)
    result = cross_validate(graphs, folds=[1], out=tmp_path / "run", **QUICK)[0]
    found = GraphPredictor.load(tmp_path / "run/fold-1")
    assert torch.equal(found.predict_proba(graphs), result.predictor.predict_proba(graphs))


def raw(graphs, attributes, number):
    """A graph of PROTEINS or BZR as PyG has it: attributes as they are, then labels."""
    part = graphs.batch(torch.tensor([number]))
    labels = part.x[:, graphs.first_label :]
    nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
    attr = part.edge_attr if part.edge_attr.size(1) else None
    return Data(x=torch.cat([attributes[nodes], labels], 1), edge_index=part.edge_index, edge_attr=attr)


@pytest.mark.parametrize("name", ["mutag", "proteins", "bzr"])
def test_sets_of_the_catalogue_take_graphs_as_pyg_has_them(name, tmp_path):
    from latopo.data.catalogue import find_dataset
    from latopo.data.loading import load_untreated

    graphs, attributes = load_graphs(name), load_untreated(find_dataset(name)).attributes
    run = Run(name, "gin", graph=True, settings={"epochs": 1})
    train_folds(RunFolder(tmp_path / "run", run), graphs, [0])
    found = GraphPredictor.load(tmp_path / "run/fold-0")
    expected = run_graph_fold(graphs, run, 0).training.best_output.prediction.softmax(1)
    torch.testing.assert_close(
        found.predict_proba([raw(graphs, attributes, number) for number in (5, 0)]), expected[[5, 0]]
    )


def changed(graph, **parts):
    return Data(
        **{"x": graph.x, "edge_index": graph.edge_index, "edge_attr": graph.edge_attr, "pos": graph.pos} | parts
    )


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"x": torch.ones(5, 3)}, "graph 1: x has 3 columns, expected 2 as in the first graph"),
        ({"x": torch.full((5, 2), torch.nan)}, "graph 1: x holds values that are not finite"),
        ({"edge_index": torch.tensor([[0], [9]]), "edge_attr": torch.ones(1, 1)}, "graph 1"),
    ],
)
def test_a_bad_graph_is_named(parts, message):
    predictor = fit_graphs(rings(20), **QUICK)
    good, bad = rings(2, targets=False)
    with pytest.raises(LatopoError, match=message):
        predictor.predict([good, changed(bad, **parts)])


def test_other_graphs_than_in_training_are_refused():
    predictor = fit_graphs(rings(20), **QUICK)
    graph = rings(1)[0]
    for parts, message in (
        ({"x": torch.ones(4, 3)}, "predict: graph 0: x has 3 columns, expected 2 as in training"),
        ({"x": None, "num_nodes": 4}, "x has 0 columns, expected 2"),
        ({"edge_attr": None}, "edge_attr has 0 columns, expected 1"),
        ({"pos": None}, "graph 0 has no coordinates pos"),
        ({"edge_index": None, "edge_attr": torch.ones(0, 1)}, "has no edge_index, but the graphs in training had one"),
    ):
        with pytest.raises(LatopoError, match=message):
            predictor.predict([changed(graph, **parts)])
    for graphs in ([], graph):
        with pytest.raises(LatopoError, match="predict: expected a list of at least one PyG Data"):
            predictor.predict(graphs)
    with pytest.raises(LatopoError, match="graph 0 must be PyG Data, got int"):
        predictor.predict([5])
    with pytest.raises(LatopoError, match="fit_graphs: expected a list"):
        fit_graphs(graph)


def test_damaged_files_are_refused_in_one_line(tmp_path):
    fit_graphs(rings(20), **QUICK).save(tmp_path)
    good = json.loads((tmp_path / "predictor.json").read_text())
    for change, message in (
        ({"format": 9}, "in format 9"),
        ({"classes": 3}, "do not belong together"),
        ({"classes": "2"}, "is damaged"),
        ({"target": [0.0]}, "do not belong together"),
        ({"target": [0.0, 1.0, 2.0]}, "do not belong together"),
        ({"input": good["input"] | {"features": 3}}, "do not belong together"),
        ({"input": good["input"] | {"has_edges": False, "unit": None}}, "do not belong together"),
        ({"input": good["input"] | {"scale": [1.0]}}, "do not belong together"),
        ({"input": good["input"] | {"unit": 0.0}}, "do not belong together"),
        ({"checksums": good["checksums"] | {"model.json": "0"}}, "model.json was changed or is incomplete"),
    ):
        (tmp_path / "predictor.json").write_text(json.dumps(good | change))
        with pytest.raises(LatopoError, match=message):
            GraphPredictor.load(tmp_path)
    (tmp_path / "predictor.json").write_text("{}")
    with pytest.raises(LatopoError, match="is damaged"):
        GraphPredictor.load(tmp_path)
    with pytest.raises(LatopoError, match="cannot be read"):
        GraphPredictor.load(tmp_path / "nowhere")


def test_a_network_of_nodes_does_not_predict_graphs(tmp_path):
    import hashlib

    fit_graphs(rings(20), **QUICK).save(tmp_path)
    save_model(MLP(2, 2), tmp_path)
    described = json.loads((tmp_path / "predictor.json").read_text())
    described["checksums"] = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in described["checksums"]
    }
    (tmp_path / "predictor.json").write_text(json.dumps(described))
    with pytest.raises(LatopoError, match="holds a MLP, which does not predict graphs"):
        GraphPredictor.load(tmp_path)
