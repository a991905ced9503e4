"""Means over folds, and the test that is fair when training folds overlap.

Everything is first averaged over seeds within a fold: seeds of one fold share their test nodes, so only the folds are
repetitions. The standard deviation over folds is the sample one (division by n − 1).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.special import stdtr  # the t distribution alone; scipy.stats takes seconds to import

from latopo.errors import LatopoError
from latopo.reproduce.record import Record

__all__ = ["PairedTest", "Summary", "corrected_paired_t", "fold_means", "holm", "summarize"]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Summary:
    """A cell: the mean over folds of the seeds' means.

    Attributes:
        folds: fold → mean over its seeds, folds ascending.
        mean: mean over folds.
        std: sample standard deviation over folds, None for a single fold.
        seeds: least and greatest number of seeds in a fold.
    """

    folds: dict[int, float]
    mean: float
    std: float | None
    seeds: tuple[int, int]


@dataclass(frozen=True)
class PairedTest:
    """Outcome of :func:`corrected_paired_t`.

    Attributes:
        difference: mean over the common folds of ours − baseline, None without a common fold.
        statistic: the t statistic, None with fewer than two common folds; infinite if the differences do not vary.
        p_value: two-sided p, None with fewer than two common folds.
        num_folds: number of common folds.
    """

    difference: float | None
    statistic: float | None
    p_value: float | None
    num_folds: int


def _by_fold(records: Iterable[Record], quantity: str) -> dict[int, list[float]]:
    folds: dict[int, list[float]] = {}
    for record in records:
        value = getattr(record, quantity)
        if value is not None:
            folds.setdefault(record.unit.fold, []).append(float(value))
    return dict(sorted(folds.items()))


def fold_means(records: Iterable[Record], quantity: str = "test_score") -> dict[int, float]:
    """Fold → mean over the fold's seeds of a field of the records; records without a value (None) are left out."""
    return {fold: fmean(values) for fold, values in _by_fold(records, quantity).items()}


def summarize(records: Iterable[Record], quantity: str = "test_score", scale: float = 1.0) -> Summary | None:
    """Mean and sample standard deviation over folds, seeds averaged first; None if no record has a value.

    Args:
        records: records of one cell, any order.
        quantity: field of the records.
        scale: factor, 100 for per cent.

    Example:
        >>> from latopo.reproduce import Record, Unit
        >>> def record(fold, seed, score):
        ...     return Record(Unit("mlp", "texas", False, "honest", fold, seed), score, 8, 1, 0, 1.0, 1)
        >>> summarize([record(0, 0, 0.5), record(0, 1, 0.75), record(1, 0, 0.875)], scale=100)
        Summary(folds={0: 62.5, 1: 87.5}, mean=75.0, std=17.67..., seeds=(1, 2))
    """
    folds = _by_fold(records, quantity)
    if not folds:
        return None
    means = {fold: scale * fmean(values) for fold, values in folds.items()}
    counts = [len(values) for values in folds.values()]
    std = stdev(means.values()) if len(means) > 1 else None
    return Summary(means, fmean(means.values()), std, (min(counts), max(counts)))


def corrected_paired_t(ours: Mapping[int, float], baseline: Mapping[int, float], test_train_ratio: float) -> PairedTest:
    r"""Nadeau and Bengio's corrected resampled t-test of paired scores, two-sided.

    .. math::
        t = \bar d \, \Big/ \sqrt{\Big(\frac{1}{n} + \frac{n_{test}}{n_{train}}\Big) s^2},
        \qquad n - 1 \text{ degrees of freedom},

    with the differences :math:`d_i` of the n folds that both sides have and their sample variance :math:`s^2`. The
    plain t-test has only 1/n and is too kind: the training sets of the folds overlap, which correlates the differences.

    Differences that do not vary (up to rounding) give t = 0, p = 1 if they are zero. If not, nothing can be said about
    their spread, and there is no p.

    Args:
        ours: fold → score.
        baseline: fold → score.
        test_train_ratio: test nodes divided by training nodes.

    Example:
        >>> test = corrected_paired_t({0: 3.0, 1: 5.0, 2: 7.0}, {0: 2.0, 1: 3.0, 2: 4.0, 3: 0.0}, 1 / 8)
        >>> test.num_folds, test.difference, round(test.statistic, 4), round(test.p_value, 4)
        (3, 2.0, 2.9542, 0.098)
    """
    if not test_train_ratio > 0:
        raise LatopoError(f"corrected_paired_t: test_train_ratio is {test_train_ratio}, expected a positive number")
    common = sorted(set(ours) & set(baseline))
    differences = [ours[fold] - baseline[fold] for fold in common]
    if len(differences) < 2:
        return PairedTest(differences[0] if differences else None, None, None, len(differences))
    mean, std = fmean(differences), stdev(differences)
    largest = max(max(abs(ours[fold]), abs(baseline[fold])) for fold in common)
    if std <= _ROUNDING * largest:
        is_zero = abs(mean) <= _ROUNDING * largest
        return PairedTest(mean, 0.0 if is_zero else None, 1.0 if is_zero else None, len(common))
    statistic = mean / (std * math.sqrt(1 / len(common) + test_train_ratio))
    p_value = float(2 * stdtr(len(common) - 1, -abs(statistic)))
    return PairedTest(mean, statistic, p_value, len(common))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values, in the given order.

    The i-th smallest of m is multiplied by m − i + 1, made monotone, and capped at 1. A test that could not be made yet
    (None) stays None but counts in m, so that a result does not look better because its rivals are still missing.

    Example:
        >>> holm([0.01, 0.04, 0.03]), holm([0.01, None])
        ([0.03, 0.06, 0.06], [0.02, None])
    """
    known = sorted((p_value, place) for place, p_value in enumerate(p_values) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p_value, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_value))
        adjusted[place] = largest
    return adjusted
