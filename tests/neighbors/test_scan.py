import pytest
import torch

from latopo.errors import TooManyCellsError
from latopo.neighbors import get_similarity
from latopo.neighbors.all_pairs import scan_pairs
from latopo.neighbors.scan import EdgeCounter, Piece, Rows, assemble, default_max_edges


def test_assemble_puts_shuffled_pieces_in_order():
    generator = torch.Generator().manual_seed(0)
    counts = torch.randint(0, 5, (30,), generator=generator)
    columns = [torch.arange(100 * row, 100 * row + int(count)) for row, count in enumerate(counts)]
    pieces = []
    for part in torch.randperm(30, generator=generator).split(7):
        pieces.append(Piece(part, counts[part], part.double(), torch.cat([columns[row] for row in part.tolist()])))
    ptr, col, top = assemble(pieces, 30, torch.zeros(1, dtype=torch.float64))
    assert torch.equal(ptr.diff(), counts)
    assert torch.equal(col, torch.cat(columns))
    assert torch.equal(top, torch.arange(30.0).double())


@pytest.mark.parametrize("name", ["squared", "inner", "euclidean"])
def test_some_rows_as_all_rows(name):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    rows = Rows.of(x, None, get_similarity(name), 5.0, 1.5)
    chosen = torch.tensor([3, 17, 38])
    everything, some = scan_pairs(rows, EdgeCounter(10**6)), scan_pairs(rows.select(chosen), EdgeCounter(10**6))
    for at, row in enumerate(chosen.tolist()):
        assert torch.equal(
            some.col[some.ptr[at] : some.ptr[at + 1]], everything.col[everything.ptr[row] : everything.ptr[row + 1]]
        )
    for part in ("mean", "deviation", "top"):
        assert torch.equal(getattr(some, part), getattr(everything, part)[chosen])


def test_a_known_deviation_takes_the_place_of_the_row_s_own():
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    rows = Rows.of(x, None, get_similarity("squared"), 5.0, 1.5)
    rows.deviation[:20] = 100.0
    scan, plain = (scan_pairs(part, EdgeCounter(10**6)) for part in (rows, Rows.of(x, None, rows.similarity, 5.0, 1.5)))
    assert scan.deviation[:20].tolist() == [100.0] * 20
    assert bool((scan.ptr.diff()[:20] > plain.ptr.diff()[:20]).all())
    assert torch.equal(scan.deviation[20:], plain.deviation[20:])


def test_counter():
    counter = EdgeCounter(10)
    counter.add(10)
    counter.check()
    counter.add(1)
    with pytest.raises(TooManyCellsError, match="11 directed edges, more than max_edges=10"):
        counter.check()
    assert [default_max_edges(count) for count in (100, 100_000)] == [1_000_000, 6_400_000]
