"""Chordless cycles of a graph: the candidates for the polygons of a cell complex."""

from latopo.cycles.induced_cycles import (
    CycleMemory,
    count_induced_cycles,
    induced_cycles,
    sample_induced_cycles,
)

__all__ = ["CycleMemory", "count_induced_cycles", "induced_cycles", "sample_induced_cycles"]
