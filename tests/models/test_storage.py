import json

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import SYSTEMS, load_model, save_model


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
