from collections import Counter
from itertools import combinations

import pytest
import torch

from latopo.cycles.sampling import sample_ranks


@pytest.mark.parametrize(("total", "size"), [(6, 3), (6, 1), (7, 5), (5, 4)])
def test_every_subset_is_equally_likely(total, size):
    generator = torch.Generator().manual_seed(0)
    drawn = Counter(tuple(sample_ranks(total, size, generator).tolist()) for _ in range(3000))
    subsets = list(combinations(range(total), size))
    assert set(drawn) == set(subsets)
    expected = 3000 / len(subsets)
    chi_square = sum((drawn[subset] - expected) ** 2 / expected for subset in subsets)
    freedom = len(subsets) - 1
    assert chi_square < freedom + 5 * (2 * freedom) ** 0.5


@pytest.mark.parametrize(("total", "size"), [(0, 0), (5, 0), (5, 5), (1, 1), (1000, 499), (1000, 501), (10**15, 1000)])
def test_ranks_ascend_strictly_and_stay_in_range(total, size):
    ranks = sample_ranks(total, size, torch.Generator().manual_seed(1))
    assert ranks.dtype == torch.int64
    assert ranks.numel() == size
    assert (ranks[1:] > ranks[:-1]).all()
    assert ((ranks >= 0) & (ranks < total)).all()


def test_the_generator_decides():
    first, again, other = (sample_ranks(10**9, 50, torch.Generator().manual_seed(seed)) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
