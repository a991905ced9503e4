import copy

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import SYSTEMS, build_model, find_system
from latopo.models.branch_net import BranchNet
from latopo.models.catalogue import Role
from latopo.settings import from_plain, to_plain

# Those that Adam trains; one that solves for its weights is in test_alpha_diffusion.
STEPPING = {name: system for name, system in SYSTEMS.items() if not system.model.solves}
CASES = [
    (name, graph) for name, system in STEPPING.items() for graph in (False, True) if graph or not system.needs_graph
]


@pytest.mark.parametrize(("name", "graph"), CASES)
def test_every_parameter_learns(name, graph, problem, make, step):
    # The tables have the DGMs without their reward, see test_branch_net; nothing trains the released topology either.
    changes = {"edge_form": "score"} if name.startswith("dgm") else {}
    changes = {"edge_form": "undirected"} if name == "dcm-released" else changes
    model = make(name, graph, dropout=0.0, **changes)
    x, y, ring = problem()
    loss, output = step(model, x, y, ring if graph else None)
    loss.backward()
    if output.polygons is not None:
        assert output.complex.num_polygons > 0
    learned = [(label, item) for label, item in model.named_parameters() if item.requires_grad]
    largest = max(float(parameter.grad.abs().max()) for _, parameter in learned)
    for label, parameter in learned:
        assert torch.isfinite(parameter.grad).all(), label
        if label.endswith("edge_convs.0.upper.weight") and output.complex.num_polygons == 0:
            continue  # nothing to convolve over
        assert float(parameter.grad.abs().max()) > 1e-9 * largest, label


@pytest.mark.parametrize(("name", "graph"), CASES)
def test_permuting_the_nodes_permutes_the_predictions(name, graph, problem, make):
    # Wide enough that no two points have equal auxiliary features: top-k breaks such a tie by the order of the points.
    model = make(name, graph, hidden_channels=32).eval()
    x, _, ring = problem()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(2))
    rank = order.argsort()
    plain = model(x, ring if graph else None).prediction
    permuted = copy.deepcopy(model)(x[order], rank[ring] if graph else None).prediction
    assert torch.allclose(permuted, plain[order], atol=1e-9)


@pytest.mark.parametrize("name", STEPPING)
def test_the_same_seed_gives_the_same_steps(name, problem, make, step):
    x, y, ring = problem()
    losses = []
    for _ in range(2):
        model = make(name, True, seed=3)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        torch.manual_seed(4)
        for _ in range(3):
            optimizer.zero_grad()
            loss, _ = step(model, x, y, ring)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == losses[1]


@pytest.mark.parametrize("name", STEPPING)
def test_sparse_features_equal_dense_ones(name, problem, make):
    x, _, ring = problem()
    x = x * (x > 0.5)
    model = make(name, True).eval()
    dense = model(x, ring).prediction
    sparse = copy.deepcopy(model)(x.to_sparse_csr(), ring).prediction
    assert torch.allclose(dense, sparse, atol=1e-9)


@pytest.mark.parametrize("name", STEPPING)
def test_no_points_to_choose_from(name, problem, make, step):
    for count in (1, 2, 3):
        model = make(name, True, dropout=0.0)
        x, y, _ = problem(count)
        loss, output = step(model, x, y, torch.zeros(2, 0, dtype=torch.int64))
        loss.backward()
        assert output.prediction.shape == (count, 3)
        assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize(("name", "graph"), CASES)
def test_queries_of_every_system_are_answered_one_by_one(name, graph, problem, make):
    model = make(name, graph).eval()
    x, _, ring = problem()
    new = problem(num_nodes=12, seed=1)[0]
    output, fitted = model.fit(x, ring if graph else None)
    assert torch.equal(output.prediction, model(x, ring if graph else None).prediction)
    together = model.join(new, fitted)
    for at in range(len(new)):
        alone = model.join(new[at : at + 1], fitted)
        assert torch.allclose(alone.prediction[0], together.prediction[at], atol=1e-12)
    if output.complex is None:
        assert together.query is None
    else:
        assert together.query.ptr[-1] == together.query.anchor.numel() > 0


def test_parameter_counts_are_comparable_to_the_papers():
    counts = {
        name: sum(parameter.numel() for parameter in build_model(name, 1433, 7, graph=True).parameters())
        for name in SYSTEMS
    }
    # The first layer dominates: a cell convolution adds three 32 × 32 matrices to one of the graph convolution.
    for name in ("dgm-e", "dcm", "dcm-all", "topk-dcm", "topk-dcm-all", "dcm-plus", "dcm-plus-edges", "alpha-dgm"):
        assert counts[name] == pytest.approx(counts["dgm-m"], rel=0.11), name


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_entry_says_what_it_is(name):
    system = find_system(name)
    assert system.name == name
    assert system.role in Role.__args__
    assert 10 < len(system.words) < 100
    assert not system.words.endswith(".")
    assert from_plain(type(system.settings), to_plain(system.settings)) == system.settings
    if system.needs_graph:
        with pytest.raises(LatopoError, match=f"model {name} needs a graph"):
            system.build(6, 3)


def test_ablations_leave_a_part_out_and_change_nothing_else():
    ours = SYSTEMS["dcm-plus"].settings
    assert SYSTEMS["gcn-plus"].settings == ours.change(latent=None)
    assert SYSTEMS["dcm-plus-edges"].settings == ours.change(polygons=None)
    assert SYSTEMS["alpha-dgm"].settings == ours.change(polygons=None, edge_features=False)
    assert SYSTEMS["gcn-judged"].settings == SYSTEMS["dcm-judged"].settings.change(latent=None)
    fused = SYSTEMS["dcm-fused"].settings
    assert SYSTEMS["given-fused"].settings == fused.change(branches=(fused.branches[0], *fused.branches[2:]))
    assert SYSTEMS["mlp-fused"].settings == fused.change(branches=("own",) * 3)
    assert SYSTEMS["gcn-fused"].settings == fused.change(branches=("convolved",) * 3)
    assert SYSTEMS["dcm-fused-cells"].settings.change(branches=fused.branches, polygons=None) == fused


def test_without_a_graph_nothing_hears_one():
    assert build_model("dcm-plus", 6, 3, graph=True).given is not None
    assert build_model("dcm-plus", 6, 3).given is None
    assert build_model("dcm", 6, 3, graph=True).given is None
    assert build_model("dcm-fused", 6, 3).settings.branches == ("own", "latent+size")
    assert not SYSTEMS["mlp-fused"].uses_graph


def test_our_recipe_and_the_papers():
    for name in ("dcm-plus", "dcm-plus-edges", "alpha-dgm"):
        graph = build_model(name, 4, 3).latent.topology.graph
        assert graph.detach
        assert (graph.sampler.hold_degree, graph.sampler.degree) == (True, 5.0)
    paper = build_model("dcm", 4, 3)
    assert isinstance(paper, BranchNet)
    assert paper.latent.topology.graph.detach
    assert paper.latent.topology.graph.sampler.degree is None
    assert paper.settings.edge_form == "undirected"


def test_changes_reach_their_part():
    assert not build_model("dcm", 4, 3, detach=False).latent.topology.graph.detach
    assert build_model("dcm", 4, 3, max_length=5).latent.topology.polygons.max_length == 5
    assert build_model("dcm", 4, 3).latent.topology.polygons.score == "sum"
    assert build_model("dcm-plus", 4, 3, polygon_score="mean").latent.topology.polygons.score == "mean"
    assert build_model("dcm", 4, 3, sampler="topk", k=2).latent.topology.graph.sampler.k == 2


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("transformer", {}, "expected one of mlp, gcn"),
        ("mlp", {"gain": 3.0}, "model mlp: gain: there is no such setting here; expected some of dropout, hidden_ch"),
        ("topk-dcm", {"gain": 3.0}, "model topk-dcm: gain: there is no such setting"),
        ("dcm", {"k": 3}, "model dcm: k: there is no such setting"),
        ("dcm-plus", {"gain": 3.0}, "model dcm-plus: gain and degree: one of them sets γ and the other must be null"),
        ("dcm", {"rounds": -1}, "model dcm: rounds must be a whole number of at least 0 and of at most 1000, got -1"),
    ],
)
def test_settings_that_would_not_be_used_are_refused(name, changes, message):
    with pytest.raises(LatopoError, match=message):
        build_model(name, 2, 2, **changes)
