from itertools import combinations

import pytest
import torch

from latopo import CellComplex, entmax_neighbors, induced_cycles
from latopo.errors import TooManyCellsError
from latopo.nn import AlphaDGM, CellMessages, EntmaxSampler, PolygonInference, TopKSampler, TopologyInference
from latopo.nn import topology_inference as module
from latopo.nn.polygon_rule import PolygonRule
from latopo.nn.query_neighborhoods import QueryNeighborhoods, RecordedNeighborhoods
from latopo.nn.topology_inference import _strongest

RELAXATIONS = ["none", "weighted", "straight_through"]


def inference(edge_sampler=None, **options):
    """Infers dozens of edges and several polygons on the points."""
    torch.manual_seed(0)
    options = {"gain": 0.5} | options
    graph = AlphaDGM(6, 8, sampler=EntmaxSampler(2.0) if edge_sampler is None else edge_sampler)
    return TopologyInference(graph, PolygonInference(**options)).double().eval()


def fit(topology, x, edge_index=None):
    with torch.no_grad():
        return topology.fit(topology(x, edge_index))


# Inferring


def test_is_a_graph_and_its_polygons(points, ring):
    topology = inference()
    for edges in (None, ring):
        found = topology(points, edges)
        graph = topology.graph(points, edges)
        polygons = topology.polygons(graph.x_aux, graph.edge_index)
        found.complex.validate()
        assert torch.equal(found.complex.edge_index, graph.edge_index)
        assert torch.equal(found.complex.edge_prob, graph.edge_prob)
        assert torch.equal(found.complex.polygon_prob, polygons.prob)
        assert found.complex == CellComplex(40, graph.edge_index, polygons.polygons)
        assert found.polygons.num_candidates == polygons.num_candidates > found.complex.num_polygons > 3


def test_without_polygons(points):
    topology = TopologyInference(AlphaDGM(6, 8, sampler=EntmaxSampler(2.0))).double()
    found = topology(points)
    assert found.polygons is None
    assert found.complex.num_polygons == 0
    assert found.complex.polygon_prob is None
    assert fit(topology, points).rule == PolygonRule()


def test_reset(points):
    topology = inference()
    start = {name: tensor.clone() for name, tensor in topology.state_dict().items()}
    with torch.no_grad():
        for parameter in topology.parameters():
            parameter.add_(0.1)
    topology.reset_parameters()
    for name, tensor in topology.state_dict().items():
        assert torch.allclose(tensor.double(), start[name].double()) != name.endswith("weight"), name


# Queries


def score(topology, x_aux, cycle):
    sides = [x_aux[u] + x_aux[v] for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
    terms = [-(a - b).norm() for a, b in combinations(sides, 2)]
    return sum(terms) if topology.polygons.score == "sum" else sum(terms) / len(terms)


def joined_by_loop(topology, fitted, x, relaxation):
    """Anchors with their probabilities, and weights of polygons by their vertices, from the definitions, one query."""
    cx, count = fitted.complex, fitted.complex.num_nodes
    x_aux = torch.cat([fitted.x_aux, topology.graph.encoder(x[None])])
    first = [at for at in range(count) if not any(torch.equal(x_aux[at], x_aux[i]) for i in range(at))]
    sampler = topology.graph.sampler
    if isinstance(sampler, TopKSampler):
        distance = (x_aux[first] - x_aux[count]).norm(dim=1)
        near = distance.topk(min(sampler.k, len(first)), largest=False).indices
        chosen = {first[at]: (-sampler.temperature() * distance[at] ** 2).exp().item() for at in near.tolist()}
    else:
        facts = sampler.facts()
        _, col, prob = entmax_neighbors(x_aux[count:], facts["gain"], facts["alpha"], anchors=x_aux[first])
        chosen = {first[at]: p for at, p in zip(col.tolist(), prob.tolist(), strict=True)}
    prob = {tuple(edge): p for edge, p in zip(cx.edge_index.t().tolist(), cx.edge_prob.tolist(), strict=True)}
    prob |= {(anchor, count): p for anchor, p in chosen.items()}
    polygons, longest = {}, topology.polygons.max_length
    cycles = induced_cycles(torch.tensor(list(prob)).t(), count + 1, longest) if longest > 2 else {}
    for rows in cycles.values():
        for cycle in rows[(rows == count).any(1)].tolist():
            strength = fitted.rule.strengths(score(topology, x_aux, cycle)[None]).item()
            sides = [tuple(sorted(pair)) for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
            if strength > 0:
                weighted = strength * min(prob[side] for side in sides) if relaxation == "weighted" else 1.0
                polygons[frozenset(sides)] = fitted.rule.share * weighted
    return dict(sorted(chosen.items())), polygons


def as_dictionaries(cells, fitted):
    """The same from the joined cells."""
    query = fitted.complex.num_nodes
    edges, polygons = fitted.complex.edge_index.t().tolist(), {}
    for part in cells.polygons:
        for ends, sides, weight in zip(part.ends.tolist(), part.sides.tolist(), part.weight.tolist(), strict=True):
            own = [(int(cells.anchor[end]), query) for end in ends]
            polygons[frozenset([*own, *(tuple(edges[side]) for side in sides)])] = weight
    return dict(zip(cells.anchor.tolist(), cells.prob.tolist(), strict=True)), polygons


@pytest.mark.parametrize("relaxation", RELAXATIONS)
@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        (None, {}),
        (None, {"max_length": 5, "polygon_share": 0.5, "score": "mean"}),
        (None, {"max_length": 3, "candidate_budget": 6}),
        (None, {"sampler": "all"}),
        (None, {"sampler": "topk", "k": 9}),
        (TopKSampler(4), {"polygon_share": 0.5}),
        (None, {"max_length": 2}),
    ],
)
def test_a_query_brings_what_the_definition_says(points, sampler, options, relaxation):
    topology = inference(sampler, **options)
    x = torch.cat([points[:30], points[:3]])  # with copies
    fitted, closed = fit(topology, x), 0
    with torch.no_grad():
        for query in points[30:]:
            cells = topology.join(query[None], fitted, relaxation)
            chosen, polygons = joined_by_loop(topology, fitted, query, relaxation)
            found, closing = as_dictionaries(cells, fitted)
            assert found == pytest.approx(chosen)
            assert closing == pytest.approx(polygons)
            torch.testing.assert_close(
                cells.weight, cells.prob if relaxation == "weighted" else torch.ones_like(cells.prob)
            )
            closed += len(closing)
    assert closed > 10 or options.get("max_length") == 2
    assert (fitted.rule.share < 1) == ("candidate_budget" in options)


def answers(topology, fitted, messages, x, relaxation="weighted", block=1000):
    """Queries through layers, block by block."""
    recorded = RecordedNeighborhoods(fitted.complex, relaxation)
    with torch.no_grad():
        messages(torch.ones(fitted.complex.num_nodes, 6, dtype=torch.float64), recorded)
        blocks = [
            messages(part, QueryNeighborhoods(recorded, topology.join(part, fitted, relaxation)))
            for part in x.split(block)
        ]
    return torch.cat(blocks)


@pytest.fixture
def messages():
    torch.manual_seed(1)
    return CellMessages(6, 5).double().eval()


@pytest.mark.parametrize("sampler", [None, TopKSampler(4)])
def test_answers_do_not_depend_on_the_other_queries(points, messages, sampler):
    topology = inference(sampler)
    fitted = fit(topology, points[:30])
    x = torch.cat([points, 1e3 * points, torch.zeros(1, 6, dtype=torch.float64)])
    together = answers(topology, fitted, messages, x)
    alone = torch.cat([answers(topology, fitted, messages, row[None]) for row in x])
    torch.testing.assert_close(together, alone, rtol=1e-9, atol=1e-9)


def test_blocks_do_not_matter(points, messages):
    topology = inference()
    fitted = fit(topology, points)
    whole = answers(topology, fitted, messages, points)
    torch.testing.assert_close(answers(topology, fitted, messages, points, block=7), whole, rtol=0, atol=1e-12)


def test_too_many_choices_are_refused(points, monkeypatch):
    topology = inference()
    fitted = fit(topology, points)
    monkeypatch.setattr("latopo.nn.samplers._JOINED", 3)
    with pytest.raises(TooManyCellsError):
        topology.join(points, fitted, "weighted")
    for row in points:  # one alone is answered, whatever it chooses
        topology.join(row[None], fitted, "weighted")


@pytest.mark.parametrize("size", [1e15, 1e30, 1e300])
def test_an_extreme_query_does_not_change_the_others(points, messages, size):
    topology = inference()
    fitted = fit(topology, points[:30])
    extreme = torch.full((1, 6), size, dtype=torch.float64)
    together = answers(topology, fitted, messages, torch.cat([points, extreme]))
    torch.testing.assert_close(together[:40], answers(topology, fitted, messages, points), rtol=0, atol=1e-9)


def test_a_fitted_point_is_its_own_first_choice(points):
    topology = inference()
    cells = topology.join(points, fit(topology, points), "weighted")
    for query in range(40):
        own = cells.prob[cells.query == query]
        assert cells.anchor[cells.query == query][own.argmax()] == query
        assert own.sum().item() == pytest.approx(1.0)


def test_equal_points_are_one_anchor(points):
    topology, x = inference(), points[:12].repeat_interleave(4, dim=0)
    fitted = fit(topology, x)
    assert fitted.representatives.numel() <= 24  # matrix products may round equal rows in two ways
    cells = topology.join(points, fitted, "weighted")
    assert torch.isin(cells.anchor, fitted.representatives).all()


def test_copies_do_not_make_queries_dear(points):
    topology = inference(EntmaxSampler(20.0))
    fitted = fit(topology, points[:6].repeat_interleave(300, dim=0))
    walks = fitted.walks
    assert walks.ptr.diff()[fitted.representatives].max() < 12  # the copies are leaves, and no walk goes there
    assert fitted.complex.num_edges > 1700


def test_queries_that_choose_nobody_or_are_none(points):
    topology = inference()
    fitted = fit(topology, points)
    none = topology.join(points[:0], fitted, "weighted")
    assert none.ptr.tolist() == [0]
    assert none.polygons == []
    without = fit(topology, points[:0])
    assert topology.join(points, without, "weighted").ptr.tolist() == [0] * 41


def test_strongest_sides_of_each_query():
    query = torch.tensor([0] * 70 + [1] * 3)
    prob = torch.cat([torch.arange(70.0), torch.zeros(3)])
    assert _strongest(query, prob).nonzero().flatten().tolist() == [*range(6, 70), 70, 71, 72]
    assert _strongest(query[6:], prob[6:]).all()


def test_polygons_are_looked_for_between_the_strongest_edges_only(points, monkeypatch):
    topology = inference()
    fitted = fit(topology, points[:30])
    whole = topology.join(points[30:], fitted, "weighted")
    monkeypatch.setattr(module, "_SIDES", 2)
    found = topology.join(points[30:], fitted, "weighted")
    assert torch.equal(found.anchor, whole.anchor)
    ends = torch.cat([part.ends for part in found.polygons])
    assert 0 < len(ends) < sum(len(part.ends) for part in whole.polygons)
    for query in range(10):
        strongest = found.prob[found.query == query].topk(2).values
        mine = ends[(found.query[ends] == query).all(1)]
        assert torch.isin(found.prob[mine], strongest).all()
