"""The findings as sentences for people who do not know the method."""

import math
from collections.abc import Mapping, Sequence

from latopo.draw.palette import polygon_name
from latopo.report.data import Points, Score
from latopo.report.facts import Facts, Purity, Strongest

__all__ = ["agreement_words", "kind_name", "percent", "score_words", "size_words", "strongest_words", "verdict"]


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent.

    Example:
        >>> percent(0.8214), percent(None), percent(1.0)
        ('82.1 %', '–', '100 %')
    """
    if share is None or math.isnan(share):
        return "–"
    return f"{100 * share:.{digits}f}".removesuffix(f".{'0' * digits}") + " %"


def number_text(score: Score, value: float) -> str:
    """A score in its unit: per cent for an accuracy, the plain number for R²."""
    return percent(value) if score.metric == "accuracy" else f"{value:.3f}"


def score_words(score: Score) -> list[str]:
    """What the score means, and how far it is from each baseline."""
    value = number_text(score, score.value)
    if score.metric == "accuracy":
        sentences = [f"Of the {score.where}, {value} were given the right class."]
    else:
        sentences = [f"On the {score.where} the predictions reach R² = {value} (1 is perfect, 0 is guessing the mean)."]
    if score.spread is not None:
        spread = f"{100 * score.spread:.1f} points" if score.metric == "accuracy" else f"{score.spread:.3f}"
        sentences.append(f"That is a mean over folds, which vary by {spread} (standard deviation).")
    for baseline in score.baselines:
        about = ", ".join(filter(None, [baseline.meaning, number_text(score, baseline.value)]))
        sentences.append(f"Against {baseline.name} ({about}) it is {_relation(score, baseline.value)}.")
    return sentences


def _relation(score: Score, other: float) -> str:
    difference = score.value - other
    size = f"{100 * abs(difference):.1f} points" if score.metric == "accuracy" else f"{abs(difference):.3f}"
    if size.startswith(("0.0 ", "0.000")):
        return "as good"
    spread = score.spread or 0.0
    doubt = ", which is less than the spread over the folds" if abs(difference) < spread else ""
    return f"{size} {'better' if difference > 0 else 'worse'}{doubt}"


def size_words(facts: Facts, nodes: int) -> str:
    """How many cells there are.

    Example:
        >>> size_words(Facts(3, {3: 1}, 2.0, 0, (1, 0, 0), 1, None, None), 3)
        'The complex joins 3 points by 3 edges and 1 polygon (1 triangle). A point has 2.0 neighbours on average.'
    """
    kinds = ", ".join(f"{count:,} {kind_name(length, count)}" for length, count in facts.polygons.items())
    polygons = f"{facts.num_polygons:,} polygon{'' if facts.num_polygons == 1 else 's'}"
    polygons += f" ({kinds})" if kinds else ""
    isolated = f" {facts.isolated:,} of the points stand alone." if facts.isolated else ""
    return (
        f"The complex joins {nodes:,} points by {facts.edges:,} edges and {polygons}. A point has "
        f"{facts.mean_degree:.1f} neighbours on average.{isolated}"
    )


def kind_name(length: int, count: int = 1) -> str:
    """Name of one or many polygons of a length.

    Example:
        >>> kind_name(3), kind_name(4, 2)
        ('triangle', 'squares')
    """
    plural = polygon_name(length)
    return plural.removesuffix("s") if count == 1 else plural


def agreement_words(edges: Purity, polygons: Sequence[Purity], cycles: Mapping[int, Purity]) -> list[str]:
    """Whether the structure agrees with the classes, beside chance and, for polygons, beside all rings of the graph."""
    sentences = [verdict(edges)]
    if edges.share is not None:
        sentences.append(
            f"{percent(edges.share)} of the edges join two points of the same class; of random pairs "
            f"{percent(edges.chance)} would."
        )
    for item in polygons:
        if item.share is not None:
            rings = cycles.get(item.length)
            beside = "" if rings is None else f", of all such rings of these edges {percent(rings.share)} do"
            sentences.append(
                f"{percent(item.share)} of the {kind_name(item.length, 2)} have all corners in one class; of "
                f"{item.length} random points {percent(item.chance)} would{beside}."
            )
    return sentences


def verdict(item: Purity) -> str:
    """One sentence for how far the agreement is from chance, which is 0, and from perfect, which is 1.

    Example:
        >>> verdict(Purity(2, 90, 100, 0.25))
        'Yes, strongly.'
    """
    if item.share is None:
        return "There are no edges between points of known class."
    lift = (item.share - item.chance) / (1 - item.chance) if item.chance < 1 else 0.0
    if lift > 0.6:
        return "Yes, strongly."
    if lift > 0.2:
        return "Partly."
    return (
        "Hardly: it is near chance." if lift > -0.05 else "No: it joins different classes more often than chance would."
    )


def strongest_words(strongest: Strongest, points: Points | None) -> str:
    """The most probable polygon and what its corners have in common."""
    names = [str(node) if points is None else points.name(node) for node in strongest.corners]
    kind = kind_name(len(names))
    probability = "" if strongest.probability is None else f" (probability {strongest.probability:.3g})"
    sentence = f"The strongest polygon is the {kind} of {', '.join(names[:-1])} and {names[-1]}{probability}"
    if points is None or points.is_quantity:
        return f"{sentence}."
    classes = [points.class_name(int(points.labels[node])) for node in strongest.corners]
    if len(set(classes)) == 1:
        return f"{sentence}; all of them have the same class: {classes[0]}."
    return f"{sentence}; their classes are {', '.join(classes)}."
