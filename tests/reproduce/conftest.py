from collections.abc import Callable, Iterator
from typing import Any

import pytest

from latopo.reproduce import Record, Unit

MakeRecord = Callable[..., Record]


@pytest.fixture
def make_record() -> MakeRecord:
    """A record with sensible values; fields of the unit and of the record by name."""

    def make(score: float = 0.5, **fields: Any) -> Record:
        identity: dict[str, Any] = {
            "model": "dcm", "dataset": "texas", "graph": False, "protocol": "honest", "fold": 0, "seed": 0,
            "settings": {},
        }  # fmt: skip
        values: dict[str, Any] = {
            "num_train": 80, "num_test": 10, "best_epoch": 30, "seconds": 2.0, "num_parameters": 99,
        }  # fmt: skip
        unit = Unit(**{name: fields.pop(name, default) for name, default in identity.items()})
        return Record(unit, score, **{**values, **fields})

    return make


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Threads that wait for each other on a busy machine cost more than these few nodes."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
