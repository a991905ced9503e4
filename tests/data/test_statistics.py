import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import homophily

from latopo.data import dataset_statistics, find_dataset
from latopo.data.features import csr_from_scipy
from latopo.data.loading import load_untreated
from latopo.data.statistics import measure, read_statistics

MEASURED = {  # nodes, features, classes, undirected edges, edge homophily
    "cora": (2708, 1433, 7, 5278, 0.810),
    "citeseer": (3327, 3703, 6, 4552, 0.736),
    "pubmed": (19717, 500, 3, 44324, 0.802),
    "cs": (18333, 6805, 15, 81894, 0.808),
    "physics": (34493, 8415, 5, 247962, 0.931),
    "texas": (183, 1703, 5, 279, 0.108),
    "wisconsin": (251, 1703, 5, 450, 0.196),
    "cornell": (183, 1703, 5, 277, 0.131),
    "actor": (7600, 932, 5, 26659, 0.219),
    "chameleon": (2277, 2325, 5, 31371, 0.235),
}


@pytest.mark.parametrize("name", MEASURED)
def test_real_graphs(real, name):
    facts = dataset_statistics(name, real(name))
    assert (facts.nodes, facts.features, facts.classes, facts.edges) == MEASURED[name][:4]
    assert round(facts.homophily, 3) == MEASURED[name][4]
    assert facts.mean_degree == pytest.approx(2 * facts.edges / facts.nodes)


def test_homophily_is_that_of_pyg(real):
    data = load_untreated(find_dataset("wisconsin"), real("wisconsin"))
    assert measure(data).homophily == pytest.approx(homophily(data.edge_index, data.y, method="edge"))


def test_chameleon_has_many_equal_rows(real):
    data = load_untreated(find_dataset("chameleon"), real("chameleon"))
    empty = int((data.x.crow_indices().diff() == 0).sum())
    distinct = torch.unique(data.x.to_dense(), dim=0).size(0)
    assert empty == 233
    assert measure(data).duplicate_rows == 2277 - distinct >= 232


def test_edges_count_once_and_self_loops_count_for_homophily_only():
    edge_index = torch.tensor([[0, 1, 2, 2], [1, 0, 2, 0]])
    facts = measure(Data(x=torch.eye(4), y=torch.tensor([0, 0, 1, 1]), edge_index=edge_index))
    assert (facts.edges, facts.homophily, facts.mean_degree) == (2, 0.75, 1.0)


def test_duplicate_rows_dense_and_sparse():
    from scipy.sparse import csr_matrix

    dense = torch.tensor([[1.0, 0, 2], [0, 0, 0], [1, 0, 2], [0, 0, 0], [1, 2, 0], [0, 0, 0]])
    y = torch.zeros(6, dtype=torch.long)
    assert measure(Data(x=dense, y=y)).duplicate_rows == 3
    assert measure(Data(x=csr_from_scipy(csr_matrix(dense.numpy())), y=y)).duplicate_rows == 3


def test_tables_have_no_graph_and_regression_no_classes(fresh_cache):
    facts = dataset_statistics("diabetes")
    assert (facts.nodes, facts.features, facts.duplicate_rows) == (442, 10, 0)
    assert facts.classes is facts.edges is facts.homophily is facts.mean_degree is None


def test_second_call_measures_nothing(monkeypatch, tiny_filtered, fresh_cache):
    entry = find_dataset("chameleon-filtered")
    assert read_statistics(entry) is None
    first = dataset_statistics("chameleon-filtered", tiny_filtered)
    assert first.edges == 2
    monkeypatch.setattr("latopo.data.statistics.measure", pytest.fail)
    assert dataset_statistics("chameleon-filtered", tiny_filtered) == first


def test_damaged_statistics_are_measured_again(tiny_filtered, fresh_cache):
    first = dataset_statistics("chameleon-filtered", tiny_filtered)
    (file,) = (fresh_cache / "statistics").iterdir()
    for damaged in ("{", '{"nodes": 3}', "[]"):
        file.write_text(damaged)
        assert read_statistics(find_dataset("chameleon-filtered")) is None
        assert dataset_statistics("chameleon-filtered", tiny_filtered) == first
