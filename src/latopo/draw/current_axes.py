"""Where a picture goes if nobody says where."""

from typing import Any

__all__ = ["current_axes"]


def current_axes(width: float, height: float) -> Any:
    """Pyplot's current axes if they are empty, otherwise those of a new figure of that many inches.

    The figure is pyplot's current one afterwards, so ``plt.title``, ``plt.savefig`` and ``plt.show`` mean it.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> figure = plt.figure()
        >>> current_axes(4, 3).figure is figure
        True
        >>> plt.close(figure)
    """
    import matplotlib.pyplot as plt

    if plt.get_fignums() and not plt.gca().has_data():
        return plt.gca()
    return plt.figure(figsize=(width, height), layout="constrained").add_subplot()
