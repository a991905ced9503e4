import csv

import pandas as pd
import pytest

from latopo.table.spreadsheet import safe_cell, write_csv


@pytest.mark.parametrize("evil", ["=1+1", "+cmd", "-2+3", "@x", " =1", "|x", "%x", "\uff1d1"])
def test_formulas_are_defused(evil):
    assert safe_cell(evil) == "'" + evil


@pytest.mark.parametrize(
    ("evil", "safe"),
    [
        ("a (0.50); =1+1", "a (0.50);' =1+1"), ("a,=1", "a,'=1"), ("\t=1", "'\t'=1"), ("\r=1", "'\r'=1"),
        ("a\n=1", "a\n'=1"), ("\u200b=1", "'=1"), ("\x1b[31mred", "[31mred"), ("\u202e=1", "'=1"),
    ],
)  # fmt: skip
def test_formulas_behind_separators_and_hidden_signs_are_defused(evil, safe):
    assert safe_cell(evil) == safe


@pytest.mark.parametrize("plain", ["a=b", "-3.5", "+7", "", "<b>", 5, 0.25])
def test_others_stay(plain):
    assert safe_cell(plain) == plain


def test_header_and_quotes(tmp_path):
    frame = pd.DataFrame([["x,y", 'q"q', 0.5], ["é\nz", 1, -1 / 3], [None, "=", 1e-9]], columns=["=a", "b", "b"])
    write_csv(tmp_path / "t.csv", frame, "%.6g")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = [["'=a", "b", "b"], ["x,y", 'q"q', "0.5"], ["é\nz", "1", "-0.333333"], ["", "'=", "1e-09"]]
        assert list(csv.reader(file)) == rows
