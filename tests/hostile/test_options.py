"""Class 9: any option with any value, alone or with others, gives a result, or one line and exit code 2."""

import pytest
import typer
from hostile.commands import run, write_table
from hostile.conftest import generated
from hypothesis import given
from hypothesis import strategies as st

from latopo.cli.app import app

ANY = [
    "", " ", "nosuch", "kind", "size", "colour", "weight", "TABLE", "RUN", ".", "nowhere/at/all", "/dev/full",
    "/dev/zero", "\x1b[31m", "a\nb", "=1", "a=1", "²", "٣", "1_0", "x" * 5000, "0", "1", "2", "3", "-1", "0.5", "-0.5",
    "nan", "inf", "1e999", "9" * 30, "9" * 5000, "0-1", "1/2", "0/0", "[]", "{}", "null", "-", "--", "--help", "~",
]  # fmt: skip
GOOD = {
    "--target": ["kind", "weight", "size"],
    "--task": ["auto", "classification", "regression"],
    "--drop": ["colour", "kind", "weight"],
    "--id": ["size", "weight"],
    "--encoding": ["latin-1", "utf-16", "utf-7", "ascii", "cp037", "base64"],
    "--class-weight": ["balanced"],
    "--model": ["mlp", "dcm", "dcm-fused", "cells-rings"],
    "--models": ["mlp", "mlp,gcn", "logistic"],
    "--datasets": ["karate", "iris-tables-5", "mutag", "texas"],
    "--protocol": ["honest", "paper", "patient"],
    "--protocols": ["honest", "paper,honest"],
    "--device": ["cpu", "cuda", "cuda:7", "mps"],
    "--backend": ["loky", "dask", "ray"],
    "--cluster": ["tcp://127.0.0.1:1", "local"],
    "--set": ["gain=20", "gain=null", "hidden_channels=0", "rounds=[1]", "alpha=1e300", "search=exact", "dropout=2"],
    "--snapshots": ["1", "1,2"],
}
# What only takes long: that many epochs or processes are wanted, and Ctrl-C ends them.
TAME = {
    "--epochs": ["0", "-1", "1", "2", "x", "nan", "1.5", "", "9" * 5000],
    "--jobs": ["0", "-1", "1", "x", "1.5", ""],
}
# Commands that are good by themselves: a minute of work, or a browser, is none of their options' business.
COMMANDS = {
    "fit": ["fit", "TABLE", "--target", "kind", "--epochs", "1", "--quiet"],
    "predict": ["predict", "RUN", "TABLE"],
    "report": ["report", "RUN"],
    "train": ["train", "karate", "--model", "mlp", "--epochs", "1", "--splits", "0"],
    "reproduce": ["reproduce", "table1", "--datasets", "karate", "--models", "mlp", "--epochs", "1", "--splits", "0"],
    "few-labels": ["reproduce", "few-labels", "--datasets", "iris-tables-5", "--models", "logistic", "--splits", "0"],
    "merge": ["merge", "RUN"],
    "datasets": ["datasets"],
    "bench": ["bench", "nosuch"],
}
LEFT_OUT = {"--open", "--help", "--data-root"}


def options_of(command):
    """Every option that the command line declares: a new one is tried without being named here."""
    return sorted({name for part in command.params for name in part.opts if name.startswith("--")} - LEFT_OUT)


@st.composite
def options(draw, command):
    """One to three options with values, good or not; a flag has none, and takes none."""
    declared = {part.opts[0]: part for part in command.params if part.opts[0].startswith("--")}
    words = []
    for name in draw(st.lists(st.sampled_from(options_of(command)), min_size=1, max_size=3)):
        words.append(name)
        if not getattr(declared.get(name), "is_flag", False):
            words.append(draw(st.sampled_from(TAME.get(name) or GOOD.get(name, []) * 3 + ANY)))
    return words


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    table = write_table(folder)
    assert run("fit", table, "--target", "kind", "--epochs", 1, "--quiet", "--out", folder / "run").code == 0
    return {"TABLE": str(table), "RUN": str(folder / "run")}


@pytest.mark.parametrize("name", COMMANDS)
def test_any_option_with_any_value(name, place, tmp_path_factory, monkeypatch):
    command = typer.main.get_command(app).commands[COMMANDS[name][0]]

    @given(options(command))
    def check(words):
        folder = tmp_path_factory.mktemp("here")
        monkeypatch.chdir(folder)
        line = [place.get(word, word) for word in [*COMMANDS[name], *words]]
        try:
            run(*line, seconds=60).check()
        except AssertionError as error:
            raise AssertionError(f"latopo {line}: {error}") from error

    generated(check, 2, 60)()
