import copy

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import DCMNet, DGMNet, build_model
from latopo.models.branch_net import BranchNet


@pytest.mark.parametrize("name", ["dgm-e", "dgm-m"])
def test_without_reward_nothing_moves_the_encoder_of_the_graph(name, problem, make, step):
    model = make(name, graph=False)
    x, y, _ = problem()
    step(model, x, y, None)[0].backward()
    silent = {label for label, item in model.named_parameters() if item.grad is None}
    expected = {label for label, _ in model.named_parameters() if label.startswith("latent.topology.graph.")}
    assert silent == expected != set()


def test_bad_input():
    x = torch.ones(4, 6)
    x[2, 1] = torch.nan
    for bad in (x, x.to_sparse_csr()):
        with pytest.raises(LatopoError, match="DCMNet: x has NaN or infinite entries, first in row 2"):
            DCMNet(6, 3)(bad)
    with pytest.raises(LatopoError, match="dense or sparse CSR"):
        DCMNet(6, 3)(torch.ones(4, 6).to_sparse_coo())
    with pytest.raises(LatopoError, match=r"DCMNet: x has 5 columns, expected in_channels=6"):
        DCMNet(6, 3)(torch.ones(4, 5))


def test_reset_gives_new_weights_and_a_fresh_calibration(problem, make):
    model = make("dcm-plus", False)
    x, _, _ = problem()
    model(x)
    before = copy.deepcopy(model.state_dict())
    sampler = model.latent.topology.graph.sampler
    assert bool(sampler.calibrated)
    model.reset_parameters()
    assert not bool(sampler.calibrated)
    assert not torch.equal(before["first.weight"], model.state_dict()["first.weight"])


@pytest.mark.parametrize("name", ["dcm-plus", "dcm-plus-edges", "alpha-dgm"])
@pytest.mark.parametrize("graph", [False, True])
def test_the_own_branch_alone_is_the_head_without_the_others(name, graph, problem, make):
    x, _, edges = problem()
    model = make(name, graph, dropout=0.0)
    edges = edges if graph else None
    assert model.eval()(x, edges).branches == {}
    own = model.train()(x, edges).branches["own"]
    with torch.no_grad():
        for branch, columns in model.head.columns.items():
            if branch != "own":
                model.head.linear.weight[:, columns] = 0
    assert torch.allclose(own, model(x, edges).prediction, atol=1e-6)
    assert make("dcm", graph, dropout=0.0).train()(x, edges).branches == {}


@pytest.mark.parametrize("name", ["dcm-judged", "gcn-judged"])
def test_a_weighed_model_holds_an_mlp_and_a_gcn_and_hears_them_as_told(name, problem, make):
    x, _, edges = problem()
    model = make(name, True, dropout=0.0).eval()
    weight, bias, columns = model.head.linear.weight, model.head.linear.bias, model.head.columns
    first = {f"first.{key}": value for key, value in model.first.state_dict().items()}
    given = {f"first.{key}": value for key, value in model.given.first.state_dict().items()}
    mlp, gcn = make("mlp", False).eval(), make("gcn", True).eval()
    mlp.load_state_dict(first | {"head.weight": weight[:, columns["own"]], "head.bias": bias})
    gcn.load_state_dict(given | {"head.weight": weight[:, columns["given"]].T, "head.bias": bias})
    for branch, expert in (("own", mlp(x)), ("given", gcn(x, edges))):
        with torch.no_grad():
            model.head.raw.zero_()
            model.head.raw[list(columns).index(branch)] = 100.0
        alone = expert.prediction - bias
        assert torch.allclose(model(x, edges).prediction, len(columns) * alone + bias, atol=1e-6)
        assert model.facts()[f"weight_{branch}"] == pytest.approx(1.0)
    branches = model.train()(x, edges).branches
    assert torch.allclose(branches["own"], mlp(x).prediction, atol=1e-6)
    assert torch.allclose(branches["given"], gcn(x, edges).prediction, atol=1e-6)


@pytest.mark.parametrize("name", ["dcm-judged", "gcn-judged"])
def test_held_out_nodes_train_the_weights_of_the_branches_and_nothing_else(name, problem, make):
    x, _, edges = problem()
    model = make(name, True)
    output = model.train()(x, edges)
    assert torch.allclose(output.weighed, output.prediction)
    output.weighed.square().sum().backward()
    assert {key for key, value in model.named_parameters() if value.grad is not None} == {"head.raw"}
    model.zero_grad()
    model(x, edges).prediction.square().sum().backward()
    assert model.head.raw.grad is None
    assert model.eval()(x, edges).weighed is None


def test_terms_of_the_loss_by_name(problem, make, targets):
    x, y, edges = problem()
    expected = {
        "mlp": {"task"},
        "dcm": {"task", "edge", "polygon"},
        "dcm-plus": {"task", "own"},
        "dcm-judged": {"task", "own", "given", "weighing"},
        "gcn-plus": {"task", "own"},
    }
    for name, terms in expected.items():
        model = make(name, True).train()
        assert set(model.loss_terms(targets(y), seed=0)(model(x, edges))) == terms, name


def test_held_out_nodes_are_a_tenth_drawn_by_the_seed(problem, make, targets):
    x, y, edges = problem()
    seen = []

    class Spy(targets):
        def loss(self, prediction, index):
            seen.append(index)
            return super().loss(prediction, index)

    model = make("dcm-judged", True).train()
    for seed in (0, 0, 1):
        model.loss_terms(Spy(y), seed)(model(x, edges))
    task, own, given, weighing = seen[:4]
    assert torch.equal(task, own)
    assert torch.equal(task, given)
    assert weighing.numel() == 4
    assert torch.equal(torch.cat([task, weighing]).sort().values, torch.arange(40))
    assert torch.equal(seen[7], weighing)
    assert not torch.equal(seen[11], weighing)


@pytest.mark.parametrize("training", [False, True])
def test_gcn_plus_is_dcm_plus_without_its_complex(training, problem, make):
    x, _, edges = problem()
    whole, rest = (make(name, True, dropout=0.0).train(training) for name in ("dcm-plus", "gcn-plus"))
    with torch.no_grad():
        whole.head.linear.weight[:, whole.head.columns["latent"]] = 0
    shared = {name: value for name, value in whole.state_dict().items() if name in rest.state_dict()}
    kept = whole.head.linear.weight[:, whole.head.columns["own"].start :]
    rest.load_state_dict({**shared, "head.linear.weight": kept})
    ours, theirs = whole(x, edges), rest(x, edges)
    assert theirs.complex is None
    assert torch.allclose(ours.prediction, theirs.prediction)
    assert set(ours.branches) == set(theirs.branches) == ({"own"} if training else set())
    assert all(torch.allclose(ours.branches[name], theirs.branches[name]) for name in ours.branches)


@pytest.mark.parametrize("name", ["dcm-plus", "alpha-dgm"])
def test_latent_dropout_leaves_the_head_only_the_own_features(name, problem, make):
    x, _, _ = problem()
    model = make(name, False, dropout=0.0, latent_dropout=0.5, hold_degree=False)
    torch.manual_seed(0)
    output = model(x)
    own = output.branches["own"]
    hidden = (output.prediction - own).abs().amax(dim=1) < 1e-6
    assert 0.2 < hidden.float().mean() < 0.8
    bare = make(name, False, dropout=0.0, latent_dropout=0.0, hold_degree=False)
    bare.load_state_dict(model.state_dict())
    whole = bare.eval()(x).prediction
    assert torch.equal(model.eval()(x).prediction, whole)
    twice = own + 2 * (whole - own)  # what stays is scaled up, as in any dropout
    assert torch.allclose(output.prediction[~hidden], twice[~hidden], atol=1e-5)


def test_what_weight_decay_leaves_alone():
    at = "latent.topology."
    scalars = {f"{at}graph.sampler.gain.shift", f"{at}graph.sampler.alpha.raw", f"{at}polygons.alpha.raw"}

    def undecayed(model):
        chosen = {id(parameter) for parameter in model.undecayed()}
        return {name for name, parameter in model.named_parameters() if id(parameter) in chosen}

    assert undecayed(build_model("dcm", 4, 3)) == scalars | {f"{at}polygons.gain.shift"}
    encoder = {name for name, _ in build_model("dcm-plus", 4, 3).named_parameters() if "graph.encoder" in name}
    assert encoder
    assert undecayed(build_model("dcm-plus", 4, 3)) == encoder | scalars


@pytest.mark.parametrize("name", ["dcm-plus", "alpha-dgm", "dcm"])
def test_the_gradient_is_the_same_again_on_several_threads(name, problem, make, step):
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        x, y, _ = problem(num_nodes=1500)
        model = make(name, False, dropout=0.0, hold_degree=False)
        gradients = []
        for _ in range(4):
            torch.manual_seed(0)
            model.zero_grad()
            step(model, x, y, None)[0].backward()
            gradients.append(torch.cat([item.grad.flatten() for item in model.parameters() if item.requires_grad]))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(gradients[0], other) for other in gradients[1:])


def test_what_can_be_watched(make):
    assert set(make("dcm", False).facts()) == {"alpha", "gain", "polygon_alpha"}
    assert set(make("dgm-e", False).facts()) == {"gain"}
    assert set(make("dcm-all", False).facts()) == {"alpha", "gain"}
    assert set(make("gcn-judged", True).facts()) == {"weight_own", "weight_given"}
    assert make("dcm-judged", True).facts()["weight_latent"] == pytest.approx(1 / 3)


def test_classes_differ_by_their_settings_alone():
    dcm, dgm = DCMNet(4, 3), DGMNet(4, 3)
    same = BranchNet(4, 3, dcm.settings)
    assert {name: item.shape for name, item in same.state_dict().items()} == {
        name: item.shape for name, item in dcm.state_dict().items()
    }
    assert dgm.latent.topology.polygons is None
    assert dgm.settings.edge_form == "score"
