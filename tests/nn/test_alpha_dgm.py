from itertools import product

import pytest
import torch
from torch import nn

from latopo import entmax_neighbors
from latopo.errors import LatopoError
from latopo.neighbors import Hyperbolic
from latopo.nn import AlphaDGM, BudgetSampler, EntmaxSampler, TopKSampler


class Given(nn.Module):
    """An encoder that hands x through: the auxiliary features are those of the test."""

    def forward(self, x, edge_index=None):
        return x


def given(x, sampler=None, **options):
    return AlphaDGM(x.size(1), encoder=Given(), sampler=sampler, **options).to(x.dtype)


def by_loop(x, gain, alpha=1.5):
    """{(u, v): (p_u(v) + p_v(u)) / 2} from the directed rows."""
    ptr, col, prob = entmax_neighbors(x, gain, alpha)
    found = {}
    for i in range(x.size(0)):
        for at in range(int(ptr[i]), int(ptr[i + 1])):
            edge = tuple(sorted((i, int(col[at]))))
            found[edge] = found.get(edge, 0.0) + float(prob[at]) / 2
    return found


def as_dictionary(graph):
    return {tuple(edge): p for edge, p in zip(graph.edge_index.t().tolist(), graph.edge_prob.tolist(), strict=True)}


def test_directions_are_merged(points):
    graph = given(points, EntmaxSampler(5.0))(points)
    expected = by_loop(points, 5.0)
    assert list(as_dictionary(graph)) == sorted(expected)
    assert as_dictionary(graph) == pytest.approx(expected, abs=1e-8)  # the start of a learned α is rounded
    assert (graph.edge_index[0] < graph.edge_index[1]).all()
    both, once = len(graph.row) - graph.edge_prob.numel(), 2 * graph.edge_prob.numel() - len(graph.row)
    assert both > 0
    assert once > 0


def test_directed_choices_are_kept(points):
    graph = given(points, EntmaxSampler(5.0))(points)
    ptr, col, prob = entmax_neighbors(points, 5.0)
    assert torch.equal(graph.row, torch.repeat_interleave(ptr.diff()))
    assert torch.equal(graph.col, col)
    torch.testing.assert_close(graph.prob, prob)
    distance = -torch.cdist(points, points)
    others = distance[~torch.eye(40, dtype=torch.bool)].view(40, 39)
    score = (distance - others.mean(1, keepdim=True)) / others.std(1, correction=0, keepdim=True)
    torch.testing.assert_close(graph.score, score[graph.row, graph.col])


def test_graph_enters_the_encoder_only(points, ring):
    module = AlphaDGM(6, 8, sampler=EntmaxSampler(5.0)).double()
    alone, helped = module(points), module(points, ring)
    torch.testing.assert_close(helped.x_aux, module.encoder(points, ring[:, :30].sort(0).values))
    assert not torch.allclose(alone.x_aux, helped.x_aux)
    loops = torch.arange(40).expand(2, 40)
    noisy = module(points, torch.cat([ring[:, :30], loops, ring[:, 7:8]], dim=1))
    assert torch.equal(helped.edge_index, noisy.edge_index)
    torch.testing.assert_close(helped.edge_prob, noisy.edge_prob)


def test_gradients_through_the_whole_module(points):
    module = given(points[:8], EntmaxSampler(3.0))

    def probabilities(x):
        graph = module(x)
        return graph.edge_prob, graph.score

    assert torch.autograd.gradcheck(probabilities, points[:8].clone().requires_grad_())


def test_no_bias_that_would_cancel():
    assert AlphaDGM(3).encoder.layers[-1].bias is None
    assert AlphaDGM(3, similarity="squared").encoder.layers[-1].bias is None
    assert AlphaDGM(3, similarity="cosine").encoder.layers[-1].bias is not None
    assert AlphaDGM(3, similarity=Hyperbolic()).encoder.layers[-1].bias is not None
    module = AlphaDGM(3, sampler=EntmaxSampler(learn_gain=False, learn_alpha=False))
    assert {name for name, _ in module.named_parameters()} == {
        "encoder.layers.0.weight", "encoder.layers.0.bias", "encoder.layers.1.weight", "encoder.layers.1.bias",
        "encoder.layers.2.weight", "sampler.gain.shift",
    }  # fmt: skip


SAMPLERS = {
    "entmax": lambda: EntmaxSampler(5.0),
    "topk": TopKSampler,
    "budget": lambda: BudgetSampler(60.0, EntmaxSampler(5.0)),
}
SPACES = ["euclidean", "cosine", "hyperbolic"]


@pytest.mark.parametrize(
    ("sampler", "similarity"), [pair for pair in product(SAMPLERS, SPACES) if pair != ("topk", "cosine")]
)
@pytest.mark.parametrize("with_graph", [False, True])
def test_every_parameter_learns(points, ring, silent, sampler, similarity, with_graph):
    space = Hyperbolic() if similarity == "hyperbolic" else similarity
    torch.manual_seed(0)
    module = AlphaDGM(6, 8, similarity=space, sampler=SAMPLERS[sampler]()).double()
    graph = module(points, ring if with_graph else None)
    weight = torch.randn(graph.edge_prob.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (graph.edge_prob * weight).sum().backward()
    assert silent(module) == set()


def test_detach(points):
    x = points.clone().requires_grad_()
    AlphaDGM(6, sampler=EntmaxSampler(5.0)).double()(x).edge_prob.square().sum().backward()
    assert x.grad.abs().max() > 0
    x.grad = None
    AlphaDGM(6, sampler=EntmaxSampler(5.0), detach=True).double()(x).edge_prob.square().sum().backward()
    assert x.grad is None


# Duplicates


def test_copies_are_tied_to_the_first():
    x = torch.tensor([[0.0], [5.0], [-0.0], [1.0], [5.0], [0.0]], dtype=torch.float64)
    graph = given(x, EntmaxSampler(3.0))(x)
    inferred = by_loop(x[[0, 1, 3]], 3.0)
    number = [0, 1, 3]
    expected = {(number[u], number[v]): p for (u, v), p in inferred.items()}
    expected |= {(0, 2): 1.0, (0, 5): 1.0, (1, 4): 1.0}
    assert as_dictionary(graph) == pytest.approx(expected)
    assert set(graph.row.tolist()) == {0, 1, 3}
    assert (graph.row.diff() >= 0).all()


def test_zero_rows_as_in_chameleon():
    generator = torch.Generator().manual_seed(0)
    x = (torch.rand(600, 30, generator=generator) < 0.2).float()
    zero = torch.randperm(600, generator=generator)[:233]
    x[zero] = 0
    parts = x.clone().requires_grad_()
    graph = given(x, EntmaxSampler(20.0))(parts)
    first = zero.min()
    inside = torch.isin(graph.edge_index, zero).all(0)
    assert inside.sum() == 232
    assert (graph.edge_index[0, inside] == first).all()
    assert torch.equal(graph.edge_prob[inside], torch.ones(232))
    assert (torch.isin(graph.row, zero) <= (graph.row == first)).all()
    graph.edge_prob.sin().sum().backward()
    assert torch.isfinite(parts.grad).all()
    assert parts.grad[first].abs().max() > 0


def test_zero_rows_behind_an_encoder_form_no_clique(silent):
    generator = torch.Generator().manual_seed(0)
    x = (torch.rand(500, 30, generator=generator) < 0.2).float()
    x[:233] = 0
    torch.manual_seed(0)
    module = AlphaDGM(30, sampler=EntmaxSampler(20.0))
    graph = module(x)
    inside = (graph.edge_index < 233).all(0).sum()
    assert inside < 250  # a clique has 27,028; rounding in the encoder may leave more than one representative
    graph.edge_prob.sin().sum().backward()
    assert silent(module) == set()


def test_without_merging_equal_points_form_a_clique():
    x = torch.cat([torch.zeros(10, 2), torch.randn(10, 2, generator=torch.Generator().manual_seed(0))])
    graph = given(x, merge_duplicates=False)(x)
    assert (graph.edge_index < 10).all(0).sum() == 45


def test_duplicates_under_a_budget(points):
    x = torch.cat([points, points[:3], points[:3]])
    graph = given(x, BudgetSampler(30.0, EntmaxSampler(5.0))).eval()(x)
    found = as_dictionary(graph)
    assert all(found[(i, 40 + i)] == found[(i, 43 + i)] == 1.0 for i in range(3))
    assert graph.row.max() < 40


def test_topk_chooses_k_also_among_duplicates(points):
    x = torch.cat([points, points[:3], points[:3]])
    graph = given(x, TopKSampler(2)).eval()(x)
    assert torch.bincount(graph.row, minlength=46).tolist() == [2] * 46


# Samplers


def test_budget(points):
    module, whole = given(points, BudgetSampler(50.0, EntmaxSampler(2.0))), given(points, EntmaxSampler(2.0))(points)
    assert whole.edge_prob.numel() > 100
    torch.manual_seed(0)
    graphs = [module(points) for _ in range(60)]
    sizes = torch.tensor([graph.edge_prob.numel() for graph in graphs]).double()
    assert sizes.std() > 0
    assert abs(sizes.mean().item() - 50) < 4  # standard error below 1
    for graph in graphs[:3]:
        assert as_dictionary(graph).items() <= as_dictionary(whole).items()
        chosen = {tuple(sorted(pair)) for pair in zip(graph.row.tolist(), graph.col.tolist(), strict=True)}
        assert chosen == set(as_dictionary(graph))
    best = module.eval()(points)
    assert best.edge_prob.numel() == 50
    assert best.edge_prob.min() >= whole.edge_prob.sort(descending=True).values[49]


# Calibration and state


def test_degree_is_calibrated_once(points):
    x = torch.randn(300, 6, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(0)
    module = AlphaDGM(6, sampler=EntmaxSampler(degree=5.0))
    assert len(module(x).row) / 300 == pytest.approx(5.0, rel=0.05)
    gain = module.sampler.gain().item()
    assert gain != 50.0
    module(100 + points.float())
    assert module.sampler.gain().item() == gain
    module.reset_parameters()
    assert module.sampler.gain().item() == 50.0
    assert not module.sampler.calibrated


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("sampler", [TopKSampler, lambda: EntmaxSampler(degree=4.0, hold_degree=True)])
def test_half_precision(dtype, sampler):
    x = torch.randn(60, 6, generator=torch.Generator().manual_seed(1))
    half = given(x.to(dtype), sampler()).eval()(x.to(dtype))
    whole = given(x, sampler()).eval()(x.to(dtype).float())
    assert half.edge_prob.dtype == dtype
    assert half.edge_index.shape == pytest.approx(whole.edge_index.shape, rel=0.1)


def test_calibration_is_saved():
    x = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
    module = AlphaDGM(6, sampler=EntmaxSampler(degree=4.0))
    graph = module(x)
    other = AlphaDGM(6, sampler=EntmaxSampler(degree=4.0))
    other.load_state_dict(module.state_dict())
    other(torch.randn(50, 6))  # must not calibrate anew
    again = other(x)
    assert torch.equal(graph.edge_index, again.edge_index)
    assert torch.equal(graph.edge_prob, again.edge_prob)


def test_reset_changes_weights_and_restores_starts():
    module = AlphaDGM(3, sampler=EntmaxSampler(7.0, 1.8), similarity=Hyperbolic(2.0))
    start = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3)
    module.reset_parameters()
    for name, tensor in module.state_dict().items():
        same = torch.equal(tensor, start[name])
        assert same != (name.startswith("encoder") and name.endswith("weight")), name
    assert module.sampler.gain().item() == 7.0
    assert module.sampler.alpha().item() == pytest.approx(1.8)


def test_a_falsy_encoder_is_kept():
    class Empty(nn.Sequential):
        def forward(self, x, edge_index=None):
            return x

    encoder = Empty()
    assert AlphaDGM(3, encoder=encoder).encoder is encoder


# Degenerate input


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_points(points, count, sampler):
    x = points[:count].clone().requires_grad_()
    graph = given(points, SAMPLERS[sampler]())(x)
    assert graph.edge_index.shape == (2, graph.edge_prob.numel())
    assert graph.edge_prob.numel() == {0: 0, 1: 0, 2: 1}.get(count, graph.edge_prob.numel())
    graph.edge_prob.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_duplicates_only():
    x = torch.ones(5, 2, requires_grad=True)
    graph = given(x.detach())(x)
    assert graph.edge_index.tolist() == [[0, 0, 0, 0], [1, 2, 3, 4]]
    assert torch.equal(graph.edge_prob, torch.ones(4))
    assert graph.row.numel() == 0


def test_bad_features():
    x = torch.zeros(5, 3)
    x[2, 1] = torch.nan
    with pytest.raises(LatopoError, match="AlphaDGM: x has NaN or infinite entries, first in row 2"):
        AlphaDGM(3)(x)
    with pytest.raises(LatopoError, match="AlphaDGM: x has 3 columns, expected in_channels=4"):
        AlphaDGM(4)(x)
    with pytest.raises(LatopoError, match="AlphaDGM: edge_index holds vertex 5"):
        AlphaDGM(3)(torch.zeros(5, 3), torch.tensor([[0], [5]]))


def test_sparse_coordinates_are_refused():
    with pytest.raises(LatopoError, match="AlphaDGM: x must be dense or sparse CSR"):
        AlphaDGM(3)(torch.eye(3).to_sparse_coo())


def test_repr():
    assert repr(AlphaDGM(3)).startswith("AlphaDGM(\n  in_channels=3, merge_duplicates=True, detach=False\n")
    shown = repr(AlphaDGM(4, sampler=TopKSampler(7), detach=True))
    for part in ("merge_duplicates=False", "detach=True", "(sampler): TopKSampler(\n    k=7"):
        assert part in shown


@pytest.mark.parametrize("similarity", ["cosine", "inner"])
def test_topk_wants_a_distance(similarity):
    with pytest.raises(LatopoError, match="TopKSampler: expected minus a distance"):
        AlphaDGM(4, sampler=TopKSampler(), similarity=similarity)


# Queries


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_queries_choose_among_anchors(points, sampler):
    module = AlphaDGM(6, 8, sampler=SAMPLERS[sampler]()).double().eval()
    with torch.no_grad():
        anchors = module(points[:30]).x_aux
        x_aux, rows = module.join(points[30:], anchors)
        expected = module.sampler.join(x_aux, anchors, module.similarity)
    torch.testing.assert_close(x_aux, module.encoder(points[30:]))
    assert all(torch.equal(one, other) for one, other in zip(rows, expected, strict=True))
    with pytest.raises(LatopoError, match="AlphaDGM: x has 3 columns, expected in_channels=6"):
        module.join(points[:, :3], anchors)
