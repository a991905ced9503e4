import pytest
import torch

from latopo import CellComplex, induced_cycles
from latopo.errors import LatopoError
from latopo.nn import CellMessages, ComplexNeighborhoods
from latopo.nn.query_neighborhoods import QueryCells, QueryNeighborhoods, QueryPolygons, RecordedNeighborhoods
from latopo.nn.relaxation import cell_weights

RELAXATIONS = ["none", "weighted", "straight_through"]


def features(count, seed, width=4):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def sides(cycle):
    return [tuple(sorted(pair)) for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True)]


def new_cells(cx, seed):
    """What one query brings, as dictionaries: weights of its edges by anchor, and of its polygons by their vertices.

    Its polygons are half of the chordless cycles that it closes; the query has the number of the next node.
    """
    generator = torch.Generator().manual_seed(seed)
    query, prob = cx.num_nodes, torch.rand(cx.num_nodes, generator=generator, dtype=torch.float64)
    edges = {(anchor, query): p.item() for anchor, p in enumerate(prob) if p < 0.5}
    joined = torch.cat([cx.edge_index, torch.tensor(list(edges), dtype=torch.int64).view(-1, 2).t()], dim=1)
    polygons = {}
    for rows in induced_cycles(joined, query + 1, 5).values():
        for cycle in rows[(rows == query).any(1)].tolist():
            weight, kept = torch.rand(2, generator=generator, dtype=torch.float64).tolist()
            if kept < 0.5:
                polygons[tuple(cycle)] = weight
    return edges, polygons


def query_cells(cx, queries):
    """The same in the form that message passing takes."""
    number = {tuple(edge): at for at, edge in enumerate(cx.edge_index.t().tolist())}
    anchor, weight, ptr, polygons = [], [], [0], {3: [], 4: [], 5: []}
    for edges, cycles in queries:
        own = {edge: len(anchor) + at for at, edge in enumerate(edges)}
        anchor += [edge[0] for edge in edges]
        weight += edges.values()
        ptr.append(len(anchor))
        for cycle, w in cycles.items():
            ends = [own[side] for side in sides(cycle) if side in own]
            polygons[len(cycle)].append((ends, [number[side] for side in sides(cycle) if side in number], w))
    columns = [list(zip(*rows, strict=True)) for rows in polygons.values() if rows]
    parts = [
        QueryPolygons(torch.tensor(ends), torch.tensor(sides), torch.tensor(w, dtype=torch.float64))
        for ends, sides, w in columns
    ]
    weight = torch.tensor(weight, dtype=torch.float64)
    return QueryCells(torch.tensor(ptr), torch.tensor(anchor, dtype=torch.int64), weight, weight, parts)


def by_matrices(messages, cx, relaxation, x, x_query, edges, polygons):
    """Features of one query from dense matrices over all cells, fitted and new, hearers by row, senders by column.

    Fitted cells hear fitted cells only; the query's hear all. Degrees are 1 + what a cell hears.
    """
    edge_weight, polygon_weight = cell_weights(cx, relaxation)
    fitted = cx.edge_index.t().tolist()
    all_edges = [*map(tuple, fitted), *edges]
    first_new, query = len(fitted), cx.num_nodes
    weight = [1.0] * first_new if edge_weight is None else edge_weight.tolist()
    weight += edges.values()
    all_polygons = []
    for rows in cx.polygons.values():
        for cycle in rows.tolist():
            own = 1.0 if polygon_weight is None else polygon_weight[len(all_polygons)].item()
            smallest = min(weight[all_edges.index(side)] for side in sides(cycle))
            all_polygons.append((set(sides(cycle)), own * smallest))
    nodes = torch.zeros(query + 1, query + 1, dtype=torch.float64)
    upper, lower = (torch.zeros(len(all_edges), len(all_edges), dtype=torch.float64) for _ in range(2))
    for at, (u, v) in enumerate(all_edges):
        nodes[v, u] = weight[at]
        nodes[u, v] = weight[at] if v < query else 0.0
        heard = all_polygons if at < first_new else [(set(sides(cycle)), w) for cycle, w in polygons.items()]
        for other, neighbour in enumerate(all_edges):
            if at == other or (at < first_new <= other):
                continue
            lower[at, other] = weight[other] if {u, v} & set(neighbour) else 0.0
            upper[at, other] = sum(w for cycle, w in heard if {(u, v), neighbour} <= cycle)

    def normalised(matrix):
        scale = (1 + matrix.sum(1)).rsqrt()
        return scale[:, None] * matrix * scale, scale

    smooth, scale = normalised(nodes)
    smooth = smooth + scale.square().diag()
    x = torch.cat([x, x_query[None]])
    for conv in messages.node_convs:
        x = (smooth @ x @ conv.weight + conv.bias).relu()
    if messages.uplift is None:
        return x[query]
    start, end = torch.tensor(all_edges).t()
    on_edges = (x[start] + x[end]) / 2
    for at, conv in enumerate(messages.edge_convs):
        parts = [normalised(matrix)[0] @ on_edges for matrix in (upper, lower)]
        on_edges = (conv.upper(parts[0]) + conv.lower(parts[1]) + conv.skip(on_edges)).relu()
        if messages.polygon_convs is not None:
            own = [(set(sides(cycle)), w) for cycle, w in polygons.items()]
            heard = [all_polygons if number < first_new else own for number in range(len(all_edges))]
            on_edges = through_polygons(messages.polygon_convs[at], on_edges, all_edges, heard).relu()
    mine = torch.tensor(list(edges.values()), dtype=torch.float64)
    down = (mine[:, None] * on_edges[first_new:]).sum(0) / (1 + mine.sum())
    return torch.cat([x[query], down]) if messages.concat else x[query] + down


def through_polygons(conv, on_edges, edges, heard):
    """What each edge hears of its polygons, one by one."""
    out = []
    for edge, x, polygons in zip(edges, on_edges, heard, strict=True):
        total, degree = torch.zeros_like(x), 1.0
        for cycle, weight in polygons:
            if edge in cycle:
                mean = torch.stack([on_edges[edges.index(side)] for side in cycle]).mean(0)
                total = total + weight * (conv.sides(mean) + conv.length.weight[len(cycle) - 3]).relu()
                degree += weight
        out.append(conv.own(x) + conv.above(total) / degree)
    return torch.stack(out)


def layers(rounds=1, **options):
    torch.manual_seed(rounds)
    messages = CellMessages(4, 4, rounds, **options).double().eval()
    for conv in messages.node_convs:
        torch.nn.init.normal_(conv.bias)
    for conv in messages.polygon_convs or []:
        torch.nn.init.normal_(conv.length.weight)
    return messages


def answer(messages, recorded, cells, x_query):
    with torch.no_grad():
        return messages(x_query, QueryNeighborhoods(recorded, cells))


def record(messages, cx, relaxation, x):
    recorded = RecordedNeighborhoods(cx, relaxation)
    with torch.no_grad():
        messages(x, recorded)
    return recorded


@pytest.mark.parametrize("relaxation", RELAXATIONS)
@pytest.mark.parametrize(("rounds", "options"), [(0, {}), (1, {}), (3, {}), (2, {"polygons": 5})])
def test_a_query_gets_what_the_definition_says(random_complex, rounds, options, relaxation):
    messages, closed = layers(rounds, **options), 0
    for seed in range(3):
        cx, x, x_query = random_complex(seed), features(12, seed), features(4, 10 + seed)
        queries = [new_cells(cx, 10 * seed + at) for at in range(3)] + [({}, {})]  # the last one chooses nobody
        closed += sum(len(polygons) for _, polygons in queries)
        recorded = record(messages, cx, relaxation, x)
        together = answer(messages, recorded, query_cells(cx, queries), x_query)
        for at, (edges, polygons) in enumerate(queries):
            with torch.no_grad():
                expected = by_matrices(messages, cx, relaxation, x, x_query[at], edges, polygons)
            torch.testing.assert_close(together[at], expected)
            alone = answer(messages, recorded, query_cells(cx, queries[at : at + 1]), x_query[at : at + 1])
            torch.testing.assert_close(together[at], alone[0])
    assert closed > 20


@pytest.mark.parametrize("options", [{"edges": False}, {"concat": False}, {"polygons": 5}])
def test_other_forms_of_the_layers(random_complex, options):
    messages, cx, x, x_query = layers(2, **options), random_complex(0), features(12, 0), features(1, 1)
    query = new_cells(cx, 0)
    found = answer(messages, record(messages, cx, "weighted", x), query_cells(cx, [query]), x_query)
    with torch.no_grad():
        torch.testing.assert_close(found[0], by_matrices(messages, cx, "weighted", x, x_query[0], *query))


@pytest.mark.parametrize("relaxation", RELAXATIONS)
def test_recording_changes_nothing(random_complex, relaxation):
    messages, cx, x = layers(2), random_complex(0), features(12, 0)
    recorded = RecordedNeighborhoods(cx, relaxation)
    with torch.no_grad():
        assert torch.equal(messages(x, recorded), messages(x, ComplexNeighborhoods.relaxed(cx, relaxation)))
    weight = cell_weights(cx, relaxation)[0]
    total = torch.zeros(12, dtype=torch.float64)
    for at, (u, v) in enumerate(cx.edge_index.t().tolist()):
        total[u] += 1 if weight is None else weight[at]
        total[v] += 1 if weight is None else weight[at]
    torch.testing.assert_close(recorded.degree, total)


def test_queries_leave_the_record_as_it_is(random_complex):
    messages, cx = layers(2), random_complex(0)
    recorded = record(messages, cx, "weighted", features(12, 0))
    before = [part.clone() for kind in recorded.sent.values() for part in kind]
    assert len(before) == 2 + 1 + 2 + 2
    cells, x_query = query_cells(cx, [new_cells(cx, 0)]), features(1, 1)
    first = answer(messages, recorded, cells, x_query)
    assert torch.equal(first, answer(messages, recorded, cells, x_query))
    after = [part for kind in recorded.sent.values() for part in kind]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_single_precision(random_complex):
    messages, cx, x, x_query = layers(2), random_complex(0), features(12, 0), features(1, 1)
    cells = query_cells(cx, [new_cells(cx, 0)])
    expected = answer(messages, record(messages, cx, "weighted", x), cells, x_query)
    cx = CellComplex(12, cx.edge_index, cx.polygons, cx.edge_prob.float(), cx.polygon_prob.float())
    polygons = [part._replace(weight=part.weight.float()) for part in cells.polygons]
    cells = cells._replace(prob=cells.prob.float(), weight=cells.weight.float(), polygons=polygons)
    found = answer(messages.float(), record(messages, cx, "weighted", x.float()), cells, x_query.float())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5)


def test_more_sums_than_were_recorded(random_complex):
    cx = random_complex(0)
    recorded = record(layers(1, edges=False), cx, "none", features(12, 0))
    for other in (layers(2, edges=False), layers(1)):
        with pytest.raises(LatopoError, match="more sums than the fitted pass had; use the layers that were recorded"):
            answer(other, recorded, query_cells(cx, [new_cells(cx, 0)]), features(1, 1))


def test_query_of_each_edge():
    cells = QueryCells(torch.tensor([0, 2, 2, 3]), torch.tensor([4, 5, 4]), *[torch.ones(3)] * 2, [])
    assert cells.query.tolist() == [0, 0, 2]
