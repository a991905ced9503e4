"""The parameters of the estimators as data."""

from dataclasses import dataclass, field
from typing import Literal

from latopo.errors import LatopoError
from latopo.models.catalogue import SYSTEMS
from latopo.settings import Settings

__all__ = ["Parameters"]


@dataclass(frozen=True)
class Parameters(Settings):
    """What an estimator's parameters may be; it is made once a fit begins, and refuses the others."""

    model: str
    max_length: int = field(metadata={"at_least": 0})
    degree: float = field(metadata={"above": 0})
    hidden_channels: int | Literal["auto"] = field(metadata={"at_least": 1})
    dropout: float = field(metadata={"at_least": 0, "below": 1})
    learning_rate: float = field(metadata={"above": 0})
    weight_decay: float | Literal["auto"] = field(metadata={"at_least": 0})
    max_epochs: int = field(metadata={"at_least": 1})
    early_stopping: bool | Literal["auto"]
    validation_fraction: float = field(metadata={"at_least": 0, "below": 1})
    patience: int = field(metadata={"at_least": 1})
    max_anchors: int | None = field(metadata={"at_least": 2})
    device: str
    verbose: int | bool = field(metadata={"at_least": 0})

    def __post_init__(self) -> None:
        """Refuse a model that is not in the catalogue."""
        super().__post_init__()
        if self.model != "auto" and self.model not in SYSTEMS:
            raise LatopoError(f"model must be auto or one of {', '.join(SYSTEMS)}, got {self.model!r}")
