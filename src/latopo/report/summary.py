"""The top of the page: what was run, how good it is, and what was found, before any detail."""

from collections.abc import Sequence

from latopo.report.data import Points, ReportData, Score
from latopo.report.facts import Facts, Purity, Strongest, edge_purity, polygon_purity, strongest_polygons
from latopo.report.markup import Markup, tag
from latopo.report.words import (
    agreement_words,
    kind_name,
    number_text,
    percent,
    score_words,
    size_words,
    strongest_words,
    verdict,
)

__all__ = ["class_dot", "corner_buttons", "meter", "summary"]


def summary(data: ReportData, facts: Facts | None, anchor: str = "summary", heading: str = "In short") -> Markup:
    """Cards with the main numbers, then the same in sentences."""
    cards = [_score_card(data.score)] if data.score is not None else []
    sentences = list(score_words(data.score)) if data.score is not None else []
    if data.complex is not None and facts is not None:
        more_cards, more_sentences = _structure(data, facts)
        cards += more_cards
        sentences += more_sentences
    notes = tag("ul", [tag("li", note) for note in data.notes], class_="notes") if data.notes else Markup()
    body = [tag("div", cards, class_="cards"), tag("ul", [tag("li", text) for text in sentences], class_="findings")]
    story = tag("p", " ".join(data.story), class_="story") if data.story else Markup()
    return tag("section", tag("h2", heading), story, *body, notes, id=anchor)


def _structure(data: ReportData, facts: Facts) -> tuple[list[Markup], list[str]]:
    complex, points = data.complex, data.points
    assert complex is not None
    sentences = [size_words(facts, complex.num_nodes)]
    cards = []
    if points is not None and not points.is_quantity:
        edges, polygons = edge_purity(complex, points), polygon_purity(complex, points)
        cards += _agreement_cards(edges, polygons)
        sentences += [f"The structure {verdict(edges)}.", *agreement_words(edges, polygons)]
    strongest = strongest_polygons(complex, 1)
    if strongest:
        cards.append(_strongest_card(strongest[0], points))
        sentences.append(strongest_words(strongest[0], points))
    return cards, sentences


def _card(title: str, value: str, *details: str | Markup) -> Markup:
    return tag("div", tag("h3", title), tag("p", value, class_="figure"), *details, class_="card")


def _score_card(score: Score) -> Markup:
    title = "Right predictions" if score.metric == "accuracy" else "Variation explained (R²)"
    rows = [("this model", score.value), *((baseline.name, baseline.value) for baseline in score.baselines)]
    bars = [
        tag(
            "div",
            tag("span", name, class_="bar-name"),
            tag("span", tag("span", style=f"width:{100 * min(max(value, 0), 1):.1f}%"), class_="bar"),
            tag("span", number_text(score, value), class_="bar-value"),
            class_="bar-row" if number else "bar-row own",
        )
        for number, (name, value) in enumerate(rows)
    ]
    value = number_text(score, score.value)
    if score.spread is not None:
        value = value.removesuffix(" %")
        spread = 100 * score.spread if score.metric == "accuracy" else score.spread
        unit = " %" if score.metric == "accuracy" else ""
        value = f"{value} ± {spread:.1f}{unit}" if unit else f"{value} ± {spread:.3f}"
    return _card(title, value, tag("p", f"on the {score.where}", class_="under"), tag("div", bars, class_="bars"))


def _agreement_cards(edges: Purity, polygons: Sequence[Purity]) -> list[Markup]:
    cards = []
    if edges.share is not None:
        cards.append(
            _card("Edges within a class", percent(edges.share), *meter(edges.share, edges.chance, "of random pairs"))
        )
    counted, pure = sum(item.counted for item in polygons), sum(item.pure for item in polygons)
    if counted:
        chance = sum(item.counted * item.chance for item in polygons) / counted
        cards.append(
            _card(
                "Polygons within a class", percent(pure / counted), *meter(pure / counted, chance, "of random groups")
            )
        )
    return cards


def meter(share: float, chance: float, what: str) -> list[Markup]:
    """A bar of a share with a mark at chance, and the words for it."""
    fill = tag("span", class_="fill", style=f"width:{100 * share:.1f}%")
    mark = tag("span", class_="mark", style=f"left:{100 * chance:.1f}%")
    return [
        tag("div", fill, mark, class_="meter", aria_hidden="true"),
        tag("p", f"chance: {percent(chance)} {what}", class_="under"),
    ]


def _strongest_card(strongest: Strongest, points: Points | None) -> Markup:
    kind = kind_name(len(strongest.corners)).capitalize()
    show = tag("button", "Show it", type="button", class_="show-polygon", data_corners=_numbers(strongest.corners))
    probability = "" if strongest.probability is None else f"probability {strongest.probability:.3g}"
    corners = tag("p", corner_buttons(strongest.corners, points), class_="corners")
    return _card("Strongest polygon", kind, corners, tag("p", show, f" {probability}", class_="under"))


def corner_buttons(corners: Sequence[int], points: Points | None) -> list[Markup]:
    """The corners as buttons that select their point in the drawing, each with the colour of its class."""
    return [_corner_button(node, points) for node in corners]


def _corner_button(node: int, points: Points | None) -> Markup:
    if points is None:
        return tag("button", str(node), type="button", class_="point", data_node=node)
    if points.is_quantity:
        return tag("button", points.name(node), type="button", class_="point", data_node=node)
    code = int(points.labels[node])
    title = f"class {points.class_name(code)}"
    return tag("button", class_dot(code), points.name(node), type="button", class_="point", data_node=node, title=title)


def class_dot(code: int) -> Markup:
    """A dot in the colour of a class."""
    color = f"var(--class-{code})" if code >= 0 else "var(--unlabelled)"
    return tag("span", class_="dot", style=f"background:{color}", aria_hidden="true")


def _numbers(corners: Sequence[int]) -> str:
    return " ".join(map(str, corners))
