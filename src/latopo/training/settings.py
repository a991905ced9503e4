"""How a model is trained."""

import math
from dataclasses import dataclass

from latopo.errors import LatopoError

__all__ = ["TrainingSettings"]


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained.

    Attributes:
        epochs: full passes, one step each.
        lr: learning rate of Adam.
        weight_decay: of Adam, on all weights but those that the model exempts (:meth:`latopo.models.Model.undecayed`).
        evaluate_every: an evaluation follows every so many epochs, and the last.
        seed: of dropout and sampling.
        patience: stop after this many evaluations without a better one; None never stops early.
        snapshot_epochs: epochs after which the complex is kept; the choice of the best epoch does not see them.

    Example:
        >>> TrainingSettings(epochs=0)
        Traceback (most recent call last):
        latopo.errors.LatopoError: TrainingSettings: epochs is 0, expected a whole number of at least 1
    """

    epochs: int = 200
    lr: float = 0.01
    weight_decay: float = 5e-4
    evaluate_every: int = 3
    seed: int = 0
    patience: int | None = None
    snapshot_epochs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be trained with."""
        for name in ("epochs", "evaluate_every", "patience"):
            value = getattr(self, name)
            if value is None and name == "patience":
                continue
            if not isinstance(value, int) or value < 1:
                raise LatopoError(f"TrainingSettings: {name} is {value!r}, expected a whole number of at least 1")
        for name in ("lr", "weight_decay"):
            if not isinstance(getattr(self, name), int | float):
                raise LatopoError(f"TrainingSettings: {name} is {getattr(self, name)!r}, expected a number")
        if not 0 < self.lr < math.inf or not 0 <= self.weight_decay < math.inf:
            raise LatopoError(
                f"TrainingSettings: lr is {self.lr} and weight_decay {self.weight_decay}, expected lr > 0 and "
                "weight_decay ≥ 0"
            )
