"""What each setting of `dcm-plus` does, on development sets only: Cornell, and generated documents.

Every row trains the recipe with one setting undone, under ``honest`` with a fixed weight decay:

    python benchmarks/recipe.py --set documents --folds 4

The documents are what Cornell lacks: a thousand rows of few, row-normalised words, as in Cora and CiteSeer.
"""

import argparse
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from latopo.data import load
from latopo.training import Run, run_fold

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp": ("mlp", {}),
    "dcm-plus": ("dcm-plus", {}),
    "dcm-plus, encoder not detached": ("dcm-plus", {"detach": False}),
    "dcm-plus, degree not held": ("dcm-plus", {"hold_degree": False}),
    "dcm-plus, latent features never hidden": ("dcm-plus", {"hide_latent": 0.0}),
    "dcm-plus, no loss of its own for the skip": ("dcm-plus", {"own_loss": False}),
    "dcm-plus, weight decay on the encoder": ("dcm-plus", {"decay_graph": True}),
    "alpha-dgm": ("alpha-dgm", {}),
    "dcm-plus-edges": ("dcm-plus-edges", {}),
}


def documents(rows: int = 1000, words: int = 800, classes: int = 7, length: int = 18, seed: int = 0) -> Data:
    """Bags of words: a quarter of a document's words come from its class, the others from all documents alike."""
    random = np.random.RandomState(seed)
    y = random.randint(classes, size=rows)
    common = 1 / np.arange(1, words + 1) ** 0.7
    common = random.permutation(common / common.sum())
    own = random.dirichlet(np.full(words, 0.05), size=classes)
    x = np.zeros((rows, words), dtype=np.float32)
    for row, label in enumerate(y):
        count = max(3, random.poisson(length))
        x[row, random.choice(words, count, p=0.75 * common + 0.25 * own[label])] = 1
    x /= x.sum(axis=1, keepdims=True)
    return Data(x=torch.from_numpy(x), y=torch.from_numpy(y), num_classes=classes)


def main() -> None:
    """Print one line per row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=["documents", "cornell"], default="documents")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the generated documents")
    parser.add_argument("--length", type=int, default=18, help="mean number of words of a generated document")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    generated = arguments.set == "documents"
    data = documents(seed=arguments.seed, length=arguments.length) if generated else load("cornell")
    name = "digits" if generated else "cornell"  # the documents borrow epochs and folds from a set of like size
    for label, (model, settings) in ROWS.items():
        run = Run(name, model, settings={"weight_decay": 5e-4, **settings})
        found = [run_fold(data, run, fold) for fold in range(arguments.folds)]
        degrees = [result.summary()["mean_degree"] or 0.0 for result in found]
        print(
            f"{label:45} test {100 * fmean(result.test_score for result in found):5.1f}"
            f"  degree {fmean(degrees):5.1f}  homophily {fmean(result.homophily or 0.0 for result in found):.2f}"
            f"  epoch {fmean(result.training.best_epoch for result in found):4.0f}"
            f"  {fmean(result.seconds for result in found):5.1f} s a fold",
            flush=True,
        )


if __name__ == "__main__":
    main()
