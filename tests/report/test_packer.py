import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latopo.report.packer import Packer


def unpack(packer, reference):
    """What the page's script does."""
    content = zlib.decompress(base64.b64decode(packer.text()))
    kind = reference["type"].removesuffix("Array").lower()
    return np.frombuffer(content, kind, reference["length"], reference["at"])


@given(st.lists(st.text(), max_size=5))
def test_texts_come_back(texts):
    packer = Packer()
    packer.integers(np.array([1, 2, 3]))
    reference = packer.texts(texts)
    assert json.loads(unpack(packer, {**reference, "type": "Uint8Array"}).tobytes()) == texts
    assert reference["type"] == "Texts"


@given(st.lists(st.lists(st.integers(-(2**31), 2**32 - 1).filter(lambda n: n < 2**31), max_size=5), max_size=4))
def test_integers_come_back(columns):
    packer = Packer()
    references = [packer.integers(np.array(column, np.int64)) for column in columns]
    assert [unpack(packer, reference).tolist() for reference in references] == columns
    assert all(reference["at"] % 8 == 0 for reference in references)


@pytest.mark.parametrize(("most", "name"), [(255, "Uint8Array"), (256, "Uint16Array"), (65536, "Uint32Array")])
def test_integers_take_the_smallest_type(most, name):
    assert Packer().integers(np.array([0, most]))["type"] == name
    assert Packer().integers(np.array([-1, 0]))["type"] == "Int8Array"


def test_integers_beyond_32_bits_are_refused():
    with pytest.raises(OverflowError, match="32 bits"):
        Packer().integers(np.array([2**32]))


def test_floats_keep_three_digits_and_nan():
    values = np.array([0.0, 1.0, 0.123456, 3.4e-7, -2.5, np.nan])
    packer = Packer()
    back = unpack(packer, packer.floats(values))
    np.testing.assert_allclose(back, values, rtol=3e-4)
    assert (back.view(np.uint32)[:5] % 2**12 == 0).all()  # zeros at the end, which compress
