"""One unit of work: a fold of a run, and the hash that it is known by."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, get_args

from latopo.data.splits import Protocol
from latopo.training.run import Run

__all__ = ["PROTOCOLS", "USUAL_PROTOCOLS", "Hashed", "Key", "Protocol", "Unit"]

PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
USUAL_PROTOCOLS: tuple[Protocol, ...] = ("honest", "paper")  # what the tables ask for by default
Key = tuple[str, str, int, int]


class Hashed(dict[str, Any]):
    """A dictionary of JSON's types that is known by a hash; one that was hashed is not to be changed."""

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the SHA-256 of the canonical JSON (sorted keys; 5 for 5.0)."""
        text = json.dumps(_whole(self), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _whole(value: Any) -> Any:
    """The same with whole numbers as integers: 50 and 50.0 are one setting, but differ in JSON."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Unit:
    """One fold of one run: what a worker trains.

    Attributes:
        model: model name, for instance ``dcm-plus``.
        dataset: data set name in lower case.
        graph: whether the model gets the input graph.
        protocol: ``honest`` (a validation chunk selects the epoch), ``paper`` (best test accuracy) or ``patient``.
        fold: which of the ten folds is the test set, from 0.
        seed: seed of initial weights, dropout and sampling.
        settings: what departs from the defaults, in JSON's types; for people to read. A unit is known by what its
            settings come to (:attr:`key`), so a default that is named makes no difference, and a changed default does.

    Example:
        >>> a = Unit("dcm", "texas", graph=False, protocol="honest", fold=0, settings={"rounds": 1})
        >>> b = Unit("dcm", "texas", graph=False, protocol="honest", fold=0)
        >>> a.key == b.key, a == b
        (True, False)
    """

    model: str
    dataset: str
    graph: bool
    protocol: Protocol
    fold: int
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def run(self) -> Run:
        """The run that this is a fold of; raises if its settings mean nothing to the model."""
        return Run(self.dataset, self.model, self.graph, self.protocol, self.seed, self.settings)

    def resolved(self) -> Hashed:
        """Everything that decides the numbers, except fold and seed, under the present defaults."""
        return _resolved(self.dataset, self.model, self.graph, self.protocol, json.dumps(self.settings))

    @property
    def key(self) -> Key:
        """What identifies a result: model, hash of the resolved settings, fold and seed."""
        return self.model, self.resolved().hash, *self.place

    @property
    def place(self) -> tuple[int, int]:
        """Fold and seed."""
        return self.fold, self.seed

    def __str__(self) -> str:
        """One line for messages and progress bars."""
        graph = "with graph" if self.graph else "without graph"
        place = f"{self.model} on {self.dataset} {graph}, {self.protocol}, fold {self.fold}, seed {self.seed}"
        return ", ".join([place, *(f"{name}={value}" for name, value in self.settings.items())])


@cache
def _resolved(dataset: str, model: str, graph: bool, protocol: Protocol, settings: str) -> Hashed:
    """What settings, given as JSON, come to; the folds and seeds of a run share one answer."""
    resolved = Run(dataset, model, graph, protocol, settings=json.loads(settings)).resolved()
    # In JSON's types, in which it is read again: a tuple would differ from the list that it becomes.
    return Hashed(json.loads(json.dumps({name: value for name, value in resolved.items() if name != "seed"})))
