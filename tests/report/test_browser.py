"""The page in a real browser: Chromium, headless, driven by playwright."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from latopo.report import Column, Points, ReportData, ShownCell, ShownRow, ShownTable, write_report

playwright = pytest.importorskip("playwright.sync_api")

EVIL = "<img src=x onerror=alert(1)>"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium; Debian has it as apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, tmp_path):
    """Open the report of a run; in the end nothing may have gone wrong in it, and nothing may have been asked for."""
    contexts, complaints, requests = [], [], []

    def open_page(data, other=None, width=1200, height=900, color_scheme="light"):
        path = write_report(tmp_path / f"report-{len(contexts)}.html", data, other)
        view = {"width": width, "height": height}
        context = chromium.new_context(viewport=view, color_scheme=color_scheme, has_touch=width < 600)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("file://") or not url.endswith(".html")] == []
    assert len(requests) == len(contexts)


def state(page):
    return page.evaluate("latopo.state()")


def wait_until(page, condition):
    """Not playwright's wait_for_function: it evaluates a string inside the page, which the page's policy forbids."""
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(25)
    pytest.fail(f"never true: {condition}")


def cells(rows):
    return sorted(tuple(row) for row in rows)


def edges_of(snapshot):
    return cells(snapshot.complex.edge_index.t().tolist())


def choose_moment(page, number):
    page.locator("#moment").fill(str(number))


def hover(page, node):
    page.locator("#canvas").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    x, y = page.evaluate(f"latopo.place({node})")
    page.mouse.move(box["x"] + x, box["y"] + y)


def test_every_part_draws_without_complaint(visit, run):
    page = visit(run)
    for name in ("summary", "complex", "polygons", "training", "structure", "details"):
        page.locator(f"#{name}").scroll_into_view_if_needed()
    wait_until(page, "document.querySelectorAll('#charts svg').length === 3")
    page.wait_for_selector("#degrees svg", state="attached")
    assert page.locator("#failure").is_hidden()
    painted = page.evaluate(
        "(() => { const c = document.getElementById('canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; return d.some((value) => value > 0); })()"
    )
    assert painted


def test_a_chart_is_read_by_pointer_and_by_keys(visit, run):
    page = visit(run)
    curve, tip = page.locator("#charts svg").first, page.locator("#tip")
    assert curve.get_attribute("aria-label") == "Loss over the epochs. total: from 0.9 to 0.3"
    curve.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() == "epoch 2\ntotal: 0.5"
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    curve.hover(position={"x": curve.bounding_box()["width"] - 4, "y": 50})
    assert tip.inner_text() == "epoch 3\ntotal: 0.3"
    page.mouse.move(0, 0)  # or the page, as it scrolls to the next chart, takes the pointer off this one at any time
    tip.wait_for(state="hidden")
    degrees = page.locator("#degrees svg")
    degrees.focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert tip.inner_text() == "≥ 3 neighbours\n1 points (16.7 %)"
    choose_moment(page, 0)
    assert degrees.locator("rect").count() == 3


def test_the_slider_shows_the_cells_of_its_epoch(visit, run):
    page = visit(run)
    assert cells(state(page)["edges"]) == edges_of(run.snapshots[2])
    for number, polygons in ((0, []), (1, [(0, 1, 2)]), (2, [(0, 1, 2), (2, 3, 4, 5)])):
        choose_moment(page, number)
        assert page.locator("#moment-name").inner_text() == f"Epoch {number + 1}"
        assert cells(state(page)["edges"]) == edges_of(run.snapshots[number])
        assert cells(state(page)["polygons"]) == polygons


def test_positions_stay_while_the_complex_changes(visit, run):
    page = visit(run)
    before = [page.evaluate(f"latopo.place({node})") for node in range(6)]
    choose_moment(page, 0)
    assert [page.evaluate(f"latopo.place({node})") for node in range(6)] == before


def test_play_goes_through_the_epochs_and_stops(visit, run):
    page = visit(run)
    page.locator("#play").click()
    assert state(page)["moment"] == "Epoch 1"
    wait_until(page, "latopo.state().moment === 'Epoch 3'")
    page.wait_for_selector("#play[aria-label='Play the training']")


def test_hovering_shows_the_right_point(visit, run):
    page = visit(run)
    for node, words in ((0, ("ada", EVIL, "90 % sure", "train")), (3, ("<b>dan</b>", "second", "test"))):
        hover(page, node)
        wait_until(page, f"latopo.state().hovered === {node}")
        text = page.locator("#tip").inner_text()
        assert all(word in text for word in words)
    # Node 3 has the neighbours 2 and 4.
    assert "degree\n2" in page.locator("#tip").inner_text()


def test_clicking_a_point_lists_neighbours_and_polygons(visit, run):
    page = visit(run)
    hover(page, 2)
    page.mouse.down()
    page.mouse.up()
    assert state(page)["selected"] == 2
    details = page.locator("#selected")
    assert "4 neighbours" in details.inner_text()
    assert "2 polygons" in details.inner_text()
    assert [button.inner_text() for button in details.locator("ul").first.locator("button").all()] == [
        "ada", "bob", "fay", "<b>dan</b>",
    ]  # fmt: skip
    details.get_by_text("ada – bob – cyd").click()
    assert state(page)["highlighted"] == [0, 1, 2]
    page.locator("#selected .close").click()
    assert state(page)["selected"] is None
    assert details.is_hidden()


def test_filters_hide_the_right_cells(visit, run):
    page = visit(run)
    page.locator("[data-length='3']").uncheck()
    assert cells(state(page)["polygons"]) == [(2, 3, 4, 5)]
    page.locator("[data-length='3']").check()
    page.locator("[data-class='1']").uncheck()  # points 3 and 4
    assert cells(state(page)["polygons"]) == [(0, 1, 2)]
    assert cells(state(page)["edges"]) == [(0, 1), (0, 2), (1, 2), (2, 5)]
    page.locator("[data-class='1']").check()
    page.locator("[data-length='2']").uncheck()
    assert state(page)["edges"] == []
    assert len(state(page)["polygons"]) == 2


def test_probability_filters_keep_the_probable_cells(visit, run):
    page = visit(run)
    page.locator("[data-kind='polygon']").fill("50")  # √(0.067 · 1) ≈ 0.26
    assert cells(state(page)["polygons"]) == [(0, 1, 2)]
    assert len(state(page)["edges"]) == 7
    page.locator("[data-kind='edge']").fill("100")  # the most probable one is still there
    assert cells(state(page)["edges"]) == [(0, 1)]
    page.locator("[data-kind='edge']").fill("0")
    assert len(state(page)["edges"]) == 7


def test_text_of_the_data_stays_text(visit, run):
    page = visit(run)
    assert page.locator("img").count() == 0
    assert page.locator("#classes").get_by_text(EVIL).is_visible()
    assert page.locator("h1").inner_text() == run.title
    hover(page, 0)
    wait_until(page, "latopo.state().hovered === 0")
    assert EVIL in page.locator("#tip").inner_text()
    page.locator("details.settings summary").click()
    assert page.locator("details.settings").get_by_text(EVIL).is_visible()
    assert page.locator(".confusion").get_by_text(EVIL).first.is_visible()
    assert page.locator("img").count() == 0


def test_the_strongest_polygon_is_one_click_away(visit, run):
    page = visit(run)
    page.locator(".card .show-polygon").click()
    assert state(page)["highlighted"] == [0, 1, 2]
    assert "strength\n1" in page.locator("#selected").inner_text()
    page.locator(".card .point").first.click()
    assert state(page)["selected"] == 0


@pytest.mark.parametrize("width", [375, 768])
def test_narrow_screens_need_no_sideways_scrolling(visit, run, width):
    page = visit(run, width=width, height=700)
    for name in ("complex", "training", "structure"):
        page.locator(f"#{name}").scroll_into_view_if_needed()
    page.wait_for_selector("#degrees svg", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#canvas").bounding_box()
    assert box["width"] > 250
    assert box["x"] + box["width"] <= width


def test_the_keyboard_moves_selects_and_lets_go(visit, run):
    page = visit(run)
    page.locator("#canvas").focus()
    before = page.evaluate("latopo.place(0)")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("latopo.place(0)")[0] == pytest.approx(before[0] - 40)
    page.keyboard.press("+")
    assert state(page)["magnification"] == pytest.approx(1.3)
    page.keyboard.press("0")
    assert page.evaluate("latopo.place(0)") == pytest.approx(before)
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert state(page)["selected"] == 1
    page.keyboard.press("p")
    assert state(page)["selected"] == 0
    page.keyboard.press("Escape")
    assert state(page)["selected"] is None


def test_search_finds_a_point_by_a_part_of_its_name(visit, run):
    page = visit(run)
    page.locator("#find").fill("EV")
    page.locator("#find").press("Enter")
    assert state(page)["selected"] == 4
    page.locator("#find").fill("nobody")
    page.locator("#find").press("Enter")
    assert page.locator("#find").get_attribute("aria-invalid") == "true"


def test_every_control_has_a_name(visit, run):
    page = visit(run)
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas')].filter((item) => !(item.textContent.trim()"
        " || item.getAttribute('aria-label') || item.labels?.[0]?.textContent.trim())).map((item) => item.outerHTML)"
    )
    assert nameless == []
    assert "7 edges, 1 triangles, 1 squares" in page.locator("#canvas").get_attribute("aria-label")


def test_dark_follows_the_system_and_the_button(visit, run):
    page = visit(run, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text().endswith("Light")
    light = page.evaluate(background)
    assert sum(map(int, light[4:-1].split(","))) > 600 > sum(map(int, dark[4:-1].split(",")))


def test_safe_colours_change_the_legend(visit, run):
    page = visit(run)
    fill = "document.querySelector('#classes .mark-swatch :first-child').getAttribute('fill')"
    before = page.evaluate(fill)
    page.locator("#safe-colors").check()
    assert page.evaluate(fill) != before


def test_two_runs_show_what_differs(visit, run):
    page = visit(replace(run, shown=1, title="A"), replace(run, title="B"))
    assert state(page)["moment"] == "Epoch 2"
    page.get_by_role("radio", name="Run B").check()
    assert state(page)["moment"] == "Epoch 3"
    page.get_by_role("radio", name="What differs").check()
    assert cells(state(page)["edges"]) == edges_of(run.snapshots[2])
    page.locator("[data-status='0']").uncheck()
    assert cells(state(page)["edges"]) == [(2, 3), (2, 5), (4, 5)]
    assert cells(state(page)["polygons"]) == [(2, 3, 4, 5)]
    page.locator("[data-status='2']").uncheck()
    assert state(page)["edges"] == []


def test_values_in_place_of_classes(visit, run):
    points = Points(np.array([0.5, 1.5, np.nan, 2.0, 3.0, 4.0]), predictions=np.arange(6.0))
    page = visit(replace(run, points=points))
    hover(page, 3)
    wait_until(page, "latopo.state().hovered === 3")
    assert "value\n2" in page.locator("#tip").inner_text()
    assert page.locator("#classes .scale").is_visible()


def test_points_without_any_facts(visit, run):
    page = visit(replace(run, points=None))
    assert page.locator("#classes").is_hidden()
    hover(page, 5)
    wait_until(page, "latopo.state().hovered === 5")


def with_columns(run):
    columns = (Column("size", (1.5, 2.0, None, 4.0, 5.0, 6.0)), Column(EVIL, (EVIL, *"bcdef")))
    return replace(run, points=replace(run.points, columns=columns + (Column("long", ("x" * 200,) * 6),) * 5))


def test_a_chosen_point_shows_its_columns_beside_those_of_similar_rows(visit, run):
    page = visit(with_columns(run))
    values = page.locator("#values")
    assert values.is_hidden()
    page.locator("#canvas").focus()
    page.keyboard.press("n")
    rows = [[cell.inner_text() for cell in row.locator("th, td").all()[:3]] for row in values.locator("tr").all()]
    # Its edges have the probabilities 0.9 (bob) and 0.8 (cyd); of cyd there is no size.
    assert rows == [["row", "size", EVIL], ["ada", "1.5", EVIL], ["bob", "2", "b"], ["cyd", "", "c"]]
    values.get_by_role("button", name="bob").click()
    assert state(page)["selected"] == 1
    page.locator("#polygons .show-polygon").nth(1).click()
    assert [head.inner_text() for head in values.locator("tbody th").all()] == ["cyd", "<b>dan</b>", "eve", "fay"]
    assert page.locator("img").count() == 0
    page.locator("#canvas").focus()
    page.keyboard.press("Escape")
    assert values.is_hidden()


def test_wide_tables_scroll_on_narrow_screens(visit, run):
    page = visit(with_columns(run), width=375, height=700)
    page.locator("#canvas").focus()
    page.keyboard.press("n")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    for place in ("#values .scroll", "#polygons .scroll"):
        width, room = page.evaluate(
            f"(() => {{ const b = document.querySelector('{place}'); return [b.scrollWidth, b.clientWidth]; }})()"
        )
        assert width > room


def test_points_without_a_label_are_coloured_by_their_prediction(visit, run):
    labelled = np.array([True, True, False, True, False, False])
    page = visit(replace(run, points=replace(run.points, labelled=labelled)))
    # Classes 0 and 1, by label or prediction: 0 1 5 and 2 3 4.
    assert page.locator("#classes .count").all_inner_texts() == ["3", "3", "3", "3"]
    assert page.locator("#classes .look").all_inner_texts() == ["labelled\n3", "predicted\n3"]
    page.locator("[data-class='1']").uncheck()
    assert cells(state(page)["edges"]) == [(0, 1)]
    hover(page, 5)
    wait_until(page, "latopo.state().hovered === 5")
    assert page.locator("#coloring option").first.inner_text() == "label or prediction"


def test_tables_sort_and_show_folds(visit):
    rows = [("b", 2.0), ("a", 10.0), ("c", None)]
    cells = [ShownCell(value, 1.0, (value - 1, value + 1)) if value else ShownCell(None) for _, value in rows]
    lines = tuple(ShownRow((name,), (cell,)) for (name, _), cell in zip(rows, cells, strict=True))
    table = ShownTable("Scores", ("model",), ("Texas",), lines, digits=3)
    page = visit(ReportData("Results", tables=(table,)))
    names = lambda: [cell.inner_text() for cell in page.locator("tbody th").all()]  # noqa: E731
    assert names() == ["b", "a", "c"]
    page.get_by_role("button", name="Texas").click()
    assert names() == ["a", "b", "c"]  # the best first, what is missing last
    page.get_by_role("button", name="Texas").click()
    assert names() == ["b", "a", "c"]
    page.get_by_role("button", name="model").click()
    assert names() == ["a", "b", "c"]
    page.locator("td[tabindex]").first.hover()
    assert "a, Texas" in page.locator("#tip").inner_text()
    assert "9.000  11.000" in page.locator("#tip p").text_content()
    assert page.locator("#tip circle").count() == 2
