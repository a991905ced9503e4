"""What a training minimises and what it is scored by, on the nodes whose targets may be seen."""

import copy

import torch
from torch import Tensor
from torch.nn import functional

from latopo.errors import LatopoError

__all__ = ["Objective"]


class Objective:
    r"""Cross-entropy and accuracy, or, for regression, mean squared error and R².

    Targets of nodes that are neither trained nor selected on are erased here, before anything else sees them.
    Regression targets are standardised by mean and deviation of the training nodes, so that one learning rate suits
    every unit.

    Args:
        y: [N], int64 classes, or floating point values for regression.
        train_index: nodes to learn from, [n].
        selection_index: nodes that choose the best epoch, [m].
        num_classes: number of classes; 0 for regression.
        weight: how much each node counts in the loss and in the score, [N]; all alike by default.

    Attributes:
        target: [N]; classes, or standardised values; −1 and 0 at the erased nodes.
        mean, scale: a prediction in the units of y is ``mean + scale * prediction``; 0 and 1 for classes.

    Example:
        >>> y = torch.tensor([1.0, 3.0, 100.0])
        >>> objective = Objective(y, torch.tensor([0, 1]), torch.tensor([0]), num_classes=0)
        >>> objective.target, objective.mean, objective.scale
        (tensor([-1.,  1.,  0.]), 2.0, 1.0)
    """

    def __init__(
        self,
        y: Tensor,
        train_index: Tensor,
        selection_index: Tensor,
        num_classes: int,
        weight: Tensor | None = None,
    ) -> None:
        self.num_classes, self.weight = num_classes, weight
        self.train_index, self.selection_index = train_index, selection_index
        for name, index in (("train_index", train_index), ("selection_index", selection_index)):
            _check_index(name, index, y)
        self.mean, self.scale = 0.0, 1.0
        known = torch.cat([train_index, selection_index])
        if num_classes:
            _check_classes(y, known, num_classes)
            self.target = torch.full_like(y, -1)
            self.target[known] = y[known]
        else:
            self._standardize(y, known)

    def _standardize(self, y: Tensor, known: Tensor) -> None:
        if not y.is_floating_point() or not bool(torch.isfinite(y[known]).all()):
            raise LatopoError(f"train: regression needs finite floating point targets, got {y.dtype}; clean y first")
        values = y[self.train_index].double()
        # A constant is told exactly, whatever the model says: its mean may be rounded, and its deviation is 0.
        constant = bool((values == values[0]).all())
        self.mean = float(values[0] if constant else values.mean())
        self.scale = 0.0 if constant else float(values.std(correction=0)) or 1.0
        self.target = torch.zeros_like(y)
        self.target[known] = ((y[known].double() - self.mean) / (self.scale or 1.0)).to(y.dtype)

    @property
    def held_out(self) -> Tensor | None:
        """The selection nodes, unless the training nodes themselves select."""
        same = torch.equal(self.train_index, self.selection_index)
        return None if same else self.selection_index

    def part(self, rows: Tensor | None, train_index: Tensor, selection_index: Tensor) -> "Objective":
        """The same targets for other nodes to train and to select on, which must be among those that are known.

        With ``rows`` the nodes are these alone, numbered in their order.
        """
        found = copy.copy(self)
        found.train_index, found.selection_index = train_index, selection_index
        if rows is None:
            return found
        place = torch.full_like(self.target, -1, dtype=torch.int64)
        place[rows] = torch.arange(rows.numel(), device=rows.device)
        found.train_index, found.selection_index = place[train_index], place[selection_index]
        found.target, found.weight = self.target[rows], None if self.weight is None else self.weight[rows]
        return found

    def loss(self, prediction: Tensor, index: Tensor) -> Tensor:
        """Mean loss of the predictions [N, classes] or [N, 1] at some nodes, a scalar tensor."""
        return self.batch_loss(prediction[index], index)

    def batch_loss(self, prediction: Tensor, index: Tensor) -> Tensor:
        """Mean loss of the predictions [n, classes] or [n, 1] of these nodes alone, a scalar tensor."""
        target, reduction = self.target[index], "mean" if self.weight is None else "none"
        if self.num_classes:
            loss = functional.cross_entropy(prediction, target, reduction=reduction)
        else:
            loss = functional.mse_loss(prediction.flatten(), target.to(prediction.dtype), reduction=reduction)
        if self.weight is None:
            return loss
        share = self.weight[index].to(loss.dtype)
        return loss @ (share / share.sum())

    def score(self, prediction: Tensor, index: Tensor) -> float:
        """Accuracy or R² at some nodes."""
        weight = None if self.weight is None else self.weight[index]
        return score(prediction[index], self.target[index], self.num_classes, weight)

    def train_labels(self) -> Tensor | None:
        """Classes of the training nodes, −1 elsewhere, [N]; None for regression."""
        if not self.num_classes:
            return None
        labels = torch.full_like(self.target, -1)
        labels[self.train_index] = self.target[self.train_index]
        return labels


def score(prediction: Tensor, target: Tensor, num_classes: int, weight: Tensor | None = None) -> float:
    """Accuracy of class scores [n, classes], or R² of values [n, 1]; a constant target has R² 1 or 0.

    With weights [n], nodes count that much.
    """
    share = torch.ones(len(target)) if weight is None else weight
    share = (share / share.sum()).to(target.device, torch.float64)
    if num_classes:
        right = (prediction.argmax(dim=1) == target).double()
        return float(right.mean() if weight is None else right @ share)
    target, guess = target.double(), prediction.flatten().double()
    if weight is None:
        residual, total = (target - guess).square().sum(), (target - target.mean()).square().sum()
    else:
        residual, total = share @ (target - guess).square(), share @ (target - share @ target).square()
    if total == 0:
        return float(residual == 0)
    return float(1 - residual / total)


def _check_index(name: str, index: Tensor, y: Tensor) -> None:
    if y.dim() != 1:
        raise LatopoError(f"train: y has shape {list(y.shape)}, expected one target per node, [N]")
    if index.dtype != torch.int64 or index.dim() != 1 or index.numel() == 0:
        raise LatopoError(
            f"train: {name} must be a non-empty int64 vector, got {index.dtype} of shape {list(index.shape)}; "
            "a mask becomes one by mask.nonzero().flatten()"
        )
    if int(index.min()) < 0 or int(index.max()) >= y.numel():
        raise LatopoError(f"train: {name} names nodes from {int(index.min())} to {int(index.max())} of {y.numel()}")


def _check_classes(y: Tensor, known: Tensor, num_classes: int) -> None:
    if y.dtype != torch.int64:
        raise LatopoError(f"train: y must be int64 classes, got {y.dtype}; num_classes=0 is regression")
    lowest, highest = int(y[known].min()), int(y[known].max())
    if lowest < 0 or highest >= num_classes:
        raise LatopoError(f"train: y has classes from {lowest} to {highest}, expected 0 to {num_classes - 1}")
