"""One unit of work and its outcome: what is trained, and what came out."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Self, get_args

from latopo._version import __version__
from latopo.errors import LatopoError

__all__ = ["PROTOCOLS", "Metric", "Protocol", "Record", "Settings", "Unit"]

Protocol = Literal["honest", "paper"]
Metric = Literal["accuracy", "r2"]
Settings = dict[str, Any]

PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)

_SHARES = ("homophily", "kept_share")
_COUNTS = ("num_train", "num_test", "best_epoch", "num_parameters", "num_polygons")
_OPTIONAL = ("validation_score", "weight_decay", "homophily", "mean_degree", "num_polygons", "kept_share")


def _plain(value: Any, where: str) -> Any:
    """A copy of ``value`` made of JSON's own types; anything else, and NaN or infinity, is refused."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise LatopoError(f"{where} is {value}, expected a finite number; leave the entry out if it is unknown")
        return float(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise LatopoError(f"{where} has keys that are not strings: {list(value)}; JSON knows only string keys")
        return {name: _plain(item, f"{where}[{name!r}]") for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
    raise LatopoError(
        f"{where} is a {type(value).__name__}, expected JSON's types; convert it with float(), int() or .tolist()"
    )


def _same_numbers_same_text(value: Any) -> Any:
    # 50 and 50.0 are the same setting, but different JSON.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {name: _same_numbers_same_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_same_numbers_same_text(item) for item in value]
    return value


@dataclass(frozen=True)
class Unit:
    """What identifies one training run; two units with equal :attr:`key` are the same run.

    Attributes:
        model: model name, for instance ``dcm-plus``.
        dataset: data set name in lower case.
        graph: whether the model gets the input graph.
        protocol: ``honest`` (validation chunk selects the epoch) or ``paper`` (best test accuracy).
        fold: which of the ten folds is the test set, from 0.
        seed: seed of initial weights and dropout.
        settings: everything else that changes the outcome, in JSON's types. Leave defaults out: a run of an ablation at
            the default value is then the same unit as that of the main table, and is trained once.
        version: version of the library that trains.

    Example:
        >>> a = Unit("dcm", "texas", graph=False, protocol="honest", fold=0, settings={"gain": 5, "epochs": 100})
        >>> b = Unit("dcm", "texas", graph=False, protocol="honest", fold=0, settings={"epochs": 100, "gain": 5.0})
        >>> a.key == b.key, len(a.key)
        (True, 24)
    """

    model: str
    dataset: str
    graph: bool
    protocol: Protocol
    fold: int
    seed: int = 0
    settings: Settings = field(default_factory=dict, hash=False)
    version: str = __version__

    def __post_init__(self) -> None:
        """Check the fields, and copy the settings so that a later change of the caller's dictionary is not ours."""
        if self.protocol not in PROTOCOLS:
            raise LatopoError(f"Unit: protocol is {self.protocol!r}, expected one of {', '.join(PROTOCOLS)}")
        if not isinstance(self.graph, bool):
            raise LatopoError(f"Unit: graph is {self.graph!r}, expected True or False")
        for name in ("fold", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise LatopoError(f"Unit: {name} is {value!r}, expected an integer from 0")
        if not isinstance(self.settings, Mapping):
            raise LatopoError(f"Unit: settings is a {type(self.settings).__name__}, expected a dictionary")
        object.__setattr__(self, "settings", _plain(self.settings, "Unit: settings"))

    def to_json(self) -> dict[str, Any]:
        """The identifying fields as a dictionary."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @cached_property
    def key(self) -> str:
        """A stable name of this unit: the first 24 hex digits of the SHA-256 of its canonical JSON (sorted keys)."""
        content = _same_numbers_same_text(self.to_json())
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:24]

    def __str__(self) -> str:
        """One line for messages and progress bars."""
        graph = "with graph" if self.graph else "without graph"
        place = f"{self.model} on {self.dataset} {graph}, {self.protocol}, fold {self.fold}, seed {self.seed}"
        return ", ".join([place, *(f"{name}={value}" for name, value in self.settings.items())])


@dataclass(frozen=True)
class Record:
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
        extra: anything else in JSON's types.

    Example:
        >>> unit = Unit("mlp", "texas", graph=False, protocol="honest", fold=0)
        >>> Record(unit, float("nan"), num_train=145, num_test=19, best_epoch=3, seconds=1.5, num_parameters=7)
        Traceback (most recent call last):
        latopo.errors.LatopoError: Record: test_score is nan, expected a finite number; a diverged run is not a result
    """

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
    extra: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse what is not finite, not of the stated type, or a percentage in place of a share."""
        for name in ("test_score", "seconds", "validation_score", "weight_decay", "mean_degree", *_COUNTS, *_SHARES):
            self._check_number(name, getattr(self, name))
        if self.metric not in get_args(Metric):
            raise LatopoError(f"Record: metric is {self.metric!r}, expected one of {', '.join(get_args(Metric))}")
        if not isinstance(self.budget_sampled, bool):
            raise LatopoError(f"Record: budget_sampled is {self.budget_sampled!r}, expected True or False")
        scores = ("test_score", "validation_score") if self.metric == "accuracy" else ()
        for name in (*scores, *_SHARES):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise LatopoError(f"Record: {name} is {value}, expected a share between 0 and 1, not per cent")
        if self.num_train < 1 or self.num_test < 1:
            raise LatopoError(
                f"Record: {self.num_train} training and {self.num_test} test nodes, expected at least one"
            )
        object.__setattr__(self, "extra", _plain(self.extra, "Record: extra"))

    @staticmethod
    def _check_number(name: str, value: object) -> None:
        if value is None and name in _OPTIONAL:
            return
        kind, expected = (int, "an integer") if name in _COUNTS else (int | float, "a number")
        if isinstance(value, bool) or not isinstance(value, kind):
            raise LatopoError(f"Record: {name} is {value!r} ({type(value).__name__}), expected {expected}")
        if not math.isfinite(value):
            raise LatopoError(f"Record: {name} is {value}, expected a finite number; a diverged run is not a result")

    @property
    def key(self) -> str:
        """The unit's key."""
        return self.unit.key

    def to_json(self) -> dict[str, Any]:
        """One flat dictionary: the unit's fields, then the values."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "unit"}
        return {**self.unit.to_json(), **values}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """The record that :meth:`to_json` wrote.

        Example:
            >>> unit = Unit("mlp", "texas", graph=False, protocol="honest", fold=0)
            >>> record = Record(unit, 0.8, num_train=145, num_test=19, best_epoch=3, seconds=1.5, num_parameters=7)
            >>> Record.from_json(record.to_json()) == record
            True
        """
        unit_names = {item.name for item in fields(Unit)}
        names = {item.name for item in fields(cls)} - {"unit"}
        unknown = sorted(set(content) - unit_names - names)
        if unknown:
            raise LatopoError(f"Record: unknown fields {', '.join(unknown)}; was it written by a newer latopo?")
        try:
            unit = Unit(**{name: value for name, value in content.items() if name in unit_names})
            return cls(unit, **{name: value for name, value in content.items() if name in names})
        except TypeError as error:
            raise LatopoError(f"Record: {error}; a stored record needs these fields") from error
