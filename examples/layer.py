"""A DCM layer inside a model of your own: points in, classes and a cell complex out.

The data are scikit-learn's handwritten digits, a tenth of them labelled, and no graph: the layer infers one.

    python examples/layer.py
"""

import torch
from sklearn.datasets import load_digits
from torch.nn import Linear
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.data import Data
from torch_geometric.transforms import RandomNodeSplit

from latopo.nn import DCM


class Net(torch.nn.Module):
    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.encode = Linear(in_channels, 32)
        self.dcm = DCM(32, 32, gain=15.0)
        self.classify = Linear(64, num_classes)

    def forward(self, data: Data):
        x = self.encode(data.x).relu()
        x, cells = self.dcm(x, data.edge_index)  # edge_index may be None
        return self.classify(dropout(x, 0.5, self.training)), cells


def main(epochs: int = 100) -> None:
    torch.manual_seed(0)
    digits = load_digits()
    data = Data(x=torch.tensor(digits.data / 16, dtype=torch.float32), y=torch.tensor(digits.target))
    data = RandomNodeSplit("random", num_train_per_class=18, num_val=0, num_test=1500)(data)

    model = Net(64, 10)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, epochs + 1):
        model.train()
        optimizer.zero_grad()
        prediction, cells = model(data)
        loss = cross_entropy(prediction[data.train_mask], data.y[data.train_mask])
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d}  loss {loss.item():.3f}  {cells}")

    model.eval()
    with torch.no_grad():
        prediction, cells = model(data)
    right = prediction.argmax(1) == data.y
    print(f"\naccuracy on {int(data.test_mask.sum())} unlabelled digits: {right[data.test_mask].float().mean():.3f}")
    for name, value in cells.summary().items():
        print(f"{name}: {value}")
    print(f"edges between equal digits: {cells.edge_homophily(data.y):.3f}")
    print(f"polygons of one digit: {cells.polygon_homophily(data.y):.3f}")


if __name__ == "__main__":
    main()
