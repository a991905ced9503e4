import pytest

from latopo.reproduce import Record, Store, Unit


def fill(folder, *folds):
    for fold in folds:
        Store(folder).append(Record(Unit("mlp", "texas", False, "honest", fold), 0.5, 8, 1, 0, 1.0, 1))


def test_runs_are_added_once(latopo):
    fill("a", 0, 1)
    fill("b", 1, 2)
    assert latopo("merge", "a", "b", "--out", "all") == (
        0, "a: 2 of 2 runs added to all\nb: 1 of 2 runs added to all\n", "",
    )  # fmt: skip
    assert [record.unit.fold for record in Store("all").records()] == [0, 1, 2]
    assert latopo("merge", "a", "--out", "all")[1] == "a: 0 of 2 runs added to all\n"


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_without_runs_is_named_and_nothing_written(latopo, tmp_path, name):
    fill("a", 0)
    (tmp_path / "empty").mkdir()
    code, out, err = latopo("merge", "a", name, "--out", "all")
    assert (code, out) == (2, "")
    assert err == f"latopo: merge: {name} has no finished runs; expected a folder with records.jsonl\n"
    assert not (tmp_path / "all").exists()


def test_a_file_in_place_of_the_folder_is_refused(latopo, tmp_path):
    fill("a", 0)
    (tmp_path / "all").write_text("mine")
    expected = "latopo: --out all is not a folder, and none can be made there; choose another\n"
    assert latopo("merge", "a", "--out", "all") == (2, "", expected)


def test_help_is_there(latopo):
    code, out, _ = latopo("merge", "--help")
    assert code == 0
    assert "finished runs" in out
