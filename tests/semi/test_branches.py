"""The lists of branches."""

import numpy as np
import pytest

from latopo.semi.branches import Branch, branches_for
from latopo.semi.metric import Numbers, Words

WORDS, NUMBERS = Words.fit(np.eye(6) + np.eye(6)[::-1]), Numbers.fit(np.eye(3))


@pytest.mark.parametrize("metric", [WORDS, NUMBERS])
@pytest.mark.parametrize(("labels", "held_out"), [(60, 0), (60, 100), (200, 100), (2000, 100)])
def test_every_branch_survives_its_name(metric, labels, held_out):
    for classes in (0, 3):
        for branch in branches_for(metric, classes, labels, held_out):
            assert Branch.parse(branch.name) == branch


def test_a_known_prior_is_asked_for_only_with_held_out_labels():
    for metric in (WORDS, NUMBERS):
        assert all(branch.balance != "prior" for branch in branches_for(metric, 3, 60, 0))
    assert any(branch.balance == "prior" for branch in branches_for(WORDS, 3, 60, 500))
