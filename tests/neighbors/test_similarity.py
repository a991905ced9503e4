import pytest
import torch

from latopo.errors import LatopoError
from latopo.neighbors import get_similarity
from latopo.neighbors.similarity import check_distance, check_points, check_positive

NAMES = ["euclidean", "squared", "cosine", "inner"]
FORMULAS = {
    "euclidean": lambda a, b: -(a - b).norm(),
    "squared": lambda a, b: -(a - b).square().sum(),
    "inner": lambda a, b: a @ b,
    "cosine": lambda a, b: a @ b / (a.norm() * b.norm()),
}


@pytest.mark.parametrize("name", NAMES)
def test_all_pairs_and_given_pairs_are_the_formula(name):
    x, y = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    measure = get_similarity(name)
    expected = torch.stack([torch.stack([FORMULAS[name](a, b) for b in y]) for a in x])
    torch.testing.assert_close(measure.pairwise(x, y), expected)
    torch.testing.assert_close(measure.paired(x, y), expected.diag())


@pytest.mark.parametrize("name", NAMES)
def test_promises_about_scale_and_shift(name):
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    measure, plain = get_similarity(name), get_similarity(name).pairwise(x, x)
    if measure.scale_free:
        scaled = measure.pairwise(4 * x, 4 * x)
        factor = scaled[0, 1] / plain[0, 1]
        torch.testing.assert_close(scaled, factor * plain, atol=1e-9, rtol=1e-9)
    if measure.shift_free:
        torch.testing.assert_close(measure.pairwise(x + 7, x + 7), plain, atol=1e-6, rtol=1e-6)


def test_bad_names_points_and_numbers():
    with pytest.raises(LatopoError, match="expected one of euclidean, squared, cosine, inner or a Similarity"):
        get_similarity("manhatten")
    with pytest.raises(LatopoError, match="f: x has no columns"):
        check_points("f", "x", torch.ones(3, 0))
    with pytest.raises(LatopoError, match="f: x has NaN or infinite entries in 1 rows, first in row 2"):
        check_points("f", "x", torch.tensor([[0.0], [0.0], [torch.nan]]))
    with pytest.raises(LatopoError, match="f: gain must be one finite number > 0"):
        check_positive("f", "gain", torch.tensor([1.0, 2.0]))
    check_distance("f", get_similarity("euclidean"))
    with pytest.raises(LatopoError, match="f"):
        check_distance("f", get_similarity("cosine"))
