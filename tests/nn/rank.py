"""One rank of a data-parallel training: ``python rank.py RANK RENDEZVOUS OUT``, a process of its own."""

import json
import sys
from pathlib import Path

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from latopo.nn import DCM, AlphaDGM, EntmaxSampler

STEPS = 4


def cloud(rank, step):
    """Rank 0 has two points in the second step (no polygon) and one in the third (no edge)."""
    count = {(0, 1): 2, (0, 2): 1}.get((rank, step), 20 + 10 * rank)
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(10 * rank + step))


def main(rank, rendezvous, out):
    distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    torch.manual_seed(0)
    sampler = EntmaxSampler(degree=4.0, hold_degree=True)
    layer = DCM(4, 8, graph=AlphaDGM(4, 8, sampler=sampler))
    model = DistributedDataParallel(layer)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    gains, polygons = [], []
    for step in range(STEPS):
        features, cells = model(cloud(rank, step))
        optimizer.zero_grad()
        features.square().mean().backward()
        optimizer.step()
        gains.append(float(sampler.gain()))
        polygons.append(cells.num_polygons)
    if rank == 0:
        layer.eval()(cloud(0, 0))  # an evaluation of one rank does not wait for the other
    weights = {name: value.tolist() for name, value in layer.state_dict().items()}
    Path(out).write_text(json.dumps({"gains": gains, "polygons": polygons, "weights": weights}))
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
