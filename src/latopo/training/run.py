"""What a run is: a system on a data set under a protocol, before a fold is chosen."""

from dataclasses import dataclass, field
from typing import Any, get_args

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.splits import Protocol
from latopo.errors import LatopoError
from latopo.models.catalogue import GRAPH_SYSTEMS, SYSTEMS, System, find_system
from latopo.settings import Settings, to_plain
from latopo.training.graph_settings import GraphTrainingSettings
from latopo.training.settings import TrainingSettings

__all__ = ["NUMERICS", "WEIGHT_DECAYS", "Run"]

# The short list that every model searches, per fold, on that fold's own validation chunk.
WEIGHT_DECAYS = (1e-4, 5e-4, 5e-3)
_FIXED_WEIGHT_DECAY = 5e-4
_PATIENT = {"epochs": 1_000, "patience": 50}
_TRAINING = ("epochs", "lr", "weight_decay", "evaluate_every", "patience", "batch_size")
# Raised whenever the same settings come to give other numbers: runs from before and after are then not the same.
NUMERICS = 1


@dataclass(frozen=True)
class Run:
    """A system on a data set under a protocol.

    Attributes:
        dataset: name of the data set, in any spelling; or an entry of your own, from :func:`latopo.data.from_data`.
        model: a name of :data:`~latopo.models.SYSTEMS`.
        graph: whether the model gets the data set's graph.
        protocol: ``honest`` or ``paper``, see :func:`latopo.data.split`; ``patient`` is ``honest`` with up to 1,000
            epochs in place of the paper's, until fifty evaluations in a row bring nothing better.
        seed: of weights, dropout and sampling.
        settings: what departs from the defaults: ``epochs, lr, weight_decay, evaluate_every, patience`` and, for
            graphs, ``batch_size`` of the training, everything else of the model. A named ``weight_decay`` is not
            searched for.

    Example:
        >>> run = Run("Texas", "dcm", settings={"rounds": 2})
        >>> run.training().epochs, run.model_settings().latent.sampler.gain, run.weight_decays
        (100, 5.0, (0.0001, 0.0005, 0.005))
    """

    dataset: str | DatasetEntry
    model: str
    graph: bool = False
    protocol: Protocol = "honest"
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before anything is loaded."""
        if isinstance(self.dataset, str):
            object.__setattr__(self, "dataset", self.entry.name)
        if self.protocol not in get_args(Protocol):
            raise LatopoError(f"protocol: expected one of {', '.join(get_args(Protocol))}, got {self.protocol!r}")
        if not 0 <= self.seed < 2**32:
            raise LatopoError(f"seed: expected a whole number from 0 to {2**32 - 1}, got {self.seed}")
        self._check_level()
        if self.graph and not self.entry.has_graph:
            raise LatopoError(f"{self.entry.title} is a table and has no graph; run it with --no-graph")
        if self.system.needs_graph and not self.graph:
            raise LatopoError(f"model {self.model} needs a graph; add --graph, or choose a model that infers one")
        if self.protocol not in self.system.protocols:
            known = " or ".join(self.system.protocols)
            raise LatopoError(f"model {self.model} cannot be run under --protocol {self.protocol}; use {known}")
        self.training()
        self.model_settings()

    def _check_level(self) -> None:
        """Networks for graphs predict graphs, all others nodes; without edges, graphs need coordinates."""
        entry, level = self.entry, self.entry.level
        if self.system.level != level:
            fitting = ", ".join(name for name, system in (SYSTEMS | GRAPH_SYSTEMS).items() if system.level == level)
            what = "a set of graphs" if level == "graph" else "not a set of graphs"
            raise LatopoError(f"{entry.title} is {what}, and {self.model} predicts {self.system.level}s; use {fitting}")
        if level == "graph" and not self.graph and not entry.coordinates:
            raise LatopoError(
                f"{entry.title} has no coordinates, so nothing is left without edges; keep them (--graph, graph=True)"
            )
        if level == "node" and "batch_size" in self.settings:
            raise LatopoError("batch_size: nodes of one graph are trained all at once; leave it out")

    @property
    def entry(self) -> DatasetEntry:
        """What is known of the data set."""
        return self.dataset if isinstance(self.dataset, DatasetEntry) else find_dataset(self.dataset)

    @property
    def system(self) -> System:
        """What is known of the system."""
        return find_system(self.model)

    @property
    def weight_decays(self) -> tuple[float, ...]:
        """The values to search. Under ``paper`` there is nothing to search on, and it is 5e-4 or the system's own."""
        known = "weight_decay" in self.settings or self.system.weight_decay is not None
        if known or self.system.model.solves or self.entry.level == "graph":
            return (self.training().weight_decay,)
        return (_FIXED_WEIGHT_DECAY,) if self.protocol == "paper" else WEIGHT_DECAYS

    def training(self, **changes: Any) -> TrainingSettings:
        """Settings of the loop; the epochs are the paper's unless named, or the protocol's."""
        named = {name: value for name, value in self.settings.items() if name in _TRAINING}
        usual = {"epochs": 1 if self.system.model.solves else self.entry.epochs}
        plan = _PATIENT if self.protocol == "patient" else usual
        kind = TrainingSettings if self.entry.level == "node" else GraphTrainingSettings
        own = {} if self.system.weight_decay is None else {"weight_decay": self.system.weight_decay}
        return kind(**{**plan, "seed": self.seed, **own, **named, **changes})

    def model_settings(self) -> Settings:
        """Settings of the model, with what the authors set for this data set where it belongs."""
        named = {name: value for name, value in self.settings.items() if name not in _TRAINING}
        authors = {name: getattr(self.entry, name) for name in self.system.authors}
        known = {name: value for name, value in authors.items() if value is not None}
        return self.system.resolved(self.graph, {**known, **named})

    def resolved(self) -> dict[str, Any]:
        """All that decides the numbers but the fold, in JSON's types: two runs are the same if this is."""
        training = self.training()
        return {
            "dataset": self.entry.name,
            "fold_seed": self.entry.fold_seed,
            "graph": self.graph,
            "protocol": self.protocol,
            "seed": self.seed,
            "model": self.model,
            "settings": to_plain(self.model_settings()),
            "epochs": training.epochs,
            "lr": training.lr,
            "weight_decays": list(self.weight_decays),
            "evaluate_every": training.evaluate_every,
            "patience": training.patience,
            "numerics": NUMERICS,
            **({"batch_size": training.batch_size} if isinstance(training, GraphTrainingSettings) else {}),
        }

    @property
    def first_rung(self) -> int:
        """Epochs that every weight decay gets before the best goes on alone: a third, up to a full evaluation.

        Under ``patient``, a third of the paper's epochs.
        """
        epochs, every = self.training().epochs, self.training().evaluate_every
        usual = min(self.entry.epochs, epochs) if self.protocol == "patient" else epochs
        return min(-(-usual // (3 * every)) * every, epochs)

    @property
    def planned_epochs(self) -> int:
        """Epochs of all trainings of one fold, for a progress bar; at most so many, if patience may run out."""
        count = len(self.weight_decays)
        return self.training().epochs + (count - 1) * self.first_rung
