"""A batch of point clouds: each gets a cell complex of its own, and one label.

scikit-learn's handwritten digits, each as a cloud of about thirty points: the pixels with ink, where and how dark.
It shows how, and is no benchmark: ten epochs on 600 clouds (a minute or two) get 72 % of the others right.

    python examples/point_clouds.py
"""

import torch
from sklearn.datasets import load_digits
from torch.nn import Linear
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_max_pool

from latopo.nn import DCM


class Net(torch.nn.Module):
    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.encode = Linear(3, 32)
        self.dcm = DCM(32, 64, gain=5.0)
        self.classify = Linear(128, num_classes)

    def forward(self, data: Data):
        x = self.encode(data.x).relu()
        x, cells = self.dcm(x, batch=data.batch)  # neighbours are chosen within each cloud
        return self.classify(global_max_pool(x, data.batch)), cells


def cloud(image: torch.Tensor, label: int) -> Data:
    places = (image > 0).nonzero()
    ink = image[places[:, 0], places[:, 1], None] / 16
    return Data(x=torch.cat([(places - 3.5) / 3.5, ink], dim=1), y=torch.tensor([label]))


def main(epochs: int = 10, count: int = 600) -> None:
    torch.manual_seed(0)
    digits = load_digits()
    clouds = [
        cloud(torch.tensor(image, dtype=torch.float32), label)
        for image, label in zip(digits.images, digits.target, strict=True)
    ]
    train, test = (
        DataLoader(clouds[:count], batch_size=32, shuffle=True),
        DataLoader(clouds[-count // 2 :], batch_size=100),
    )

    model = Net(10)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for data in train:
            optimizer.zero_grad()
            prediction, _ = model(data)
            loss = cross_entropy(prediction, data.y)
            loss.backward()
            optimizer.step()
            total += loss.item() / len(train)
        print(f"epoch {epoch:2d}  loss {total:.3f}")

    model.eval()
    right = 0
    with torch.no_grad():
        for data in test:
            prediction, cells = model(data)
            right += int((prediction.argmax(1) == data.y).sum())
    print(f"\naccuracy on {len(test.dataset)} other clouds: {right / len(test.dataset):.3f}")
    print(f"the last one: {cells[-1]}")


if __name__ == "__main__":
    main()
