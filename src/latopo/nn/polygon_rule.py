"""A fitted choice of polygons, for cycles that were not there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["PolygonRule"]


@dataclass(frozen=True)
class PolygonRule:
    r"""How strong a new cycle of score z is beside the strongest fitted polygon.

    Entmax gives :math:`p = [(\alpha - 1)\gamma (z - \mu)/\sigma - \tau]_+^{1/(\alpha - 1)}`, softmax
    (:math:`\alpha = 1`) :math:`p = \exp(\gamma (z - \mu)/\sigma - \tau)`; with the fitted μ, σ, γ and threshold τ that
    holds for any z.

    Attributes:
        mean: μ of the fitted candidates' scores.
        deviation: σ of their scores; 0 if all are equal (then every cycle is as strong as any).
        gain: γ.
        alpha: α.
        threshold: τ.
        largest: the largest fitted probability, by which all are divided; 0 if there was no polygon.
        lowest: the lowest standardised score that top-k chose; below it a cycle has strength 0. Entmax has a zero of
            its own.
        by_length: with scores standardised per length, (length, μ, σ) of each; the other numbers are then those of
            standardised scores. A length that no fitted candidate had has no polygons.
        share: share of the candidates that were scored. A query has no budget; its polygons are weighed by the share
            instead, which is what the budget does on average.

    Example:
        >>> PolygonRule.everything().strengths(torch.tensor([-1.0, 3.0]))
        tensor([1., 1.])
    """

    mean: float = 0.0
    deviation: float = 0.0
    gain: float = 0.0
    alpha: float = 1.5
    threshold: float = 0.0
    largest: float = 0.0
    lowest: float | None = None
    share: float = 1.0
    by_length: Sequence[tuple[int, float, float]] = ()

    @classmethod
    def everything(cls, share: float = 1.0) -> "PolygonRule":
        """Every cycle is a polygon, all alike."""
        return cls(largest=1.0, share=share)

    @classmethod
    def fitted(
        cls,
        scores: Tensor,
        prob: Tensor,
        mean: float,
        deviation: float,
        gain: float,
        alpha: float,
        *,
        share: float = 1.0,
        cut: bool = False,
        by_length: Sequence[tuple[int, float, float]] = (),
        lengths: Tensor | None = None,
    ) -> "PolygonRule":
        """From scores and probabilities of the chosen polygons [P] and the statistics of all candidates.

        With ``cut`` no cycle is a polygon whose score is below the lowest chosen one's, as under top-k. Scores that
        were standardised by the ``lengths`` [P] of the polygons have those statistics in ``by_length``, and 0 and 1 in
        place of mean and deviation.
        """
        for length, own_mean, own_deviation in by_length:
            assert lengths is not None
            scores = torch.where(lengths == length, _standard(scores, own_mean, own_deviation), scores)
        largest = float(prob.max())
        if deviation == 0:
            return cls(mean, 0.0, gain, alpha, 0.0, largest, share=share)
        best = (float(scores[prob.argmax()]) - mean) / deviation
        threshold = (
            gain * best - math.log(largest) if alpha == 1 else (alpha - 1) * gain * best - largest ** (alpha - 1)
        )
        lowest = (float(scores.min()) - mean) / deviation if cut else None
        return cls(mean, deviation, gain, alpha, threshold, largest, lowest, share, by_length)

    def strengths(self, scores: Tensor, length: int | None = None) -> Tensor:
        """p / max p of cycles with these scores, all of one length, at most 1."""
        if self.by_length:
            known = {at: (centre, spread) for at, centre, spread in self.by_length}
            if length not in known:
                return torch.zeros_like(scores)
            scores = _standard(scores, *known[length])
        if self.largest == 0:
            return torch.zeros_like(scores)
        if self.deviation == 0:
            return torch.ones_like(scores)
        standard = (scores - self.mean) / self.deviation
        if self.alpha == 1:
            prob = (self.gain * standard - self.threshold).exp()
        else:
            prob = ((self.alpha - 1) * self.gain * standard - self.threshold).clamp(min=0).pow(1 / (self.alpha - 1))
        strength = (prob / self.largest).clamp(max=1)
        return strength if self.lowest is None else torch.where(standard < self.lowest, 0.0, strength)


def _standard(scores: Tensor, mean: float, deviation: float) -> Tensor:
    return (scores - mean) / deviation if deviation > 0 else torch.zeros_like(scores)
