import importlib.util
import json
from pathlib import Path

import pytest

from latopo.reproduce import Store, plan_units

ROOT = Path(__file__).parents[2]
OLD = (Path(__file__).parent / "old_records.jsonl").read_text().splitlines()


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("migrate_records", ROOT / "scripts" / "migrate_records.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_run_is_lost_and_no_score_changed(script, tmp_path):
    assert script.migrate(OLD, tmp_path) == len(OLD)
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]
    old = [json.loads(line) for line in OLD]
    records = Store(tmp_path).records()
    names = ("model", "dataset", "graph", "protocol", "fold", "seed", "settings")
    assert [[vars(record.unit)[name] for name in names] for record in records] == [
        [content[name] for name in names] for content in old
    ]
    measured = ("test_score", "validation_score", "weight_decay", "homophily", "num_polygons", "seconds", "kept_share")
    for record, content in zip(records, old, strict=True):
        assert [getattr(record, name) for name in measured] == [content[name] for name in measured]
        assert {str(decay): score for decay, score in record.search} == content["extra"]["search"]


def test_what_is_known_of_the_machine_is_kept_and_the_rest_unknown(script, tmp_path):
    script.migrate(OLD, tmp_path)
    found = {(env["latopo"], env["threads"], env["cpu"]) for env in (r.environment for r in Store(tmp_path).records())}
    assert found == {("0.1.0", 1, None)}
    assert {record.environment["device"] for record in Store(tmp_path).records()} == {None, "cpu"}


def test_migrated_runs_are_not_trained_again(script, tmp_path):
    script.migrate(OLD, tmp_path)
    store = Store(tmp_path)
    units = plan_units("table2", ["texas"], ["mlp"], folds=[0], seeds=[0, 1], protocols=["honest"])
    assert [unit.key in store for unit in units] == [True, True]


def test_a_lost_run_leaves_the_folder_as_it_was(script, tmp_path):
    (tmp_path / "records.jsonl").write_text("precious\n")
    with pytest.raises(SystemExit, match=r"old runs, .* new ones"):
        script.migrate([*OLD, OLD[0]], tmp_path)  # two of a kind cannot both be kept
    assert (tmp_path / "records.jsonl").read_text() == "precious\n"
    assert len(list(tmp_path.iterdir())) == 1
