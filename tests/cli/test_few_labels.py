"""``latopo reproduce few-labels`` from the command line."""

from typer.testing import CliRunner

from latopo.cli.app import app

runner = CliRunner()


def test_runs_are_kept_and_the_tables_written(tmp_path):
    command = ["reproduce", "few-labels", "--datasets", "iris-tables-5", "--models", "logistic,alpha-diffusion",
               "--splits", "0", "--out", str(tmp_path)]  # fmt: skip
    assert runner.invoke(app, command).exit_code == 0
    page = (tmp_path / "tables" / "few-labels.md").read_text()
    assert "| alpha-diffusion |" in page
    assert "1 of 10 draws" in page
    again = runner.invoke(app, command)
    assert "2 of 2 runs are already" in again.output


def test_an_option_that_means_nothing_is_refused():
    outcome = runner.invoke(app, ["reproduce", "few-labels", "--epochs", "3"])
    assert outcome.exit_code != 0
    assert "--epochs" in str(outcome.exception or outcome.output)
