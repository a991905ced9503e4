from itertools import combinations

import numpy as np
import pytest

from latopo.report import Column
from latopo.report.common import common_ground


def test_alike_means_rarer_than_one_in_twenty():
    values = np.random.RandomState(0).rand(25)
    column = Column("size", tuple(values.tolist()))
    groups = list(combinations(range(25), 3))
    spreads = np.array([np.ptp(values[list(group)]) for group in groups])
    for group, spread in list(zip(groups, spreads, strict=True))[::37]:
        share = (spreads <= spread).mean()  # over all groups, not a sample
        if abs(share - 0.05) > 0.03:
            assert bool(common_ground([column], [group])[0].alike) == (share < 0.05)


def test_words_name_ranges_numbers_and_categories():
    rows = range(100)
    columns = [
        Column("age", tuple(float(row) for row in rows)),
        Column("kind", tuple("rare" if row < 4 else "usual" for row in rows)),
        Column("flag", tuple(1.5 if row < 4 else float(row) for row in rows)),
    ]
    [ground] = common_ground(columns, [(0, 1, 2)])
    assert set(ground.alike) == {"age 0 to 2", "kind rare", "flag 1.5"}
    assert ground.counted == 3
    [usual] = common_ground(columns, [(20, 50, 80)])
    assert usual.alike == ()  # nearly all rows are of the usual kind: nothing to tell


@pytest.mark.parametrize("values", [tuple(f"name {row}" for row in range(60)), ()])
def test_free_text_is_not_counted(values):
    columns = [Column("name", values)] if values else []
    assert common_ground(columns, [(0, 1, 2), (3, 4, 5)]) == [((), 0)] * 2


def test_missing_values_are_like_no_other():
    columns = [
        Column("size", (None, None, 1.0, *map(float, range(60)))),
        Column("kind", (None, None, "a", *("a" if row % 2 else "b" for row in range(60)))),
    ]
    assert common_ground(columns, [(0, 1, 2)])[0].alike == ()


def test_chance_names_one_column_in_twenty():
    random = np.random.RandomState(0)
    columns = [Column(f"c{number}", tuple(random.rand(300).tolist())) for number in range(200)]
    polygons = [tuple(random.choice(300, 3, replace=False)) for _ in range(20)]
    shares = [len(ground.alike) / ground.counted for ground in common_ground(columns, polygons)]
    assert 0.03 < np.mean(shares) < 0.07
