"""Class 4: a fit depends on its data, parameters and seed, and on nothing that others do in the process."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest
import torch

from latopo.estimators import DCMClassifier, DCMRegressor

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(60, 4)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
EDGES = RANDOM.randint(60, size=(2, 80))


def classify(model="auto", edges=None):
    return DCMClassifier(random_state=0, max_epochs=6, model=model).fit(X, Y, edge_index=edges).predict_proba(X)


def regress():
    return DCMRegressor(random_state=0, max_epochs=6).fit(X, X[:, 0]).predict(X)


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


MODES = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "meta device": lambda: torch.device("meta"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fit", [classify, regress, lambda: classify("dcm"), lambda: classify(edges=EDGES)])
def test_a_fit_and_its_answers_do_not_depend_on_modes(mode, fit):
    expected = fit()
    with MODES[mode]():
        assert np.array_equal(fit(), expected)


def test_a_fit_does_not_depend_on_the_default_dtype(request):
    expected = [classify(), regress(), classify("dcm"), classify(edges=EDGES)]
    request.getfixturevalue("double")
    found = [classify(), regress(), classify("dcm"), classify(edges=EDGES)]
    assert torch.get_default_dtype() == torch.float64
    for mine, before in zip(found, expected, strict=True):
        assert np.array_equal(mine, before)


def test_fits_on_threads_are_alike_and_others_numbers_are_left_alone():
    expected = {"classes": classify(), "values": regress(), "topk": classify("topk-dcm")}
    fits = {"classes": classify, "values": regress, "topk": lambda: classify("topk-dcm")}
    stop, foreign, drawn = Event(), torch.Generator().manual_seed(1), 0

    def disturb():
        nonlocal drawn
        while not stop.wait(0.001):
            torch.rand(3)
            drawn += 1

    torch.manual_seed(1)
    thread = Thread(target=disturb)
    thread.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            jobs = [(name, pool.submit(fits[name])) for name in list(fits) * 2]
            for name, job in jobs:
                assert np.array_equal(job.result(), expected[name])
    finally:
        stop.set()
        thread.join()
    for _ in range(drawn):
        torch.rand(3, generator=foreign)
    assert drawn > 10
    assert torch.equal(torch.get_rng_state(), foreign.get_state())


def test_a_fit_leaves_the_modes_as_they_were():
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        classify()
        assert not torch.is_grad_enabled()
        assert torch.is_autocast_enabled("cpu")
    assert torch.is_grad_enabled()
