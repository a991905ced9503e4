import numpy as np
import pytest

from latopo.cycles._order import lexicographic_order


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (500, 3), (500, 5)])
def test_order_is_lexicographic(shape):
    rows = np.random.default_rng(0).integers(0, 6, shape)
    assert rows[lexicographic_order(rows, 6)].tolist() == sorted(rows.tolist())
