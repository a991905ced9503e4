import pytest
import torch

from latopo.nn import FixedTopology


@pytest.fixture(autouse=True)
def _forget_what_was_compiled():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def compiled(net, graphs, **options):
    """With everything of the compiler but its C++ code generation, which takes most of the time."""

    def backend(graph, inputs):
        graphs.append(sum(node.op == "call_function" for node in graph.graph.nodes))
        return graph

    return torch.compile(net, backend=backend, **options)


def test_one_break_for_the_inference_and_the_rest_is_compiled(net, x):
    graphs = []
    prediction = compiled(net, graphs)(x)
    assert len(graphs) == 3  # before the inference, messages, after the layer
    assert max(graphs) > 50  # all messages are in one graph
    assert torch.allclose(prediction, net(x), atol=1e-6)


def test_another_number_of_cells_is_not_compiled_again(net, x):
    graphs = []
    fast = compiled(net, graphs)
    sizes = set()
    for step in range(3):
        y = x + 0.2 * step * torch.randn(40, 8, generator=torch.Generator().manual_seed(step))
        assert torch.allclose(fast(y), net(y), atol=1e-6)
        sizes.add((net.cells.num_edges, net.cells.num_polygons))
    assert len(sizes) == 3
    assert len(graphs) == 3


def test_a_batch_of_clouds(net, x):
    batch = torch.tensor([0] * 15 + [1] * 25)
    graphs = []
    assert torch.allclose(compiled(net, graphs)(x, None, batch), net(x, None, batch), atol=1e-6)
    assert len(graphs) <= 4


def test_gradients_are_those_of_the_plain_model(net, x):
    names = [name for name, _ in net.named_parameters()]
    gradients = []
    for model in (net, torch.compile(net, backend="aot_eager")):
        net.zero_grad()
        model(x).square().sum().backward()
        gradients.append([p.grad.clone() for p in net.parameters()])
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(*gradients, strict=True)), names


def test_a_fixed_topology_is_compiled_in_one_piece(net, x):
    prediction = net.eval()(x)
    net.dcm.topology = FixedTopology(net.cells.detach())
    assert torch.allclose(torch.compile(net, backend="eager", fullgraph=True)(x), prediction, atol=1e-6)
