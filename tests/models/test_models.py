import copy
import json

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import MODELS, build_model, load_model, needs_graph, save_model
from latopo.models.features import FeatureLinear
from latopo.nn import AlphaDGM, TopologyLoss

GRAPH = [False, True]


def problem(num_nodes=40, columns=6, classes=3, seed=0):
    """Three blobs, labels by blob, and a ring through all points."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(num_nodes) % classes
    centres = 2 * torch.randn(classes, columns, generator=generator, dtype=torch.float64)
    x = centres[y] + torch.randn(num_nodes, columns, generator=generator, dtype=torch.float64)
    ring = torch.stack([torch.arange(num_nodes), torch.arange(1, num_nodes + 1) % num_nodes])
    return x, y, ring


def make(name, graph, seed=0, **settings):
    torch.manual_seed(seed)
    latent = {} if name in ("mlp", "gcn", "gcn-plus", "gcn-judged") else {"gain": 4.0}
    if name in ("dcm-plus", "dcm-plus-edges", "alpha-dgm", "dcm-judged"):
        latent = {"degree": 4.0}
    return build_model(name, 6, 3, graph=graph, **{"hidden_channels": 8, **latent, **settings}).double()


def names(graph):
    return [name for name in MODELS if graph or not needs_graph(name)]


def step_loss(model, x, y, edges):
    output = model(x, edges)
    loss = torch.nn.functional.cross_entropy(output.prediction, y)
    if model.edge_form is not None:
        reward = TopologyLoss(len(x), 3, model.edge_form).double()
        loss = loss + reward(output.prediction, y, output.complex, graph=output.graph).total
    if output.judged is not None:
        loss = loss + torch.nn.functional.cross_entropy(output.judged, y)
    return loss, output


@pytest.mark.parametrize("graph", GRAPH)
@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_learns(name, graph):
    if name not in names(graph):
        with pytest.raises(LatopoError, match=f"model {name} needs a graph"):
            make(name, graph)
        return
    # The tables have the DGMs without their reward, see below.
    settings = {"edge_form": "score"} if name.startswith("dgm") else {}
    model = make(name, graph, dropout=0.0, **settings)
    x, y, ring = problem()
    loss, output = step_loss(model, x, y, ring if graph else None)
    loss.backward()
    if output.polygons is not None and "edges" not in name:
        assert output.complex.num_polygons > 0
    learned = [(label, item) for label, item in model.named_parameters() if item.requires_grad]
    largest = max(float(parameter.grad.abs().max()) for _, parameter in learned)
    for label, parameter in learned:
        assert torch.isfinite(parameter.grad).all(), label
        if label.startswith("dcm.edge_convs.0.upper") and output.complex.num_polygons == 0:
            continue  # nothing to convolve over
        assert float(parameter.grad.abs().max()) > 1e-9 * largest, label


@pytest.mark.parametrize("name", ["dgm-e", "dgm-m"])
def test_without_reward_nothing_moves_the_encoder_of_the_graph(name):
    model = make(name, graph=False)
    x, y, _ = problem()
    step_loss(model, x, y, None)[0].backward()
    silent = {label for label, item in model.named_parameters() if item.grad is None}
    assert silent == {label for label, _ in model.named_parameters() if label.startswith("graph.")} != set()


@pytest.mark.parametrize("graph", GRAPH)
@pytest.mark.parametrize("name", MODELS)
def test_permuting_the_nodes_permutes_the_predictions(name, graph):
    if name not in names(graph):
        with pytest.raises(LatopoError, match="needs a graph"):
            make(name, graph)
        return
    # Wide enough that no two points have equal auxiliary features: top-k breaks such a tie by the order of the points.
    model = make(name, graph, hidden_channels=32).eval()
    x, _, ring = problem()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(2))
    rank = order.argsort()
    plain = model(x, ring if graph else None).prediction
    permuted = copy.deepcopy(model)(x[order], rank[ring] if graph else None).prediction
    assert torch.allclose(permuted, plain[order], atol=1e-9)


@pytest.mark.parametrize("name", names(True))
def test_the_same_seed_gives_the_same_steps(name):
    x, y, ring = problem()
    losses = []
    for _ in range(2):
        model = make(name, True, seed=3)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        torch.manual_seed(4)
        for _ in range(3):
            optimizer.zero_grad()
            loss, _ = step_loss(model, x, y, ring)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == losses[1]


@pytest.mark.parametrize("name", names(True))
def test_sparse_features_equal_dense_ones(name):
    x, _, ring = problem()
    x = x * (x > 0.5)
    model = make(name, True).eval()
    dense = model(x, ring).prediction
    sparse = copy.deepcopy(model)(x.to_sparse_csr(), ring).prediction
    assert torch.allclose(dense, sparse, atol=1e-9)


@pytest.mark.parametrize("name", names(True))
def test_a_saved_model_is_the_same_model(name, tmp_path):
    x, _, ring = problem()
    model = make(name, True).float().eval()
    expected = model(x.float(), ring).prediction
    save_model(model, tmp_path)
    restored = load_model(tmp_path)
    assert type(restored) is type(model)
    assert not restored.training
    assert torch.equal(restored(x.float(), ring).prediction, expected)


def test_a_damaged_model_says_so(tmp_path):
    with pytest.raises(LatopoError, match=r"model\.json cannot be read"):
        load_model(tmp_path)
    save_model(make("mlp", False), tmp_path)
    weights = (tmp_path / "weights.safetensors").read_bytes()
    (tmp_path / "weights.safetensors").write_bytes(weights[:50])
    with pytest.raises(LatopoError, match="is broken"):
        load_model(tmp_path)
    (tmp_path / "weights.safetensors").write_bytes(weights)
    described = json.loads((tmp_path / "model.json").read_text())
    for change, message in [
        ({"format": 99}, "has format 99 and class MLP, expected format 1; it may be of a newer latopo"),
        ({"settings": {**described["settings"], "hidden_channels": 9}}, "do not belong together"),
        ({"settings": {"unknown": 1}}, "do not belong together"),
        ({"class": "os.system"}, r"class os\.system, expected format 1"),
    ]:
        (tmp_path / "model.json").write_text(json.dumps({**described, **change}))
        with pytest.raises(LatopoError, match=message):
            load_model(tmp_path)


def test_parameter_counts_are_comparable_to_the_papers():
    counts = {
        name: sum(parameter.numel() for parameter in build_model(name, 1433, 7, graph=True).parameters())
        for name in MODELS
    }
    # The first layer dominates: a cell convolution adds three 32 × 32 matrices to one of the graph convolution.
    for name in ("dgm-e", "dcm", "dcm-all", "topk-dcm", "topk-dcm-all", "dcm-plus", "dcm-plus-edges", "alpha-dgm"):
        assert counts[name] == pytest.approx(counts["dgm-m"], rel=0.11), name


@pytest.mark.parametrize("name", names(True))
def test_no_points_to_choose_from(name):
    for count in (1, 2, 3):
        model = make(name, True, dropout=0.0)
        x, y, _ = problem(count)
        empty = torch.zeros(2, 0, dtype=torch.int64)
        loss, output = step_loss(model, x, y, empty)
        loss.backward()
        assert output.prediction.shape == (count, 3)
        assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_bad_input():
    with pytest.raises(LatopoError, match="expected one of mlp, gcn"):
        build_model("transformer", 2, 2)
    with pytest.raises(LatopoError, match=r"model mlp: .*unexpected keyword argument 'gain'"):
        build_model("mlp", 2, 2, gain=3.0)
    x = torch.ones(4, 6)
    x[2, 1] = torch.nan
    for bad in (x, x.to_sparse_csr()):
        with pytest.raises(LatopoError, match="DCMNet: x has NaN or infinite entries, first in row 2"):
            build_model("dcm", 6, 3)(bad)
    with pytest.raises(LatopoError, match="dense or sparse CSR"):
        build_model("dcm", 6, 3)(torch.ones(4, 6).to_sparse_coo())
    with pytest.raises(LatopoError, match=r"DCMNet: x has 5 columns, expected in_channels=6"):
        build_model("dcm", 6, 3)(torch.ones(4, 5))
    with pytest.raises(LatopoError, match="GCN: edge_index is None, expected a graph"):
        build_model("gcn", 6, 3, graph=True)(torch.ones(4, 6))


@pytest.mark.parametrize("name", ["dcm-judged", "gcn-judged"])
def test_reset_forgets_whom_the_judges_trusted(name):
    model = make(name, True)
    with torch.no_grad():
        model.trust[0] = 1.0
    model.reset_parameters()
    assert not model.trust.any()


def test_reset_gives_new_weights_and_a_fresh_calibration():
    model = make("dcm-plus", False)
    x, _, _ = problem()
    model(x)
    before = copy.deepcopy(model.state_dict())
    assert bool(model.dcm.graph.calibrated)
    model.reset_parameters()
    assert not bool(model.dcm.graph.calibrated)
    assert not torch.equal(before["first.weight"], model.state_dict()["first.weight"])


@pytest.mark.parametrize("name", ["dcm-plus", "dcm-plus-edges", "alpha-dgm"])
@pytest.mark.parametrize("graph", [False, True])
def test_the_own_prediction_is_that_of_the_skip_alone(name, graph):
    x, _, edges = problem()
    model = make(name, graph, dropout=0.0)
    edges = edges if graph else None
    assert model.eval()(x, edges).alone == ()
    (own,) = model.train()(x, edges).alone
    latent = model.settings["hidden_channels"] * (1 if name == "alpha-dgm" else 2)
    with torch.no_grad():
        model.head.weight[:, :latent] = 0
        model.head.weight[:, latent + model.settings["hidden_channels"] :] = 0
    assert torch.allclose(own, model(x, edges).prediction, atol=1e-6)
    assert make("dcm", graph, dropout=0.0).train()(x, edges).alone == ()


@pytest.mark.parametrize("name", ["dcm-judged", "gcn-judged"])
def test_a_judged_model_holds_an_mlp_and_a_gcn_and_trusts_them_as_told(name):
    x, _, edges = problem()
    model = make(name, True, dropout=0.0).eval()
    width, latent = 8, model.head.in_features - 16
    first = {f"first.{key}": value for key, value in model.first.state_dict().items()}
    given = {f"first.{key}": value for key, value in model.given_first.state_dict().items()}
    mlp, gcn = make("mlp", False).eval(), make("gcn", True).eval()
    mlp.load_state_dict(
        first | {"head.weight": model.head.weight[:, latent : latent + width], "head.bias": model.head.bias}
    )
    gcn.load_state_dict(given | {"head.weight": model.head.weight[:, latent + width :].T, "head.bias": model.head.bias})
    parts = len(model.trust)
    for at, expert in ((-2, mlp(x)), (-1, gcn(x, edges))):
        with torch.no_grad():
            model.trust.zero_()
            model.trust[at] = 100.0
        alone = expert.prediction - model.head.bias
        assert torch.allclose(model(x, edges).prediction, parts * alone + model.head.bias, atol=1e-6)
    own, judged_gcn = model.train()(x, edges).alone
    assert torch.allclose(own, mlp(x).prediction, atol=1e-6)
    assert torch.allclose(judged_gcn, gcn(x, edges).prediction, atol=1e-6)


@pytest.mark.parametrize("name", ["dcm-judged", "gcn-judged"])
def test_judges_train_trust_and_nothing_else(name):
    x, _, edges = problem()
    model = make(name, True)
    output = model.train()(x, edges)
    assert torch.allclose(output.judged, output.prediction)
    output.judged.square().sum().backward()
    assert {key for key, value in model.named_parameters() if value.grad is not None} == {"trust"}
    model.zero_grad()
    model(x, edges).prediction.square().sum().backward()
    assert model.trust.grad is None
    assert model.eval()(x, edges).judged is None


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("dcm-plus", {"judges": 1.0}, r"judges must be in \[0, 1\), got 1.0"),
        ("dcm", {"judges": 0.1}, "skip and given_conv must be True"),
    ],
)
def test_judges_are_checked(name, settings, message):
    with pytest.raises(LatopoError, match=message):
        build_model(name, 4, 3, graph=True, **settings)


@pytest.mark.parametrize("training", [False, True])
def test_gcn_plus_is_dcm_plus_without_its_complex(training):
    x, _, edges = problem()
    whole, rest = (make(name, True, dropout=0.0).train(training) for name in ("dcm-plus", "gcn-plus"))
    latent = whole.head.in_features - rest.head.in_features
    with torch.no_grad():
        whole.head.weight[:, :latent] = 0
    shared = {name: value for name, value in whole.state_dict().items() if name in rest.state_dict()}
    rest.load_state_dict({**shared, "head.weight": whole.head.weight[:, latent:]})
    ours, theirs = whole(x, edges), rest(x, edges)
    assert theirs.complex is None
    assert torch.allclose(ours.prediction, theirs.prediction)
    assert len(ours.alone) == len(theirs.alone) == training
    assert all(map(torch.allclose, ours.alone, theirs.alone))


def test_own_loss_needs_the_own_features():
    with pytest.raises(LatopoError, match="own_loss and hide_latent need skip=True"):
        build_model("dcm", 4, 3, own_loss=True)


@pytest.mark.parametrize("name", ["dcm-plus", "alpha-dgm"])
def test_hidden_rows_show_the_head_only_the_own_features(name):
    x, _, _ = problem()
    model = make(name, False, dropout=0.0, hide_latent=0.5, hold_degree=False)
    torch.manual_seed(0)
    output = model(x)
    (own,) = output.alone
    hidden = (output.prediction - own).abs().amax(dim=1) < 1e-6
    assert 0.2 < hidden.float().mean() < 0.8
    bare = make(name, False, dropout=0.0, hide_latent=0.0, hold_degree=False)
    bare.load_state_dict(model.state_dict())
    whole = bare.eval()(x).prediction
    assert torch.equal(model.eval()(x).prediction, whole)
    twice = own + 2 * (whole - own)  # what stays is scaled up, as in any dropout
    assert torch.allclose(output.prediction[~hidden], twice[~hidden], atol=1e-5)


def test_hide_latent_is_a_probability():
    with pytest.raises(LatopoError, match=r"hide_latent must be in \[0, 1\), got 1.0"):
        build_model("dcm-plus", 4, 3, hide_latent=1.0)


def test_what_weight_decay_leaves_alone():
    scalars = {"dcm.graph.gain.shift", "dcm.graph.alpha.raw", "dcm.polygons.gain.shift", "dcm.polygons.alpha.raw"}

    def undecayed(model):
        chosen = {id(parameter) for parameter in model.undecayed()}
        return {name for name, parameter in model.named_parameters() if id(parameter) in chosen}

    assert undecayed(build_model("dcm", 4, 3)) == scalars
    encoder = {name for name, _ in build_model("dcm-plus", 4, 3).named_parameters() if "graph.encoder" in name}
    assert encoder
    assert undecayed(build_model("dcm-plus", 4, 3)) == encoder | scalars - {"dcm.polygons.gain.shift"}


@pytest.mark.parametrize("name", ["dcm-plus", "alpha-dgm", "dcm"])
def test_the_gradient_is_the_same_again_on_several_threads(name):
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        x, y, _ = problem(num_nodes=1500)
        model = make(name, False, dropout=0.0, hold_degree=False)
        gradients = []
        for _ in range(4):
            torch.manual_seed(0)
            model.zero_grad()
            step_loss(model, x, y, None)[0].backward()
            gradients.append(torch.cat([item.grad.flatten() for item in model.parameters() if item.requires_grad]))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(gradients[0], other) for other in gradients[1:])


def test_our_recipe_is_what_the_catalogue_says():
    for name in ("dcm-plus", "dcm-plus-edges", "alpha-dgm"):
        model = build_model(name, 4, 3)
        (graph,) = (module for module in model.modules() if isinstance(module, AlphaDGM))
        assert graph.detach
        assert graph.hold_degree
        assert graph.degree == 5.0
    assert build_model("dcm", 4, 3).dcm.graph.detach
    assert not build_model("dcm", 4, 3, detach=False).dcm.graph.detach
    assert build_model("dcm", 4, 3, max_length=5).dcm.polygons.max_length == 5


def test_another_sparse_matrix_while_the_first_is_still_there():
    model = build_model("mlp", 3, 2).eval()
    for x in (first := torch.eye(3), torch.eye(3)[[2, 0, 1]], torch.ones(5, 3), first.clone()):
        sparse = x.to_sparse_csr()
        model(kept := sparse).prediction.sum().backward()
        assert torch.allclose(model(sparse).prediction, model(x).prediction)
    assert kept is not None


def test_sparse_features_may_change_in_place():
    x = torch.eye(3).to_sparse_csr()
    layer = FeatureLinear(3, 2)
    gradients = []
    for _ in range(2):
        layer.zero_grad()
        layer(x).sum().backward()
        gradients.append(layer.weight.grad.clone())
        x.values().mul_(2)
    assert torch.equal(gradients[1], 2 * gradients[0])


def test_polygon_score_reaches_the_polygons():
    assert build_model("dcm", 4, 3).dcm.polygons.score == "sum"
    assert build_model("dcm-plus", 4, 3, polygon_score="mean").dcm.polygons.score == "mean"
