from datetime import date

import numpy as np
import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.table import kept_columns
from latopo.table.kept_columns import keep_columns


def test_numbers_stay_numbers_and_the_rest_is_text():
    frame = pd.DataFrame({
        "number": [1, np.inf, None],
        "text": ["1", "two", " "],
        "date": [date(2024, 1, 31), None, date(2023, 5, 6)],
        "flag": [True, False, True],
    })  # fmt: skip
    values = dict(keep_columns(frame))
    assert values == {
        "number": [1.0, None, None],  # JSON has no infinity
        "text": ["1", "two", None],
        "date": ["2024-01-31", None, "2023-05-06"],
        "flag": ["True", "False", "True"],
    }


def test_long_texts_are_shortened():
    [(name, [text])] = keep_columns(pd.DataFrame({"n" * 500: ["x" * 500]}))
    assert len(text) == len(name) == 200
    assert text.endswith("…")


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(kept_columns, "_MOST_CELLS", 5)
    with pytest.raises(LatopoError, match=r"--keep-columns: 3 rows of 2 columns have 6 cells, expected at most 5"):
        keep_columns(pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, 3]}))
