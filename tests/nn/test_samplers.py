import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from latopo import entmax_neighbors
from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors import NeighborSearch, SquaredEuclidean, get_similarity, topk_neighbors
from latopo.neighbors.cell_index import CellIndex
from latopo.nn import BudgetSampler, EdgeSampler, EntmaxSampler, TopKSampler

EUCLIDEAN = get_similarity("euclidean")


def degree(rows):
    return rows.col.numel() / (rows.ptr.numel() - 1)


def cloud(count, width=6, seed=1):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def test_an_edge_sampler_has_to_choose():
    with pytest.raises(TypeError, match="abstract"):
        EdgeSampler()


# Entmax


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_entmax_rows(points, alpha):
    rows = EntmaxSampler(5.0, alpha, learn_alpha=False)(points, EUCLIDEAN)
    expected = entmax_neighbors(points, 5.0, alpha)
    for found, wanted in zip(rows[:3], expected, strict=True):
        torch.testing.assert_close(found, wanted)
    assert rows.prob.grad_fn is not None  # the gain is learned


def test_what_is_learned():
    names = {
        (): {"gain.shift", "alpha.raw"},
        ("learn_gain",): {"alpha.raw"},
        ("learn_alpha",): {"gain.shift"},
        ("learn_gain", "learn_alpha"): set(),
    }
    for off, expected in names.items():
        sampler = EntmaxSampler(**dict.fromkeys(off, False))
        assert {name for name, p in sampler.named_parameters() if p.requires_grad} == expected
    held = EntmaxSampler(degree=3.0, hold_degree=True)
    assert {name for name, p in held.named_parameters() if p.requires_grad} == {"alpha.raw"}


@pytest.mark.parametrize("hold", [True, False])
def test_degree_is_held_as_classes_draw_together(hold):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(300, 4, generator=generator)
    centres = torch.randn(3, 4, generator=generator).repeat(100, 1) * 3
    sampler = EntmaxSampler(degree=5.0, hold_degree=hold)
    for step in range(80):
        share = min(step / 50, 1.0) * 0.98
        rows = sampler((1 - share) * x + share * centres, EUCLIDEAN)
    assert degree(rows) == pytest.approx(5.0, rel=0.25) if hold else degree(rows) > 20
    assert sampler.gain.shift.requires_grad is not hold
    gain = sampler.gain().item()
    sampler.eval()(x, EUCLIDEAN)
    assert sampler.gain().item() == gain  # nothing moves outside training


@pytest.mark.parametrize("count", [3, 60])
def test_a_degree_out_of_reach_keeps_the_gain_finite(count):
    # Three points have two neighbours at most, and say nothing; sixty on a circle have two nearest each, equally near.
    angle = torch.arange(count) * (2 * torch.pi / count)
    sampler = EntmaxSampler(degree=5.0 if count == 3 else 0.5, hold_degree=True)
    for _ in range(1500):
        rows = sampler(torch.stack([angle.cos(), angle.sin()], dim=1), EUCLIDEAN)
    assert sampler.gain().item() == pytest.approx(50.0 if count == 3 else 1e5)
    assert torch.isfinite(rows.prob).all()
    assert rows.prob.sum().item() == pytest.approx(count, rel=1e-4)


def test_the_degree_is_approached_by_a_fifth_of_its_power():
    x = cloud(200)
    sampler = EntmaxSampler(20.0, degree=5.0, hold_degree=True)
    sampler.calibrated.fill_(True)
    ratio = degree(sampler(x, EUCLIDEAN)) / 5.0
    assert abs(ratio - 1) > 0.2
    assert sampler.gain().item() == pytest.approx(20.0 * ratio**0.2, rel=1e-5)


def test_a_cloud_that_cannot_have_the_degree_does_not_change_the_gain():
    sampler = EntmaxSampler(degree=5.0, hold_degree=True)
    sampler(cloud(60, 3), EUCLIDEAN)
    before = sampler.gain().item()
    sampler(cloud(4, 3), EUCLIDEAN)
    assert sampler.gain().item() == before


def test_calibration_happens_once_and_after_a_reset():
    sampler = EntmaxSampler(20.0, degree=5.0)
    assert degree(sampler(cloud(300), EUCLIDEAN)) == pytest.approx(5.0, rel=0.05)
    gain = sampler.gain().item()
    assert gain != 20.0
    sampler(cloud(300, seed=2) ** 3, EUCLIDEAN)
    assert sampler.gain().item() == gain
    sampler.reset_parameters()
    assert sampler.gain().item() == 20.0
    assert not sampler.calibrated
    assert EntmaxSampler(20.0).calibrated  # nothing to calibrate for


@pytest.mark.parametrize("make", [lambda: EntmaxSampler(degree=5.0), TopKSampler])
def test_too_few_points_do_not_calibrate(make):
    x, fresh, used = cloud(100), make(), make()
    for few in (0, 1):
        used(x[:few], EUCLIDEAN)
    assert not used.calibrated
    used.eval()(x, EUCLIDEAN)
    fresh.eval()(x, EUCLIDEAN)
    assert used.facts() == pytest.approx(fresh.facts())
    assert used.facts()["gain"] != 50.0


@pytest.mark.parametrize("make", [lambda: EntmaxSampler(degree=5.0, hold_degree=True), TopKSampler])
def test_calibrated_in_inference_mode_it_can_be_trained(make):
    x, sampler = cloud(100), make()
    with torch.inference_mode():
        sampler(x, EUCLIDEAN)
    sampler(x.requires_grad_(), EUCLIDEAN).prob.square().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in sampler.parameters() if p.grad is not None)
    assert any(p.grad is not None for p in sampler.parameters())


def test_calibration_is_saved():
    sampler, other = EntmaxSampler(degree=4.0), EntmaxSampler(degree=4.0)
    sampler(cloud(100), EUCLIDEAN)
    other.load_state_dict(sampler.state_dict())
    other(cloud(50, seed=2) ** 3, EUCLIDEAN)
    assert other.gain().item() == sampler.gain().item()


def test_low_gain_is_refused_with_advice(points):
    with pytest.raises(TooManyCellsError, match=r"1,560 directed edges, more than max_edges=500.*Raise the gain") as e:
        EntmaxSampler(0.01, max_edges=500)(points, EUCLIDEAN)
    assert (e.value.count, e.value.limit) == (1560, 500)


def test_queries_have_no_limit(points):
    rows = EntmaxSampler(0.01, max_edges=5).join(points[:10], points[10:], EUCLIDEAN)
    assert rows.col.numel() == 300


# Top-k


def test_topk_chooses_exactly_k(points):
    sampler = TopKSampler(4)
    for _ in range(3):
        rows = sampler(points, EUCLIDEAN)
        assert rows.ptr.diff().tolist() == [4] * 40
        assert (torch.repeat_interleave(rows.ptr.diff()) != rows.col).all()


def test_topk_is_random_in_training_only(points):
    sampler = TopKSampler(3)
    torch.manual_seed(0)
    first, second = sampler(points, EUCLIDEAN), sampler(points, EUCLIDEAN)
    assert not torch.equal(first.col, second.col)
    torch.manual_seed(0)
    assert torch.equal(first.col, sampler(points, EUCLIDEAN).col)
    sampler.eval()
    nearest = torch.cdist(points, points).fill_diagonal_(torch.inf).topk(3, largest=False).indices.sort(1).values
    assert torch.equal(sampler(points, EUCLIDEAN).col.view(40, 3), nearest)
    always = TopKSampler(3, sample_at_eval=True).eval()
    assert not torch.equal(always(points, EUCLIDEAN).col, always(points, EUCLIDEAN).col)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_topk_has_a_temperature_from_the_scale_of_the_points_and_no_alpha(points, scale):
    sampler = TopKSampler(3).double()
    assert {name for name, _ in sampler.named_parameters()} == {"temperature.shift"}
    sampler(points * scale, EUCLIDEAN)
    log_scores = sampler.temperature().item() * torch.cdist(points * scale, points * scale).square()
    assert log_scores.std(dim=1, correction=0).mean().item() == pytest.approx(100.0, rel=1e-4)
    start = sampler.temperature().item()
    sampler(points * scale * 2, EUCLIDEAN)
    assert sampler.temperature().item() == start  # only the first call sets it
    sampler.reset_parameters()
    assert sampler.temperature().item() == 50.0
    assert not sampler.calibrated


@pytest.mark.parametrize("similarity", ["cosine", "inner"])
def test_topk_wants_a_distance(points, similarity):
    with pytest.raises(LatopoError, match="TopKSampler: expected minus a distance"):
        TopKSampler().check_similarity(get_similarity(similarity))
    with pytest.raises(LatopoError, match="topk_neighbors: expected minus a distance"):
        topk_neighbors(points, 3, similarity=similarity)
    EntmaxSampler().check_similarity(get_similarity(similarity))


def test_equal_points():
    assert EntmaxSampler().merges_duplicates
    assert BudgetSampler(5.0).merges_duplicates
    assert not TopKSampler().merges_duplicates


# Budget


def test_budget_thins_the_edges_of_the_sampler_within(points):
    inner = EntmaxSampler(2.0)
    sampler = BudgetSampler(50.0, inner)
    rows, whole = sampler(points, EUCLIDEAN), inner(points, EUCLIDEAN)
    assert all(torch.equal(one, other) for one, other in zip(rows, whole, strict=True))
    prob = torch.linspace(0.01, 1, 200)
    torch.manual_seed(0)
    sizes = torch.stack([sampler.thin(prob).sum() for _ in range(100)]).double()
    assert sizes.std() > 0
    assert abs(sizes.mean().item() - 50) < 3  # standard error below 0.7
    sampler.eval()
    assert sampler.thin(prob).nonzero().flatten().tolist() == list(range(150, 200))
    sampler.sample_at_eval = True
    assert not torch.equal(sampler.thin(prob), sampler.thin(prob))
    assert inner.thin(prob) is None


# Queries


@pytest.mark.parametrize("make", [lambda: EntmaxSampler(3.0), lambda: BudgetSampler(2.0, EntmaxSampler(3.0))])
def test_queries_choose_by_the_fitted_scale(points, make):
    sampler = make().double()
    with torch.no_grad():
        rows = sampler.join(points[30:], points[:30], EUCLIDEAN)
        ptr, col, prob = entmax_neighbors(points[30:], 3.0, sampler.facts()["alpha"], anchors=points[:30])
    assert torch.equal(rows.ptr, ptr)
    assert torch.equal(rows.col, col)
    torch.testing.assert_close(rows.prob, prob)


@pytest.mark.parametrize("k", [3, 50])
def test_queries_take_their_nearest_anchors(points, k):
    sampler = TopKSampler(k).double()
    sampler(0.1 * points, EUCLIDEAN)
    with torch.no_grad():
        rows = sampler.join(points[30:], points[:30], EUCLIDEAN)
    distance = torch.cdist(points[30:], points[:30])
    nearest = distance.topk(min(k, 30), largest=False).indices.sort(1).values
    assert torch.equal(rows.col.view(10, -1), nearest)
    assert rows.ptr.tolist() == list(range(0, nearest.numel() + 1, nearest.size(1)))
    expected = -sampler.temperature().item() * distance.gather(1, nearest).square().flatten()
    torch.testing.assert_close(rows.score, expected)
    torch.testing.assert_close(rows.prob, expected.exp())


@pytest.mark.parametrize("make", [lambda: EntmaxSampler(degree=4.0, hold_degree=True), lambda: TopKSampler(3)])
def test_queries_depend_on_no_other_and_change_nothing(points, make):
    sampler = make().double()
    anchors, queries = points[:30], torch.cat([points[30:], 1e3 * points[30:]])
    sampler(anchors, EUCLIDEAN)
    before = {name: tensor.clone() for name, tensor in sampler.state_dict().items()}
    with torch.no_grad():
        together = sampler.join(queries, anchors, EUCLIDEAN)
        alone = [sampler.join(query[None], anchors, EUCLIDEAN) for query in queries]
    assert torch.equal(together.col, torch.cat([rows.col for rows in alone]))
    torch.testing.assert_close(together.prob, torch.cat([rows.prob for rows in alone]))
    assert all(torch.equal(tensor, before[name]) for name, tensor in sampler.state_dict().items())


# What it shows


def test_facts():
    assert EntmaxSampler(7.0, 1.8).facts() == pytest.approx({"alpha": 1.8, "gain": 7.0})
    assert EntmaxSampler(7.0, 2.0, learn_alpha=False).facts() == {"alpha": 2.0, "gain": 7.0}
    assert BudgetSampler(5.0, EntmaxSampler(7.0, 1.8)).facts() == pytest.approx({"alpha": 1.8, "gain": 7.0})
    assert TopKSampler().facts() == {"gain": 50.0}


def test_reset_goes_back_to_the_start():
    for sampler in (EntmaxSampler(7.0, 1.8), BudgetSampler(5.0, EntmaxSampler(7.0, 1.8))):
        with torch.no_grad():
            for parameter in sampler.parameters():
                parameter.add_(0.3)
        assert not math.isclose(sampler.facts()["gain"], 7.0)
        sampler.reset_parameters()
        assert sampler.facts() == pytest.approx({"alpha": 1.8, "gain": 7.0})


def test_repr():
    shown = repr(EntmaxSampler(degree=3.0, hold_degree=True, alpha=2.0, learn_alpha=False))
    assert shown.startswith("EntmaxSampler(\n  alpha=2.0, degree=3.0, hold_degree=True\n")
    assert "LearnableAlpha" in repr(EntmaxSampler())
    assert repr(TopKSampler(k=7)).startswith("TopKSampler(\n  k=7\n")
    assert repr(BudgetSampler(9)).startswith("BudgetSampler(\n  budget=9\n  (sampler): EntmaxSampler(")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EntmaxSampler(degree=-5.0), "EntmaxSampler: degree must be a finite number above 0 or None, got -5.0"),
        (
            lambda: EntmaxSampler(degree=float("nan")),
            "EntmaxSampler: degree must be a finite number above 0 or None, got nan",
        ),
        (lambda: EntmaxSampler(hold_degree=True), "EntmaxSampler: hold_degree needs the degree to hold"),
        (lambda: EntmaxSampler(gain=0.0), "the gain must be a finite number > 0, got 0.0"),
        (lambda: EntmaxSampler(alpha=0.5, learn_alpha=False), "alpha must be a finite number of at least 1, got 0.5"),
        (lambda: BudgetSampler(0.0), "BudgetSampler: budget must be a finite number above 0, got 0.0"),
        (lambda: TopKSampler(0), "TopKSampler: k must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_arguments_are_refused_at_once(make, message):
    with pytest.raises(LatopoError, match=message):
        make()


# The search


def test_the_search_is_kept_and_reported():
    sampler = EntmaxSampler(20.0, search="certified")
    assert sampler.search_report() is None
    rows = sampler(cloud(400), get_similarity("squared"))
    assert sampler.search_report().certified == 400
    assert "search='certified'" in repr(sampler)
    sampler(cloud(400) * 1.0001, get_similarity("squared"))
    assert sampler.search_report().reused > 200  # candidates of the call before
    exact = EntmaxSampler(20.0)(cloud(400), get_similarity("squared"))
    assert torch.equal(rows.col, exact.col)
    assert BudgetSampler(10.0, sampler).search_report() is sampler.search_report()
    assert TopKSampler().search_report() is None


def test_the_cells_of_the_anchors_are_made_once(monkeypatch):
    """Queries come in blocks, and threads may ask at the same time; the answers are those of an exact search."""
    made, init = [], CellIndex.__init__
    monkeypatch.setattr(CellIndex, "__init__", lambda index, *rest: made.append(1) or init(index, *rest))
    monkeypatch.setattr("latopo.neighbors.candidates._CELLS_FROM", 1000)
    generator = torch.Generator().manual_seed(0)
    centres = 20 * torch.randn(40, 6, generator=generator, dtype=torch.float64)
    points = centres.repeat(100, 1) + torch.randn(4000, 6, generator=generator, dtype=torch.float64)
    anchors, blocks = points[:2000], [points[2000:3100], points[2900:]]
    sampler, exact = (EntmaxSampler(60.0, search=how) for how in ("approximate", "exact"))
    similarity = SquaredEuclidean()
    expected = [exact.join(block, anchors, similarity) for block in blocks]
    first = sampler.join(blocks[0], anchors.clone(), similarity)
    faiss = pytest.importorskip("faiss")
    before = faiss.cvar.distance_compute_blas_query_bs
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: sampler.join(blocks[at % 2], anchors.clone(), similarity), range(8)))
    assert len(made) == 1
    assert faiss.cvar.distance_compute_blas_query_bs == before
    for at, rows in enumerate([*found, first]):
        assert torch.equal(rows.ptr, expected[at % 2].ptr)
        assert torch.equal(rows.col, expected[at % 2].col)
    sampler.join(blocks[0], points[1:2001], similarity)  # other anchors
    assert len(made) == 2


def test_queries_follow_a_search_that_is_replaced():
    sampler, points = EntmaxSampler(5.0), cloud(60)
    sampler.join(points[:10], points[10:], EUCLIDEAN)
    assert sampler._asked.method == "exact"
    sampler.search = NeighborSearch("certified")
    sampler.join(points[:10], points[10:], EUCLIDEAN)
    assert sampler._asked.method == "certified"
