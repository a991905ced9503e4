import itertools
import math

import numpy as np
import pytest
import torch

from latopo import induced_cycles
from latopo.estimators import DCMClassifier
from latopo.estimators.queries import _Edges, _strongest, answer_queries


def answer(classifier, x):
    return answer_queries(classifier._model, classifier._states, classifier._topology.rule, x)


def oracle(classifier, x):
    """The definition, cell by cell, for one query; nothing fitted changes."""
    model, topology = classifier._model, classifier._topology
    complex, rule, layer = topology.complex, topology.rule, model.dcm
    hidden = model.first(x[None]).relu()[0]
    aux = torch.cat([topology.x_aux, layer.graph.encoder(hidden[None])])
    query = complex.num_nodes
    found = answer(classifier, x[None])
    chosen = dict(zip(found.anchor.tolist(), found.prob.tolist(), strict=True))
    prob = complex.edge_prob.tolist()
    fitted = {tuple(edge): prob[at] for at, edge in enumerate(complex.edge_index.t().tolist())}
    new = {(anchor, query): p for anchor, p in chosen.items()}
    weight = {**fitted, **new}
    degree = lambda node, cells: 1 + sum(w for edge, w in cells.items() if node in edge)  # noqa: E731
    all_hidden = torch.cat([topology.hidden, hidden[None]])

    def node_state(node, cells):
        conv, total = layer.node_convs[0], torch.zeros(32, dtype=torch.float64)
        for edge, w in [*cells.items(), ((node, node), 1.0)]:
            if node in edge:
                other = edge[0] if edge[1] == node else edge[1]
                other_degree = degree(other, cells if other == query else fitted)
                total += w / math.sqrt(degree(node, cells) * other_degree) * (all_hidden[other] @ conv.weight)
        return (total + conv.bias).relu()

    state = {node: node_state(node, fitted) for node in range(query)}
    state[query] = node_state(query, new)
    edge_state = {edge: (state[edge[0]] + state[edge[1]]) / 2 for edge in weight}
    polygons = {}
    for rows in complex.polygons.values():
        for cycle in rows.tolist():
            polygons[tuple(cycle)] = complex.polygon_prob[len(polygons)] / complex.polygon_prob.max()
    joined = torch.tensor(list(weight)).t()
    mine = {}
    for rows in induced_cycles(joined, query + 1, classifier.max_length).values():
        for cycle in rows.tolist():
            if query in cycle:
                features = [aux[a] + aux[b] for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
                score = -sum((e - f).norm() for e, f in itertools.combinations(features, 2))
                mine[tuple(cycle)] = rule.weights(score[None])[0]

    def sides(cycle):
        return [tuple(sorted(pair)) for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True)]

    def effective(cycle, p):
        return float(p) * min(weight[side] for side in sides(cycle))

    def upper(edge, cells):
        return [(effective(c, p), [s for s in sides(c) if s != edge]) for c, p in cells.items() if edge in sides(c)]

    def lower(edge, cells):
        return [other for other in cells if other != edge and set(other) & set(edge)]

    def scales(edge):
        polys, edges = (mine, weight) if query in edge else (polygons, fitted)
        up = 1 + sum(w * len(others) for w, others in upper(edge, polys))
        return up**-0.5, (1 + sum(edges[other] for other in lower(edge, edges))) ** -0.5

    conv, down = layer.edge_convs[0], torch.zeros(32, dtype=torch.float64)
    for edge, w in new.items():
        up_scale, low_scale = scales(edge)
        up, low = torch.zeros(32, dtype=torch.float64), torch.zeros(32, dtype=torch.float64)
        for polygon_weight, others in upper(edge, mine):
            for other in others:
                up += polygon_weight * up_scale * scales(other)[0] * edge_state[other]
        for other in lower(edge, weight):
            low += weight[other] * low_scale * scales(other)[1] * edge_state[other]
        out = (conv.upper(up) + conv.lower(low) + conv.skip(edge_state[edge])).relu()
        down += w * out
    down /= degree(query, new)
    return torch.cat([state[query], down, hidden]), sum(w > 0 for w in mine.values()), len(mine)


@pytest.mark.parametrize("max_length", [4, 5])
def test_a_query_gets_what_the_definition_says(rows, max_length):
    X, y = rows
    classifier = DCMClassifier(max_length, random_state=1, max_epochs=6, degree=3.0).fit(X[:40], y[:40])
    kept = 0
    with torch.no_grad():
        for x in classifier._scaling.apply(X[40:46]):
            expected, positive, _ = oracle(classifier, x)
            torch.testing.assert_close(answer(classifier, x[None]).features[0], expected)
            kept += positive
    assert kept > 3  # the queries closed polygons that count


def test_answers_do_not_depend_on_the_other_rows(classifier, rows):
    X = np.concatenate([rows[0], 1e3 * rows[0], np.zeros((1, 4))])
    together = classifier.predict_proba(X)
    alone = np.concatenate([classifier.predict_proba(row[None]) for row in X])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-12)


def test_blocks_do_not_matter(classifier, rows, monkeypatch):
    whole, ties = classifier.predict_proba(rows[0]), classifier.attachments(rows[0])
    monkeypatch.setattr("latopo.estimators.queries._ENTRIES", 60 * 7)
    np.testing.assert_allclose(classifier.predict_proba(rows[0]), whole, rtol=0, atol=1e-13)
    np.testing.assert_allclose(classifier.attachments(rows[0]).toarray(), ties.toarray(), rtol=0, atol=1e-13)


def test_fitted_states_do_not_change(classifier, rows):
    before = [part.clone() for part in classifier._states if isinstance(part, torch.Tensor)]
    classifier.predict(rows[0])
    after = [part for part in classifier._states if isinstance(part, torch.Tensor)]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_attachments_are_distributions_over_training_rows(classifier, rows):
    ties = classifier.attachments(rows[0][:7])
    assert ties.shape == (7, 60)
    np.testing.assert_allclose(ties.sum(axis=1), 1.0)
    assert ties.diagonal().min() > 0  # a training row is tied to itself: it is the nearest


def test_strongest_sides_of_each_query():
    query = torch.tensor([0] * 70 + [1] * 3)
    weight = torch.cat([torch.arange(70.0), torch.zeros(3)])
    strongest = _strongest(_Edges(query, torch.arange(73), weight))
    assert strongest.nonzero().flatten().tolist() == [*range(6, 70), 70, 71, 72]


def test_equal_training_rows_are_one_anchor():
    X = np.repeat(np.random.RandomState(0).randn(12, 3), 4, axis=0)
    classifier = DCMClassifier(random_state=0, max_epochs=3, degree=2.0).fit(X, np.arange(48) % 2)
    assert classifier._states.representatives.numel() <= 24
    assert np.isfinite(classifier.predict_proba(X)).all()


def test_an_extreme_row_does_not_change_the_others(classifier, rows):
    X = rows[0][:20]
    for size in (1e15, 1e30, 1e300):
        together = classifier.predict_proba(np.vstack([X, np.full((1, 4), size)]))
        np.testing.assert_allclose(together[:20], classifier.predict_proba(X), rtol=0, atol=1e-9)


def test_copies_of_a_row_do_not_make_queries_dear():
    X = np.repeat(np.eye(6), 300, axis=0)
    fitted = DCMClassifier(random_state=0, max_epochs=2).fit(X, np.arange(1800) % 6 // 2)
    states = fitted._states
    assert states.graph.ptr.diff()[states.representatives].max() < 6  # the copies are leaves, and no walk goes there
    assert fitted.complex_.num_edges > 1700
