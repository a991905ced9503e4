import torch

from latopo.training.input_complex import input_complex


def test_all_cycles_or_none():
    clique = torch.combinations(torch.arange(6)).t()
    both_ways = torch.cat([clique, clique.flip(0)], dim=1)
    complex = input_complex(both_ways, 7, max_polygons=20).validate()
    assert (complex.num_nodes, complex.num_edges, complex.num_polygons) == (7, 15, 20)
    assert input_complex(both_ways, 7, max_polygons=19).num_polygons == 0
