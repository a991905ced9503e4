"""Event files for TensorBoard, where it is installed."""

from importlib.util import find_spec
from pathlib import Path

from latopo.errors import LatopoError
from latopo.training.loop import Row

__all__ = ["check_tensorboard", "write_events"]


def check_tensorboard() -> None:
    """Raise if TensorBoard is not installed."""
    if find_spec("tensorboard") is None:
        raise LatopoError("--tensorboard needs the package tensorboard; pip install tensorboard, or leave it out")


def write_events(folder: Path, history: list[Row]) -> None:
    """Write one scalar per number and epoch of a history."""
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        for row in history:
            for name, value in row.items():
                if name != "epoch" and value is not None:
                    writer.add_scalar(name, value, row["epoch"])
