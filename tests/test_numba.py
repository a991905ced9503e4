import signal
import threading

import numpy as np
import pytest
from numba.core import event
from numba.core.errors import NumbaError

from latopo._numba import UNCOUNTED, njit


class PressAt(event.Listener):
    """Ctrl-C in the middle of a pass of the compiler."""

    def __init__(self, name):
        self.name = name

    def on_start(self, event):
        if event.data["name"].startswith(self.name):
            signal.raise_signal(signal.SIGINT)
            self.survived = True

    def on_end(self, event):
        pass


def double(x):
    return x + x


@pytest.mark.parametrize("name", ["native_lowering", "nopython_type_inference"])
def test_ctrl_c_ends_a_compilation_and_leaves_nothing_half_made(name):
    before = signal.getsignal(signal.SIGINT)
    compiled, press = njit(double), PressAt(name)
    with event.install_listener("numba:run_pass", press), pytest.raises(KeyboardInterrupt):
        compiled(1)
    assert hasattr(press, "survived") == (name == "native_lowering")  # held back only while code is generated
    assert signal.getsignal(signal.SIGINT) is before
    assert compiled(2) == 4


def test_another_thread_compiles_without_touching_the_signal():
    found = []
    thread = threading.Thread(target=lambda: found.append(njit(double)(3)))
    thread.start()
    thread.join()
    assert found == [6]


def test_whoever_ignores_ctrl_c_is_not_stopped():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with event.install_listener("numba:run_pass", PressAt("native_lowering")):
            assert njit(double)(4) == 8
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def total(rows):
    value = 0.0
    for i in range(len(rows)):
        for entry in rows[i]:
            value += entry
    return value


def test_uncounted_kernels_do_nothing_about_references():
    kernel = njit(**UNCOUNTED)(total)
    assert UNCOUNTED  # else this numba needs another way
    assert kernel(np.ones((2, 3))) == 6
    (code,) = kernel.inspect_llvm().values()
    assert "NRT_" not in code


def test_uncounted_kernels_that_make_an_array_do_not_compile():
    with pytest.raises(NumbaError, match="empty"):
        njit(**UNCOUNTED)(lambda n: np.empty(n).sum())(3)
