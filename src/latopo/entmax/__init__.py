"""α-entmax: the sparse, differentiable map from scores to probabilities that chooses edges and polygons."""

from latopo.entmax.alpha import LearnableAlpha
from latopo.entmax.segment import SegmentEntmax, segment_entmax

__all__ = ["LearnableAlpha", "SegmentEntmax", "segment_entmax"]
