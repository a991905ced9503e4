"""One way to initialise modules anew."""

from torch import nn

__all__ = ["reset"]


def reset(*parts: object) -> None:
    """Call ``reset_parameters()`` of each part, or of the parts inside it; what has none (a number, None) stays.

    Example:
        >>> reset(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), None, 1.5)
    """
    for part in parts:
        if isinstance(part, nn.Module):
            own = getattr(part, "reset_parameters", None)
            if callable(own):
                own()
            else:
                reset(*part.children())
