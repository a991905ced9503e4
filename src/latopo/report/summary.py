"""The top of the page: what was run, how good it is, and what was found, before any detail."""

from collections.abc import Sequence

from latopo.report.data import Points, ReportData, Score
from latopo.report.facts import Agreement, Facts, Strongest, strongest_polygons
from latopo.report.markup import Markup, tag
from latopo.report.words import (
    agreement_words,
    kind_name,
    number_text,
    percent,
    score_words,
    size_words,
    strongest_words,
)

__all__ = ["class_dot", "corner_buttons", "meter", "summary"]


def summary(data: ReportData, facts: Facts | None, agreement: Agreement | None) -> Markup:
    """What was run, cards with the main numbers, then answers to the questions that a reader has."""
    cards, answers = [], []
    if data.score is not None:
        cards.append(_score_card(data.score))
        answers.append(_answer("How good are the predictions?", score_words(data.score)))
    if agreement is not None:
        cards += _agreement_cards(agreement)
        words = agreement_words(agreement.edges, agreement.polygons, agreement.cycles)
        answers.append(_answer("Does the structure agree with the classes?", words))
    if data.complex is not None and facts is not None:
        answers.append(_answer("What was found?", [size_words(facts, data.complex.num_nodes)]))
        for strongest in strongest_polygons(data.complex, 1):
            cards.append(_strongest_card(strongest, data.points))
            answers.append(
                _answer("Which points form the strongest polygon?", [strongest_words(strongest, data.points)])
            )
    parts = [tag("p", " ".join(data.story), class_="story")] if data.story else []
    parts += [tag("div", cards, class_="cards")] if cards else []
    parts += [tag("div", answers, class_="answers")] if answers else []
    parts += [tag("ul", [tag("li", note) for note in data.notes], class_="notes")] if data.notes else []
    return tag("section", tag("h2", "In short"), parts, id="summary")


def _answer(question: str, sentences: Sequence[str]) -> Markup:
    return tag("div", tag("h3", question), tag("p", " ".join(sentences)), class_="answer")


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


def _agreement_cards(agreement: Agreement) -> list[Markup]:
    edges, polygons = agreement.edges, agreement.polygons
    cards = []
    if edges.share is not None:
        cards.append(
            _card("Edges within a class", percent(edges.share), *meter(edges.share, edges.chance, "of random pairs"))
        )
    counted = sum(item.counted for item in polygons)
    if counted:
        share = sum(item.pure for item in polygons) / counted
        chance = sum(item.counted * item.chance for item in polygons) / counted
        cards.append(_card("Polygons within a class", percent(share), *meter(share, chance, "of random groups")))
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
