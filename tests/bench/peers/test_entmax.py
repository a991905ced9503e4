import pytest
import torch

entmax = pytest.importorskip("entmax")

from peers.entmax import compare  # noqa: E402


@pytest.mark.parametrize(("alpha", "learned"), [(1.5, False), (1.7, True)])
def test_both_sides_agree_on_ragged_rows(alpha, learned):
    sizes = torch.tensor([3, 1, 7])
    peer = entmax.entmax_bisect if learned else lambda padded, _: entmax.entmax15(padded)
    row = compare(
        "three rows", torch.randn(11, generator=torch.Generator().manual_seed(0)), sizes, alpha, learned, peer
    )
    assert float(row.note.rpartition(" ")[2]) < 1e-5
    assert row.peer == ("entmax_bisect" if learned else "entmax15")
    assert (" with α" in row.note) is learned
