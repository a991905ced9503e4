from itertools import product

import pytest
import torch
from torch import nn

from latopo import entmax_neighbors
from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors import Hyperbolic, topk_neighbors
from latopo.nn import AlphaDGM


class Given(nn.Module):
    """An encoder that hands x through: the auxiliary features are those of the test."""

    def forward(self, x, edge_index=None):
        return x


def given(x, **options):
    return AlphaDGM(x.size(1), encoder=Given(), **options).to(x.dtype)


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
    graph = given(points, gain=5.0)(points)
    expected = by_loop(points, 5.0)
    assert list(as_dictionary(graph)) == sorted(expected)
    assert as_dictionary(graph) == pytest.approx(expected, abs=1e-8)  # the start of a learned α is rounded
    assert (graph.edge_index[0] < graph.edge_index[1]).all()
    both, once = len(graph.row) - graph.edge_prob.numel(), 2 * graph.edge_prob.numel() - len(graph.row)
    assert both > 0
    assert once > 0


def test_directed_choices_are_kept(points):
    graph = given(points, gain=5.0)(points)
    ptr, col, prob = entmax_neighbors(points, 5.0)
    assert torch.equal(graph.row, torch.repeat_interleave(ptr.diff()))
    assert torch.equal(graph.col, col)
    torch.testing.assert_close(graph.prob, prob)
    distance = -torch.cdist(points, points)
    others = distance[~torch.eye(40, dtype=torch.bool)].view(40, 39)
    score = (distance - others.mean(1, keepdim=True)) / others.std(1, correction=0, keepdim=True)
    torch.testing.assert_close(graph.score, score[graph.row, graph.col])


def test_graph_enters_the_encoder_only(points, ring):
    module = AlphaDGM(6, 8, gain=5.0).double()
    alone, helped = module(points), module(points, ring)
    torch.testing.assert_close(helped.x_aux, module.encoder(points, ring[:, :30].sort(0).values))
    assert not torch.allclose(alone.x_aux, helped.x_aux)
    loops = torch.arange(40).expand(2, 40)
    noisy = module(points, torch.cat([ring[:, :30], loops, ring[:, 7:8]], dim=1))
    assert torch.equal(helped.edge_index, noisy.edge_index)
    torch.testing.assert_close(helped.edge_prob, noisy.edge_prob)


def test_gradients_through_the_whole_module(points):
    module = given(points[:8], gain=3.0)

    def probabilities(x):
        graph = module(x)
        return graph.edge_prob, graph.score

    assert torch.autograd.gradcheck(probabilities, points[:8].clone().requires_grad_())


def test_no_bias_that_would_cancel():
    assert AlphaDGM(3).encoder.layers[-1].bias is None
    assert AlphaDGM(3, similarity="squared").encoder.layers[-1].bias is None
    assert AlphaDGM(3, similarity="cosine").encoder.layers[-1].bias is not None
    assert AlphaDGM(3, similarity=Hyperbolic()).encoder.layers[-1].bias is not None
    assert {name for name, _ in AlphaDGM(3, learn_gain=False, learn_alpha=False).named_parameters()} == {
        "encoder.layers.0.weight", "encoder.layers.0.bias", "encoder.layers.1.weight", "encoder.layers.1.bias",
        "encoder.layers.2.weight", "gain.shift",
    }  # fmt: skip


SAMPLERS = ["entmax", "topk", "budget"]
SPACES = ["euclidean", "cosine", "hyperbolic"]


@pytest.mark.parametrize(
    ("sampler", "similarity"), [pair for pair in product(SAMPLERS, SPACES) if pair != ("topk", "cosine")]
)
@pytest.mark.parametrize("with_graph", [False, True])
def test_every_parameter_learns(points, ring, silent, sampler, similarity, with_graph):
    space = Hyperbolic() if similarity == "hyperbolic" else similarity
    budget = 60.0 if sampler == "budget" else None
    torch.manual_seed(0)
    module = AlphaDGM(6, 8, gain=5.0, similarity=space, sampler=sampler, budget=budget).double()
    graph = module(points, ring if with_graph else None)
    weight = torch.randn(graph.edge_prob.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (graph.edge_prob * weight).sum().backward()
    assert silent(module) == set()


def test_detach(points):
    x = points.clone().requires_grad_()
    AlphaDGM(6, gain=5.0).double()(x).edge_prob.square().sum().backward()
    assert x.grad.abs().max() > 0
    x.grad = None
    AlphaDGM(6, gain=5.0, detach=True).double()(x).edge_prob.square().sum().backward()
    assert x.grad is None


# Duplicates


def test_copies_are_tied_to_the_first():
    x = torch.tensor([[0.0], [5.0], [-0.0], [1.0], [5.0], [0.0]], dtype=torch.float64)
    graph = given(x, gain=3.0)(x)
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
    graph = given(x, gain=20.0)(parts)
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
    module = AlphaDGM(30, gain=20.0)
    graph = module(x)
    inside = (graph.edge_index < 233).all(0).sum()
    assert inside < 250  # a clique has 27,028; rounding in the encoder may leave more than one representative
    graph.edge_prob.sin().sum().backward()
    assert silent(module) == set()


def test_without_merging_equal_points_form_a_clique():
    x = torch.cat([torch.zeros(10, 2), torch.randn(10, 2, generator=torch.Generator().manual_seed(0))])
    graph = given(x, gain=50.0, merge_duplicates=False)(x)
    assert (graph.edge_index < 10).all(0).sum() == 45


def test_duplicates_under_a_budget(points):
    x = torch.cat([points, points[:3], points[:3]])
    graph = given(x, gain=5.0, sampler="budget", budget=30.0).eval()(x)
    found = as_dictionary(graph)
    assert all(found[(i, 40 + i)] == found[(i, 43 + i)] == 1.0 for i in range(3))
    assert graph.row.max() < 40


def test_topk_chooses_k_also_among_duplicates(points):
    x = torch.cat([points, points[:3], points[:3]])
    graph = given(x, sampler="topk", k=2).eval()(x)
    assert torch.bincount(graph.row, minlength=46).tolist() == [2] * 46


# Samplers


def test_topk_chooses_exactly_k(points):
    module = given(points, sampler="topk", k=4)
    for _ in range(3):
        graph = module(points)
        assert torch.bincount(graph.row, minlength=40).tolist() == [4] * 40
        assert (graph.row != graph.col).all()


def test_topk_is_random_in_training_only(points):
    module = given(points, sampler="topk", k=3)
    torch.manual_seed(0)
    first, second = module(points), module(points)
    assert not torch.equal(first.col, second.col)
    torch.manual_seed(0)
    assert torch.equal(first.col, module(points).col)
    module.eval()
    nearest = torch.cdist(points, points).fill_diagonal_(torch.inf).topk(3, largest=False).indices.sort(1).values
    assert torch.equal(module(points).col.view(40, 3), nearest)
    module.sample_at_eval = True
    assert not torch.equal(module(points).col, module(points).col)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_topk_has_a_temperature_from_the_scale_of_the_points_and_no_alpha(points, scale):
    module = given(points * scale, sampler="topk", k=3, gain=50.0)
    assert isinstance(module.alpha, float)
    module(points * scale)
    log_scores = module.gain().item() * torch.cdist(points * scale, points * scale).square()
    assert log_scores.std(dim=1, correction=0).mean().item() == pytest.approx(100.0, rel=1e-4)
    start = module.gain().item()
    module(points * scale * 2)
    assert module.gain().item() == start  # only the first call sets it


def test_budget(points):
    module, whole = given(points, gain=2.0, sampler="budget", budget=50.0), given(points, gain=2.0)(points)
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


@pytest.mark.parametrize("hold", [True, False])
def test_degree_is_held_as_classes_draw_together(hold):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(300, 4, generator=generator)
    centres = torch.randn(3, 4, generator=generator).repeat(100, 1) * 3
    module = AlphaDGM(4, encoder=Given(), degree=5.0, hold_degree=hold)
    for step in range(80):
        share = min(step / 50, 1.0) * 0.98
        graph = module((1 - share) * x + share * centres)
    degree = len(graph.row) / 300
    assert degree == pytest.approx(5.0, rel=0.25) if hold else degree > 20
    assert module.gain.shift.requires_grad is not hold
    gain = module.gain().item()
    module.eval()(x)
    assert module.gain().item() == gain  # nothing moves outside training


@pytest.mark.parametrize("count", [3, 60])
def test_a_degree_out_of_reach_keeps_the_gain_finite(count):
    # Three points have two neighbours at most, and say nothing; sixty on a circle have two nearest each, equally near.
    angle = torch.arange(count) * (2 * torch.pi / count)
    module = AlphaDGM(2, encoder=Given(), degree=5.0 if count == 3 else 0.5, hold_degree=True)
    for _ in range(1500):
        graph = module(torch.stack([angle.cos(), angle.sin()], dim=1))
    assert module.gain().item() == pytest.approx(50.0 if count == 3 else 1e5)
    assert torch.isfinite(graph.prob).all()
    assert graph.prob.sum().item() == pytest.approx(count, rel=1e-4)


def test_hold_degree_wants_a_degree():
    with pytest.raises(LatopoError, match="degree to hold"):
        AlphaDGM(4, hold_degree=True)
    with pytest.raises(LatopoError, match="degree to hold"):
        AlphaDGM(4, degree=5.0, hold_degree=True, sampler="topk")


def test_degree_is_calibrated_once(points):
    x = torch.randn(300, 6, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(0)
    module = AlphaDGM(6, degree=5.0)
    assert len(module(x).row) / 300 == pytest.approx(5.0, rel=0.05)
    gain = module.gain().item()
    assert gain != 50.0
    module(100 + points.float())
    assert module.gain().item() == gain
    module.reset_parameters()
    assert module.gain().item() == 50.0
    assert not module.calibrated


@pytest.mark.parametrize("options", [{"degree": 5.0}, {"sampler": "topk"}])
def test_too_few_points_do_not_calibrate(options):
    x = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(0)
    fresh, used = (AlphaDGM(6, **options) for _ in range(2))
    used.load_state_dict(fresh.state_dict())
    for few in (0, 1):
        used(x[:few])
    assert not used.calibrated
    used.eval()(x)
    fresh.eval()(x)
    assert used.gain().item() == fresh.gain().item() != 50.0


def test_the_degree_is_approached_by_a_fifth_of_its_power():
    x = torch.randn(200, 6, generator=torch.Generator().manual_seed(1))
    module = given(x, degree=5.0, hold_degree=True, gain=20.0)
    module.calibrated.fill_(True)
    ratio = len(module(x).row) / 200 / 5.0
    assert abs(ratio - 1) > 0.2
    assert module.gain().item() == pytest.approx(20.0 * ratio**0.2, rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("options", [{"sampler": "topk"}, {"degree": 4.0, "hold_degree": True}])
def test_half_precision(dtype, options):
    x = torch.randn(60, 6, generator=torch.Generator().manual_seed(1))
    half = given(x.to(dtype), **options).eval()(x.to(dtype))
    whole = given(x, **options).eval()(x.to(dtype).float())
    assert half.edge_prob.dtype == dtype
    assert half.edge_index.shape == pytest.approx(whole.edge_index.shape, rel=0.1)


def test_calibration_is_saved():
    x = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
    module = AlphaDGM(6, degree=4.0)
    graph = module(x)
    other = AlphaDGM(6, degree=4.0)
    other.load_state_dict(module.state_dict())
    other(torch.randn(50, 6))  # must not calibrate anew
    again = other(x)
    assert torch.equal(graph.edge_index, again.edge_index)
    assert torch.equal(graph.edge_prob, again.edge_prob)


def test_reset_changes_weights_and_restores_starts():
    module = AlphaDGM(3, gain=7.0, alpha=1.8, similarity=Hyperbolic(2.0))
    start = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3)
    module.reset_parameters()
    for name, tensor in module.state_dict().items():
        same = torch.equal(tensor, start[name])
        assert same != (name.startswith("encoder") and name.endswith("weight")), name
    assert module.gain().item() == 7.0
    assert module.alpha_value().item() == pytest.approx(1.8)


def test_a_falsy_encoder_is_kept():
    class Empty(nn.Sequential):
        def forward(self, x, edge_index=None):
            return x

    encoder = Empty()
    assert AlphaDGM(3, encoder=encoder).encoder is encoder


# Degenerate input


@pytest.mark.parametrize("sampler", ["entmax", "topk"])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_points(points, count, sampler):
    x = points[:count].clone().requires_grad_()
    graph = given(points, gain=5.0, sampler=sampler)(x)
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


def test_low_gain_is_refused_with_advice(points):
    with pytest.raises(TooManyCellsError, match=r"1,560 directed edges, more than max_edges=500.*Raise the gain") as e:
        given(points, gain=0.01, max_edges=500)(points)
    assert (e.value.count, e.value.limit) == (1560, 500)


def test_bad_features():
    x = torch.zeros(5, 3)
    x[2, 1] = torch.nan
    with pytest.raises(LatopoError, match="AlphaDGM: x has NaN or infinite entries, first in row 2"):
        AlphaDGM(3)(x)
    with pytest.raises(LatopoError, match="AlphaDGM: x has 3 columns, expected in_channels=4"):
        AlphaDGM(4)(x)
    with pytest.raises(LatopoError, match="AlphaDGM: edge_index holds vertex 5"):
        AlphaDGM(3)(torch.zeros(5, 3), torch.tensor([[0], [5]]))


def test_bad_arguments_and_repr():
    with pytest.raises(LatopoError, match="AlphaDGM: sampler must be entmax, topk or budget, got 'best'"):
        AlphaDGM(3, sampler="best")
    with pytest.raises(LatopoError, match="budget belongs to sampler='budget'"):
        AlphaDGM(3, budget=5.0)
    with pytest.raises(LatopoError, match="budget belongs"):
        AlphaDGM(3, sampler="budget")
    assert repr(AlphaDGM(3)).startswith("AlphaDGM(\n  in_channels=3, sampler='entmax', merge_duplicates=True")


@pytest.mark.parametrize("similarity", ["cosine", "inner"])
def test_topk_wants_a_distance(points, similarity):
    with pytest.raises(LatopoError, match="AlphaDGM with sampler='topk': expected minus a distance"):
        AlphaDGM(4, sampler="topk", similarity=similarity)
    with pytest.raises(LatopoError, match="topk_neighbors: expected minus a distance"):
        topk_neighbors(points, 3, similarity=similarity)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degree": -5.0}, "degree must be > 0, got -5.0"),
        ({"sampler": "budget", "budget": 0.0}, "budget must be > 0, got 0.0"),
        ({"alpha": 0.5, "learn_alpha": False}, "alpha must be a finite number of at least 1, got 0.5"),
    ],
)
def test_settings_are_checked_at_once(options, message):
    with pytest.raises(LatopoError, match=message):
        AlphaDGM(4, **options)


def test_shows_what_it_is():
    shown = repr(AlphaDGM(4, degree=3.0, hold_degree=True, alpha=2.0, learn_alpha=False, detach=True))
    for part in ("sampler='entmax'", "alpha=2.0", "degree=3.0, hold_degree=True", "detach=True"):
        assert part in shown
    assert "k=7" in repr(AlphaDGM(4, sampler="topk", k=7))
    assert "budget=9" in repr(AlphaDGM(4, sampler="budget", budget=9))


def test_a_cloud_that_cannot_have_the_degree_does_not_change_the_gain():
    torch.manual_seed(0)
    module = AlphaDGM(3, 8, degree=5.0, hold_degree=True)
    module(torch.randn(60, 3))
    before = module.gain().item()
    module(torch.randn(4, 3))
    assert module.gain().item() == before


def test_topk_has_neighbours_and_no_degree():
    for options in ({"k": 0}, {"degree": 3.0}):
        with pytest.raises(LatopoError, match="takes k ≥ 1 neighbours and no degree"):
            AlphaDGM(3, sampler="topk", **options)


def test_sparse_coordinates_are_refused():
    with pytest.raises(LatopoError, match="AlphaDGM: x must be dense or sparse CSR"):
        AlphaDGM(3)(torch.eye(3).to_sparse_coo())
