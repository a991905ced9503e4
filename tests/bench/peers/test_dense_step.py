import pytest
import torch

pytest.importorskip("entmax")
pytest.importorskip("igraph")

from peers._dense_step import dense_forward
from peers.step import make


def test_both_sides_predict_the_same():
    model, _, x, _ = make(120, 60, 0.1, warm=3)
    model.eval()
    with torch.no_grad():
        output = model(x)
        prediction, polygons, edges, chosen = dense_forward(model, x.to_dense())
    torch.testing.assert_close(prediction, output.prediction, rtol=1e-4, atol=1e-5)
    assert polygons
    assert int((edges.triu(1) > 0).sum()) == output.complex.num_edges
    torch.testing.assert_close(chosen[chosen > 0].sort().values, output.complex.polygon_prob.sort().values)
