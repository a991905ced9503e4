import pytest
import torch
from torch_geometric.data import Data

from latopo.errors import LatopoError
from latopo.report import read_run, write_report
from latopo.training import cross_validate


@pytest.fixture
def mine():
    y = torch.arange(60) % 3
    x = torch.eye(3)[y] + 0.3 * torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    ring = torch.stack([torch.arange(60), (torch.arange(60) + 3) % 60])
    return Data(x=x, y=y, edge_index=ring)


def test_own_data_are_trained_kept_and_reported(mine, tmp_path):
    folder = tmp_path / "run"
    results = cross_validate(mine, "dcm-plus", folds=[0, 1], out=folder, name="mine", epochs=9, hidden_channels=8)
    assert [result.fold for result in results] == [0, 1]
    assert results[0].model.given is not None  # the graph is used
    assert cross_validate(mine, "dcm-plus", folds=[0, 1], out=folder, name="mine", epochs=9, hidden_channels=8) == []
    page = write_report(tmp_path / "report.html", read_run(folder))
    assert "mine" in page.read_text(encoding="utf-8")


def test_the_graph_may_be_left_out(mine):
    (result,) = cross_validate(mine, "dcm", graph=False, folds=[3], epochs=3, gain=5.0)
    assert result.fold == 3
    with pytest.raises(LatopoError, match="gcn needs a graph"):
        cross_validate(mine, "gcn", graph=False)


def test_names_of_the_catalogue():
    (result,) = cross_validate("iris", "mlp", folds=[0], epochs=3)
    assert len(result.split.test) == 15


def test_a_run_of_ones_own_data_is_known_by_its_name_and_seed(mine):
    with pytest.raises(LatopoError, match="iris"):
        cross_validate(mine, name="iris")
