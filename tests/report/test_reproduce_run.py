import pytest

from latopo.errors import LatopoError
from latopo.report import build_page, read_run
from latopo.reproduce import Record, Store, Unit


def fill(folder, dataset="texas", step=0.02):
    store = Store(folder)
    for model, base, rise in (("mlp", 0.8, 0.01), ("dcm-plus", 0.89, step)):
        for fold in range(3):
            unit = Unit(model, dataset, graph=False, protocol="honest", fold=fold)
            store.append(Record(unit, base + rise * fold, 100, 20, 3, 1.0, 7))
    return folder


def test_tables_hold_our_numbers_the_papers_and_the_tests(tmp_path):
    data = read_run(fill(tmp_path))
    main, tests = data.tables[:2]
    assert "heterophilic" in main.title
    assert "honest" in main.title
    assert main.columns == ("Texas",)
    cells = {row.labels: row.cells[0] for row in main.rows}
    ours = cells["without", "mlp"]
    assert ours.value == pytest.approx(81.0)
    assert ours.folds == pytest.approx((80.0, 81.0, 82.0))
    assert ours.remark == "paper 77.78 ± 10.24, 3 of 10 folds"
    assert ours.difference == pytest.approx(81.0 - 77.78)
    assert "against the baselines" in tests.title
    assert tests.rows[0].labels == ("without", "dcm-plus", "mlp")
    assert tests.rows[0].cells[0].value == pytest.approx(10.0)
    assert "p = " in tests.rows[0].cells[0].remark


def test_equal_differences_are_not_tested(tmp_path):
    cell = read_run(fill(tmp_path, step=0.01)).tables[1].rows[0].cells[0]
    assert cell.value == pytest.approx(9.0)
    assert cell.remark == "the same in every fold"


def test_the_page_of_results_has_tables_alone(tmp_path):
    page = build_page(read_run(fill(tmp_path)))
    assert "77.78" in page
    assert 'id="complex"' not in page


def test_an_empty_store_is_named(tmp_path):
    (tmp_path / "records.jsonl").write_text("")
    with pytest.raises(LatopoError, match="no finished runs"):
        read_run(tmp_path)
