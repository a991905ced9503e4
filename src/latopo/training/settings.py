"""How a model is trained."""

from dataclasses import dataclass, field

from latopo.settings import Settings

__all__ = ["TrainingSettings"]


@dataclass(frozen=True)
class TrainingSettings(Settings):
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
        latopo.errors.LatopoError: epochs must be a whole number of at least 1, got 0
    """

    epochs: int = field(default=200, metadata={"at_least": 1})
    lr: float = field(default=0.01, metadata={"above": 0})
    weight_decay: float = field(default=5e-4, metadata={"at_least": 0})
    evaluate_every: int = field(default=3, metadata={"at_least": 1})
    seed: int = field(default=0, metadata={"at_least": 0})
    patience: int | None = field(default=None, metadata={"at_least": 1})
    snapshot_epochs: tuple[int, ...] = ()
