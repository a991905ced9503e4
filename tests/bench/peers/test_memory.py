from functools import partial

import torch

from peers._memory import peak_memory


def test_peak_memory_is_that_of_the_function_alone():
    megabytes = peak_memory(partial(torch.ones, 10), partial(torch.ones, 2**24))
    assert 60 < megabytes < 80
