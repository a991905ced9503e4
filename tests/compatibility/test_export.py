import warnings

import pytest
import torch

from latopo.errors import LatopoError
from latopo.nn import DCM, FixedTopology

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's own, on TorchScript


@pytest.fixture
def fixed(net, x):
    net.eval()(x)
    net.dcm.topology = FixedTopology(net.cells.detach())
    return net


@pytest.mark.parametrize("export", [torch.export.export, torch.jit.trace])
def test_an_inference_is_refused_in_one_line(net, x, export):
    with pytest.raises(LatopoError, match=r"cannot hold an inference.*FixedTopology"):
        export(net.eval(), (x,))


def test_onnx_names_the_same_reason(net, x, tmp_path):
    with pytest.raises(Exception, match="cannot hold an inference"):
        torch.onnx.export(net.eval(), (x,), tmp_path / "net.onnx", dynamo=True, verbose=False)


@pytest.mark.parametrize(
    "part", [lambda layer: layer, lambda layer: layer.topology, lambda layer: layer.topology.graph]
)
def test_torchscript_is_refused_in_one_line(part):
    with pytest.raises(LatopoError, match=r"torch\.jit\.script cannot read it"):
        torch.jit.script(part(DCM(4, 4)))


def test_a_refused_export_leaves_the_model_usable(net, x):
    before = net.eval()(x)
    with pytest.raises(LatopoError):
        torch.export.export(net, (x,))
    assert torch.equal(net(x), before)


def test_a_fixed_topology_is_exported(fixed, x):
    program = torch.export.export(fixed, (x,)).module()
    assert torch.allclose(program(2 * x), fixed(2 * x), atol=1e-6)


def test_a_fixed_topology_is_traced(fixed, x):
    assert torch.allclose(torch.jit.trace(fixed, (x,))(2 * x), fixed(2 * x), atol=1e-6)


def test_a_fixed_topology_goes_to_onnx(fixed, x, tmp_path):
    from onnx.reference import ReferenceEvaluator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(fixed, (x,), tmp_path / "net.onnx", dynamo=True, verbose=False)
    session = ReferenceEvaluator(str(tmp_path / "net.onnx"))
    (found,) = session.run(None, {session.input_names[0]: (2 * x).numpy()})
    assert torch.allclose(torch.from_numpy(found), fixed(2 * x), atol=1e-5)
