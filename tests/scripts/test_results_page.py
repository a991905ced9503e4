"""docs/results.md says what the store says."""

import importlib.util
from pathlib import Path

import pytest

from latopo.reproduce import Store

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "scripts" / "results_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated(script):
    return script.parts(Store(ROOT / "results").records())


def rows(text, keys):
    """The lines of Markdown tables: their first columns → the other cells."""
    found, after = {}, ""
    for line in text.splitlines():
        after = line if line.startswith("**") else after  # which of two tables
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[(after, *cells[:keys])] = cells[keys:]
    return found


@pytest.mark.parametrize(("name", "keys"), [("goals", 2), ("accuracy", 2)])
def test_every_number_of_the_page_is_the_stores(script, generated, name, keys):
    # Runs may have been added since; a number that stands on the page must still be the store's.
    page = script.PAGE.read_text(encoding="utf-8").split(f"<!-- {name} -->")[1].split("<!-- end -->")[0]
    shown, new = rows(page, keys), rows(generated[name], keys)
    heading = next(iter(shown))
    compared = 0
    for place, cells in shown.items():
        for column, (cell, now) in enumerate(zip(cells, new[place], strict=True)):
            if cell in ("", "–", "missing") or shown[heading][column] != new[heading][column]:
                continue
            assert cell == now, f"{place}: run python scripts/results_page.py"
            compared += 1
    assert compared > 60


def test_parts_go_to_their_places(script):
    page = "a\n<!-- goals -->\nold\n<!-- end -->\nb\n<!-- accuracy -->\n<!-- end -->\n"
    new = script.with_parts(page, {"goals": "1 \\1", "accuracy": "2"})
    assert new == "a\n<!-- goals -->\n\n1 \\1\n\n<!-- end -->\nb\n<!-- accuracy -->\n\n2\n\n<!-- end -->\n"
    assert script.with_parts(new, {"goals": "1 \\1"}) == new
