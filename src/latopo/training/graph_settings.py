"""How a network that predicts graphs is trained."""

from dataclasses import dataclass, field

from latopo.training.settings import TrainingSettings

__all__ = ["GraphTrainingSettings"]


@dataclass(frozen=True)
class GraphTrainingSettings(TrainingSettings):
    """As :class:`~latopo.training.TrainingSettings`, in mini-batches; the learning rate falls to 0 on half a cosine.

    Attributes:
        epochs: passes over the training graphs.
        batch_size: graphs per step.

    Example:
        >>> GraphTrainingSettings().evaluate_every
        1
    """

    epochs: int = field(default=100, metadata={"at_least": 1})
    lr: float = field(default=0.003, metadata={"above": 0})
    weight_decay: float = field(default=0.0, metadata={"at_least": 0})
    evaluate_every: int = field(default=1, metadata={"at_least": 1})
    batch_size: int = field(default=64, metadata={"at_least": 1})
