"""What others have published on the sets of graphs, each number with the protocol that it was chosen by."""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from latopo.reproduce.unit import Protocol

__all__ = ["PublishedNumber", "published_notes", "published_numbers"]

_SELECTION: dict[Protocol, str] = {
    "honest": "test at the best validation epoch",
    "paper": "the epoch with the best mean test accuracy",
}


class PublishedNumber(NamedTuple):
    """An accuracy in per cent; ``protocol`` is ours that selects the same way."""

    system: str
    dataset: str
    protocol: Protocol
    accuracy: float


@cache
def published_numbers() -> tuple[PublishedNumber, ...]:
    """All of them, from ``published_graphs.json``.

    Example:
        >>> published_numbers()[0]
        PublishedNumber(system='DiffLift', dataset='nci1', protocol='honest', accuracy=79.8)
    """
    lines = json.loads((files("latopo.reproduce") / "published_graphs.json").read_text(encoding="utf-8"))
    return tuple(
        PublishedNumber(line["system"], dataset, line["selection"], accuracy)
        for line in lines
        for dataset, accuracy in line["accuracies"].items()
    )


def published_notes(datasets: tuple[str, ...]) -> list[str]:
    """One sentence per system about the data sets that are shown.

    Example:
        >>> published_notes(("nci1",))[2]
        'Published: GIN has 82.7 on nci1 (the epoch with the best mean test accuracy)'
    """
    places: dict[tuple[str, Protocol], list[str]] = {}
    for number in published_numbers():
        if number.dataset in datasets:
            found = places.setdefault((number.system, number.protocol), [])
            found.append(f"{number.accuracy} on {number.dataset}")
    return [
        f"Published: {system} has {', '.join(found)} ({_SELECTION[protocol]})"
        for (system, protocol), found in places.items()
    ]
