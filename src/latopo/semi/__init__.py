"""Few labels: what unlabelled rows bring, without a given graph.

The way of the data: :mod:`~latopo.semi.metric` (how rows are compared) → :mod:`~latopo.semi.latent_rows` (the α-entmax
graph over them, at a held degree) → :mod:`~latopo.semi.diffusion` → branches: a linear head
(:mod:`~latopo.semi.linear`) on a row's own or diffused features, self-trained (:mod:`~latopo.semi.self_training`), and
labels that spread → :mod:`~latopo.semi.fusion` by held-out likelihood. :mod:`~latopo.semi.recipe` puts them together.
"""

from latopo.semi.diffusion import diffuse, diffusion_operator, spread_targets
from latopo.semi.latent_rows import LatentRows, latent_rows
from latopo.semi.metric import Mixture, Numbers, Words, input_metric
from latopo.semi.recipe import Branch, FewLabels, branches_for, learn
from latopo.semi.self_training import self_train

__all__ = [
    "Branch", "FewLabels", "LatentRows", "Mixture", "Numbers", "Words", "branches_for", "diffuse",
    "diffusion_operator", "input_metric", "latent_rows", "learn", "self_train", "spread_targets",
]  # fmt: skip
