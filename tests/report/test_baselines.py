import json

import pytest

from latopo.errors import LatopoError
from latopo.models import SYSTEMS
from latopo.report import read_run
from latopo.report.baselines import system_words


def names_of(folder, **options):
    return [item.name for item in read_run(folder, **options).score.baselines]


def test_baselines_are_found_next_to_the_run(runs):
    found = {item.name: item.value for item in read_run(runs["dcm"]).score.baselines}
    mlp = json.loads((runs["mlp"] / "summary.json").read_text())["score"]["mean"]
    assert found["mlp"] == pytest.approx(mlp)
    assert 0 <= found["commonest class"] <= 1
    assert "mlp" not in names_of(runs["mlp"])


def test_a_handicapped_or_foreign_run_next_to_ours_is_not_a_baseline(train, tmp_path):
    ours = train(tmp_path / "dcm", "dcm", folds=(0,))
    train(tmp_path / "narrow", "mlp", folds=(0,), hidden_channels=1)
    train(tmp_path / "short", "mlp", folds=(0,), epochs=1)
    train(tmp_path / "optimistic", "mlp", folds=(0,), protocol="paper")
    (tmp_path / "foreign").mkdir()
    for content in ("[]", "{}"):
        (tmp_path / "foreign" / "settings.json").write_text(content)
        (tmp_path / "foreign" / "summary.json").write_text(content)
        assert names_of(ours) == ["commonest class"]


def test_baselines_can_be_named_and_must_fit(runs, train, tmp_path):
    assert names_of(runs["mlp"], baselines=[runs["dcm"], runs["dcm"]]) == ["commonest class", "dcm", "dcm"]
    other = train(tmp_path / "other", "mlp", folds=(0,))
    with pytest.raises(LatopoError, match="cannot be a baseline for this run"):
        read_run(runs["dcm"], baselines=[other])
    with pytest.raises(LatopoError, match=r"settings.json cannot be read"):
        read_run(runs["dcm"], baselines=[tmp_path])


def test_values_are_compared_with_their_mean(train, tmp_path):
    [mean] = read_run(train(tmp_path / "run", "mlp", folds=(0,), dataset="diabetes")).score.baselines
    assert (mean.name, mean.value) == ("mean", 0.0)


def test_every_system_has_words():
    assert len({system_words(model) for model in SYSTEMS}) == len(SYSTEMS)
    assert system_words("mine") == "a custom model"
