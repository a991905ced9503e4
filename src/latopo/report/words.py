"""Numbers and judgements as text, for the templates."""

import math

from latopo.draw.palette import polygon_name
from latopo.report.common import CommonGround
from latopo.report.facts import Agreement, Facts, Purity
from latopo.report.report_data import Baseline, Score

__all__ = [
    "against",
    "counted",
    "in_common",
    "kind_name",
    "percent",
    "probability",
    "score_distance",
    "score_figure",
    "score_text",
    "value_verdict",
    "verdict",
]


_MOST_NAMED = 3  # columns in a sentence


def percent(share: float | None) -> str:
    """A share in per cent."""
    if share is None or math.isnan(share):
        return "–"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def probability(value: float | None) -> str:
    """A probability to three digits."""
    return "–" if value is None else f"{value:.3g}"


def kind_name(length: int, count: int = 1) -> str:
    """Name of one or many cells of a length.

    Example:
        >>> kind_name(3), kind_name(4, 2), kind_name(2, 0)
        ('triangle', 'squares', 'edges')
    """
    plural = "edges" if length == 2 else polygon_name(length)
    return plural.removesuffix("s") if count == 1 else plural


def score_text(score: Score, value: float) -> str:
    """A value in the score's unit: per cent for an accuracy, the plain number for R²."""
    return percent(value) if score.metric == "accuracy" else f"{value:.3f}"


def score_distance(score: Score, distance: float) -> str:
    """A difference of scores: percentage points, or the plain number."""
    return f"{100 * distance:.1f} points" if score.metric == "accuracy" else f"{distance:.3f}"


def score_figure(score: Score) -> str:
    """The score with its spread."""
    if score.spread is None:
        return score_text(score, score.value)
    if score.metric == "accuracy":
        return f"{100 * score.value:.1f} ± {100 * score.spread:.1f} %"
    return f"{score.value:.3f} ± {score.spread:.3f}"


def against(score: Score, baseline: Baseline) -> str:
    """How a score compares with a baseline."""
    about = ", ".join(filter(None, [baseline.meaning, score_text(score, baseline.value)]))
    other = f"“{baseline.name}” ({about})"
    difference = score.value - baseline.value
    if round(difference, 3) == 0:
        return f"It is as good as {other}."
    word = "better" if difference > 0 else "worse"
    doubt = ", which is less than the spread over the folds" if abs(difference) < (score.spread or 0.0) else ""
    return f"It is {score_distance(score, abs(difference))} {word} than {other}{doubt}."


def verdict(edges: Purity) -> str:
    """One sentence for how far the agreement with the classes is from chance (0) and from perfect (1)."""
    if edges.share is None:
        return "There are no edges between points of known class."
    lift = (edges.share - edges.chance) / (1 - edges.chance) if edges.chance < 1 else 0.0
    return _grade(lift, 0.05) or "No: it joins different classes more often than chance would."


def value_verdict(agreement: Agreement) -> str:
    """One sentence for how alike the values of joined points are."""
    return _grade(agreement.correlation, agreement.chance) or "No: joined points differ more than random ones do."


def counted(item: Purity, facts: Facts) -> str:
    """The cells that a share is about: all, or those between points of known class."""
    every = facts.edges if item.length == 2 else facts.polygons[item.length]
    if item.counted == every:
        return kind_name(item.length, 2)
    return f"{item.counted:,} {kind_name(item.length, item.counted)} between points of known class"


def in_common(ground: CommonGround, size: int) -> str:
    """What the members of a polygon have in common, in a sentence.

    Example:
        >>> in_common(CommonGround(("age 3 to 4", "size 1"), 9), 3)
        'In 2 of 9 columns they are closer than 19 of 20 groups of 3 random points: age 3 to 4; size 1.'
    """
    left = len(ground.alike) - _MOST_NAMED
    named = "; ".join(ground.alike[:_MOST_NAMED]) + (f"; and {left} more" if left > 0 else "")
    closer = f"they are closer than 19 of 20 groups of {size} random points"
    return f"In {len(ground.alike) or 'none'} of {ground.counted} columns {closer}{f': {named}' if named else ''}."


def _grade(agreement: float, noise: float) -> str:
    """From 0, which is chance, to 1; nothing below chance."""
    if agreement > max(0.6, noise):
        return "Yes, strongly."
    if agreement > max(0.2, noise):
        return "Partly."
    if agreement > noise:
        return "A little."
    return "Hardly: it is close to chance." if agreement >= -noise else ""
