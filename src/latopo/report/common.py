"""What the members of a polygon have in common: columns in which they are closer than random points are."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latopo.report.report_data import Column, FloatArray, IntArray

__all__ = ["CommonGround", "common_ground"]

_GROUPS = 1000  # random ones, to compare with
_RARE = 0.05  # share of them up to which members count as alike
_MOST_CATEGORIES = 50  # different texts of a column; more are free text, or names
_MOST_COLUMNS = 1000


class CommonGround(NamedTuple):
    """Of one polygon."""

    alike: tuple[str, ...]  # the columns with what is common in them, the rarest first
    counted: int  # columns that were looked at


def common_ground(columns: Sequence[Column], polygons: Sequence[Sequence[int]]) -> list[CommonGround]:
    """For each polygon, the columns in which its members differ less than 19 of 20 random groups of that size.

    Numbers differ by their range. Members of one category differ the less, the rarer it is; a missing value is like no
    other. Of columns that have nothing to do with the polygon, one in twenty at most is named by chance.

    Example:
        >>> size, age = Column("size", tuple(range(60))), Column("age", tuple(number * 37 % 60 for number in range(60)))
        >>> common_ground([size, age], [(0, 1, 2)])
        [CommonGround(alike=('size 0 to 2',), counted=2)]
    """
    usable = [column for column in columns[:_MOST_COLUMNS] if _is_number(column) or _is_category(column)]
    if not usable:
        return [CommonGround((), 0)] * len(polygons)
    values = np.stack([_codes(column) for column in usable], axis=1)
    shares = np.stack([_shares(column) for column in usable], axis=1)
    random = np.random.default_rng(0)
    by_size: dict[int, FloatArray] = {}
    found = []
    for polygon in polygons:
        if (size := len(polygon)) not in by_size:
            drawn = [random.choice(len(values), size, replace=False) for _ in range(_GROUPS)]
            by_size[size] = _spread(values, shares, np.array(drawn))
        spread = _spread(values, shares, np.array([polygon]))
        rarity = (by_size[size] <= spread).mean(axis=0)
        order = [place for place in np.argsort(rarity, kind="stable") if rarity[place] <= _RARE]
        found.append(CommonGround(tuple(_words(usable[place], polygon) for place in order), len(usable)))
    return found


def _is_number(column: Column) -> bool:
    return not any(isinstance(value, str) for value in column.values)


def _is_category(column: Column) -> bool:
    return len(set(column.values)) <= _MOST_CATEGORIES


def _codes(column: Column) -> FloatArray:
    """Numbers as they are, categories numbered; NaN where there is none."""
    if _is_number(column):
        return np.array(column.values, np.float64)
    code = {name: float(number) for number, name in enumerate(sorted({str(value) for value in column.values}))}
    return np.array([np.nan if value is None else code[str(value)] for value in column.values])


def _shares(column: Column) -> FloatArray:
    """Share of the rows that are of a row's category; 0 for numbers."""
    if _is_number(column):
        return np.zeros(len(column.values))
    counts = Counter(column.values)
    return np.array([counts[value] / len(column.values) for value in column.values])


def _spread(values: FloatArray, shares: FloatArray, groups: IntArray) -> FloatArray:
    """How far the members of each group differ in each column, [groups, columns]; infinite with a missing value."""
    members, share = values[groups], shares[groups[:, 0]]
    spread = members.max(axis=1) - members.min(axis=1)
    one_category = np.where(spread > 0, np.inf, share)
    return np.where(np.isnan(spread), np.inf, np.where(share > 0, one_category, spread))


def _words(column: Column, polygon: Sequence[int]) -> str:
    members = [column.values[node] for node in polygon]
    numbers = [value for value in members if isinstance(value, int | float)]
    if not numbers:
        return f"{column.name} {members[0]}"
    low, high = f"{min(numbers):.4g}", f"{max(numbers):.4g}"
    return f"{column.name} {low}" if low == high else f"{column.name} {low} to {high}"
