from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch_geometric.datasets import Planetoid
from torch_geometric.transforms import NormalizeFeatures
from torch_geometric.utils import to_undirected

from latopo.data import find_dataset, load
from latopo.data.loading import load_untreated
from latopo.data.sources import _staged
from latopo.errors import LatopoError

SPARSE = ["cora", "cs", "physics", "chameleon", "actor", "chameleon-filtered"]
DENSE = ["texas", "wisconsin", "cornell", "pubmed"]


def test_tiny_graph(tiny_filtered, fresh_cache):
    data = load("Chameleon Filtered", tiny_filtered)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert torch.equal(data.x, torch.eye(12, 5))
    assert data.y.tolist() == [0, 1] * 6
    assert data.train_mask.shape == (12, 10)
    assert (data.name, data.task, data.num_classes) == ("chameleon-filtered", "classification", 2)


def test_second_load_parses_nothing(monkeypatch, tiny_filtered, fresh_cache):
    first = load("chameleon-filtered", tiny_filtered)
    monkeypatch.setattr("latopo.data.loading.read_source", pytest.fail)
    again = load("chameleon-filtered", tiny_filtered)
    assert sorted(again.keys()) == sorted(first.keys())
    assert torch.equal(again.x, first.x)


def test_damaged_cache_is_made_again(tiny_filtered, fresh_cache):
    load("chameleon-filtered", tiny_filtered)
    (cached,) = (fresh_cache / "parsed").iterdir()
    cached.write_bytes(cached.read_bytes()[:-7])
    assert load("chameleon-filtered", tiny_filtered).num_nodes == 12
    assert load("chameleon-filtered", tiny_filtered).num_nodes == 12


def test_failed_parse_leaves_no_cache(monkeypatch, tiny_filtered, fresh_cache):
    def fail(*args):
        raise LatopoError("stopped")

    monkeypatch.setattr("latopo.data.loading.read_source", fail)
    with pytest.raises(LatopoError, match="stopped"):
        load("chameleon-filtered", tiny_filtered)
    assert not [path for path in fresh_cache.rglob("*") if path.is_file()]


def test_parallel_first_loads_agree(real, fresh_cache):
    root = real("texas")
    with ThreadPoolExecutor(4) as pool:
        graphs = list(pool.map(lambda _: load("texas", root), range(4)))
    assert all(torch.equal(graph.x, graphs[0].x) for graph in graphs)
    assert [path.name for path in fresh_cache.rglob("*") if path.is_file()] == ["texas-v1.safetensors"]
    assert [path.name for path in fresh_cache.iterdir()] == ["parsed"]


@pytest.mark.parametrize("name", [*SPARSE, *DENSE])
def test_real_graph_is_ready_for_models(real, name):
    data = load(name, real(name))
    assert data.x.layout == (torch.sparse_csr if name in SPARSE else torch.strided)
    assert data.x.dtype == torch.float32
    assert data.validate()
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.is_coalesced()
    assert set(data.y.unique().tolist()) == set(range(data.num_classes))
    values = data.x.values() if data.x.layout == torch.sparse_csr else data.x
    if find_dataset(name).features == "as given":
        assert set(values.unique().tolist()) <= {0.0, 1.0}


def test_cora_equals_pyg_with_normalised_features(real):
    with _staged(find_dataset("cora"), real("cora")) as staging:
        theirs = NormalizeFeatures()(Planetoid(str(staging / "Planetoid"), "Cora")[0])
    ours = load("cora", real("cora"))
    assert torch.allclose(ours.x.to_dense(), theirs.x)
    assert torch.equal(ours.edge_index, to_undirected(theirs.edge_index))
    assert torch.equal(ours.train_mask, theirs.train_mask)


def test_untreated_keeps_directions_and_self_loops(real):
    data = load_untreated(find_dataset("texas"), real("texas"))
    assert data.edge_index.size(1) == 325
    assert int((data.edge_index[0] == data.edge_index[1]).sum()) == 16


def test_unknown_name():
    with pytest.raises(LatopoError, match="no data set"):
        load("imagenet")
