import numpy as np
import torch

from latopo.semi.latent_complex import latent_complex
from latopo.semi.latent_rows import edges_of, latent_rows


def test_edges_are_those_of_the_rows_and_polygons_lie_on_them():
    x = np.random.RandomState(0).randn(50, 2)
    graph = latent_rows(x, "euclidean", 5)
    cells, found = latent_complex(graph, x, 4, 0.5, 10_000)
    edges, prob = edges_of(graph.rows)
    assert torch.equal(cells.edge_index, torch.from_numpy(edges))
    assert torch.equal(cells.edge_prob, torch.from_numpy(prob).double())
    assert 0 < cells.num_polygons < found.num_candidates
    plain, nothing = latent_complex(graph, x, 0, 0.5, 10_000)
    assert nothing is None
    assert plain.num_polygons == 0
