import pytest
import torch
from torch.nn import functional
from torch_geometric.data import Batch, Data

from latopo import CellComplex
from latopo.errors import LatopoError, TooManyCellsError
from latopo.nn import (
    DCM,
    AlphaDGM,
    BudgetSampler,
    EntmaxSampler,
    PolygonInference,
    TopKSampler,
    TopologyLoss,
)

RELAXATIONS = ["none", "weighted", "straight_through"]


def dgm(width=6, **options):
    return AlphaDGM(width, 8, sampler=EntmaxSampler(**options))


def layer(relaxation="weighted", seed=0, **options):
    """A layer on points [N, 6] that finds dozens of edges and several polygons."""
    torch.manual_seed(seed)
    options = {"graph": dgm(gain=2.0), "polygons": PolygonInference(gain=0.5)} | options
    return DCM(6, 5, relaxation=relaxation, **options).double()


def labels(count=40):
    return torch.randint(3, (count,), generator=torch.Generator().manual_seed(2))


def task_loss(out):
    head = torch.randn(out.size(1), 3, generator=torch.Generator().manual_seed(3), dtype=out.dtype)
    return functional.cross_entropy(out @ head, labels(out.size(0)))


# What it computes


@pytest.mark.parametrize("relaxation", RELAXATIONS)
@pytest.mark.parametrize("concat", [True, False])
def test_equals_its_parts(points, relaxation, concat):
    module = layer(relaxation, concat=concat)
    out, complex = module(points)
    complex.validate()
    assert complex.num_edges > 40
    assert complex.num_polygons > 3
    edge_weight = polygon_weight = None
    if relaxation == "weighted":
        edge_weight, polygon_weight = complex.edge_prob, complex.polygon_prob / complex.polygon_prob.max()
    nodes = module.messages.node_convs[0](points, complex.edge_index, edge_weight).relu()
    edges = nodes[complex.edge_index].mean(0)
    edges = module.messages.edge_convs[0](edges, complex, edge_weight, polygon_weight).relu()
    down = module.messages.downlift(edges, complex, edge_weight)
    torch.testing.assert_close(out, torch.cat([nodes, down], 1) if concat else nodes + down)


@pytest.mark.parametrize("relaxation", RELAXATIONS)
@pytest.mark.parametrize("given", [True, False])
def test_a_batch_is_its_graphs_one_by_one(points, ring, relaxation, given):
    """Also where graphs differ in size and one has a single point; gradients included."""
    module = layer(relaxation)
    clouds = [points, points[:1], points.flip(0)[:25] * 2]
    graphs = [ring, ring[:, :0], torch.tensor([[0, 3], [7, 24]])] if given else [None] * 3
    alone = [module(x, edges) for x, edges in zip(clouds, graphs, strict=True)]
    batch = Batch.from_data_list([Data(x, edges) for x, edges in zip(clouds, graphs, strict=True)])
    out, complex = module(batch.x, batch.edge_index, batch.batch)
    torch.testing.assert_close(out, torch.cat([x for x, _ in alone]), rtol=1e-8, atol=1e-8)
    complex.validate()
    assert bool((batch.batch[complex.edge_index[0]] == batch.batch[complex.edge_index[1]]).all())
    for number, (_, expected) in enumerate(alone):
        part = complex.subcomplex(batch.batch == number)
        assert part == expected
        torch.testing.assert_close(part.edge_prob, expected.edge_prob, rtol=1e-8, atol=1e-8)
    learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
    expected = torch.autograd.grad(sum(x.square().sum() for x, _ in alone), learned, allow_unused=True)
    actual = torch.autograd.grad(out.square().sum(), learned, allow_unused=True)
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize(
    "sampler", [lambda: EntmaxSampler(degree=5.0), lambda: EntmaxSampler(degree=5.0, hold_degree=True), TopKSampler]
)
def test_a_batch_whose_first_cloud_is_too_small_to_calibrate(points, sampler):
    module = layer(graph=AlphaDGM(6, 8, sampler=sampler()))
    out, _ = module(points, batch=torch.tensor([0] + [1] * 39))
    out.sum().backward()
    assert bool(module.topology.graph.sampler.calibrated)


def test_a_second_layer_takes_the_batch_of_the_first(points):
    first, second = layer(), DCM(10, 5, graph=dgm(10, gain=2.0)).double()
    batch = torch.arange(2).repeat_interleave(20)
    x, complex = first(points, batch=batch)
    out, complex = second(x, complex.edge_index, batch)
    assert out.shape == (40, 10)
    assert not bool(((complex.edge_index[0] < 20) & (complex.edge_index[1] >= 20)).any())


def test_straight_through_is_none_forward(points, ring):
    for rounds in (1, 3):
        hard, soft = layer("none", rounds=rounds), layer("straight_through", rounds=rounds)
        assert torch.equal(hard(points)[0], soft(points)[0])
        assert torch.equal(hard(points, ring)[0], soft(points, ring)[0])


@pytest.mark.parametrize("relaxation", RELAXATIONS)
def test_permutation_equivariance(points, ring, relaxation):
    module = layer(relaxation, rounds=2)
    order = torch.randperm(40, generator=torch.Generator().manual_seed(1))
    place = order.argsort()  # node i becomes node place[i]
    for edge_index in (None, ring):
        out, complex = module(points, edge_index)
        moved, other = module(points[order], None if edge_index is None else place[edge_index])
        torch.testing.assert_close(moved, out[order])
        expected = CellComplex(
            40,
            place[complex.edge_index],
            {length: place[rows] for length, rows in complex.polygons.items()},
            complex.edge_prob,
            complex.polygon_prob,
        )
        assert other == expected
        torch.testing.assert_close(other.edge_prob, expected.edge_prob)
        torch.testing.assert_close(other.polygon_prob, expected.polygon_prob)


def test_infer_shows_what_led_to_the_complex(points):
    complex, graph, polygons = layer().infer(points)
    assert complex.edge_prob is graph.edge_prob
    assert complex.polygon_prob is polygons.prob
    assert polygons.num_candidates >= complex.num_polygons


@pytest.mark.parametrize(
    "sampler", [lambda: EntmaxSampler(2.0), TopKSampler, lambda: BudgetSampler(80.0, EntmaxSampler(2.0))]
)
def test_determinism(points, sampler):
    def run():
        torch.manual_seed(0)
        graph = AlphaDGM(6, 8, sampler=sampler())
        return layer(graph=graph, polygons=PolygonInference(candidate_budget=5), rounds=2, dropout=0.3)(points)

    (first, complex), (second, other) = run(), run()
    assert torch.equal(first, second)
    assert complex == other


# Continuity (a cell whose probability goes to 0 fades out)


def without_edge(complex, gone):
    rest = torch.arange(complex.num_edges) != gone
    edge, polygon = complex.polygon_edge_index()
    dead = torch.zeros(complex.num_polygons, dtype=torch.bool)
    dead[polygon[edge == gone]] = True
    return without_polygons(complex, dead, rest)


def without_polygons(complex, dead, edges=slice(None)):
    sizes = [rows.size(0) for rows in complex.polygons.values()]
    masks = torch.split_with_sizes(~dead, sizes)
    polygons = {length: rows[mask] for (length, rows), mask in zip(complex.polygons.items(), masks, strict=True)}
    return CellComplex(
        complex.num_nodes, complex.edge_index[:, edges], polygons, complex.edge_prob[edges], complex.polygon_prob[~dead]
    )


def faded(complex, rank, at):
    probs = [complex.edge_prob.clone(), complex.polygon_prob.clone()]
    probs[rank - 1][at] = 1e-9
    return CellComplex.from_canonical(complex.num_nodes, complex.edge_index, complex.polygons, *probs)


@pytest.mark.parametrize("rounds", [1, 2])
def test_cells_fade_out(points, rounds):
    module = layer(rounds=rounds)
    with torch.no_grad():
        complex = module.infer(points).complex
        best = int(complex.polygon_prob.argmax())
        edge, polygon = complex.polygon_edge_index()
        in_polygon = torch.isin(torch.arange(complex.num_edges), edge)
        inside, outside = in_polygon.nonzero()[0].item(), (~in_polygon).nonzero()[0].item()
        assert inside not in edge[polygon == best]  # polygon weights are relative to the best one
        for at in (inside, outside):
            expected = module.propagate(points, without_edge(complex, at))
            torch.testing.assert_close(module.propagate(points, faded(complex, 1, at)), expected, atol=1e-6, rtol=0)
        dead = torch.arange(complex.num_polygons) == (best + 1) % complex.num_polygons
        expected = module.propagate(points, without_polygons(complex, dead))
        found = module.propagate(points, faded(complex, 2, dead.nonzero().item()))
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
        assert not torch.allclose(expected, module.propagate(points, complex), atol=1e-6)


@pytest.mark.parametrize("relaxation", ["weighted", "straight_through"])
def test_a_single_edge_learns(relaxation):
    prob = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    complex = CellComplex(2, torch.tensor([[0], [1]]), edge_prob=prob)
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    layer(relaxation).propagate(x, complex).sum().backward()
    assert prob.grad.abs().item() > 1e-3


# Every parameter learns


@pytest.mark.parametrize("with_graph", [False, True])
@pytest.mark.parametrize("relaxation", ["weighted", "straight_through"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_every_parameter_learns_from_the_task(points, ring, silent, relaxation, rounds, with_graph):
    module = layer(relaxation, rounds=rounds)
    out, complex = module(points, ring if with_graph else None)
    assert complex.num_polygons > 2
    task_loss(out).backward()
    assert silent(module) == set()


@pytest.mark.parametrize("with_graph", [False, True])
@pytest.mark.parametrize("form", ["undirected", "score", "log", "literal"])
def test_every_parameter_learns_from_the_reward(points, ring, silent, form, with_graph):
    module = layer("none")
    topology = module.infer(points, ring if with_graph else None)
    out = module.propagate(points, topology.complex)
    reward = TopologyLoss(40, 3, form).double()
    parts = reward(out[:, :3], labels(), topology.complex, graph=topology.graph)
    (task_loss(out) + parts.total).backward()
    # The scores of the edges contain neither γ nor α; printed literally the edge loss is a constant.
    unmoved = (
        {f"topology.graph.sampler.{name}" for name in ("gain.shift", "alpha.raw")}
        if form in ("score", "literal")
        else set()
    )
    assert silent(module) == unmoved


def test_without_relaxation_the_task_does_not_reach_the_topology(points):
    module = layer("none")
    task_loss(module(points)[0]).backward()
    assert all(parameter.grad is None for parameter in module.topology.parameters())
    assert all(parameter.grad is not None for parameter in module.messages.node_convs.parameters())


@pytest.mark.parametrize("sampler", ["entmax", "budget", "topk"])
def test_polygon_parameters_learn(points, silent, sampler):
    k = None if sampler == "entmax" else 6
    module = layer(polygons=PolygonInference(gain=0.5, sampler=sampler, k=k))
    task_loss(module(points)[0]).backward()
    assert silent(module) == set()


@pytest.mark.parametrize("polygons", [PolygonInference(2), PolygonInference(sampler="all")])
def test_no_parameter_without_a_choice_of_polygons(points, silent, polygons):
    module = layer(polygons=polygons)
    assert list(module.topology.polygons.parameters()) == []
    out, complex = module(points)
    task_loss(out).backward()
    # Without polygons the upper weights have nothing to multiply.
    assert silent(module) == (set() if complex.num_polygons else {"messages.edge_convs.0.upper.weight"})


def test_training_improves_on_the_start(points):
    module = layer(concat=False)
    head = torch.nn.Linear(5, 3).double()
    optimizer = torch.optim.Adam([*module.parameters(), *head.parameters()], lr=0.02)
    losses = []
    for _ in range(25):
        optimizer.zero_grad()
        loss = functional.cross_entropy(head(module(points)[0]), labels())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


# State


def test_state_dict_round_trip(points):
    torch.manual_seed(0)
    first = DCM(6, 5, graph=dgm(degree=4.0)).double()
    out, complex = first(points)
    torch.manual_seed(1)
    second = DCM(6, 5, graph=dgm(degree=4.0)).double()
    second.load_state_dict(first.state_dict())
    again, other = second(points)
    assert torch.equal(out, again)
    assert complex == other


def test_reset_parameters(points):
    module = layer(rounds=2)
    start = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1)
    module.reset_parameters()
    for name, tensor in module.state_dict().items():
        assert torch.allclose(tensor.double(), start[name].double()) != name.endswith("weight"), name


def test_stacking(points, ring, silent):
    torch.manual_seed(0)
    first = DCM(6, 5, gain=2.0).double()
    second = DCM(10, 4, gain=2.0, concat=False).double()
    x, complex = first(points, ring)
    out, last = second(x, complex.edge_index)
    assert out.shape == (40, 4)
    assert last.num_nodes == 40
    task_loss(out).backward()
    assert silent(first) == set()
    assert silent(second) == set()


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_rounds_and_shapes(points, rounds):
    module = layer(rounds=rounds)
    assert len(module.messages.node_convs) == len(module.messages.edge_convs) == rounds
    assert module(points)[0].shape == (40, 10)
    assert layer(rounds=rounds, concat=False)(points)[0].shape == (40, 5)


def test_without_rounds_the_output_is_x_and_its_edges(points, house):
    module = DCM(6, 6, rounds=0, relaxation="none")
    out = module.propagate(points[:7], house)
    assert torch.equal(out[:, :6], points[:7])
    for node in range(7):
        ends = house.edge_index[:, (house.edge_index == node).any(dim=0)]
        down = points[ends].mean(dim=0).sum(dim=0) / (1 + ends.size(1))
        torch.testing.assert_close(out[node, 6:], down)


def test_dropout_between_rounds_in_training_only(points):
    module = layer(rounds=2, dropout=0.5)
    assert not torch.equal(module(points)[0], module(points)[0])
    module.eval()
    assert torch.equal(module(points)[0], module(points)[0])
    single = layer(rounds=1, dropout=0.5)
    assert torch.equal(single(points)[0], single(points)[0])


def test_repr():
    module = DCM(6, 5)
    assert repr(module).startswith("DCM(\n  6, 5, relaxation='weighted'\n")
    for part in ("AlphaDGM", "PolygonInference", "NodeConv(6, 5", "Uplift", "CellConv", "Downlift", "LearnableAlpha"):
        assert part in repr(module)


# Degenerate input


@pytest.mark.parametrize("relaxation", RELAXATIONS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_points(points, count, relaxation):
    module = layer(relaxation)
    out, complex = module(points[:count])
    complex.validate()
    out.sum().backward()
    assert out.shape == (count, 10)
    assert torch.isfinite(out).all()
    assert complex.num_edges == {1: 0, 2: 1}.get(count, complex.num_edges)
    for parameter in module.parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize("relaxation", RELAXATIONS)
def test_no_edges_and_no_polygons(house, points, relaxation):
    module, x = layer(relaxation), points[:7]
    none = CellComplex(7, torch.zeros(2, 0, dtype=torch.int64), None, torch.zeros(0).double(), torch.zeros(0).double())
    expected = module.messages.node_convs[0](x).relu()
    torch.testing.assert_close(module.propagate(x, none), torch.cat([expected, torch.zeros(7, 5)], 1).double())
    assert torch.isfinite(module.propagate(x, house.skeleton(1))).all()


def test_duplicates_only():
    module = layer()
    x = torch.ones(30, 6, dtype=torch.float64)
    out, complex = module(x)
    out.sum().backward()
    assert 29 <= complex.num_edges < 40  # a clique has 435
    assert complex.num_polygons <= 1
    assert torch.isfinite(out).all()


@pytest.mark.parametrize("relaxation", RELAXATIONS)
def test_zero_rows_train_without_a_clique(silent, relaxation):
    x = (torch.rand(400, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.1).round(decimals=2)
    x[torch.randperm(400, generator=torch.Generator().manual_seed(1))[:233]] = 0
    module = layer(relaxation, graph=dgm(gain=10.0))
    for _ in range(3):
        module.zero_grad()
        out, complex = module(x)
        zero = (x == 0).all(1)
        assert zero[complex.edge_index].all(0).sum() < 250  # a clique has 27,028
        task_loss(out).backward()
        silent(module)  # finite
        with torch.no_grad():
            for parameter in module.parameters():
                if parameter.grad is not None:
                    parameter.sub_(0.1 * parameter.grad)


def test_isolated_nodes_self_loops_and_directions(points, ring):
    module = layer()
    out, complex = module(points, ring)  # nodes 30 to 39 are isolated
    loops = torch.arange(40).expand(2, 40)
    once = torch.cat([loops, ring[:, :30]], dim=1)
    again, other = module(points, once)
    torch.testing.assert_close(out, again)
    assert complex == other
    empty, _ = module(points, ring[:, :0])
    torch.testing.assert_close(empty, module(points)[0])


def test_low_gain_is_caught_or_runs_within_the_budget(points):
    with pytest.raises(TooManyCellsError, match="Raise the gain or alpha"):
        layer(graph=dgm(gain=0.01, max_edges=1000))(points)
    module = layer(graph=dgm(gain=0.3), polygons=PolygonInference(candidate_budget=100))
    complex, _, polygons = module.infer(points)
    assert polygons.num_candidates > polygons.num_scored == 100
    assert complex.num_polygons <= 100


def test_low_gain_meets_the_default_limit():
    x = torch.randn(1100, 6, generator=torch.Generator().manual_seed(0))
    with pytest.raises(TooManyCellsError, match="more than max_edges=1,000,000") as error:
        DCM(6, 5, gain=0.01)(x)
    assert 1_000_000 < error.value.count <= 1100 * 1099


def test_bad_input(points, house):
    x = points.clone()
    x[7, 2] = torch.inf
    with pytest.raises(LatopoError, match="x has NaN or infinite entries, first in row 7"):
        layer()(x)
    with pytest.raises(LatopoError, match="DCM: x has 3 columns, expected in_channels=6"):
        layer()(points[:, :3])
    with pytest.raises(LatopoError, match=r"DCM: x must be a floating point matrix .* got torch.int64"):
        layer()(points.long())
    with pytest.raises(LatopoError, match="DCM: x has 40 rows, but the complex 7 nodes"):
        layer().propagate(points, house)
    with pytest.raises(LatopoError, match="DCM: relaxation must be"):
        DCM(6, 5, relaxation="soft")
    with pytest.raises(LatopoError, match="DCM: rounds must be a whole number from 0 to 1,000, got -1"):
        DCM(6, 5, rounds=-1)
    with pytest.raises(LatopoError, match="CellMessages: without rounds the width stays 6, got out_channels=5"):
        DCM(6, 5, rounds=0)


def test_settings_reach_the_parts():
    module = DCM(4, 3, max_length=5, alpha=1.7, gain=9.0)
    assert module.topology.graph.sampler.alpha().item() == pytest.approx(1.7)
    assert module.topology.polygons.alpha().item() == pytest.approx(1.7)
    assert module.topology.graph.sampler.gain().item() == 9.0
    assert module.topology.polygons.max_length == 5
    with pytest.raises(
        LatopoError, match=r"CellMessages: dropout must be a finite number of at least 0 and below 1, got 3.0"
    ):
        DCM(4, 3, dropout=3.0)
    with pytest.raises(LatopoError, match=r"EntmaxSampler: alpha must be a finite number of at least 1, got 0.5"):
        DCM(4, 3, alpha=0.5)


def test_compiles_around_its_kernels(points):
    module = layer().eval()
    expected, _ = module(points)
    found, complex = torch.compile(module, backend="eager")(points)
    torch.testing.assert_close(found, expected)
    assert complex.num_polygons > 3


@pytest.mark.parametrize("given", ["encode", "keep", "only"])
@pytest.mark.parametrize("training", [False, True])
def test_a_default_device_without_numbers_makes_no_difference(given, training):
    x = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
    ring = torch.stack([torch.arange(20), (torch.arange(20) + 1) % 20])
    dcm = DCM(5, 4, given_edges=given, polygon_features=True).train(training)
    expected = dcm(x, ring)[0]
    with torch.device("meta"):
        found = dcm(x, ring)[0]
    assert torch.equal(found, expected)
