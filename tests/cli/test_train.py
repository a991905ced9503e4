import json
import sys

import pytest
import torch
from typer.testing import CliRunner

from latopo.cli.app import app, main
from latopo.cli.train import default_folder, parse_numbers, parse_settings
from latopo.errors import LatopoError
from latopo.training import Run

QUICK = ("--splits", "0-1", "--epochs", "3")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield tmp_path
    torch.set_num_threads(before)


def invoke(*arguments):
    return CliRunner().invoke(app, ["train", *arguments])


def fails(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["latopo", "train", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def test_a_run_and_its_continuation(elsewhere):
    result = invoke("iris", "--model", "mlp", *QUICK)
    assert result.exit_code == 0, result.output
    folder = elsewhere / "runs" / "iris-mlp-honest-epochs-3"
    score = json.loads((folder / "summary.json").read_text())["score"]
    assert result.stdout.startswith(f"test accuracy {100 * score['mean']:.2f} ± {100 * score['std']:.2f} over 2 folds")
    lines = result.stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["fold 0", "fold 1"]
    again = invoke("iris", "--model", "mlp", *QUICK)
    assert again.stdout == result.stdout
    assert again.stderr.splitlines() == ["2 of 2 folds are already in runs/iris-mlp-honest-epochs-3"]


def test_snapshots_settings_and_out(elsewhere):
    arguments = ("--set", "gain=5", "--snapshots", "2,50", "--out", "here", "--graph", "--protocol", "paper")
    result = invoke("karate", "--splits", "3", "--epochs", "3", *arguments)
    assert result.exit_code == 0, result.output
    assert (elsewhere / "here" / "fold-3" / "complexes" / "epoch-0002.safetensors").exists()
    settings = json.loads((elsewhere / "here" / "settings.json").read_text())
    assert settings["settings"] == {"gain": 5, "epochs": 3}
    assert (settings["graph"], settings["protocol"], settings["snapshot_epochs"]) == (True, "paper", [2])
    assert "degree" in result.stderr
    assert "homophily" in result.stderr


def test_verbose_says_how_neighbours_were_found():
    found = invoke("iris", "--model", "dcm-plus", "--splits", "0", "--epochs", "1", "--verbose")
    assert "; neighbours exact: all pairs of" in found.stderr
    found = invoke(
        "iris", "--model", "dcm-plus", "--splits", "0", "--epochs", "1", "--set", "search=certified", "--verbose"
    )
    assert "; neighbours certified: statistics by" in found.stderr


def test_mlp_says_that_it_ignores_the_graph():
    result = invoke("karate", "--model", "mlp", "--graph", *QUICK)
    assert result.stderr.splitlines()[0] == "note: mlp ignores the graph"


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(monkeypatch):
    from latopo.training import run_folder

    trained, original = [], run_folder.run_fold

    def interrupted(*arguments, **options):
        if trained:
            raise KeyboardInterrupt
        trained.append(arguments)
        return original(*arguments, **options)

    monkeypatch.setattr(run_folder, "run_fold", interrupted)
    result = invoke("iris", "--model", "mlp", *QUICK)
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == (
        "latopo: stopped; 1 of 2 folds are in runs/iris-mlp-honest-epochs-3. Run it again to go on"
    )
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("texs",), "no data set 'texs'; did you mean 'texas'?"),
        (("iris", "--model", "mpl"), "expected one of mlp, gcn"),
        (("karate", "--model", "gcn"), "gcn needs a graph; add --graph"),
        (("wine", "--graph"), "Wine is a table and has no graph"),
        (("iris", "--splits", "0-12"), "--splits 0-12: expected ascending ranges and at most 9, got 0-12"),
        (("iris", "--splits", "a"), "expected numbers and ranges such as 0-9"),
        (("iris", "--protocol", "fair"), "expected one of honest, paper, patient, got 'fair'"),
        (("iris", "--epochs", "0"), "epochs must be a whole number of at least 1, got 0"),
        (("iris", "--set", "gain"), "--set gain: expected name=value"),
        (("iris", "--set", "lr=abc"), "lr must be a number above 0, got 'abc'"),
        (("iris", "--set", "epochs=abc"), "epochs must be a whole number of at least 1, got 'abc'"),
        (("iris", "--set", "foo=1"), "model dcm: foo: there is no such setting here; expected some of"),
        (("iris", "--set", "gain=abc"), "model dcm: gain must be a number above 0 or null, got 'abc'"),
        (
            ("iris", "--set", "hidden_channels=0"),
            "model dcm: hidden_channels must be a whole number of at least 1 and of at most 65536, got 0",
        ),
        (
            ("iris", "--model", "mlp", "--set", "hidden_channels=-3"),
            "model mlp: hidden_channels must be a whole number",
        ),
        (
            ("iris", "--model", "mlp", "--set", "dropout=2"),
            "model mlp: dropout must be a number of at least 0 and below 1, got 2",
        ),
        (
            ("iris", "--model", "mlp", "--set", "dropout=null"),
            "model mlp: dropout must be a number of at least 0 and below 1, got None",
        ),
        (
            ("iris", "--model", "dgm-e", "--set", "rounds=-2"),
            "model dgm-e: rounds must be a whole number of at least 0",
        ),
        (("iris", "--model", "dcm-plus", "--set", "gain=20"), "gain and degree: one of them sets γ"),
        (("iris", "--model", "dgm-e", "--set", "gain=20"), "model dgm-e: gain: there is no such setting here"),
        (("iris", "--set", "k=3"), "model dcm: k: there is no such setting here"),
        (("iris", "--snapshots", "1-99999999999"), "--snapshots 1-99999999999: expected ascending ranges and at most"),
        (("iris", "--set", "gain=" + "[" * 100_000), "gain must be a number"),
        (("iris", "--model", ""), "''"),
        (("iris", "--device", "gpu0"), "device: expected 'auto', 'cpu' or another device that torch finds here"),
        (("texas", "--data-root", "nowhere"), "--data-root nowhere is not a folder"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(monkeypatch, capsys, elsewhere, arguments, message):
    assert message in fails(monkeypatch, capsys, *arguments)
    assert list(elsewhere.iterdir()) == []


def test_another_run_in_the_folder_is_refused(monkeypatch, capsys):
    assert invoke("iris", "--model", "mlp", *QUICK, "--out", "run").exit_code == 0
    line = fails(monkeypatch, capsys, "iris", "--model", "mlp", *QUICK, "--out", "run", "--seed", "1")
    assert "run holds a run with seed 0 (now 1); continue it as it was, or give another --out" in line


def test_names_of_folders():
    assert str(default_folder(Run("Texas", "dcm"))) == "runs/texas-dcm-honest"
    run = Run("Texas", "dcm", True, "paper", 2, {"rounds": 3})
    assert str(default_folder(run)) == "runs/texas-dcm-graph-paper-seed-2-rounds-3"


def test_parsing():
    assert parse_numbers("3", "--splits", 9) == [3]
    assert parse_numbers("0, 2,5-7,6", "--splits", 9) == [0, 2, 5, 6, 7]
    assert parse_numbers("", "--snapshots", empty=True) == []
    for text in ("", "3-1", "1-", "-1", "1-2-3", "x", "1.5", "10"):
        with pytest.raises(LatopoError, match="--splits"):
            parse_numbers(text, "--splits", 9)
    assert parse_settings(["a=1", "b=2.5", "c=true", "d=word", "e=x=y"]) == {
        "a": 1, "b": 2.5, "c": True, "d": "word", "e": "x=y",
    }  # fmt: skip
    with pytest.raises(LatopoError, match="--set =1"):
        parse_settings(["=1"])


def test_a_set_of_graphs_needs_no_options(elsewhere):
    result = invoke("mutag", *QUICK)
    assert result.exit_code == 0, result.output
    folder = elsewhere / "runs" / "mutag-cells-rings-graph-honest-epochs-3"
    assert json.loads((folder / "summary.json").read_text())["score"]["num_folds"] == 2
    assert "over 2 folds" in result.stdout
    again = invoke("mutag", *QUICK)
    assert "2 of 2 folds are already in" in again.stderr


def test_a_model_of_nodes_is_refused_on_graphs(monkeypatch, capsys):
    assert "dcm predicts nodes; use gin" in fails(monkeypatch, capsys, "mutag", "--model", "dcm")
    assert "no coordinates" in fails(monkeypatch, capsys, "mutag", "--no-graph")
