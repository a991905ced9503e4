from latopo.report import Table, TableCell, TableRow
from latopo.report.results import results_section

CELLS = (TableCell(80.0, 2.0, (78.0, 82.0), "paper 81.0", -1.0), TableCell(None, remark="paper <b>"))
TABLE = Table("Scores <i>", ("model",), ("Texas", "Cora"), (TableRow(("dcm",), CELLS), TableRow(("mlp",), CELLS)))


def test_cells_carry_value_folds_and_colour():
    html = results_section([TABLE])
    assert 'data-folds="[78.0,82.0]"' in html
    assert 'data-sort="80.0"' in html
    assert "−1.00" in html
    assert 'class="difference worse"' in html


def test_text_is_escaped_and_missing_values_have_no_sort_key():
    html = results_section([TABLE])
    assert "<i>" not in html
    assert "paper &lt;b&gt;" in html
    assert html.count("data-sort=") == 2 + 2  # two labels, two numbers


def test_no_tables_give_no_section():
    assert results_section([]) == ""
