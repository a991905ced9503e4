"""Pictures of a complex: :func:`draw`, :func:`draw_evolution` during training, and the :func:`layout` behind both.

Figures need matplotlib (``pip install "latopo[viz]"``); the layout and the notebook's drawing do not.
"""

from latopo.draw.draw import draw
from latopo.draw.evolution import Evolution, Snapshot, draw_evolution
from latopo.draw.figure import save_figure
from latopo.draw.layout import layout
from latopo.draw.notebook import to_html
from latopo.draw.paint import Drawing
from latopo.draw.palette import PALETTES, Palette
from latopo.draw.persistence import PersistenceDrawing, draw_persistence
from latopo.draw.sample import sample_neighborhoods

__all__ = [
    "PALETTES", "Drawing", "Evolution", "Palette", "PersistenceDrawing", "Snapshot", "draw", "draw_evolution",
    "draw_persistence", "layout", "sample_neighborhoods", "save_figure", "to_html",
]  # fmt: skip
