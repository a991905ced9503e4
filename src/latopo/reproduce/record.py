"""The outcome of one unit: what came out, from which settings, on which machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Self

from latopo._stored import check_form
from latopo.errors import LatopoError
from latopo.reproduce.unit import PROTOCOLS, Hashed, Key, Unit

__all__ = ["Metric", "Record", "StoredRecord"]

Metric = Literal["accuracy", "r2"]

_SHARES = ("homophily", "kept_share")
_OPTIONAL = ("validation_score", "weight_decay", "mean_degree", "num_polygons", *_SHARES)
_LARGEST = 1e15  # number of a record; sums of larger ones lose their digits, or overflow
_NUMBERS = ("test_score", "num_train", "num_test", "best_epoch", "seconds", "num_parameters", *_OPTIONAL)


class StoredRecord:
    """What a store keeps: a dataclass with ``unit``, ``resolved``, ``environment`` and what the unit came to.

    Attributes:
        unit_kind: the class of its units, dataclasses with the name ``model``.
        form: what the JSON of a record must have, as :func:`latopo._stored.check_form` takes it.
    """

    unit_kind: ClassVar[type]
    form: ClassVar[dict[str, Any]]
    unit: Any
    resolved: Hashed
    environment: Hashed

    @property
    def key(self) -> Key:
        """What identifies the result: that of its unit, with the hash of the settings that it was trained with."""
        return self.unit.model, self.resolved.hash, *self.unit.place

    def to_json(self) -> dict[str, Any]:
        """One flat dictionary: the unit's fields, then the values, with hashes for settings and environment."""
        content = {**vars(self.unit), **vars(self)}
        del content["unit"]
        return {**content, "resolved": self.resolved.hash, "environment": self.environment.hash}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], definitions: Mapping[str, Hashed]) -> Self:
        """The record that :meth:`to_json` wrote."""
        make: Any = cls
        known, named = ([item.name for item in fields(kind)] for kind in (make, cls.unit_kind))
        if "version" in content:
            raise LatopoError(
                f"{cls.__name__}: written by latopo 0.1; convert the store with scripts/migrate_records.py"
            )
        if unknown := sorted(set(content) - {*known, *named}):
            raise LatopoError(f"{cls.__name__}: unknown fields {', '.join(unknown)}; was it written by a newer latopo?")
        values = {name: value for name, value in content.items() if name not in named}
        for name in ("resolved", "environment"):
            if str(values.get(name)) not in definitions:
                raise LatopoError(f"{cls.__name__}: {name} {values.get(name)!r} is not defined before it is used")
            values[name] = definitions[str(values[name])]
        try:
            check_form(content, cls.form)
        except ValueError as error:
            raise LatopoError(f"{cls.__name__}: {error}; repair or delete that record") from error
        try:
            return make(cls.unit_kind(**{name: content[name] for name in named}), **values)
        except (KeyError, TypeError) as error:  # of what the form leaves open
            raise LatopoError(f"{cls.__name__}: a field is missing or of the wrong type: {error}") from error


@dataclass(frozen=True)
class Record(StoredRecord):
    """The outcome of one unit. Every number must be finite: a diverged run raises here and is never stored as a result.

    Attributes:
        unit: what was trained.
        test_score: test accuracy as a share in [0, 1], or R².
        num_train: number of training nodes (the corrected test needs it).
        num_test: number of test nodes.
        best_epoch: the epoch that is reported.
        seconds: wall time of the unit.
        num_parameters: trainable parameters.
        metric: ``accuracy`` or ``r2``.
        validation_score: score on the validation chunk at that epoch; None under ``paper``, which has none.
        weight_decay: the value that was chosen, None if the model has none.
        homophily: share of latent edges between equal labels; None without latent edges.
        mean_degree: mean degree of the latent graph.
        num_polygons: polygons in the complex.
        kept_share: polygons kept, as a share of the candidates.
        budget_sampled: whether the candidates were a random sample because of the candidate budget.
        curve: test score after every epoch, where the epoch is chosen over all folds together (sets of graphs under
            ``paper``); empty elsewhere.
        search: pairs of a weight decay and its score in the search; empty if there was none.
        resolved: the settings that it was trained with, all of them; by default those that the unit's come to now.
        environment: machine and versions (:func:`latopo._environment.environment`); empty if unknown.
    """

    unit_kind: ClassVar[type] = Unit
    form: ClassVar[dict[str, Any]] = {
        "model": str, "dataset": str, "graph": bool, "protocol": set(PROTOCOLS), "fold": int, "seed": int,
        "settings": dict.fromkeys(("epochs", "rounds", "max_length"), (int, None)),
        "metric": ({"accuracy", "r2"}, None), "budget_sampled": (bool, None),
        "search": ([[int | float]], None), "curve": ([int | float], None),
    }  # fmt: skip

    unit: Unit
    test_score: float
    num_train: int
    num_test: int
    best_epoch: int
    seconds: float
    num_parameters: int
    metric: Metric = "accuracy"
    validation_score: float | None = None
    weight_decay: float | None = None
    homophily: float | None = None
    mean_degree: float | None = None
    num_polygons: int | None = None
    kept_share: float | None = None
    budget_sampled: bool = False
    search: tuple[tuple[float, float], ...] = ()
    curve: tuple[float, ...] = ()
    resolved: Hashed = field(default_factory=Hashed, hash=False)
    environment: Hashed = field(default_factory=Hashed, hash=False)

    def __post_init__(self) -> None:
        """Refuse what is not finite, or a percentage in place of a share; lists, as JSON has them, become tuples."""
        object.__setattr__(self, "search", tuple((decay, score) for decay, score in self.search))
        object.__setattr__(self, "curve", tuple(self.curve))
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
                raise LatopoError(
                    f"Record: {name} is {value!r}, expected a finite number; a diverged run is not a result"
                )
        for name in (*(("test_score", "validation_score") if self.metric == "accuracy" else ()), *_SHARES):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise LatopoError(f"Record: {name} is {value}, expected a share between 0 and 1, not per cent")
        if self.num_train < 1 or self.num_test < 1 or self.seconds < 0:
            raise LatopoError("Record: expected training and test nodes, and seconds of at least 0")
        if not self.resolved:
            object.__setattr__(self, "resolved", self.unit.resolved())

    def to_json(self) -> dict[str, Any]:
        """As any stored record; without the curve where there is none."""
        content = super().to_json()
        return content if self.curve else {name: value for name, value in content.items() if name != "curve"}
