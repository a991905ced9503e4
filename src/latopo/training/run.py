"""What a run is: a model on a data set under a protocol, before a fold is chosen."""

from dataclasses import dataclass, field
from typing import Any

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.splits import Protocol
from latopo.errors import LatopoError
from latopo.models import MODELS, needs_graph
from latopo.models.catalogue import check_effect
from latopo.training.settings import TrainingSettings

__all__ = ["WEIGHT_DECAYS", "Run"]

# The short list that every model searches, per fold, on that fold's own validation chunk.
WEIGHT_DECAYS = (1e-4, 5e-4, 5e-3)
_FIXED_WEIGHT_DECAY = 5e-4
_TRAINING = ("epochs", "lr", "weight_decay", "evaluate_every", "patience")
# The paper's models start from the authors' gain for the data set; ours follow a rule without labels.
_AUTHORS_GAIN = ("dcm", "dcm-all")


@dataclass(frozen=True)
class Run:
    """A model on a data set under a protocol.

    Attributes:
        dataset: name of the data set, in any spelling.
        model: a name of :data:`~latopo.models.MODELS`.
        graph: whether the model gets the data set's graph.
        protocol: ``honest`` or ``paper``, see :func:`latopo.data.split`.
        seed: of weights, dropout and sampling.
        settings: what departs from the defaults: ``epochs, lr, weight_decay, evaluate_every, patience`` of the
            training, everything else of the model. A named ``weight_decay`` is not searched for.

    Example:
        >>> run = Run("Texas", "dcm", settings={"rounds": 2})
        >>> run.training().epochs, run.model_settings(), run.weight_decays
        (100, {'gain': 5.0, 'rounds': 2}, (0.0001, 0.0005, 0.005))
    """

    dataset: str
    model: str
    graph: bool = False
    protocol: Protocol = "honest"
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before anything is loaded."""
        object.__setattr__(self, "dataset", self.entry.name)
        if self.model not in MODELS:
            raise LatopoError(f"model: expected one of {', '.join(MODELS)}, got {self.model!r}")
        if self.protocol not in ("honest", "paper"):
            raise LatopoError(f"protocol: expected honest or paper, got {self.protocol!r}")
        if self.graph and not self.entry.has_graph:
            raise LatopoError(f"{self.entry.title} is a table and has no graph; run it with --no-graph")
        if needs_graph(self.model) and not self.graph:
            raise LatopoError(f"model {self.model} needs a graph; add --graph, or choose a model that infers one")
        self.training()
        check_effect(self.model, self.settings)

    @property
    def entry(self) -> DatasetEntry:
        """What is known of the data set."""
        return find_dataset(self.dataset)

    @property
    def weight_decays(self) -> tuple[float, ...]:
        """The values to search. Under ``paper`` there is nothing to search on, and it is 5e-4."""
        if "weight_decay" in self.settings:
            return (float(self.settings["weight_decay"]),)
        return WEIGHT_DECAYS if self.protocol == "honest" else (_FIXED_WEIGHT_DECAY,)

    def training(self, **changes: Any) -> TrainingSettings:
        """Settings of the loop; the epochs are the paper's unless named."""
        named = {name: value for name, value in self.settings.items() if name in _TRAINING}
        return TrainingSettings(**{"epochs": self.entry.epochs, "seed": self.seed, **named, **changes})

    def model_settings(self) -> dict[str, Any]:
        """Settings of the model, with the authors' gain where it belongs."""
        named = {name: value for name, value in self.settings.items() if name not in _TRAINING}
        if self.model in _AUTHORS_GAIN and self.entry.gain is not None:
            return {"gain": self.entry.gain, **named}
        return named

    @property
    def first_rung(self) -> int:
        """Epochs that every weight decay gets before the best goes on alone: a third, up to a full evaluation."""
        training = self.training()
        every = training.evaluate_every
        return min(-(-training.epochs // (3 * every)) * every, training.epochs)

    @property
    def planned_epochs(self) -> int:
        """Epochs of all trainings of one fold, for a progress bar."""
        count = len(self.weight_decays)
        return self.training().epochs + (count - 1) * self.first_rung
