import contextlib
import json
from functools import partial

import pytest
import torch
from torch_geometric.data import Batch, Data

from latopo.cycles import induced_cycles
from latopo.data import graph_set, load_graphs
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
        ({"x": torch.full((5, 2), 1e300, dtype=torch.float64)}, "graph 1: x holds values that are not finite"),
        ({"x": torch.full((5, 2), 3e38)}, "graph 1 has no finite answer"),
        ({"x": torch.ones(5, 2, device="meta")}, "graph 1: x is a meta or fake tensor"),
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
    for graphs in (None, 5, "mutag", {"a": graph}):
        with pytest.raises(LatopoError, match="predict: expected a list of at least one PyG Data"):
            predictor.predict(graphs)
    with pytest.raises(LatopoError, match="graph 0 must be PyG Data, got int"):
        predictor.predict([5])
    with pytest.raises(LatopoError, match="graph 0 is a Batch of several graphs"):
        predictor.predict([Batch.from_data_list([graph, graph])])
    with pytest.raises(LatopoError, match="nodes, expected at most"):
        predictor.predict([changed(graph, x=None, edge_attr=None, pos=None, num_nodes=10**12)])
    assert torch.equal(predictor.predict(part for part in rings(3)), predictor.predict(rings(3)))
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
        ({"target": [10**400, 1.0]}, "do not belong together"),
        ({"target": [0.0, 0.0]}, "do not belong together"),
        ({"input": good["input"] | {"unit": 1e-300}}, "do not belong together"),
        ({"input": good["input"] | {"unit": 10**400}}, "do not belong together"),
        ({"input": good["input"] | {"shift": [1e300], "scale": [1.0]}}, "do not belong together"),
        ({"input": good["input"] | {"dimensions": 0}}, "do not belong together"),
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


@pytest.mark.parametrize("columns", [2, 5])
def test_clouds_may_have_any_number_of_dimensions(columns, tmp_path):
    clouds = [Data(pos=torch.randn(5, columns, generator=torch.Generator().manual_seed(n)), y=n % 2) for n in range(20)]
    predictor = fit_graphs(clouds, "gin", **QUICK)
    predictor.save(tmp_path)
    again = GraphPredictor.load(tmp_path)
    assert torch.equal(again.predict_proba(clouds), predictor.predict_proba(clouds))
    with pytest.raises(LatopoError, match=f"graph 0: pos has 3 columns, expected {columns} as in training"):
        again.predict([Data(pos=torch.randn(5, 3))])


def bare(graphs):
    return [Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes, y=graph.y) for graph in graphs]


def double():
    torch.set_default_dtype(torch.float64)
    return contextlib.nullcontext()


@pytest.mark.parametrize("mode", [double, torch.inference_mode, lambda: torch.device("meta")])
def test_torchs_modes_change_nothing(mode, tmp_path):
    graphs = bare(rings(20))
    expected = fit_graphs(graphs, "gin", **QUICK).predict_proba(graphs)
    try:
        with mode():
            predictor = fit_graphs(graphs, "gin", **QUICK)
            predictor.save(tmp_path)
            again = GraphPredictor.load(tmp_path)
            found = again.predict_proba(graphs)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found, expected)
    assert torch.equal(again.predict_proba(graphs), expected)


def test_graphs_that_carry_gradients_are_taken_as_they_are():
    weight = torch.ones(1, requires_grad=True)
    plain = rings(20, values=True)
    graphs = [changed(graph, x=graph.x * weight, y=graph.y * weight) for graph in plain]
    found, expected = (fit_graphs(known, "gin", **QUICK).predict(plain) for known in (graphs, plain))
    assert torch.equal(found, expected)


def complete_bipartite(size):
    first, second = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    return Data(edge_index=torch.stack([first.flatten(), size + second.flatten()]), num_nodes=2 * size)


def test_the_limit_on_rings_is_that_of_each_graph(monkeypatch):
    predictor = fit_graphs(bare(rings(20)), **QUICK)
    graphs = [complete_bipartite(size) for size in (4, 5, 4, 6)]
    expected = predictor.predict_proba(graphs)
    monkeypatch.setattr(graph_set, "induced_cycles", partial(induced_cycles, max_cycles=225))  # of the largest alone
    torch.testing.assert_close(predictor.predict_proba(graphs), expected)


@pytest.mark.parametrize("name", ["estimator.json", "fold.json", "model.json"])
def test_nothing_else_is_written_over(name, tmp_path):
    predictor = fit_graphs(bare(rings(20)), "gin", **QUICK)
    (tmp_path / name).write_text("mine")
    with pytest.raises(LatopoError, match=f"holds something else \\({name}\\)"):
        predictor.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(LatopoError, match="is not a folder"):
        predictor.save(tmp_path / name)


def test_arguments_of_fit_graphs():
    for arguments, message in (
        (("digits", "mlp"), "digits is one graph or table"),
        ((None,), "expected PyG Data, a list of them, or a name, got NoneType"),
    ):
        with pytest.raises(LatopoError, match=message):
            fit_graphs(*arguments)
    for settings, message in (
        ({"out": "r"}, "there is no out"),
        ({"folds": [1]}, "there is no folds"),
        ({"seed": 10**30}, "seed: expected a whole number"),
    ):
        with pytest.raises(LatopoError, match=message):
            fit_graphs(rings(20), **settings)
    graphs = rings(20)
    graphs[3].y = 1j
    with pytest.raises(LatopoError, match="graph 3 must have one target"):
        fit_graphs(graphs)
    predictor = fit_graphs(rings(20), **QUICK)
    predictor.model.half()
    with pytest.raises(LatopoError, match="not in float32"):
        predictor.predict(rings(1))
