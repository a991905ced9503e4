from itertools import combinations

import numpy as np
import pytest

from latopo.draw.palette import PALETTES, get_palette
from latopo.errors import LatopoError

# Viénot, Brettel and Mollon (1999): what a person without red or without green cones sees, in linear RGB.
SIGHTS = {
    "normal": np.eye(3),
    "protanope": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deuteranope": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def cielab(color: tuple[float, float, float], sight: np.ndarray) -> np.ndarray:
    rgb = np.array(color)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(sight @ linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def smallest_difference(colors: list[tuple[float, float, float]], sight: np.ndarray) -> float:
    return min(float(np.linalg.norm(cielab(a, sight) - cielab(b, sight))) for a, b in combinations(colors, 2))


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_colorblind_palette_is_told_apart_by_all(sight: str) -> None:
    palette = PALETTES["colorblind"]
    assert smallest_difference([palette.edge, *palette.polygons], SIGHTS[sight]) > 15
    assert smallest_difference(list(palette.classes), SIGHTS[sight]) > 15


def test_the_paper_palette_is_told_apart_by_most() -> None:
    palette = PALETTES["paper"]
    assert smallest_difference([palette.edge, *palette.polygons], SIGHTS["normal"]) > 25
    assert smallest_difference(list(palette.classes), SIGHTS["normal"]) > 25


def test_the_papers_colours() -> None:
    palette = PALETTES["paper"]
    assert palette.edge == (0.961, 0.549, 0.275)
    assert palette.polygon_color(3) == (0.706, 0.178, 0.554)
    assert palette.polygon_color(4) == (0.221, 0.016, 0.602)


@pytest.mark.parametrize("name", PALETTES)
def test_many_classes_look_different(name: str) -> None:
    palette = PALETTES[name]
    assert len({(palette.class_color(k), palette.class_mark(k)) for k in range(50)}) == 50
    assert palette.polygon_color(99) == palette.polygons[-1]


def test_an_unknown_palette_is_named() -> None:
    with pytest.raises(LatopoError, match=r"draw: palette is 'jet', expected one of \['colorblind', 'paper'\]"):
        get_palette("jet", "draw")
