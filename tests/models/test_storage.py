import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from latopo.errors import LatopoError
from latopo.models import SYSTEMS, load_model, save_model
from latopo.models.graph_net import GraphNet
from latopo.training import seeded


@pytest.mark.parametrize("name", [name for name in SYSTEMS if not SYSTEMS[name].model.solves])
def test_a_saved_model_is_the_same_model(name, tmp_path, problem, make):
    x, _, ring = problem()
    model = make(name, True).float().eval()
    expected = model(x.float(), ring).prediction
    save_model(model, tmp_path)
    restored = load_model(tmp_path)
    assert type(restored) is type(model)
    assert restored.settings == model.settings
    assert not restored.training
    assert torch.equal(restored(x.float(), ring).prediction, expected)


def test_a_damaged_model_says_so(tmp_path, make):
    with pytest.raises(LatopoError, match=r"model\.json cannot be read"):
        load_model(tmp_path)
    save_model(make("mlp", False), tmp_path)
    weights = (tmp_path / "weights.safetensors").read_bytes()
    (tmp_path / "weights.safetensors").write_bytes(weights[:50])
    with pytest.raises(LatopoError, match="are broken"):
        load_model(tmp_path)
    (tmp_path / "weights.safetensors").write_bytes(weights)
    described = json.loads((tmp_path / "model.json").read_text())
    for change, message in [
        ({"format": 99}, "in format 99, but this latopo .* reads format 2"),
        ({"settings": {**described["settings"], "hidden_channels": 9}}, "do not belong together"),
        ({"settings": {"unknown": 1}}, "do not belong together"),
        ({"settings": None}, "do not belong together"),
        (
            {"class": "os.system"},
            r"model\.json is damaged \(expected one of .*BranchNet, .* at 'class', got os\.system",
        ),
    ]:
        (tmp_path / "model.json").write_text(json.dumps({**described, **change}))
        with pytest.raises(LatopoError, match=message):
            load_model(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": 10**30}, "layers must be a whole number of at least 1 and of at most 1000, got 1"),
        ({"layers": 100}, "must have shape .*, got "),
        ({"hidden_channels": 5270}, "must have shape .* got "),
        ({"hidden_channels": 10**30}, "hidden_channels must be a whole number"),
        ({"edge_channels": 2 * 10**7}, "edge_channels=20000000 and 32 hidden do not fit into"),
        ({"edge_channels": -1}, "edge_channels=-1 and 32 hidden do not fit into"),
        ({"edge_channels": "2"}, "expected the type int at 'edge_channels', got 2"),
    ],
)
def test_sizes_that_the_weights_do_not_have_take_no_memory(tmp_path, change, message, monkeypatch):
    save_model(GraphNet(1, 1, edge_channels=2, rings="all"), tmp_path)
    described = json.loads((tmp_path / "model.json").read_text())
    for name, value in change.items():
        (described if name in described else described["settings"])[name] = value
    (tmp_path / "model.json").write_text(json.dumps(described))
    made, build = [], torch.nn.Linear.__init__

    def count(self, *args, **kwargs):
        build(self, *args, **kwargs)
        made.append(self.weight.device.type)

    monkeypatch.setattr(torch.nn.Linear, "__init__", count)
    with pytest.raises(LatopoError, match=message):
        load_model(tmp_path)
    assert set(made) <= {"meta"}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(tmp_path, make, number):
    save_model(make("mlp", False), tmp_path)
    weights = load_file(tmp_path / "weights.safetensors")
    weights["head.bias"][1] = number
    save_file(weights, tmp_path / "weights.safetensors")
    with pytest.raises(LatopoError, match=r"head\.bias has numbers that are not finite"):
        load_model(tmp_path)


@pytest.mark.parametrize("mode", ["float64", "bfloat16", "meta", "inference", "seeded"])
@pytest.mark.parametrize("name", ["mlp", "dcm"])
def test_a_model_is_loaded_alike_in_all_modes_of_torch(tmp_path, make, name, mode):
    save_model(make(name, True).float(), tmp_path)
    expected, before = load_model(tmp_path).state_dict(), torch.get_default_dtype()
    modes = {"meta": torch.device("meta"), "inference": torch.inference_mode(), "seeded": seeded(0)}
    if mode in modes:
        with modes[mode]:
            model = load_model(tmp_path)
    else:
        torch.set_default_dtype(getattr(torch, mode))
        try:
            model = load_model(tmp_path)
        finally:
            torch.set_default_dtype(before)
    assert {(value.device.type, value.dtype, value.is_inference()) for value in model.parameters()} == {
        ("cpu", torch.float32, False)
    }
    assert all(torch.equal(value, expected[name]) for name, value in model.state_dict().items())
