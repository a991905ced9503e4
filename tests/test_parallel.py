import threading

import pytest
import torch

from latopo._parallel import map_blocks, row_blocks


def test_blocks_cover_every_row_once():
    assert row_blocks(0, 3) == []
    assert row_blocks(2, 0) == [(0, 1), (1, 2)]  # a bound on the work may allow less than one row
    assert [list(range(*ends)) for ends in row_blocks(7, 3)] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order_whatever_the_threads(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        seen = set()

        def block(start, stop):
            seen.add(threading.get_ident())
            return sum(range(start, stop))

        assert map_blocks(block, 100, 7) == [sum(range(*ends)) for ends in row_blocks(100, 7)]
        assert len(seen) <= threads
    finally:
        torch.set_num_threads(before)


def test_an_error_in_a_block_reaches_the_caller():
    def block(start, stop):
        raise ValueError(f"rows {start} to {stop}")

    with pytest.raises(ValueError, match="rows 0 to 2"):
        map_blocks(block, 4, 2)
