"""The page about ``CellComplex`` is true: its snippets are run, one after another."""

import doctest
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_every_snippet_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("toponetx", "gudhi"):
        pytest.importorskip(package)
    page = DOCS / "complex.md"
    text = page.read_text(encoding="utf-8")
    # Text between the snippets becomes blank lines, so that a failure names the line of the page.
    inside = False
    lines = []
    for line in text.splitlines():
        inside = line.startswith("```python") if not inside else not line.startswith("```")
        lines.append(line if inside and not line.startswith("```") else "")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    examples = doctest.DocTestParser().get_doctest("\n".join(lines), {}, page.name, str(page), 0)
    assert len(examples.examples) > 50
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags).run(examples, out=report.append)
    plt.close("all")
    assert result.failed == 0, "".join(report)
    assert {path.name for path in tmp_path.iterdir()} == {
        "diagram.png",
        "barcode.png",
        "house.png",
        "house.safetensors",
        "house.html",
    }


def test_links_of_the_page_lead_somewhere() -> None:
    text = (DOCS / "complex.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links
    assert all((DOCS / link).exists() for link in links if "://" not in link)


def test_the_speed_table_has_a_row_for_every_measurement() -> None:
    text = (DOCS / "complex.md").read_text(encoding="utf-8")
    table = text.split("<!-- speed: begin -->")[1].split("<!-- speed: end -->")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "×" in line]
    assert len(rows) >= 12
    assert len(rows) % 6 == 0  # six things at every size
