"""Colours and marks of cells and classes."""

from dataclasses import dataclass

from latopo.errors import LatopoError

Color = tuple[float, float, float]

_POLYGON_NAMES = {3: "triangles", 4: "squares", 5: "pentagons", 6: "hexagons", 7: "heptagons", 8: "octagons"}
# Matplotlib's names of marks that can be told apart even when small.
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Palette:
    """Colours as red, green and blue from 0 to 1."""

    edge: Color  #: of all edges
    polygons: tuple[Color, ...]  #: of triangles, squares, and so on; the last one is for all longer polygons too
    classes: tuple[Color, ...]  #: of the nodes, class by class; they repeat if there are more classes
    unlabelled: Color = (0.6, 0.6, 0.6)  #: of nodes without a class
    marks_differ: bool = False  #: give every class its own mark as well as its own colour

    def polygon_color(self, length: int) -> Color:
        """Colour of the polygons with ``length`` sides."""
        return self.polygons[min(length - 3, len(self.polygons) - 1)]

    def class_color(self, number: int) -> Color:
        """Colour of the class at this place in the order of the classes."""
        return self.classes[number % len(self.classes)]

    def class_mark(self, number: int) -> str:
        """Matplotlib's name of the mark of a class: different wherever colours repeat."""
        return _MARKS[(number if self.marks_differ else number // len(self.classes)) % len(_MARKS)]


def _hex(*codes: str) -> tuple[Color, ...]:
    return tuple((int(code[0:2], 16) / 255, int(code[2:4], 16) / 255, int(code[4:6], 16) / 255) for code in codes)


#: ``paper``: edges, triangles and squares as in the paper, longer polygons further round the colour wheel.
#: ``colorblind``: grey edges, polygons from light to dark blue, Okabe and Ito's colours and a mark for each class.
PALETTES = {
    "paper": Palette(
        edge=(0.961, 0.549, 0.275),
        polygons=((0.706, 0.178, 0.554), (0.221, 0.016, 0.602), *_hex("1450A0", "007A8A", "00805A", "5A7A00")),
        classes=_hex(
            "2A6FBB", "2F9E44", "E03131", "F2C20C", "22B8CF", "8A5A3C", "343A40", "F783AC", "94C11F", "9AA5B1"
        ),
    ),
    "colorblind": Palette(
        edge=(0.55, 0.55, 0.55),
        polygons=_hex("5BA3D0", "1F5FA8", "0A2F6B", "061533"),
        classes=_hex("E69F00", "009E73", "000000", "CC79A7", "D55E00", "F0E442", "56B4E9", "0072B2"),
        marks_differ=True,
    ),
}


def get_palette(palette: str | Palette, caller: str) -> Palette:
    """The palette of that name, or the given one."""
    if isinstance(palette, Palette):
        return palette
    if palette not in PALETTES:
        raise LatopoError(f"{caller}: palette is {palette!r}, expected one of {sorted(PALETTES)} or a Palette")
    return PALETTES[palette]


def polygon_name(length: int) -> str:
    """Plural name of the polygons with ``length`` sides."""
    return _POLYGON_NAMES.get(length, f"{length}-gons")
